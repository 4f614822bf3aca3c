#!/usr/bin/env bash
#
# Runs one file of t/ with a server root and four adjacent ports of its own.
#
# usage: t/lib/run.sh FILE.t
#
# The first free number N of the run gives the directory $PROVE_DIR/N and the
# ports from $PROVE_PORT + 4 N on.  scripts/prove.sh sets both.

set -euo pipefail

n=0
until mkdir "$PROVE_DIR/$n.taken" 2> /dev/null; do n=$((n + 1)); done

export TEST_NGINX_SERVROOT=$PROVE_DIR/$n
export TEST_NGINX_PORT=$((PROVE_PORT + 4 * n))

exec perl -It/lib "$@"
