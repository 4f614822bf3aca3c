# shellcheck shell=bash
#
# Servers that a script starts, waits for, and stops however it ends.
# Sourced by bash, after lib.sh; DIR is the script's folder, for their words.

pids=()


fetch() { curl -sf --noproxy '*' --max-time 5 "$@"; }


# start NAME COMMAND...: in the background, its words in NAME.log.  In a session
# of its own: Ctrl-C at the terminal is for the script, which stops in order.
start() {
    local name=$1
    shift

    setsid "$@" > "$DIR/$name.log" 2>&1 < /dev/null &
    pids+=($!)
}


# answers NAME URL: waits until it does; its process was started last.
answers() {
    local name=$1 url=$2 tries

    for ((tries = 0; tries < 300; tries++)); do
        ! fetch -o "$DIR/answer" "$url" || return 0
        kill -0 "${pids[-1]}" 2> /dev/null || break
        sleep 0.1
    done

    cat "$DIR/$name.log" "$DIR"/error.log >&2 2> /dev/null || true
    die "$name does not answer at $url; its last words are above, and in $DIR"
}


# Backwards, each when the one that uses it has ended: payments under way are
# recorded.
stop_servers() {
    local i

    for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
        kill -TERM "${pids[i]}" 2> /dev/null || true
        wait "${pids[i]}" 2> /dev/null || true
    done

    pids=()
}


# stop_with COMMAND: runs it however the script ends, by a signal too.
stop_with() {
    # shellcheck disable=SC2064 # the command is known now
    trap "$1" EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    trap 'exit 129' HUP
}
