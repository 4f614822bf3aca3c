#!/usr/bin/env bash
#
# Runs one flash sale: starts the checkout, and nginx in front of it in the
# edge- variants, sends the shoppers, and records the results.
#
# usage: scripts/sale.sh [-o DIR] PROFILE VARIANT SEED
#
#   PROFILE   one of k6/profiles.json, or rehearse (k6/rehearse.js)
#   VARIANT   naive reserve queue deadline waiting-room waiting-room-deadline
#             edge-lottery edge-lottery-deadline edge-fair edge-fair-deadline
#   SEED      seed of the payments and of the shoppers
#   -o DIR    output directory; default: build/sale/PROFILE-VARIANT-SEED
#
#   LOAD=auto   load generator, see scripts/sale-load.sh
#   STORE=...   the checkout's --store; mysql, redis or shadow start temporary
#               servers
#   ORDERS=...  "SECOND:COMMAND ...": commands for the checkout's admin socket,
#               for example "8:truth=second 14:kill=1" with STORE=shadow
#
# DIR gets run.json, figures.json, shoppers.tsv, server-stats.json, summary.json
# and load.txt (the output of the load generator); in the edge- variants
# access.log; with ORDERS orders.json.
#
# While the file build/abort exists ("make abort"), running sales are stopped
# and none starts.  This script watches the file, so that stopping does not
# depend on the servers under test.
#
# Exit status: 0; 3 if the schedule was not delivered in full; 4 if the sale
# was aborted; 1 for any other error.

set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/sale-lib.sh"

ABORT=build/abort
PROFILES="$(scripts/sale-profile.pl names) rehearse"
VARIANTS='naive reserve queue deadline waiting-room waiting-room-deadline
          edge-lottery edge-lottery-deadline edge-fair edge-fair-deadline'

# For a crowd and its servers on one machine.
DESCRIPTORS=32768

NICE=-15

pids=()
store=
store_dir=


# stop PID...: stops the processes one after another.
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
    local wanted=$1 each
    shift

    for each; do
        [ "$each" != "$wanted" ] || return 0
    done

    return 1
}


# wait_for WHAT FILE COMMAND...: repeats COMMAND until it succeeds; after ten
# seconds prints the end of FILE and fails.
wait_for() {
    local what=$1 log=$2 tries=0
    shift 2

    until "$@" > /dev/null 2>&1; do
        tries=$((tries + 1))

        if [ $tries -ge 200 ]; then
            tail -n 5 "$log" >&2
            die "$what did not start, see $log"
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


# Starts the servers for STORE=mysql, redis or shadow.
start_store() {
    store=${STORE:-}

    # shellcheck disable=SC2086 # a list
    if one_of "$store" $STORE_KINDS; then
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


# Runs a copy of conf/sale.conf with other ports and the policy of the variant.
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


# Prints the version for run.json.
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


# order COMMAND: sends it to the admin socket and prints the answer; repeats it
# after a 503.
order() {
    curl -s --retry 20 --retry-delay 1 --unix-socket "$dir/admin.sock" -d "$1" \
        http://checkout/admin/store
}


# Sends each command of ORDERS at its second.
give_orders() {
    local each from=$SECONDS

    for each in $ORDERS; do
        until [ $((SECONDS - from)) -ge "${each%%:*}" ]; do
            sleep 0.1
        done

        order "${each#*:}"
    done
}


# Runs the load generator until it ends or the sale is aborted.
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
    say "sale aborted: the file $ABORT exists" >&2
    exit 4
}


# Payments continue after the shoppers have left; the count of charges is final
# only when nothing is in progress.
wait_for_rest() {
    local tries=0

    until curl -fs "$stats" | grep -q '"in_progress":0,'; do
        tries=$((tries + 1))
        [ $tries -lt 1200 ] \
            || die "orders still in progress two minutes after the sale"
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

# shellcheck disable=SC2086 # lists
{
    one_of "$profile" $PROFILES \
        || die "unknown profile \"$profile\", must be one of: $PROFILES"
    one_of "$variant" $VARIANTS \
        || die "unknown variant \"$variant\", must be one of:" $VARIANTS
}
[[ $seed =~ ^[0-9]+$ ]] || die "SEED=$seed: must be a whole number"

[ ! -e "$ABORT" ] || die_aborted
LOAD=$(scripts/sale-load.sh)
k6=$(find_k6 || true)

[ "$LOAD/$profile" != crowd/rehearse ] \
    || die "PROFILE=rehearse requires k6"

# Higher priority than other processes on the machine (root only).
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

# nginx first: it flushes its access log while the upstream still runs
[ -z "${nginx_pid:-}" ] || stop "$nginx_pid"
stop "$checkout_pid"
pids=()
stop_all

scripts/sale-record.pl finish "$dir" "$load_status"
