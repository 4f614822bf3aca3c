#!/usr/bin/env bash
#
# Runs the recorded series: every variant with three seeds, interleaved, so
# that whatever else the machine does is spread over all of them.
#
# usage: scripts/experiments.sh [NAME...]
#
#   NAME   only these runs, as drop-naive-1; all by default
#
# Each run leaves results/NAME/.  A run whose schedule was not delivered in
# full goes to results/discarded/NAME.N/, with the reason in its run.json, and
# is repeated.  A run that is there already, made by the code as it is now and
# with the same load generator, is kept: an interrupted series goes on where
# it stopped.

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


# What a run leaves that the report needs; the rest is for whoever looks into
# a run that went wrong, and stays behind.
keep() {
    local from=$1 to=$2

    rm -rf "$to"
    mkdir -p "$to"
    cp "$from"/{run.json,server-stats.json,shoppers.tsv,summary.json} "$to/"

    for file in figures.json access.log load.txt; do
        [ ! -s "$from/$file" ] || cp "$from/$file" "$to/"
    done

    for file in access.log shoppers.tsv; do
        [ ! -e "$to/$file" ] || gzip -9 -n "$to/$file"
    done
}


discard() {
    local from=$1 name=$2 n=1

    while [ -e "results/discarded/$name.$n" ]; do
        n=$((n + 1))
    done

    keep "$from" "results/discarded/$name.$n"
}


run_one() {
    local profile=$1 variant=$2 seed=$3 try status
    local name=$profile-$variant-$seed
    local dir=build/sale/$name

    if scripts/sale-record.pl current "results/$name" "$LOAD"; then
        say "$name: there already"
        return 0
    fi

    for try in $(seq "$TRIES"); do
        status=0
        scripts/sale.sh -o "$dir" "$profile" "$variant" "$seed" || status=$?

        case $status in
        0) keep "$dir" "results/$name"
           return 0 ;;
        3) say "$name: try $try of $TRIES is discarded"
           discard "$dir" "$name" ;;
        *) exit "$status" ;;
        esac
    done

    die "$name was not delivered in full in $TRIES tries: this machine is too" \
        "busy; look at load_before in results/discarded/$name.*/run.json"
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
