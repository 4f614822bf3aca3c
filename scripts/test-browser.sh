#!/usr/bin/env bash
#
# Runs the tests of the pages and of other clients.
#
# usage: scripts/test-browser.sh [FILE.test.js ...]     all of t/browser

set -euo pipefail
. "$(dirname "$0")/lib.sh"

# nginx takes a variable of this name for the sockets of a binary upgrade
unset NGINX

cd "$(dirname "$0")/.."
export BUILD=${BUILD:-build}
export TEST_NGINX_BINARY=${TEST_NGINX_BINARY:-$BUILD/nginx}
export NODE_PATH=$PWD/build/browser/node_modules

[ -d "$NODE_PATH/playwright-core" ] \
    || die "there is no $NODE_PATH; scripts/install-deps.sh browser makes it"

[ $# -gt 0 ] || set -- t/browser/*.test.js

log=$BUILD/test-browser.log
status=0
: > "$log"

# one after another: each has a browser of its own
for file; do
    say "$file"
    timeout 900 node --test-reporter=spec "$file" 2>&1 | tee -a "$log" \
        || status=1
done

# count WORD: the sum of what the files say of it
count() {
    sed -n "s/^ℹ $1 \([0-9]*\)$/\1/p" "$log" | awk '{ n += $1 } END { print n + 0 }'
}

say "test-browser: $(count pass) passed, $(count fail) failed," \
    "$(count skipped) skipped"
exit $status
