#!/usr/bin/env bash
#
# Runs the tests of the pages and of other clients, a few files at a time.
# Screenshots go to build/browser/screenshots.
#
# usage: scripts/test-browser.sh [FILE.test.js ...]     all of t/browser

set -euo pipefail
. "$(dirname "$0")/lib.sh"

AT_ONCE=4       # each file has a browser of its own, and mostly waits
LONGEST=600     # seconds for a file

# nginx takes a variable of this name for the sockets of a binary upgrade
unset NGINX

cd "$(dirname "$0")/.."
export BUILD=${BUILD:-build}
export TEST_NGINX_BINARY=${TEST_NGINX_BINARY:-$BUILD/nginx}
export NODE_PATH=$PWD/build/browser/node_modules

[ -d "$NODE_PATH/playwright-core" ] \
    || die "there is no $NODE_PATH; scripts/install-deps.sh browser makes it"

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

# count WORD: the sum of what the files say of it
count() {
    cat "$logs"/*.log | sed -n "s/^ℹ $1 \([0-9]*\)$/\1/p" \
        | awk '{ n += $1 } END { print n + 0 }'
}

failed=$(cat "$logs"/*.log | grep -c ': FAILED, or took more' || true)
[ "$(count fail)" -le "$failed" ] || failed=$(count fail)

say "browser tests: $(count pass) passed, $failed failed," \
    "$(count skipped) skipped"
[ "$failed" -eq 0 ]
