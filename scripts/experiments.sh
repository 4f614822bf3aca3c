#!/usr/bin/env bash
#
# Runs the recorded series: every variant with three seeds.  The variants are
# interleaved so that other load on the machine affects all of them.
#
# usage: scripts/experiments.sh [NAME...]
#
#   NAME   runs to make, for example drop-naive-1; default: all
#
# Each run creates results/NAME/ with run.json and figures.json, and with
# admissions.tsv for the runs that "make report" plots.  All other files stay
# in build/sale/NAME/.
#
# A run whose schedule was not delivered in full is repeated; its run.json, with
# the reason, is kept in results/discarded/NAME.N/.  A run that was recorded
# with the current code and load generator is not made again.

set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/.."

SEEDS='1 2 3'
PEAK='queue deadline waiting-room waiting-room-deadline
      edge-lottery edge-lottery-deadline edge-fair edge-fair-deadline'
TRIES=3


schedule() {
    local seed variant

    for seed in $SEEDS; do
        echo "drop naive $seed"
        echo "drop reserve $seed"
    done

    echo "low naive 1"
    echo "low reserve 1"

    for seed in $SEEDS; do
        for variant in $PEAK; do
            echo "peak $variant $seed"
        done
    done
}


# Copies the files that the report reads.
keep() {
    local from=$1 name=$2
    local to=results/$name

    rm -rf "$to"
    mkdir -p "$to"
    cp "$from"/{run.json,figures.json} "$to/"

    case $name in
    peak-edge-lottery-deadline-1|peak-edge-fair-deadline-1)
        scripts/sale-admissions.pl "$from/access.log" > "$to/admissions.tsv" ;;
    esac
}


discard() {
    local from=$1 name=$2 n=1

    while [ -e "results/discarded/$name.$n" ]; do
        n=$((n + 1))
    done

    mkdir -p "results/discarded/$name.$n"
    cp "$from/run.json" "results/discarded/$name.$n/"
}


run_one() {
    local profile=$1 variant=$2 seed=$3 try status
    local name=$profile-$variant-$seed
    local dir=build/sale/$name

    if scripts/sale-record.pl current "results/$name" "$LOAD"; then
        say "$name: already recorded"
        return 0
    fi

    for try in $(seq "$TRIES"); do
        status=0
        scripts/sale.sh -o "$dir" "$profile" "$variant" "$seed" || status=$?

        case $status in
        0) keep "$dir" "$name"
           return 0 ;;
        3) say "$name: try $try of $TRIES discarded"
           discard "$dir" "$name" ;;
        *) exit "$status" ;;
        esac
    done

    die "$name: schedule not delivered in full in $TRIES tries," \
        "see load_before in results/discarded/$name.*/run.json"
}


chosen() {
    local name=$1 wanted
    shift

    [ $# -gt 0 ] || return 0

    for wanted; do
        [ "$wanted" != "$name" ] || return 0
    done

    return 1
}


LOAD=$(scripts/sale-load.sh)
export LOAD

while read -r profile variant seed <&3; do
    if chosen "$profile-$variant-$seed" "$@"; then
        run_one "$profile" "$variant" "$seed"
    fi
done 3< <(schedule)
