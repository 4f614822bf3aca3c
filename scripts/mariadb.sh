#!/usr/bin/env bash
#
# A MariaDB of one's own: its data, its socket and its log in one folder, no
# network, nothing of the machine's own server touched.
#
# usage: scripts/mariadb.sh start DIR [OPTION...]   options of mariadbd
#        scripts/mariadb.sh stop DIR                ends it, keeps the data
#        scripts/mariadb.sh kill DIR                as a power cut does
#
# It listens on DIR/socket alone, for "root" without a password, and has an
# empty database "flash_throttle".  DIR/pid is its process.  DIR is made if it
# is not there, and has to be a short path: a socket's may have 107 bytes.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

# How long it may take to come up or to end, in tenths of a second.
PATIENCE=600


usage() {
    die "usage: ${0##*/} start|stop|kill DIR [OPTION...]"
}


# Debian keeps the server in sbin, which is not on everybody's path.
find_program() {
    PATH=$PATH:/usr/sbin:/usr/local/sbin command -v "$1" \
        || die "$1 is not there; \"make deps\" installs it" \
               "(mariadb-server-core, mariadb-client-core)"
}


running() {
    [ -f "$dir/pid" ] && kill -0 "$(cat "$dir/pid")" 2> /dev/null
}


ask() {
    "$client" --no-defaults --socket="$dir/socket" --user=root \
        --execute="$1" 2> /dev/null
}


start() {
    local as=() tries=0 mariadbd

    mariadbd=$(find_program mariadbd)
    client=$(find_program mariadb)
    [ "$(id -u)" -ne 0 ] || as=(--user=root)

    [ ${#dir} -le 100 ] || die "$dir: too long a path for a socket in it"
    ! running || die "$dir: a server runs there already"
    mkdir -p -m 700 "$dir"

    if [ ! -d "$dir/data/mysql" ]; then
        "$(find_program mariadb-install-db)" --no-defaults "${as[@]}" \
            --datadir="$dir/data" --auth-root-authentication-method=normal \
            --skip-test-db --skip-name-resolve > "$dir/install.log" 2>&1 \
            || { tail -n 20 "$dir/install.log" >&2
                 die "cannot make a database in $dir/data"; }
    fi

    "$mariadbd" --no-defaults "${as[@]}" --datadir="$dir/data" \
        --socket="$dir/socket" --pid-file="$dir/mariadbd.pid" \
        --skip-networking --skip-log-bin --max-connections=500 \
        --innodb-flush-log-at-trx-commit=1 --innodb-buffer-pool-size=128M \
        --character-set-server=utf8mb4 "$@" \
        < /dev/null > "$dir/log" 2>&1 9>&- &
    echo $! > "$dir/pid"

    until ask "CREATE DATABASE IF NOT EXISTS flash_throttle"; do
        tries=$((tries + 1))

        if ! running || [ $tries -ge $PATIENCE ]; then
            tail -n 20 "$dir/log" >&2
            die "the server in $dir does not come up"
        fi

        sleep 0.1
    done
}


stop() {
    local signal=$1 tries=0

    running || { rm -f "$dir/pid"; return 0; }
    kill -s "$signal" "$(cat "$dir/pid")"

    while running; do
        tries=$((tries + 1))
        [ $tries -lt $PATIENCE ] || die "the server in $dir does not end"
        sleep 0.1
    done

    rm -f "$dir/pid"
}


[ $# -ge 2 ] || usage
action=$1 dir=$2
shift 2

case $action in
start) start "$@" ;;
stop)  stop TERM ;;
kill)  stop KILL ;;
*)     usage ;;
esac
