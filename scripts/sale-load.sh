#!/usr/bin/env bash
#
# Selects the load generator of a sale, and prints its name: k6 or crowd.
#
# usage: [LOAD=auto|k6|crowd] scripts/sale-load.sh
#
#   k6      k6 v2, installed with the machine's Go if missing; an error if
#           the installation fails
#   crowd   the project's own build/flash-crowd
#   auto    k6 if it is installed or can be installed, otherwise crowd; a
#           failed installation is not repeated until "make clean"

set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/sale-lib.sh"
cd "$(dirname "$0")/.."

FAILED=build/bin/k6-failed

# Seconds.  Building k6 takes one or two minutes.
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

    say "k6 v2 is not installed, using build/flash-crowd with the same schedule" \
        "and rules instead" >&2
    echo crowd
}


case ${LOAD:-auto} in
auto)  choose ;;
crowd) echo crowd ;;
k6)    find_k6 > /dev/null || install_k6
       echo k6 ;;
*)     die "LOAD=$LOAD: must be auto, k6 or crowd" ;;
esac
