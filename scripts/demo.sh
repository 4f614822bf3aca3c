#!/usr/bin/env bash
#
# A sale to watch: nginx with the waiting room in front of the checkout, on
# loopback, and a crowd that goes through it.  Afterwards it is there for a
# person with a browser, until Ctrl-C.
#
# usage: scripts/demo.sh
#
#   DEMO_EXIT=1   ends after the table; exit status 0 only if there were
#                 orders, none oversold and none charged late
#
# Everything that is started, is stopped at the end, however it ends.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
dir=$PWD/$BUILD/demo

STOCK=500
STAGES=4:0-30,12:30-30,4:30-0           # 480 shoppers in 20 s
PATIENCE=20-60

pids=()
crowd_pid=


# Backwards, each when the one that uses it has ended: the crowd tells how far
# it came, payments under way are recorded.
stop() {
    local i

    trap '' INT TERM HUP

    if [ -n "$crowd_pid" ]; then
        kill -INT "$crowd_pid" 2> /dev/null || true
        wait "$crowd_pid" 2> /dev/null || true
    fi

    for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
        kill -TERM "${pids[i]}" 2> /dev/null || true
        wait "${pids[i]}" 2> /dev/null || true
    done
}


# start NAME COMMAND...: in the background, its words in $dir/NAME.log.  In a
# session of its own, as all that is started here: Ctrl-C at the terminal is
# for this script, which stops them in order.
start() {
    local name=$1
    shift

    setsid "$@" > "$dir/$name.log" 2>&1 < /dev/null &
    pids+=($!)
}


# answers NAME URL: waits until it does; the process of that name was started
# last
answers() {
    local name=$1 url=$2 tries

    for ((tries = 0; tries < 100; tries++)); do
        curl -fs --noproxy '*' -o "$dir/$name.answer" "$url" && return 0
        kill -0 "${pids[-1]}" 2> /dev/null || break
        sleep 0.1
    done

    cat "$dir/$name.log" "$dir"/error.log >&2 2> /dev/null || true
    die "$name does not answer at $url; its last words are above"
}


rm -rf "$dir"
mkdir -p "$dir/logs"

port=$(scripts/free-port.pl 2)
edge=127.0.0.1:$port
checkout=127.0.0.1:$((port + 1))

trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

start checkout "$BUILD/checkout" --listen "$checkout" --mode reserve \
    --stock $STOCK --payment-slots 8
answers checkout "http://$checkout/healthz"

sed "s/127\.0\.0\.1:8080/$edge/g; s/127\.0\.0\.1:8081/$checkout/g" \
    conf/demo.conf > "$dir/nginx.conf"
start nginx "$BUILD/nginx" -p "$dir/" -c nginx.conf -e error.log \
    -g 'daemon off;'
answers nginx "http://$edge/status"

say "The shop is at http://$edge/ ($STOCK in stock); stand in line yourself."
say "A crowd of 480 comes in 20 seconds; 20 a second are let in to buy."
say "The operator's view of it is at http://$edge/status."
say

crowd=("$BUILD/flash-crowd" --url "http://$edge/checkout" --poll --deadline
       --stages "$STAGES" --patience "$PATIENCE"
       --status-url "http://$edge/status"
       --stats-url "http://$checkout/stats")

# in the background, for a signal is heeded only between commands and in wait
setsid "${crowd[@]}" --live < /dev/null &
crowd_pid=$!
status=0
wait "$crowd_pid" || status=$?
crowd_pid=

if [ "${DEMO_EXIT:-}" = 1 ]; then
    exit $status
fi

say
say "It stays open: http://$edge/ is the shop, http://$edge/status the waiting"
say "room, http://$checkout/stats the checkout.  Another crowd to stand in line"
say "with:"
say "    ${crowd[*]} --live"
say
say "Ctrl-C stops everything."

trap 'say; say "stopped"; exit 0' INT
wait -n "${pids[@]}" || true

tail -n 5 "$dir"/*.log >&2
die "one of nginx and the checkout has ended by itself; see above"
