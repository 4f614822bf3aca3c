#!/usr/bin/env bash
#
# "make bench": everything that is measured, and the document on it.
#
# usage: bench/run.sh      QUICK=1: a short form, and nothing recorded
#
# What is built and installed is there already.

set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

out=build/bench
results=bench/results.json

export ROUNDS=${ROUNDS:-7} CORES=${CORES:-0 1}

if [ "${QUICK:-}" ] && [ "$QUICK" != 0 ]; then
    results=$out/results.json
    export ROUNDS=2 SLICES=5 REQUESTS=3000 MILLION=200000 KEYS=1000
    export SOLD=5000 LOG_MB=100 RUNS=40
fi

[ "$(nproc)" -ge 2 ] \
    || die "needs two processors: one for the servers, one for the client"

# 1,200 shoppers at once, in the client and in the checkout
ulimit -n 8192 2> /dev/null \
    || die "needs 8192 open files; raise the limit with \"ulimit -n\""

say "== the module, for Debian's nginx"
NGINX_SRC=build/bench/debian/usr/share/nginx/src BUILD=build/bench \
    scripts/build-nginx.sh dynamic

say "== beside its peers ($ROUNDS rounds)"
bench/compare.pl $out/compare.json

say "== around it"
bench/around.pl $out/around.json

say "== instructions"
BENCH_NGINX=build/nginx bench/instructions.pl || true

bench/report.pl --merge $out/compare.json $out/around.json "$results"
bench/report.pl --print "$results"

if [ "$results" = bench/results.json ]; then
    bench/report.pl --write
    say "written: bench/results.json, docs/performance.md, docs/img/bench.svg"
else
    say "a short run: $results; nothing is recorded"
fi
