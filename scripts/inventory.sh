#!/usr/bin/env bash
#
# Benchmarks the store in MySQL or MariaDB, on a private server that is removed
# afterwards.
#
# usage: scripts/inventory.sh [PART...]      build/inventory lists the parts
#
#   BENCH=build/inventory   the program
#   BENCH_OPTIONS=...       its options, for example --seconds=0.5
#
# "throughput" is measured twice: with a server thread for each connection (the
# default), and with a pool of one server thread for each processor.

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


# A new server for each part: rows that an earlier part has deleted may not be
# purged yet, and table statistics may be out of date.
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
    say "inventory: requirements not met: ${failed[*]}"
    exit 1
fi

say "inventory: all requirements met"
