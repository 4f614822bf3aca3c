#!/bin/sh
#
# Short forms of "make predict" and "make fairness": fixed seeds, fewer runs.

. "$(dirname "$0")/tap.sh"

dir=$(dirname "$0")/..
out=$(mktemp)
trap 'rm -f "$out"' EXIT

# each line of a table is a test

table() {
    "$@" > "$out"
    status=$?

    while read -r line; do
        case $line in
        *' ok') ok "$line" true ;;
        *MISSED) ok "$line" false ;;
        esac
    done < "$out"

    if ! grep -q ' MISSED$' "$out"; then
        ok "$(basename "$1") ran in full" test $status -eq 0
    fi
}

table "$dir/predict.sh" 60
table "$dir/fairness.sh" 5

done_testing
