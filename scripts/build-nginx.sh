#!/usr/bin/env bash
#
# Builds nginx, or only the module, and copies the result into $BUILD.
#
# usage: scripts/build-nginx.sh static|plain|dynamic
#
#   static    $BUILD/nginx, with the module built in
#   plain     $BUILD/nginx-plain, the same nginx without the module
#   dynamic   $BUILD/ngx_http_flash_throttle_module.so
#
# NGINX_SRC is the nginx source, default build/nginx-src.  It is never written:
# configure runs in a tree of symbolic links, again only when its inputs change.
# "plain" and "dynamic" share a tree.  A new tree of "static" copies the objects of
# nginx itself from there if they are up to date and compiled with the same options.
# NGINX_OPTIONS are more options of configure, words without spaces.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

MODULE=ngx_http_flash_throttle_module

# The tests and the demo need these modules.  --with-debug is as in Debian's
# nginx; the tests read the debug log.
OPTIONS=(
    --with-compat
    --with-debug
    --with-pcre-jit
    --with-threads
    --with-http_ssl_module
    --with-http_v2_module
    --with-http_realip_module
    --with-http_stub_status_module
    --with-http_auth_request_module
    --with-http_addition_module
    --with-http_sub_module
    --with-http_slice_module
    --with-http_gunzip_module
    --with-http_gzip_static_module
    --error-log-path=stderr
)


choose_source() {
    if [ -z "${NGINX_SRC:-}" ]; then
        scripts/fetch-nginx.sh
        NGINX_SRC=build/nginx-src
    fi

    [ -x "$NGINX_SRC/configure" ] && [ -f "$NGINX_SRC/src/core/nginx.h" ] \
        || die "NGINX_SRC=$NGINX_SRC is not an nginx source tree:" \
               "configure or src/core/nginx.h not found"

    [ "$kind" = dynamic ] || [ -f "$NGINX_SRC/src/core/nginx.c" ] \
        || die "NGINX_SRC=$NGINX_SRC has headers only:" \
               "sufficient for \"make module\", not for nginx"

    NGINX_SRC=$(realpath "$NGINX_SRC")
}


choose_options() {
    local cc_opt="-O2 ${NGINX_CC_OPT:-}" ld_opt=${NGINX_LD_OPT:-} extra

    # NGX_DEBUG_PALLOC: one malloc() per pool allocation, so that ASan detects
    # overruns.  nginx intentionally copies unaligned words and passes null
    # pointers of length 0 to memcpy().
    if [ "${SANITIZE:-0}" = 1 ]; then
        cc_opt="-O1 ${SANITIZE_FLAGS:-} -fno-sanitize=nonnull-attribute"
        cc_opt+=" -DNGX_HAVE_NONALIGNED=0 -DNGX_DEBUG_PALLOC=1"
        ld_opt=${SANITIZE_FLAGS:-}
    fi

    OPTIONS+=(--with-cc-opt="$cc_opt" --with-ld-opt="$ld_opt")

    # nginx 1.25 or later
    if grep -q http_v3_module "$NGINX_SRC/auto/options"; then
        OPTIONS+=(--with-http_v3_module)
    fi

    read -r -a extra <<< "${NGINX_OPTIONS:-}"
    OPTIONS+=("${extra[@]}")

    case $kind in
    static)  OPTIONS+=(--add-module="$root") ;;
    *)       OPTIONS+=(--add-dynamic-module="$root") ;;
    esac
}


signature() {
    printf '%s\n' "$NGINX_SRC" "${OPTIONS[@]}"
    # CC may consist of several words.
    # shellcheck disable=SC2086
    $CC --version
    cat "$NGINX_SRC/src/core/nginx.h" "$root"/config*
    printf '%s\n' "$root"/src/*/*.[ch]
}


configure() {
    local entry

    rm -rf "$tree"
    mkdir -p "$tree"

    for entry in "$NGINX_SRC"/*; do
        case ${entry##*/} in
        Makefile|objs) ;;
        *) ln -s "$entry" "$tree/" ;;
        esac
    done

    say "configuring nginx $(sed -n 's/.*NGINX_VERSION *"\(.*\)"/\1/p' \
                             "$NGINX_SRC/src/core/nginx.h") in $tree"

    if ! (cd "$tree" && ./configure "${OPTIONS[@]}") > "$tree/configure.log" 2>&1
    then
        tail -n 20 "$tree/configure.log" >&2
        die "configure of nginx failed, see $tree/configure.log;" \
            "\"make deps\" installs the required libraries"
    fi

    [ "$kind" != static ] || take_objects "$BUILD/obj/nginx-dynamic"
    signature > "$tree/signature"
}


# compiled_as TREE: all inputs of nginx's objects, except nginx.o, which holds
# the arguments of configure
compiled_as() {
    grep -v NGX_CONFIGURE "$1/objs/ngx_auto_config.h"
    cat "$1/objs/ngx_auto_headers.h"
    grep -E '^(CC|CFLAGS) *=' "$1/objs/Makefile"
}


# take_objects TREE
take_objects() {
    local from=$1 object

    [ -x "$from/objs/nginx" ] || return 0
    (cd "$from" && env -u MAKEFLAGS make -q -f objs/Makefile binary) > /dev/null 2>&1 || return 0
    cmp -s <(compiled_as "$from") <(compiled_as "$tree") || return 0

    # new files: older than the headers, they would be compiled again
    for object in $(cd "$from/objs/src" && find . -name '*.o' ! -name nginx.o); do
        cp "$from/objs/src/$object" "$tree/objs/src/$object"
    done
}


# run_make TARGET: prints compiler output only on failure.  Does not use the job
# slots of the calling make.
run_make() {
    local jobs
    jobs=$(nproc)

    if ! (cd "$tree" && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL \
            make -f objs/Makefile -j "$jobs" "$1") > "$tree/make.log" 2>&1
    then
        grep -v -e '^	' -e '^make' "$tree/make.log" | tail -n 60 >&2
        die "make of nginx failed, see $tree/make.log"
    fi
}


# publish FILE NAME: renames, because the old file may be running.  An identical
# file keeps its timestamp.
publish() {
    local file=$1 name=$2

    if ! cmp -s "$file" "$name"; then
        cp "$file" "$name.new"
        mv -f "$name.new" "$name"
        say "built $name"
    fi
}


kind=${1:-}
cd "$(dirname "$0")/.."
root=$PWD
BUILD=${BUILD:-build}
export CC=${CC:-gcc}

case $kind in
static)  tree=static;  target=binary;  made=nginx;      product=nginx ;;
plain)   tree=dynamic; target=binary;  made=nginx;      product=nginx-plain ;;
dynamic) tree=dynamic; target=modules; made=$MODULE.so; product=$MODULE.so ;;
*)       die "usage: ${0##*/} static|plain|dynamic" ;;
esac

mkdir -p "$BUILD/obj"
tree=$BUILD/obj/nginx-$tree
exec 9> "$tree.lock"
flock 9

choose_source
choose_options

if ! signature | cmp -s - "$tree/signature"; then
    configure
fi

run_make "$target"
publish "$tree/objs/$made" "$BUILD/$product"
