#!/bin/sh
#
# Runs TAP programs and closes with "N passed, N failed".  A program that ends
# before its plan is printed has failed, whatever it reported.
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
        echo "$program did not come to its end (exit status $status)"
        bad=$((bad + 1))
    fi

    passed=$((passed + good))
    failed=$((failed + bad))
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
