# TAP output for tests in shell: source this file, call ok, refuses and
# done_testing.

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

# refuses TEXT COMMAND...: passes if the command exits with 1 or 2 and a message
# that contains TEXT
refuses() {
    text=$1
    shift
    tests=$((tests + 1))
    message=$("$@" 2>&1 >/dev/null)
    status=$?

    case $status:$message in
    1:*"$text"* | 2:*"$text"*)
        echo "ok $tests - fails with \"$text\"" ;;
    *)
        echo "not ok $tests - fails with \"$text\""
        echo "# status $status, message: $message" ;;
    esac
}

done_testing() {
    echo "1..$tests"
}
