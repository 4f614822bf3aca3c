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
