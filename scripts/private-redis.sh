#!/usr/bin/env bash
#
# Runs a private Redis or Valkey server on a Unix socket in a directory, without
# TCP and without persistence.
#
# usage: scripts/private-redis.sh start DIR    listens on DIR/redis.sock
#        scripts/private-redis.sh stop DIR
#
# Debian's package redis-tools is sufficient and, unlike redis-server, starts no
# service: redis-check-rdb is the same binary, which acts by its name.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

# Timeout of start and stop, in twentieths of a second.
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

    die "neither Redis nor Valkey found (package redis-tools)"
}


start() {
    local dir=$1 server tries=0

    mkdir -p "$dir"
    dir=$(cd "$dir" && pwd)
    [ ${#dir} -lt 90 ] \
        || die "$dir: path too long for a socket (90 bytes)"
    server=$(server_of "$dir")

    "$server" --port 0 --unixsocket "$dir/redis.sock" --unixsocketperm 700 \
        --dir "$dir" --save "" --appendonly no --daemonize yes \
        --pidfile "$dir/redis.pid" --logfile "$dir/redis.log" > /dev/null

    until [ -S "$dir/redis.sock" ] && [ -s "$dir/redis.pid" ]; do
        tries=$((tries + 1))
        if [ $tries -ge $TRIES ]; then
            tail -n 5 "$dir/redis.log" >&2 || true
            die "Redis did not start; log: $dir/redis.log"
        fi
        sleep 0.05
    done
}


stop() {
    local dir=$1 pid tries=0

    [ -s "$dir/redis.pid" ] || return 0
    pid=$(cat "$dir/redis.pid")
    kill -TERM "$pid" 2> /dev/null || true

    # a zombie has ended
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
