#!/usr/bin/env bash
#
# A sale from before its opening until everything is sold, with a payment
# provider that becomes slow half-way and recovers; afterwards all that was
# counted, by whom, in one table.
#
# usage: scripts/rehearsal.sh          works in build/rehearsal
#
#   SHORT=1   190 shoppers in place of 780, for tests
#
# The edge runs conf/rehearsal.conf in front of build/checkout; the shoppers are
# build/flash-crowd's.  Exit status 0 only if all agree to the unit, the pre-queue
# was let in in the order that was drawn, and nothing was oversold.  Everything
# that is started, is stopped at the end, however it ends.

set -euo pipefail
export LC_ALL=C
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/servers-lib.sh"
cd "$(dirname "$0")/.."

BUILD=${BUILD:-build}
DIR=${REHEARSAL_DIR:-$PWD/$BUILD/rehearsal}

if [ "${SHORT:-}" = 1 ]; then
    STAGES=2:20-20,3:0-0,6:25-25        # 40 before the opening, 150 after it
    LEAD_MS=5000                        # the first come so long before it
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

START_MS=4000                           # that nginx and the checkout start in
MOST_S=240                              # then something is stuck

# In the order that was drawn, but for so long: when payments become eight times
# as slow, more have been called than can be held, and an answer takes seconds.
SLACK_S=10

crowd=


# nginx ends what it has in hand before the checkout goes
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

# seconds MS: since the opening, with a sign
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

say "The sale opens at $when; $STOCK in stock, $SLOTS payments at once of 100 to 400 ms."
say "Watch it at http://$edge/throttle"
say

while [ "$(now)" -lt $((opens - LEAD_MS)) ]; do sleep 0.05; done

"$BUILD/flash-crowd" --json --url "http://$edge/checkout" --poll --patience 600 \
    --stages "$STAGES" --stats-url "http://$shop/stats" \
    --trace "$DIR/shoppers.tsv" > "$DIR/crowd.json" 2> "$DIR/crowd.log" &
crowd=$!

pace() { fetch -o "$DIR/answer" -X POST "http://$shop/payments?$1"; }

# sample: what the edge and the checkout say now
# (an answer that comes too late for curl is one sample less)
sample() {
    fetch "http://$edge/throttle" > "$DIR/now.json" || return 1
    fetch "http://$shop/stats" > "$DIR/shop.json" || return 1

    read -r came waiting held inflight window answer_ms admitted all_sold sold < <(
        scripts/rehearsal-table.pl now "$DIR/now.json" "$DIR/shop.json")
}

line() {
    printf '%s  waiting %4d  let in %4d  sold %4d  at checkout %3d of %3d  an answer takes %5d ms\n' \
        "$(seconds "$1")" "$waiting" "$admitted" "$sold" "$inflight" "$window" \
        "$answer_ms" | tee -a "$DIR/events"
}

slow_at=
fast_at=
opened=
told=
early=0                                 # first attempts before the opening
next=$(now)

while kill -0 $crowd 2> /dev/null; do
    sample || { sleep 0.25; continue; }
    ms=$(now)

    if [ "$ms" -lt $opens ]; then
        early=$came

    elif [ -z "$opened" ]; then
        opened=1
        event "$opens" "the sale opens, $early have come"
    fi

    if [ -z "$slow_at" ] && [ "$sold" -ge $((STOCK / 2)) ]; then
        pace 'min-ms=800&max-ms=3200'
        slow_at=$ms
        event "$ms" "half is sold; a payment takes 2 s from now on, not 250 ms"
    fi

    if [ -n "$slow_at" ] && [ -z "$fast_at" ] \
       && [ "$ms" -ge $((slow_at + SLOW_S * 1000)) ]
    then
        pace 'min-ms=100&max-ms=400'
        fast_at=$ms
        event "$ms" "the payment provider is as fast as before"
    fi

    if [ -z "$told" ] && [ "$all_sold" = 1 ]; then
        told=$ms
        event "$ms" "sold out, $waiting wait and hear it when they ask next"
    fi

    if [ "$ms" -ge "$next" ]; then
        line "$ms"
        next=$((ms + 2500))
    fi

    [ "$ms" -lt $((opens + MOST_S * 1000)) ] \
        || die "$MOST_S s after the opening shoppers are still there; see $DIR"

    sleep 0.25
done

status=0
wait "$crowd" || status=$?
crowd=
[ "$status" -le 1 ] || { cat "$DIR/crowd.log" >&2; die "the crowd could not run"; }

if [ -z "$told" ] && sample && [ "$all_sold" = 1 ]; then
    event "$(now)" "sold out, nobody waits"
fi

# All have left.  When nothing is in hand any more, one more tick of the edge's
# clock puts the last of it into the last half hour.

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
