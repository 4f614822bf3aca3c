#!/usr/bin/env bash
#
# A Redis (or Valkey) of one's own: its data in a folder, reached by a Unix
# socket in it, no TCP, nothing written to disk.
#
# usage: scripts/private-redis.sh start DIR    DIR/redis.sock answers after it
#        scripts/private-redis.sh stop DIR     stops it by the id in DIR
#
# Debian keeps the program that is also the server in redis-tools, which, unlike
# redis-server, starts no service on the machine: it goes by the name by which
# it is called.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

# Nothing takes a fraction of this; it only ends a wait for what never comes.
TRIES=600


server_of() {
    local dir=$1 name

    for name in redis-server valkey-server; do
        if have "$name"; then
            command -v "$name"
            return
        fi
    done

    for name in redis valkey; do
        if have "$name-check-rdb"; then
            ln -sf "$(command -v "$name-check-rdb")" "$dir/$name-server"
            echo "$dir/$name-server"
            return
        fi
    done

    die "there is neither Redis nor Valkey here;" \
        "scripts/install-deps.sh test installs one (Debian's redis-tools)"
}


start() {
    local dir=$1 server tries=0

    mkdir -p "$dir"
    dir=$(cd "$dir" && pwd)
    [ ${#dir} -lt 90 ] \
        || die "$dir: too long for the path of a socket; give a shorter folder"
    server=$(server_of "$dir")

    "$server" --port 0 --unixsocket "$dir/redis.sock" --unixsocketperm 700 \
        --dir "$dir" --save "" --appendonly no --daemonize yes \
        --pidfile "$dir/redis.pid" --logfile "$dir/redis.log" > /dev/null

    until [ -S "$dir/redis.sock" ] && [ -s "$dir/redis.pid" ]; do
        tries=$((tries + 1))
        if [ $tries -ge $TRIES ]; then
            tail -n 5 "$dir/redis.log" >&2 || true
            die "Redis does not come up; see $dir/redis.log"
        fi
        sleep 0.05
    done
}


stop() {
    local dir=$1 pid tries=0

    [ -s "$dir/redis.pid" ] || return 0
    pid=$(cat "$dir/redis.pid")
    kill -TERM "$pid" 2> /dev/null || true

    # a process that nobody has waited for yet is gone as well
    while grep -q '^State:[[:space:]]*[^Z]' "/proc/$pid/status" 2> /dev/null; do
        tries=$((tries + 1))
        [ $tries -ne $TRIES ] || kill -KILL "$pid" 2> /dev/null || true
        sleep 0.05
    done

    rm -f "$dir/redis.pid" "$dir/redis.sock"
}


[ $# -eq 2 ] || die "usage: ${0##*/} start|stop DIR"

case $1 in
start) start "$2" ;;
stop)  stop "$2" ;;
*)     die "usage: ${0##*/} start|stop DIR" ;;
esac
