#!/usr/bin/env bash
#
# Runs all benchmarks and writes docs/performance.md; requires a finished build.
#
# usage: bench/run.sh      QUICK=1: takes a few minutes and records nothing

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
    || die "2 processors required, $(nproc) found"

# for 1,200 concurrent connections of the client and the checkout
ulimit -n 8192 2> /dev/null \
    || die "ulimit -n 8192 failed, the limit is $(ulimit -n)"

say "== the module, for Debian's nginx"
NGINX_SRC=build/bench/debian/usr/share/nginx/src BUILD=build/bench \
    scripts/build-nginx.sh dynamic

say "== comparison with other servers ($ROUNDS rounds)"
bench/compare.pl $out/compare.json

say "== other programs"
bench/around.pl $out/around.json

say "== instructions"
BENCH_NGINX=build/nginx bench/instructions.pl || true

bench/report.pl --merge $out/compare.json $out/around.json "$results"
bench/report.pl --print "$results"

if [ "$results" = bench/results.json ]; then
    bench/report.pl --write
    say "written: bench/results.json, docs/performance.md, docs/img/bench.svg"
else
    say "written: $results (short run, nothing recorded)"
fi
