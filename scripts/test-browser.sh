#!/usr/bin/env bash
#
# Runs the browser tests and the tests of other clients, in parallel.
# Screenshots are in build/browser/screenshots.
#
# usage: scripts/test-browser.sh [FILE.test.js ...]     default: all of t/browser

set -euo pipefail
. "$(dirname "$0")/lib.sh"

AT_ONCE=4       # each file has a browser of its own, and mostly waits
LONGEST=600     # seconds for a file

# nginx reads inherited sockets from an environment variable NGINX
unset NGINX

cd "$(dirname "$0")/.."
export BUILD=${BUILD:-build}
export TEST_NGINX_BINARY=${TEST_NGINX_BINARY:-$BUILD/nginx}
export NODE_PATH=$PWD/build/browser/node_modules

[ -d "$NODE_PATH/playwright-core" ] \
    || die "$NODE_PATH not found; run scripts/install-deps.sh browser"

# The longest first: the largest files.
[ $# -gt 0 ] || mapfile -t all < <(ls -S t/browser/*.test.js)
[ $# -gt 0 ] || set -- "${all[@]}"

logs=$BUILD/test-browser
rm -rf "$logs"
mkdir -p "$logs"

# run FILE LOG
run() {
    {
        echo "$1"
        timeout "$LONGEST" node --test-reporter=spec "$1" 2>&1 \
            || echo "$1: FAILED, or took more than $LONGEST s"
    } > "$2"
    cat "$2"
}

for file; do
    while [ "$(jobs -rp | wc -l)" -ge "$AT_ONCE" ]; do wait -n || true; done
    run "$file" "$logs/$(basename "$file" .test.js).log" &
done
wait

# count WORD: the sum of WORD over the summaries of all files
count() {
    cat "$logs"/*.log | sed -n "s/^ℹ $1 \([0-9]*\)$/\1/p" \
        | awk '{ n += $1 } END { print n + 0 }'
}

failed=$(cat "$logs"/*.log | grep -c ': FAILED, or took more' || true)
[ "$(count fail)" -le "$failed" ] || failed=$(count fail)

say "browser tests: $(count pass) passed, $failed failed," \
    "$(count skipped) skipped"
[ "$failed" -eq 0 ]
