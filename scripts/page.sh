#!/bin/sh
#
# Writes HTML pages as C strings: DIR/NAME.html becomes the array
# ngx_http_flash_throttle_NAME_html.
#
# usage: scripts/page.sh FILE.html ... > pages.h

set -eu

for page; do
    name=$(basename "$page" .html)

    printf '\nstatic u_char  ngx_http_flash_throttle_%s_html[] =\n' "$name"
    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/?/\\?/g' \
        -e 's/^/    "/' -e 's/$/\\n"/' "$page"
    echo '    ;'
done
