#!/usr/bin/env bash
#
# Builds nginx, or the module alone, in a tree of its own, and copies what came
# out into $BUILD.
#
# usage: scripts/build-nginx.sh static|plain|dynamic
#
#   static    $BUILD/nginx, the module built in
#   plain     $BUILD/nginx-plain, the same nginx without the module
#   dynamic   $BUILD/ngx_http_flash_throttle_module.so
#
# NGINX_SRC is nginx's source, build/nginx-src by default.  It is only read:
# nginx's configure writes where it is called, so it is called in a tree of
# links.  A tree is configured anew when what it was configured from changes;
# otherwise nginx's own makefile builds only what a touched file asks for.
# NGINX_OPTIONS are more options of configure, words without spaces.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

MODULE=ngx_http_flash_throttle_module

# What the tests and the demo use, on top of what nginx always builds.
# --with-debug, because Debian's nginx has it too: its price, when the debug
# log is off, is a test of one word a line, and the tests can read the log.
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
        || die "NGINX_SRC=$NGINX_SRC is no nginx source: configure and" \
               "src/core/nginx.h are not there; name the folder that holds them"

    [ "$kind" = dynamic ] || [ -f "$NGINX_SRC/src/core/nginx.c" ] \
        || die "NGINX_SRC=$NGINX_SRC holds headers only, enough for" \
               "\"make module\"; to build nginx name a full source tree"

    NGINX_SRC=$(realpath "$NGINX_SRC")
}


choose_options() {
    local cc_opt="-O2 ${NGINX_CC_OPT:-}" ld_opt=${NGINX_LD_OPT:-} extra

    # Every pool allocation on its own, so that an overrun meets a red zone;
    # nginx copies unaligned words and hands memcpy() a null pointer of length
    # 0, both on purpose.
    if [ "${SANITIZE:-0}" = 1 ]; then
        cc_opt="-O1 ${SANITIZE_FLAGS:-} -fno-sanitize=nonnull-attribute"
        cc_opt+=" -DNGX_HAVE_NONALIGNED=0 -DNGX_DEBUG_PALLOC=1"
        ld_opt=${SANITIZE_FLAGS:-}
    fi

    OPTIONS+=(--with-cc-opt="$cc_opt" --with-ld-opt="$ld_opt")

    # from 1.25 on
    if grep -q http_v3_module "$NGINX_SRC/auto/options"; then
        OPTIONS+=(--with-http_v3_module)
    fi

    read -r -a extra <<< "${NGINX_OPTIONS:-}"
    OPTIONS+=("${extra[@]}")

    case $kind in
    static)  OPTIONS+=(--add-module="$root") ;;
    dynamic) OPTIONS+=(--add-dynamic-module="$root") ;;
    esac
}


signature() {
    printf '%s\n' "$NGINX_SRC" "${OPTIONS[@]}"
    # CC may be several words
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
                             "$NGINX_SRC/src/core/nginx.h") ($kind) in $tree"

    if ! (cd "$tree" && ./configure "${OPTIONS[@]}") > "$tree/configure.log" 2>&1
    then
        tail -n 20 "$tree/configure.log" >&2
        die "nginx's configure failed; the whole log is $tree/configure.log;" \
            "\"make deps\" installs the libraries that it needs"
    fi

    signature > "$tree/signature"
}


# run_make TARGET: quiet about what it compiles, not about what goes wrong.
# Its own jobs, not those of the make that called us.
run_make() {
    local jobs
    jobs=$(nproc)

    if ! (cd "$tree" && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL \
            make -f objs/Makefile -j "$jobs" "$1") > "$tree/make.log" 2>&1
    then
        grep -v -e '^	' -e '^make' "$tree/make.log" | tail -n 60 >&2
        die "building nginx failed; the whole log is $tree/make.log"
    fi
}


# publish FILE NAME: replaces rather than overwrites, since the old one may be
# running, and leaves an equal one alone, so that nothing is rebuilt for it.
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
tree=$BUILD/obj/nginx-$kind

case $kind in
static)  target=binary;  made=nginx;      product=nginx ;;
plain)   target=binary;  made=nginx;      product=nginx-plain ;;
dynamic) target=modules; made=$MODULE.so; product=$MODULE.so ;;
*)       die "usage: ${0##*/} static|plain|dynamic" ;;
esac

mkdir -p "$BUILD/obj"
exec 9> "$BUILD/obj/nginx-$kind.lock"
flock 9

choose_source
choose_options

if ! signature | cmp -s - "$tree/signature"; then
    configure
fi

run_make "$target"
publish "$tree/objs/$made" "$BUILD/$product"
