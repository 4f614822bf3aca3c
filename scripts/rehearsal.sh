#!/usr/bin/env bash
#
# Runs a sale with a pre-queue, an opening, a payment provider that becomes
# slow half-way and recovers, and a sell-out.  Then compares the counts of all
# components in one table.
#
# usage: scripts/rehearsal.sh          writes to build/rehearsal
#
#   SHORT=1   190 shoppers instead of 780, for tests
#
# The edge runs conf/rehearsal.conf in front of build/checkout;
# build/flash-crowd sends the shoppers.  Exit status 0 only if all counts are
# equal, the pre-queue was admitted in the shuffled order, and nothing was
# oversold.  All servers are stopped when the script ends.

set -euo pipefail
export LC_ALL=C
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/servers-lib.sh"
cd "$(dirname "$0")/.."

BUILD=${BUILD:-build}
DIR=${REHEARSAL_DIR:-$PWD/$BUILD/rehearsal}

if [ "${SHORT:-}" = 1 ]; then
    STAGES=2:20-20,3:0-0,6:25-25        # 40 before the opening, 150 after it
    LEAD_MS=5000                        # from the first shopper to the opening
    STOCK=80
    SLOTS=4
    SLOW_S=4
else
    STAGES=10:30-30,4:0-0,40:12-12      # 300 before the opening, 480 after it
    LEAD_MS=14000
    STOCK=500
    SLOTS=8
    SLOW_S=15
fi

START_MS=4000                           # for nginx and the checkout to start
MOST_S=240                              # time limit after the opening

# Tolerance of flash-verify: when payments become eight times slower, more
# shoppers have been called than can be held, and an answer takes seconds.
SLACK_S=10

crowd=


# nginx finishes its requests before the checkout stops.
stop_all() {
    trap '' INT TERM HUP

    if [ -n "$crowd" ]; then
        kill "$crowd" 2> /dev/null || true
        wait "$crowd" 2> /dev/null || true
        crowd=
    fi

    stop_servers
}

stop_with stop_all


now() { date +%s%3N; }

# seconds MS: the time since the opening, with a sign
seconds() { printf '%+6.1f s' "$(( $1 - opens ))e-3"; }

event() { printf '%s  %s\n' "$(seconds "$1")" "$2" | tee -a "$DIR/events"; }


rm -rf --one-file-system "$DIR"
mkdir -p "$DIR"

port=$(scripts/free-port.pl 2)
edge=127.0.0.1:$port
shop=127.0.0.1:$((port + 1))

opens=$(( $(now) + START_MS + LEAD_MS ))
when=$(date -u -d "@$((opens / 1000))" +%Y-%m-%dT%H:%M:%S).$(printf %03d $((opens % 1000)))Z

( umask 077 && openssl rand -base64 32 > "$DIR/secret" )

sed -e "s/127\.0\.0\.1:8181/$shop/; s/127\.0\.0\.1:8180/$edge/" \
    -e "s/\(flash_throttle_opens  *\).*;/\1$when;/" \
    -e "s,^http {,&\n    flash_throttle_secret_file  $DIR/secret;," \
    conf/rehearsal.conf > "$DIR/nginx.conf"

start checkout "$BUILD/checkout" --listen="$shop" --stock=$STOCK \
    --payment-slots=$SLOTS --allow-reset
answers checkout "http://$shop/healthz"

start nginx "$BUILD/nginx" -p "$DIR/" -c nginx.conf -e error.log -g 'daemon off;'
answers nginx "http://$edge/throttle"

say "The sale opens at $when; stock $STOCK, $SLOTS payments at once of 100 to 400 ms."
say "Dashboard: http://$edge/throttle"
say

while [ "$(now)" -lt $((opens - LEAD_MS)) ]; do sleep 0.05; done

"$BUILD/flash-crowd" --json --url "http://$edge/checkout" --poll --patience 600 \
    --stages "$STAGES" --stats-url "http://$shop/stats" \
    --trace "$DIR/shoppers.tsv" > "$DIR/crowd.json" 2> "$DIR/crowd.log" &
crowd=$!

pace() { fetch -o "$DIR/answer" -X POST "http://$shop/payments?$1"; }

# sample: reads the stats of the edge and the checkout; fails on a timeout
sample() {
    fetch "http://$edge/throttle" > "$DIR/now.json" || return 1
    fetch "http://$shop/stats" > "$DIR/shop.json" || return 1

    read -r came waiting held inflight window answer_ms admitted all_sold sold < <(
        scripts/rehearsal-table.pl now "$DIR/now.json" "$DIR/shop.json")
}

line() {
    printf '%s  waiting %4d  admitted %4d  sold %4d  at checkout %3d of %3d  answer time %5d ms\n' \
        "$(seconds "$1")" "$waiting" "$admitted" "$sold" "$inflight" "$window" \
        "$answer_ms" | tee -a "$DIR/events"
}

slow_at=
fast_at=
opened=
sold_out=
early=0                                 # first attempts before the opening
next=$(now)

while kill -0 $crowd 2> /dev/null; do
    sample || { sleep 0.25; continue; }
    ms=$(now)

    if [ "$ms" -lt $opens ]; then
        early=$came

    elif [ -z "$opened" ]; then
        opened=1
        event "$opens" "the sale opens, $early in the pre-queue"
    fi

    if [ -z "$slow_at" ] && [ "$sold" -ge $((STOCK / 2)) ]; then
        pace 'min-ms=800&max-ms=3200'
        slow_at=$ms
        event "$ms" "half is sold; a payment now takes 2 s instead of 250 ms"
    fi

    if [ -n "$slow_at" ] && [ -z "$fast_at" ] \
       && [ "$ms" -ge $((slow_at + SLOW_S * 1000)) ]
    then
        pace 'min-ms=100&max-ms=400'
        fast_at=$ms
        event "$ms" "a payment takes 250 ms again"
    fi

    if [ -z "$sold_out" ] && [ "$all_sold" = 1 ]; then
        sold_out=$ms
        event "$ms" "sold out, $waiting waiting learn it at their next poll"
    fi

    if [ "$ms" -ge "$next" ]; then
        line "$ms"
        next=$((ms + 2500))
    fi

    [ "$ms" -lt $((opens + MOST_S * 1000)) ] \
        || die "shoppers still waiting $MOST_S s after the opening, see $DIR"

    sleep 0.25
done

status=0
wait "$crowd" || status=$?
crowd=
[ "$status" -le 1 ] \
    || { cat "$DIR/crowd.log" >&2; die "flash-crowd failed with status $status"; }

if [ -z "$sold_out" ] && sample && [ "$all_sold" = 1 ]; then
    event "$(now)" "sold out, nobody waiting"
fi

# All shoppers have left.  One more tick after the last request adds the last
# events to the history.

for _ in $(seq 100); do
    sample || continue
    [ "$inflight" -gt 0 ] || [ "$held" -gt 0 ] || break
    sleep 0.1
done

sleep 0.3
fetch "http://$edge/throttle?history=360" > "$DIR/status.json"
fetch "http://$edge/throttle?format=prometheus" > "$DIR/metrics.txt"
fetch "http://$shop/stats" > "$DIR/stats.json"

event "$(now)" 'the last shopper has left'
stop_all

"$BUILD/flash-report" --json --plot "$DIR/sale.svg" "$DIR/access.log" \
    > "$DIR/report.json"
"$BUILD/flash-verify" --secret "$DIR/secret" --zone sale --key shop \
    --opens "$when" --slack $SLACK_S --json "$DIR/access.log" > "$DIR/order.json" || true

say
scripts/rehearsal-table.pl compare "$DIR" "$opens"
