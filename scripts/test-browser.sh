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

prove --exec 'timeout 600 node --test-reporter=tap' "$@"
