#!/usr/bin/env bash
#
# Runs makefile targets that are test suites, one after another, all of them
# whatever becomes of the first, and closes with a line for each.
#
# usage: scripts/run-suites.sh TARGET...
#
# Each suite's own output, its closing line included, is printed as it comes.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

[ $# -gt 0 ] || die "usage: ${0##*/} TARGET..."
cd "$(dirname "$0")/.."

passed=0
failed=0
table=

for suite; do
    say "== $suite"
    start=$SECONDS

    if "${MAKE:-make}" --no-print-directory "$suite" < /dev/null; then
        passed=$((passed + 1))
        result=passed
    else
        failed=$((failed + 1))
        result=FAILED
    fi

    table+=$(printf '  %-16s %-8s %4d s' "$suite" "$result" \
                    $((SECONDS - start)))$'\n'
done

say "== suites"
printf '%s' "$table"
say "suites: $passed passed, $failed failed"
[ $failed -eq 0 ]
