#!/usr/bin/env bash
#
# Runs a private MariaDB server: data, socket and log in one directory, without
# network, independent of the server of the machine.
#
# usage: scripts/mariadb.sh start DIR [OPTION...]   options of mariadbd
#        scripts/mariadb.sh stop DIR                stops it, keeps the data
#        scripts/mariadb.sh kill DIR                sends SIGKILL
#
# It listens on DIR/socket only, for "root" without a password, and creates the
# database "flash_throttle".  DIR/pid has its process id.  DIR is created if
# necessary.  The path must be short: a socket path has at most 107 bytes.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

# Timeout of start and stop, in tenths of a second.
TRIES=600


usage() {
    die "usage: ${0##*/} start|stop|kill DIR [OPTION...]"
}


# Debian installs the server in sbin.
find_program() {
    PATH=$PATH:/usr/sbin:/usr/local/sbin command -v "$1" \
        || die "$1 not found (packages mariadb-server-core," \
               "mariadb-client-core)"
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

    [ ${#dir} -le 100 ] || die "$dir: path too long for a socket (100 bytes)"
    ! running || die "$dir: a server is running"
    mkdir -p -m 700 "$dir" "$dir/tmp"

    # a server deletes the temporary tables of others in the same directory
    export TMPDIR=$dir/tmp

    if [ ! -d "$dir/data/mysql" ]; then
        "$(find_program mariadb-install-db)" --no-defaults "${as[@]}" \
            --datadir="$dir/data" --auth-root-authentication-method=normal \
            --skip-test-db --skip-name-resolve > "$dir/install.log" 2>&1 \
            || { tail -n 20 "$dir/install.log" >&2
                 die "creating the database in $dir/data failed"; }
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

        if ! running || [ $tries -ge $TRIES ]; then
            tail -n 20 "$dir/log" >&2
            die "the server in $dir did not start"
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
        [ $tries -lt $TRIES ] || die "the server in $dir did not stop"
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
