#!/usr/bin/env bash
#
# Reloads nginx under valgrind with shoppers in the queue.  Fails if the master
# or a worker has a memory error or a definite leak.
#
# usage: scripts/valgrind-reload.sh [RELOADS]      default: 100
#
# NGX_DEBUG_PALLOC makes each pool allocation a malloc() of its own.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

PATIENCE=60             # seconds, for each condition

reloads=${1:-100}
cd "$(dirname "$0")/.."
root=$PWD
export BUILD=build/valgrind

have valgrind || die "valgrind not found; run scripts/install-deps.sh valgrind"

NGINX_CC_OPT='-O1 -DNGX_DEBUG_PALLOC=1' scripts/build-nginx.sh static

dir=$(mktemp -d "$root/$BUILD/run.XXXXXX")
port=$(scripts/free-port.pl)
base=http://127.0.0.1:$port
master=

clean_up() {
    [ -z "$master" ] || kill -KILL "$master" 2> /dev/null || true
    rm -rf "$dir"
}
trap clean_up EXIT


# valgrind follows forks, but not children that call exec().
valgrind_here() {
    local reports=$1
    shift

    exec valgrind --leak-check=full --show-leak-kinds=definite \
        --errors-for-leak-kinds=definite --num-callers=30 \
        --suppressions="$root/scripts/valgrind.supp" \
        --log-file="$reports/%p" "$@"
}


# wait_until COMMAND...: fails after PATIENCE seconds.
wait_until() {
    local end=$((SECONDS + PATIENCE))

    until "$@"; do
        [ $SECONDS -lt $end ] || die "timeout of ${PATIENCE} s: $*"
        sleep 0.05
    done
}


worker_pid() {
    curl -fs --max-time 30 "$base/worker" || true
}


answers() {
    [ -n "$(worker_pid)" ]
}


# worker_is_new OLD: sets $worker to the pid of the present worker.
worker_is_new() {
    worker=$(worker_pid)
    [ -n "$worker" ] && [ "$worker" != "$1" ]
}


is_gone() {
    ! kill -0 "$1" 2> /dev/null
}


# First attempt, reload and poll with the ticket, JSON, compressed page, forged
# ticket, stats.
shop() {
    local jar=$dir/jar

    curl -s -o /dev/null -c "$jar" "$base/"
    curl -s -o /dev/null -b "$jar" -c "$jar" "$base/"
    curl -s -o /dev/null -b "$jar" -H 'Flash-Throttle-Poll: 1' "$base/"
    curl -s -o /dev/null -H 'Accept: application/json' "$base/"
    curl -s -o /dev/null --compressed "$base/"
    curl -s -o /dev/null -b flash_throttle_sale=forged "$base/"
    curl -s -o /dev/null "$base/status"
}


# valgrind_fires: succeeds if valgrind detects a deliberate leak.
valgrind_fires() {
    mkdir "$dir/fires"
    printf '%s\n' '#include <stdlib.h>' \
        'int main(void) { void *volatile p = malloc(7); p = NULL; return !!p; }' \
        > "$dir/leak.c"
    ${CC:-cc} -o "$dir/leak" "$dir/leak.c"
    (valgrind_here "$dir/fires" "$dir/leak") || true
    grep -q 'definitely lost' "$dir"/fires/*
}


mkdir "$dir/reports" "$dir/logs"
chmod -R a+rwX "$dir"
head -c 24 /dev/urandom | base64 > "$dir/secret"
echo '<!doctype html><title>Please wait</title>' > "$dir/queue.html"

cat > "$dir/nginx.conf" <<EOF
daemon            off;
worker_processes  1;
error_log         logs/error.log notice;
pid               nginx.pid;

events {
    worker_connections  64;
}

http {
    access_log                  off;
    flash_throttle_secret_file  secret;
    flash_throttle_zone         \$host zone=sale:1m rate=1r/s burst=1 inflight=8;

    server {
        listen  127.0.0.1:$port;

        location = /worker {
            return  200 \$pid;
        }

        location = /status {
            flash_throttle_status;
        }

        location / {
            flash_throttle             zone=sale hold=0;
            flash_throttle_queue_page  queue.html;
            flash_throttle_bind        \$remote_addr;
            flash_throttle_bypass      \$arg_bypass;
            empty_gif;
        }
    }
}
EOF

valgrind_fires || die "valgrind did not report a deliberate leak"

say "reloading $reloads times under valgrind"
valgrind_here "$dir/reports" "$root/$BUILD/nginx" -p "$dir" -c nginx.conf &
master=$!
wait_until answers
worker=$(worker_pid)

for ((i = 1; i <= reloads; i++)); do
    shop
    old=$worker
    kill -HUP "$master"
    wait_until worker_is_new "$old"
    wait_until is_gone "$old"
done

shop
kill -QUIT "$master"
wait "$master" || die "nginx exited with $?: $(tail "$dir/logs/error.log")"
master=

clean=0
faulty=0
for report in "$dir"/reports/*; do
    if grep -q '^==[0-9]*== ERROR SUMMARY: 0 errors' "$report"; then
        clean=$((clean + 1))
    else
        faulty=$((faulty + 1))
        cat "$report" >&2
    fi
done

[ $((clean + faulty)) -gt "$reloads" ] \
    || die "$((clean + faulty)) reports, expected more than $reloads"

say "processes without an error or a definite leak, of $((clean + faulty)):"
say "valgrind: $clean passed, $faulty failed"
[ $faulty -eq 0 ]
