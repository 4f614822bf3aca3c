# Tests in shell that speak TAP: source this, call ok and refuses, then done_testing.

tests=0

# ok NAME COMMAND...: passes if the command succeeds
ok() {
    name=$1
    shift
    tests=$((tests + 1))

    if "$@"; then
        echo "ok $tests - $name"
    else
        echo "not ok $tests - $name"
    fi
}

# refuses WORDS COMMAND...: ends with 1 or 2, and its message contains WORDS
refuses() {
    words=$1
    shift
    tests=$((tests + 1))
    message=$("$@" 2>&1 >/dev/null)
    status=$?

    case $status:$message in
    1:*"$words"* | 2:*"$words"*)
        echo "ok $tests - refuses with \"$words\"" ;;
    *)
        echo "not ok $tests - refuses with \"$words\""
        echo "# status $status, message: $message" ;;
    esac
}

done_testing() {
    echo "1..$tests"
}
