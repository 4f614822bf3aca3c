#!/bin/sh
#
# Runs TAP programs and prints "N passed, N failed".  A program without a plan
# has failed.
#
# usage: sim/t/run.sh PROGRAM...

passed=0
failed=0
out=$(mktemp)
trap 'rm -f "$out"' EXIT

for program; do
    echo "-- $program"
    "$program" > "$out"
    status=$?
    grep -v '^ok ' "$out"

    good=$(grep -c '^ok ' "$out")
    bad=$(grep -c '^not ok ' "$out")

    if ! grep -qx "1\.\.$((good + bad))" "$out" \
        || { [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; }
    then
        echo "$program failed with exit status $status before its last test"
        bad=$((bad + 1))
    fi

    passed=$((passed + good))
    failed=$((failed + bad))
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
