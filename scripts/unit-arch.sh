#!/usr/bin/env bash
#
# Builds the unit tests for other architectures and runs them with qemu-user.
#
# usage: scripts/unit-arch.sh [ARCH ...]      default: i386 arm64 s390x
#
#   i386    32-bit
#   arm64   weak memory order
#   s390x   big-endian
#
# The cross compilers bring their C library.  The other libraries are unpacked
# from Debian's packages of the architecture: the packages and architectures of
# this machine stay as they are.
#
#   UNIT_TESTS="test_a test_b"   these tests only

set -euo pipefail
. "$(dirname "$0")/lib.sh"

LIBRARIES="libssl3 libssl-dev libcmocka0 libcmocka-dev"


# target_of ARCH: sets the GNU triplet and the emulator.
target_of() {
    case $1 in
    i386)  triplet=i686-linux-gnu    multiarch=i386-linux-gnu emulator=qemu-i386 ;;
    arm64) triplet=aarch64-linux-gnu multiarch=$triplet emulator=qemu-aarch64 ;;
    s390x) triplet=s390x-linux-gnu   multiarch=$triplet emulator=qemu-s390x ;;
    *)     die "unknown architecture \"$1\"; known are: i386 arm64 s390x" ;;
    esac

    have "$triplet-gcc" || die "$triplet-gcc not found"
    have "$emulator" || die "$emulator not found"
}


unpack_libraries() {
    local arch=$1 dir=$2 deb

    [ ! -f "$dir/complete" ] || return 0

    say "unpacking into $dir: $LIBRARIES ($arch)"
    rm -rf "$dir"
    mkdir -p "$dir"

    # shellcheck disable=SC2086
    ( APT_ARCH=$arch apt_private_download "$dir/apt" "$(debian_release)" $LIBRARIES ) \
        > "$dir/apt.log" 2>&1 || { cat "$dir/apt.log" >&2; return 1; }

    for deb in "$dir"/apt/*.deb; do
        dpkg -x "$deb" "$dir"
    done

    rm -rf "$dir/apt"
    touch "$dir/complete"
}


run_tests() {
    local arch=$1 triplet multiarch emulator dir build programs
    target_of "$arch"

    dir=$PWD/build/arch/$arch/debian
    build=build/arch/$arch
    unpack_libraries "$arch" "$dir"

    # shellcheck disable=SC2086
    programs=$(printf "$build/unit/%s " \
                   ${UNIT_TESTS:-$(cd t/unit && echo test_*.c | sed 's/\.c//g')})

    say "== $arch: $("$triplet-gcc" --version | head -n 1)"

    # shellcheck disable=SC2086
    "${MAKE:-make}" --no-print-directory BUILD="$build" CC="$triplet-gcc" \
        AR="$triplet-gcc-ar" \
        CFLAGS="-O2 -g -Wall -Wextra -Werror -isystem $dir/usr/include -isystem $dir/usr/include/$multiarch" \
        LDFLAGS_EXTRA="-L$dir/usr/lib/$multiarch -Wl,-rpath-link,$dir/usr/lib/$multiarch" \
        $programs > "$build/make.log" 2>&1 \
        || { tail -n 20 "$build/make.log" >&2; return 1; }

    # shellcheck disable=SC2086
    QEMU_LD_PREFIX="/usr/$triplet" \
        UNIT_RUN="$emulator -E LD_LIBRARY_PATH=$dir/usr/lib/$multiarch" \
        t/unit/run.sh $programs
}


cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- i386 arm64 s390x

failed=
for arch; do
    run_tests "$arch" || failed+=" $arch"
done

[ -z "$failed" ] || die "unit tests failed:$failed"
