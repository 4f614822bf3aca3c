#!/usr/bin/env bash
#
# Measures a sale whose payments slow down from 250 ms to 2 s and recover, and
# plots it into docs/img/adapt.svg.
#
# usage: scripts/adapt.sh
#
# Runs nginx with conf/adapt.conf in front of build/checkout, which makes 8
# payments at once.  Samples the stats of both twice a second.  Works in
# build/adapt.

set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/servers-lib.sh"
cd "$(dirname "$0")/.."

DIR=$PWD/build/adapt
SLOW_AT=30
FAST_AT=70
END_AT=110

stop_with stop_servers

rm -rf --one-file-system build/adapt
mkdir -p "$DIR"

read -r edge shop < <(scripts/free-port.pl 2 \
                      | awk '{ print $1, $1 + 1; exit }')

start checkout build/checkout --listen="127.0.0.1:$shop" \
    --store=sqlite::memory: --mode=queue --deadline=off --stock=1000000 \
    --payment-slots=8 --allow-reset
answers checkout "http://127.0.0.1:$shop/healthz"

sed -e "s/127\.0\.0\.1:8181/127.0.0.1:$shop/" \
    -e "s/127\.0\.0\.1:8180/127.0.0.1:$edge/" conf/adapt.conf > "$DIR/nginx.conf"

start nginx build/nginx -p "$DIR/" -c "$DIR/nginx.conf" -e error.log \
    -g 'daemon off;'
answers nginx "http://127.0.0.1:$edge/throttle"

start crowd build/flash-crowd --url "http://127.0.0.1:$edge/checkout" \
    --patience 300 --poll --stages "2:0-50,$END_AT:50-50"

pace() { fetch -X POST "http://127.0.0.1:$shop/payments?$1" > /dev/null; }

now() { date +%s%3N; }

began=$(now)
slow=0
fast=0

# time_ms: response time; window: limit of requests in flight; orders: total;
# rate: admissions per second that the window permits

printf 'seconds\ttime_ms\tinflight\twindow\torders\twaiting\trate\n' \
    > "$DIR/samples.tsv"

while :; do
    ms=$(( $(now) - began ))

    if [ $slow = 0 ] && [ $ms -ge $((SLOW_AT * 1000)) ]; then
        pace 'min-ms=800&max-ms=3200'
        slow=1
    fi

    if [ $fast = 0 ] && [ $ms -ge $((FAST_AT * 1000)) ]; then
        pace 'min-ms=100&max-ms=400'
        fast=1
    fi

    [ $ms -lt $((END_AT * 1000)) ] || break

    orders=$(fetch "http://127.0.0.1:$shop/stats" \
             | sed -n 's/.*"confirmed": *\([0-9]*\).*/\1/p')

    fetch "http://127.0.0.1:$edge/throttle" | MS=$ms ORDERS=${orders:-0} \
        perl -MJSON::PP -e '
            local $/;
            my $key = decode_json(<STDIN>)->{zones}{sale}{keys}{shop} or exit;
            printf "%.2f\t%d\t%d\t%d\t%d\t%d\t%.1f\n", $ENV{MS} / 1000,
                $key->{answer_ms}, $key->{inflight}, $key->{adapt_inflight},
                $ENV{ORDERS}, $key->{waiting}, $key->{adapt_rate_milli} / 1000;
        ' >> "$DIR/samples.tsv"

    sleep 0.4
done

# orders per second, over the last two seconds

awk -F '\t' -v OFS='\t' '
    NR == 1 { print $0, "orders_s"; next }
    { t[NR] = $1; o[NR] = $5; i = NR
      while (i > 2 && $1 - t[i] < 2) i--
      print $0, ($1 > t[i] ? ($5 - o[i]) / ($1 - t[i]) : 0) }
' "$DIR/samples.tsv" > "$DIR/adapt.tsv"

mkdir -p docs/img
gnuplot -e "data='$DIR/adapt.tsv'; slow=$SLOW_AT; fast=$FAST_AT" scripts/adapt.gp \
    > docs/img/adapt.svg

# the table of docs/adapt.md

awk -F '\t' -v slow="$SLOW_AT" -v fast="$FAST_AT" -v end="$END_AT" '
    function part(name, from, to) {
        printf "%-34s %6.1f orders/s, response time %5.0f ms, in flight %4.1f\n",
            name, (last[name] - first[name]) / (to - from), time[name] / n[name],
            flight[name] / n[name]
    }
    NR == 1 { next }
    { name = "" }
    $1 >= 10 && $1 < slow        { name = "250 ms" }
    $1 >= slow + 15 && $1 < fast { name = "2 s" }
    $1 >= fast + 10              { name = "250 ms again" }
    name != "" {
        if (!(name in first)) first[name] = $5
        last[name] = $5; n[name]++; time[name] += $2; flight[name] += $3
    }
    $1 > fast && !back && $8 >= 28 { back = $1 - fast }
    END {
        part("250 ms", 10, slow)
        part("2 s", slow + 15, fast)
        part("250 ms again", fast + 10, end)
        printf "%-34s %6.1f s after the recovery\n", "28 orders/s again", back
    }' "$DIR/adapt.tsv"
