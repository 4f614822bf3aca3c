# shellcheck shell=bash
# What the scripts of a sale share.  Sourced by bash, after lib.sh.

# find_k6: prints where k6 v2 is; fails where it is not.
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


# A word for STORE starts a server of the sale's own.
STORE_WORDS='mysql redis shadow'


# private_store WORD DIR: starts in DIR what the word needs, and prints what
# --store takes.  DIR has to be short: there are sockets in it.
#
#   mysql    MariaDB
#   redis    Redis, with MariaDB as its ledger
#   shadow   that, the truth, and mysql as its shadow
private_store() {
    local word=$1 dir=$2 mysql redis

    mysql="mysql:socket=$dir/db/socket;user=root;database=flash_throttle"
    redis="redis:$dir/redis/redis.sock+$mysql;shop=2"

    scripts/mariadb.sh start "$dir/db" >&2
    [ "$word" = mysql ] || scripts/private-redis.sh start "$dir/redis" >&2

    case $word in
    mysql)  echo "$mysql" ;;
    redis)  echo "$redis" ;;
    shadow) echo "shadow:$redis,$mysql" ;;
    esac
}


# private_store_end DIR: stops what runs in DIR, and removes it.
private_store_end() {
    local dir=$1

    [ ! -d "$dir/redis" ] || scripts/private-redis.sh stop "$dir/redis" || true
    [ ! -d "$dir/db" ] || scripts/mariadb.sh stop "$dir/db" || true
    rm -rf --one-file-system "$dir"
}
