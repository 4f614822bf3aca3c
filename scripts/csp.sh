#!/bin/sh
#
# Prints the Content-Security-Policy of HTML pages, with the SHA-256 of each
# inline script and style.
#
# usage: scripts/csp.sh FILE.html ...

set -eu

# hashes TAG FILE...: prints the hashes of the contents of <TAG> elements.
# <script type=text> is data and not subject to the policy.
hashes() {
    tag=$1
    shift

    for page; do
        { tr '\n' '\001' < "$page"; echo; } \
            | sed "s,<$tag>,\n&,g" \
            | sed -n "s,^<$tag>\(.*\)</$tag>.*,\1,p" \
            | while IFS= read -r text; do
                  printf '%s' "$text" | tr '\001' '\n' | sha256sum
              done
    done | sort -u | while read -r sum _; do
        printf " 'sha256-%s'" \
            "$(printf '%s' "$sum" | tr a-f A-F | basenc --base16 -d | base64)"
    done
}

[ $# -gt 0 ] || { echo "usage: ${0##*/} FILE.html ..." >&2; exit 1; }

echo "Content-Security-Policy of the queue pages:"
printf "default-src 'none'; connect-src 'self'; img-src data:; worker-src data:;"
printf ' script-src%s;' "$(hashes script "$@")"
printf ' style-src%s\n' "$(hashes style "$@")"
