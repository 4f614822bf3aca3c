#!/usr/bin/env bash
#
# Runs a sale on loopback: nginx with the waiting room, the checkout behind it,
# and a crowd.  The servers then run for a browser until Ctrl-C.
#
# usage: scripts/demo.sh
#
#   DEMO_EXIT=1   ends after the table; exit status 0 only if there were
#                 orders, none oversold and none charged late
#
# All servers are stopped when the script ends.

set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/servers-lib.sh"

cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
DIR=$PWD/$BUILD/demo

STOCK=500
STAGES=4:0-30,12:30-30,4:30-0           # 480 shoppers in 20 s
PATIENCE=20-60

crowd_pid=


# The crowd ends first and prints its table.
stop() {
    trap '' INT TERM HUP

    if [ -n "$crowd_pid" ]; then
        kill -INT "$crowd_pid" 2> /dev/null || true
        wait "$crowd_pid" 2> /dev/null || true
    fi

    stop_servers
}


rm -rf "$DIR"
mkdir -p "$DIR/logs"

port=$(scripts/free-port.pl 2)
edge=127.0.0.1:$port
checkout=127.0.0.1:$((port + 1))

stop_with stop

start checkout "$BUILD/checkout" --listen "$checkout" --mode reserve \
    --stock $STOCK --payment-slots 8
answers checkout "http://$checkout/healthz"

sed "s/127\.0\.0\.1:8080/$edge/g; s/127\.0\.0\.1:8081/$checkout/g" \
    conf/demo.conf > "$DIR/nginx.conf"
start nginx "$BUILD/nginx" -p "$DIR/" -c nginx.conf -e error.log \
    -g 'daemon off;'
answers nginx "http://$edge/status"

say "Shop:      http://$edge/ ($STOCK in stock)"
say "Dashboard: http://$edge/status"
say "480 shoppers arrive in 20 seconds; 20 per second are admitted."
say

crowd=("$BUILD/flash-crowd" --url "http://$edge/checkout" --poll --deadline
       --stages "$STAGES" --patience "$PATIENCE"
       --status-url "http://$edge/status"
       --stats-url "http://$checkout/stats")

# in the background: bash handles signals only between commands and in wait
setsid "${crowd[@]}" --live < /dev/null &
crowd_pid=$!
status=0
wait "$crowd_pid" || status=$?
crowd_pid=

if [ "${DEMO_EXIT:-}" = 1 ]; then
    exit $status
fi

say
say "The servers are still running:"
say "    shop                   http://$edge/"
say "    dashboard              http://$edge/status"
say "    checkout statistics    http://$checkout/stats"
say "To wait together with another crowd, run:"
say "    ${crowd[*]} --live"
say
say "Ctrl-C stops the servers."

trap 'say; say "stopped"; exit 0' INT
wait -n "${pids[@]}" || true

tail -n 5 "$DIR"/*.log >&2
die "nginx or the checkout exited unexpectedly, see the log lines above"
