#!/usr/bin/env bash
#
# Decides who sends the shoppers of a sale, and prints it: k6 or crowd.
#
# usage: [LOAD=auto|k6|crowd] scripts/sale-load.sh
#
#   k6      k6 v2, installed with the machine's Go where it is missing; it is
#           an error where it cannot be had
#   crowd   the project's own build/flash-crowd
#   auto    k6 where it can be had, otherwise the crowd; where installing it
#           failed once, it is not tried again until "make clean"

set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/sale-lib.sh"
cd "$(dirname "$0")/.."

FAILED=build/bin/k6-failed

# Building k6 takes a minute or two; a download that hangs must not take all day.
LIMIT=600


install_k6() {
    timeout "$LIMIT" scripts/install-deps.sh k6 >&2
}


choose() {
    if find_k6 > /dev/null; then
        echo k6
        return
    fi

    if [ ! -e "$FAILED" ]; then
        if install_k6; then
            echo k6
            return
        fi

        mkdir -p "$(dirname "$FAILED")"
        touch "$FAILED"
    fi

    say "k6 v2 is not there: build/flash-crowd sends the shoppers instead, on" \
        "the same schedule and by the same rules (LOAD=k6 insists on k6)" >&2
    echo crowd
}


case ${LOAD:-auto} in
auto)  choose ;;
crowd) echo crowd ;;
k6)    find_k6 > /dev/null || install_k6
       echo k6 ;;
*)     die "LOAD=$LOAD: give auto, k6 or crowd" ;;
esac
