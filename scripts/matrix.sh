#!/usr/bin/env bash
#
# Compiles the module for the nginx of several Debian releases and runs t/ on
# each of them; runs the unit tests for other architectures.
#
# usage: scripts/matrix.sh [SUITE ...]      default: bookworm trixie forky
#
# The module is compiled with the headers of nginx-dev and the compilers of this
# machine; a warning is a failure.  In a chroot of the release it is compiled
# with the release's gcc, and t/ runs on the release's nginx.  The chroots stay
# in build/matrix.
#
# At the end nginx is built with the module and an OpenSSL of its own, from
# Debian's source.  The binary must not link the OpenSSL of the machine.

set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/chroot-lib.sh"

MODULE=ngx_http_flash_throttle_module.so

passed=0
failed=0
skipped=0
table=


# row RESULT WHERE WHAT [NOTE]
row() {
    case $1 in
    passed)  passed=$((passed + 1)) ;;
    FAILED)  failed=$((failed + 1)) ;;
    skipped) skipped=$((skipped + 1)) ;;
    esac

    table+=$(printf '  %-9s %-26s %-28s %s' "$1" "$2" "$3" "${4:-}")$'\n'
}


compiler_name() {
    "$1" --version | sed -n '1s/(.*) //; 1s/^Debian //; 1s/ version//; 1p'
}


# silent LOG: succeeds if the log has no compiler message.
silent() {
    ! grep -E 'warning:|note:|error:' "$1" >&2
}


unpack_headers() {
    local suite=$1 dir=$2

    rm -rf "${dir:?}/dev"
    mkdir -p "$dir"
    (apt_private_download "$dir/apt" "$suite" nginx-dev) > "$dir/apt.log" 2>&1 \
        || { cat "$dir/apt.log" >&2; return 1; }
    dpkg -x "$dir"/apt/nginx-dev_*.deb "$dir/dev"
    rm -rf "$dir/apt"
}


compile_here() {
    local dir=$1 where=$2 cc

    for cc in gcc clang; do
        have $cc || continue

        if BUILD=$dir/$cc CC=$cc NGINX_SRC=$dir/dev/usr/share/nginx/src \
               scripts/build-nginx.sh dynamic \
           && silent "$dir/$cc/obj/nginx-dynamic/make.log"
        then
            row passed "$where" "compiled on host, $(compiler_name $cc)"
        else
            row FAILED "$where" "compiled on host, $(compiler_name $cc)"
        fi
    done
}


# copy_tree DIR: copies all files that git does not ignore.
copy_tree() {
    rm -rf "$1"
    mkdir -p "$1"
    git ls-files -z --cached --others --exclude-standard \
        | tar -c --null --ignore-failed-read -T - | tar -x -C "$1"
}


run_there() {
    local suite=$1 dir=$2 where=$3 chroot=$2/root log=$2/t.log cc

    chroot_make "$chroot" "$suite"
    copy_tree "$chroot/src"
    cp -r "$dir/dev/usr/share/nginx/src" "$chroot/src/build-headers"

    if ! chroot_run "$chroot" sh -c "cd /src && apt-get -q update \
            && apt-get -q install -y --no-install-recommends \
                   nginx gcc libc6-dev make \
            && scripts/install-deps.sh build test" > "$chroot.log" 2>&1
    then
        tail -n 20 "$chroot.log" >&2
        row FAILED "$where" "packages" "see $chroot.log"
        return 0
    fi

    cc=$(chroot_run "$chroot" gcc --version | sed -n '1s/(.*) //p')

    if chroot_run "$chroot" sh -c \
           "cd /src && NGINX_SRC=build-headers scripts/build-nginx.sh dynamic" \
       && silent "$chroot/src/build/obj/nginx-dynamic/make.log"
    then
        row passed "$where" "compiled in chroot, $cc"
    else
        row FAILED "$where" "compiled in chroot, $cc"
        return 0
    fi

    if chroot_run "$chroot" sh -c "cd /src && MODULE_SO=build/$MODULE \
           NGINX_BINARY=/usr/sbin/nginx scripts/prove.sh" 2>&1 | tee "$log"
    then
        row passed "$where" "t/" "$(sed -n 's/^\(Files=.*\), .* wallclock.*/\1/p' "$log")"
    else
        row FAILED "$where" "t/" "see $log"
    fi
}


unpack_openssl() {
    local dir=$1

    [ ! -f "$dir/src/config" ] || return 0

    rm -rf "${dir:?}"
    mkdir -p "$dir/src"
    apt_private "$dir/apt" bookworm
    sed -i 's/^deb /deb-src /' "$dir/apt/sources.list"
    (cd "$dir" && apt-get "${APT_PRIVATE[@]}" update \
        && apt-get "${APT_PRIVATE[@]}" source --download-only openssl) \
        < /dev/null > "$dir/apt.log" 2>&1 \
        || { cat "$dir/apt.log" >&2; return 1; }
    tar -x -C "$dir/src" --strip-components=1 -f "$dir"/openssl_*.orig.tar.gz
}


# one_openssl BINARY: whether it contains the library and loads no other.
one_openssl() {
    local libraries

    libraries=$(ldd "$1")

    [ "$(nm "$1" | grep -c ' T EVP_Digest$')" -eq 1 ] \
        && ! grep -E 'lib(ssl|crypto)' <<< "$libraries" >&2
}


compile_openssl() {
    local dir=$1 what="OpenSSL linked statically"

    if ! unpack_openssl "$dir"; then
        row FAILED nginx "$what" "see $dir/apt.log"

    elif NGINX_OPTIONS="--with-openssl=$dir/src --with-openssl-opt=no-tests" \
         BUILD=$dir/build NGINX_SRC='' scripts/build-nginx.sh static \
         && one_openssl "$dir/build/nginx"
    then
        row passed nginx "$what"

    else
        row FAILED nginx "$what"
    fi
}


run_arch() {
    local arch=$1 log=$root/build/matrix/$1.log

    mkdir -p build/matrix

    if scripts/unit-arch.sh "$arch" 2>&1 | tee "$log"; then
        row passed "$arch (qemu-user)" "unit tests" \
            "$(sed -n 's/^unit tests: //p' "$log")"
    else
        row FAILED "$arch (qemu-user)" "unit tests" "see $log"
    fi
}


cd "$(dirname "$0")/.."
root=$PWD
[ $# -gt 0 ] || set -- bookworm trixie forky

for suite; do
    dir=$root/build/matrix/$suite

    if ! unpack_headers "$suite" "$dir"; then
        row FAILED "$suite" "nginx-dev" "see $dir/apt.log"
        continue
    fi

    version=$(sed -n 's/.*NGINX_VERSION *"\(.*\)"/\1/p' \
                  "$dir/dev/usr/share/nginx/src/src/core/nginx.h")
    where="nginx $version ($suite)"
    say "== $where"

    compile_here "$dir" "$where"

    if reason=$(chroot_check); then
        run_there "$suite" "$dir" "$where"
    else
        row skipped "$where" "t/" "$reason"
    fi
done

say "== OpenSSL linked statically"
compile_openssl "$root/build/matrix/openssl"

for arch in i386 arm64 s390x; do
    run_arch "$arch"
done

say "== matrix"
printf '%s' "$table"
say "matrix: $passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
