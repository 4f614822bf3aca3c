#!/usr/bin/env bash
#
# The store in MySQL or MariaDB put to the test, on a server of its own that
# is gone afterwards.
#
# usage: scripts/inventory.sh [PART...]      build/inventory lists the parts
#
#   BENCH=build/inventory   the program
#   BENCH_OPTIONS=...       its options, as --operations=4000 --seconds=0.5
#
# "throughput" is measured twice: with the server's default, a thread for each
# connection, and with a pool of as many threads as there are processors.

set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/.."

PATH=$PATH:/usr/sbin

parts=("$@")
[ $# -gt 0 ] || parts=(storm throughput locks gaps deadlocks carts pools holders)

read -r -a options <<< "${BENCH_OPTIONS:-}"
failed=()

dir=$(mktemp -d /tmp/ft-XXXXXX)
trap 'scripts/mariadb.sh stop "$dir/db"; rm -rf --one-file-system "$dir"' EXIT


# Each part meets a server without a past: what another has deleted would still
# be purged, and what it knows of the tables no longer hold.
run() {
    local part=$1
    shift

    scripts/mariadb.sh start "$dir/db" "$@"
    "${BENCH:-build/inventory}" "${options[@]}" "$dir/db" "$part" \
        || failed+=("$part")
    scripts/mariadb.sh stop "$dir/db"
    rm -rf --one-file-system "$dir/db"
}


say "$(mariadbd --version | sed 's/.*Ver \([^ ]*\) .*/\1/')," \
    "$(nproc) processors, load $(cut -d ' ' -f 1 /proc/loadavg)," \
    "$(date -u +%Y-%m-%dT%H:%MZ)"
say

for part in "${parts[@]}"; do
    run "$part"

    if [ "$part" = throughput ]; then
        run "$part" --thread-handling=pool-of-threads \
            --thread-pool-size="$(nproc)"
    fi
done

if [ ${#failed[@]} -gt 0 ]; then
    say "inventory: NOT as it must be: ${failed[*]}"
    exit 1
fi

say "inventory: all as it must be"
