#!/usr/bin/env bash
#
# Runs one flash sale: starts the checkout, and nginx before it where the
# variant has an edge, sends the shoppers, and leaves what there is to know.
#
# usage: scripts/sale.sh [-o DIR] PROFILE VARIANT SEED
#
#   PROFILE   one of k6/profiles.json, or rehearse (k6/rehearse.js)
#   VARIANT   naive reserve queue deadline waiting-room waiting-room-deadline
#             edge-lottery edge-lottery-deadline edge-fair edge-fair-deadline
#   SEED      of the payments and of the shoppers' own draws
#   -o DIR    where to leave it; build/sale/PROFILE-VARIANT-SEED by default
#
#   LOAD=auto   who sends the shoppers, see scripts/sale-load.sh
#   STORE=...   the checkout's --store; or one of the words mysql, redis and
#               shadow, for a server of the sale's own that is gone afterwards
#   ORDERS=...  "SECOND:ORDER ..." on the checkout's admin socket, as
#               "8:truth=second 14:kill=1" with STORE=shadow
#
# DIR gets run.json, figures.json, shoppers.tsv, server-stats.json, summary.json
# and load.txt (what the load generator said), from an edge access.log, and with
# ORDERS orders.json.
#
# The abort switch: while the file build/abort exists ("make abort"), every
# sale that runs is stopped and none starts.  It is a file, and watched from
# here rather than from the load script, so that it works when the servers
# under test no longer answer.
#
# Exit status: 0; 3 if the schedule was not delivered in full; 4 if the sale
# was aborted; 1 for anything else.

set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/sale-lib.sh"

ABORT=build/abort
PROFILES="$(scripts/sale-profile.pl names) rehearse"
VARIANTS='naive reserve queue deadline waiting-room waiting-room-deadline
          edge-lottery edge-lottery-deadline edge-fair edge-fair-deadline'

# A crowd and its servers on one machine.
DESCRIPTORS=32768

NICE=-15

pids=()
store=
store_dir=


# stop PID...: as each ends on SIGTERM, and waits for it.
stop() {
    local pid

    for pid; do
        kill -TERM "$pid" 2> /dev/null || true
        wait "$pid" || true
    done
}


stop_all() {
    [ ${#pids[@]} -eq 0 ] || stop "${pids[@]}"
    pids=()
    [ -z "$store_dir" ] || private_store_end "$store_dir"
    store_dir=
}


one_of() {
    local wanted=$1 word
    shift

    for word; do
        [ "$word" != "$wanted" ] || return 0
    done

    return 1
}


# wait_for WHAT FILE COMMAND...: until it succeeds; shows FILE if it never does.
wait_for() {
    local what=$1 log=$2 tries=0
    shift 2

    until "$@" > /dev/null 2>&1; do
        tries=$((tries + 1))

        if [ $tries -ge 200 ]; then
            tail -n 5 "$log" >&2
            die "$what does not come up; see $log"
        fi

        sleep 0.05
    done
}


checkout_options() {
    local mode=$variant deadline=off

    case $variant in
    *-deadline) mode=${variant%-deadline}; deadline=on ;;
    deadline)   deadline=on ;;
    esac

    case $mode in
    edge-*) mode=queue ;;
    esac

    echo "--mode=$mode --deadline=$deadline --seed=$seed --stock=$stock"
    [ -z "$store" ] || echo "--store=$store"
    [ -z "${ORDERS:-}" ] || echo "--admin=unix:$dir/admin.sock"
}


# The words of STORE become a store that runs.
start_store() {
    store=${STORE:-}

    # shellcheck disable=SC2086 # a list of words
    if one_of "$store" $STORE_WORDS; then
        store_dir=$(mktemp -d /tmp/ft-XXXXXX)
        store=$(private_store "$store" "$store_dir")
    fi
}


start_checkout() {
    local options

    read -r -d '' -a options < <(checkout_options) || true

    build/checkout --listen="127.0.0.1:$port" "${options[@]}" \
        > "$dir/checkout.log" 2>&1 &
    checkout_pid=$!
    pids+=("$checkout_pid")

    wait_for "the checkout" "$dir/checkout.log" \
        curl -fs "http://127.0.0.1:$port/healthz"
}


# A copy of conf/sale.conf that differs in ports, policy and place alone.
start_nginx() {
    local policy=${variant#edge-}
    local edge=$((port + 1))

    sed -e "s/127\.0\.0\.1:8181/127.0.0.1:$port/" \
        -e "s/127\.0\.0\.1:8180/127.0.0.1:$edge/" \
        -e "s/policy=fair/policy=${policy%-deadline}/" \
        conf/sale.conf > "$dir/nginx.conf"

    build/nginx -p "$PWD/$dir/" -c "$PWD/$dir/nginx.conf" -e error.log \
        -g 'daemon off;' > "$dir/nginx.log" 2>&1 &
    nginx_pid=$!
    pids+=("$nginx_pid")
    target=http://127.0.0.1:$edge

    wait_for nginx "$dir/nginx.log" curl -fs "$target/healthz"
}


# Prints the line that stands in run.json.
load_version() {
    case $LOAD in
    k6) "$k6" version | head -n 1 ;;
    crowd) echo "flash-crowd of this code" ;;
    esac
}


start_k6() {
    local script=k6/sale.js

    [ "$profile" != rehearse ] || script=k6/rehearse.js

    exec "$k6" run --quiet --no-color --no-usage-report --log-format raw \
        --console-output "$dir/shoppers.tsv" \
        -e TARGET="$target" -e STATS="$stats" -e PROFILE="$profile" \
        -e VARIANT="$variant" -e SEED="$seed" -e OUT="$PWD/$dir" \
        "$script"
}


start_crowd() {
    exec build/flash-crowd --url="$target/checkout" \
        --stages="$(scripts/sale-profile.pl stages "$profile")" \
        --patience=15 --deadline --seed="$seed" --json \
        --trace="$dir/shoppers.tsv" > "$dir/summary.json"
}


# order ORDER: prints what came of it; 503 is "not yet".
order() {
    curl -s --retry 20 --retry-delay 1 --unix-socket "$dir/admin.sock" -d "$1" \
        http://checkout/admin/store
}


# Each of ORDERS at its second.
give_orders() {
    local each from=$SECONDS

    for each in $ORDERS; do
        until [ $((SECONDS - from)) -ge "${each%%:*}" ]; do
            sleep 0.1
        done

        order "${each#*:}"
    done
}


# The load generator, until it ends or the abort switch is set.
send_shoppers() {
    local orders=

    if [ -n "${ORDERS:-}" ]; then
        give_orders > "$dir/orders.json" &
        orders=$!
    fi

    "start_$LOAD" > "$dir/load.txt" 2>&1 &
    local load=$! servers=("${pids[@]}")

    pids=("$load" ${orders:+"$orders"} "${servers[@]}")

    while kill -0 "$load" 2> /dev/null; do
        [ ! -e "$ABORT" ] || die_aborted
        sleep 0.2
    done

    load_status=0
    wait "$load" || load_status=$?
    [ -z "$orders" ] || wait "$orders"
    pids=("${servers[@]}")
}


die_aborted() {
    say "stopped by the abort switch: $ABORT is there; remove it to run sales" >&2
    exit 4
}


# A line for payment outlives the shoppers: what was charged is known only
# once nothing is in progress.
wait_for_rest() {
    local tries=0

    until curl -fs "$stats" | grep -q '"in_progress":0,'; do
        tries=$((tries + 1))
        [ $tries -lt 1200 ] \
            || die "the checkout is still busy two minutes after the sale"
        sleep 0.1
    done
}


usage() {
    sed -n '/^# usage/,/^# DIR/p' "$0" | sed 's/^# \{0,1\}//; $d' >&2
    exit 1
}


cd "$(dirname "$0")/.."

dir=

while getopts o: option; do
    case $option in
    o) dir=$OPTARG ;;
    *) usage ;;
    esac
done
shift $((OPTIND - 1))

[ $# -eq 3 ] || usage
profile=$1 variant=$2 seed=$3
dir=${dir:-build/sale/$profile-$variant-$seed}

# shellcheck disable=SC2086 # lists of words
{
    one_of "$profile" $PROFILES \
        || die "no profile \"$profile\"; there are: $PROFILES"
    one_of "$variant" $VARIANTS \
        || die "no variant \"$variant\"; there are:" $VARIANTS
}
[[ $seed =~ ^[0-9]+$ ]] || die "SEED=$seed: give a whole number"

[ ! -e "$ABORT" ] || die_aborted
LOAD=$(scripts/sale-load.sh)
k6=$(find_k6 || true)

[ "$LOAD/$profile" != crowd/rehearse ] \
    || die "a rehearsal stops at the rule that breaks, which takes k6"

# Whatever else the machine does, it is not to hold up the sale (root only).
renice -n "$NICE" -p $$ > /dev/null 2>&1 || true
ulimit -n "$DESCRIPTORS" 2> /dev/null || ulimit -n "$(ulimit -Hn)"

stock=1000000
[ "$profile" = rehearse ] || stock=$(scripts/sale-profile.pl stock "$profile")

rm -rf "$dir"
mkdir -p "$dir"
trap stop_all EXIT
trap 'exit 130' INT TERM

port=$(scripts/free-port.pl 2)
target=http://127.0.0.1:$port
stats=http://127.0.0.1:$port/stats

start_store
start_checkout
case $variant in
edge-*) start_nginx ;;
esac

scripts/sale-record.pl start "$dir" "$profile" "$variant" "$seed" "$LOAD" \
    "$(load_version)"

say "sale: $profile, $variant, seed $seed ($LOAD)"
send_shoppers
wait_for_rest
[ -z "${ORDERS:-}" ] || order check=1 >> "$dir/orders.json"
curl -fs "$stats" > "$dir/server-stats.json"

# nginx first: it writes out its access log, and still has an upstream
[ -z "${nginx_pid:-}" ] || stop "$nginx_pid"
stop "$checkout_pid"
pids=()
stop_all

scripts/sale-record.pl finish "$dir" "$load_status"
