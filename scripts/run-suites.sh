#!/usr/bin/env bash
#
# Runs makefile targets that are test suites, several at a time, each to its end
# whether others pass or fail, and closes with a table.
#
# usage: scripts/run-suites.sh TARGET...
#
#   SUITE_JOBS=4     how many at a time, started in the order given
#   SUITE_LOGS=DIR   one log a suite, $BUILD/suites by default
#
# A suite's output is printed when the suite ends.  Each suite has a range of
# ports of its own (scripts/free-port.pl).

set -euo pipefail
. "$(dirname "$0")/lib.sh"

[ $# -gt 0 ] || die "usage: ${0##*/} TARGET..."
cd "$(dirname "$0")/.."

jobs=${SUITE_JOBS:-4}
logs=${SUITE_LOGS:-${BUILD:-build}/suites}
mkdir -p "$logs"

# A process group each, so that a suite can be stopped with all it started.
set -m

declare -A name_of=() result_of=() failed_of=()
passed=0
failed=0

stop_all() {
    local pid

    trap - INT TERM
    for pid in "${!name_of[@]}"; do kill -TERM -- "-$pid" 2> /dev/null || true; done
    exit 130
}
trap stop_all INT TERM

# start NUMBER SUITE
start() {
    local first=$((20000 + $1 % 12 * 1000)) suite=$2

    (
        export FREE_PORTS=$first-$((first + 999)) TIMEFORMAT='%R %U %S'
        status=0
        { time "${MAKE:-make}" --no-print-directory "$suite" \
              > "$logs/$suite.log" 2>&1 < /dev/null; } \
            2> "$logs/$suite.time" || status=$?
        exit $status
    ) &
    name_of[$!]=$suite
}

# finish: waits for a suite to end, and prints what it printed
finish() {
    local pid suite status=0

    wait -n -p pid "${!name_of[@]}" || status=$?
    suite=${name_of[$pid]}
    unset "name_of[$pid]"

    if [ $status -eq 0 ]; then
        passed=$((passed + 1))
        result_of[$suite]=passed
    else
        failed=$((failed + 1))
        result_of[$suite]=FAILED
        failed_of[$suite]=$logs/$suite.log
    fi

    say "== $suite"
    cat "$logs/$suite.log"
}

say "suites: $jobs at a time, logs in $logs"

n=0
for suite; do
    while [ ${#name_of[@]} -ge "$jobs" ]; do finish; done
    start $n "$suite"
    n=$((n + 1))
done
while [ ${#name_of[@]} -gt 0 ]; do finish; done

say "== suites"
for suite; do
    read -r wall user system < <(tail -n 1 "$logs/$suite.time")
    printf '  %-16s %-8s %4.0f s  %4.0f s of CPU\n' "$suite" "${result_of[$suite]}" \
        "$wall" "$(awk -v u="$user" -v s="$system" 'BEGIN { print u + s }')"
done
for suite in "${!failed_of[@]}"; do say "$suite failed: ${failed_of[$suite]}"; done
say "suites: $passed passed, $failed failed"
[ $failed -eq 0 ]
