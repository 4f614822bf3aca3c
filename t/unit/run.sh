#!/bin/sh
#
# Runs test programs, one after another, and adds up cmocka's counts.
#
# usage: t/unit/run.sh PROGRAM...
#
#   UNIT_RUN   a command that runs the programs, for example an emulator
#
# A program that ends with a signal or a sanitizer's report counts as one failure,
# in spite of what it printed.

set -eu

[ $# -gt 0 ] || { echo "usage: ${0##*/} PROGRAM..." >&2; exit 1; }

passed=0
failed=0
out=$(mktemp)
trap 'rm -f "$out"' EXIT

# count WORD: the sum of the numbers that cmocka printed beside the word
count() {
    sed -n "s/^\[ *$1 *\] \([0-9][0-9]*\) test.*/\1/p" "$out" \
        | awk '{ n += $1 } END { print n + 0 }'
}

for program; do
    status=0
    ${UNIT_RUN:-} "$program" > "$out" 2>&1 || status=$?

    # of what passed, the last line gives the number
    grep -v -e '^\[ RUN ' -e '^\[       OK ' -e '^\[=*\]' -e '^\[  PASSED ' "$out" || true

    bad=$(count FAILED)
    passed=$((passed + $(count PASSED)))
    failed=$((failed + bad))

    if [ $status -ne 0 ] && [ "$bad" -eq 0 ]; then
        echo "$program: ended with status $status" >&2
        failed=$((failed + 1))
    fi
done

echo "unit tests: $passed passed, $failed failed"
[ $failed -eq 0 ]
