# shellcheck shell=bash
# Shared by the scripts of a sale.  Sourced by bash, after lib.sh.

# find_k6: prints the path of k6 v2; fails if there is none.
find_k6() {
    local k6

    for k6 in build/bin/k6 k6; do
        if have "$k6" && "$k6" version 2> /dev/null | grep -q 'k6.* v2\.'; then
            echo "$k6"
            return 0
        fi
    done

    return 1
}


# Values of STORE for which the sale starts servers of its own.
STORE_KINDS='mysql redis shadow'


# private_store KIND DIR: starts the servers in DIR, and prints the value for
# --store.  DIR must be short: it has Unix sockets.
#
#   mysql    MariaDB
#   redis    Redis, with MariaDB as its ledger
#   shadow   redis, with mysql as its shadow
private_store() {
    local kind=$1 dir=$2 mysql redis

    mysql="mysql:socket=$dir/db/socket;user=root;database=flash_throttle"
    redis="redis:$dir/redis/redis.sock+$mysql;shop=2"

    scripts/mariadb.sh start "$dir/db" >&2
    [ "$kind" = mysql ] || scripts/private-redis.sh start "$dir/redis" >&2

    case $kind in
    mysql)  echo "$mysql" ;;
    redis)  echo "$redis" ;;
    shadow) echo "shadow:$redis,$mysql" ;;
    esac
}


# private_store_end DIR: stops the servers in DIR, and removes it.
private_store_end() {
    local dir=$1

    [ ! -d "$dir/redis" ] || scripts/private-redis.sh stop "$dir/redis" || true
    [ ! -d "$dir/db" ] || scripts/mariadb.sh stop "$dir/db" || true
    rm -rf --one-file-system "$dir"
}
