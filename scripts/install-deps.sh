#!/usr/bin/env bash
#
# Installs the missing packages for building and testing on Debian.
#
# usage: scripts/install-deps.sh GROUP...
#
#   build     compiler, make, libraries of nginx, the checkout and the tools
#   test      Test::Nginx and the programs of the test suites; Prometheus into
#             build/prometheus
#   valgrind  for "make test-valgrind"
#   matrix    for "make matrix" and "make test-arch"
#   k6        the load generator k6, built with the installed Go
#   report    for "make report"
#   bench     for "make bench"; Debian's nginx into build/bench/debian
#   browser   for "make test-browser" and "make pages", into build/browser
#
# Contacts no package server if nothing is missing.  INSTALL_DEPS=no installs
# nothing.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

K6_VERSION=v2.3.0
GO_MINIMUM=1.25

# The first Debian release that has libtest-nginx-perl.
TEST_NGINX_SUITE=forky


packages_of() {
    case $1 in
    build)
        echo gcc make libc6-dev pkg-config curl ca-certificates \
             libpcre2-dev zlib1g-dev libssl-dev \
             libevent-dev libsqlite3-dev libjansson-dev \
             libcurl4-openssl-dev libmariadb-dev libhiredis-dev
        ;;
    test)
        # the -core packages do not start a service
        echo perl curl procps psmisc openssl libcmocka-dev valgrind \
             mariadb-server-core mariadb-client-core redis-tools
        ;;
    valgrind)
        echo valgrind libc6-dbg curl procps
        ;;
    matrix)
        echo clang debootstrap dpkg-dev make qemu-user \
             gcc-i686-linux-gnu libc6-dev-i386-cross \
             gcc-aarch64-linux-gnu libc6-dev-arm64-cross \
             gcc-s390x-linux-gnu libc6-dev-s390x-cross
        ;;
    k6)
        ;;
    report)
        echo gnuplot-nox perl gzip
        ;;
    bench)
        echo perl curl openssl util-linux nghttp2-client redis-tools valgrind \
             gnuplot-nox mariadb-server-core mariadb-client-core
        ;;
    browser)
        # Node may be installed from another source, with its own npm.
        local node="nodejs npm"
        ! have npm || node=
        echo chromium fonts-dejavu-core perl openssl curl wget nghttp2-client \
             python3 "$node"
        ;;
    *)
        die "unknown group \"$1\"; the groups are:" \
            "build test valgrind matrix k6 report bench browser"
        ;;
    esac
}


# dpkg-query fails if one of the packages is unknown.
missing_packages() {
    local installed

    installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "$@" \
                    2> /dev/null \
                | sed -n 's/ installed$//p') || true

    printf '%s\n' "$@" | sort -u | grep -vxF "$installed" || true
}


install_packages() {
    local missing

    mapfile -t missing < <(missing_packages "$@")
    [ ${#missing[@]} -gt 0 ] || return 0

    say "installing with apt: ${missing[*]}"
    apt_system update
    apt_system install -y --no-install-recommends "${missing[@]}"
}


install_test_nginx() {
    local dir

    ! perl -MTest::Nginx::Socket -e 1 2> /dev/null || return 0

    say "installing with apt: libtest-nginx-perl" \
        "(from \"$TEST_NGINX_SUITE\"; apt's sources are not changed)"

    dir=$(mktemp -d)
    chmod 755 "$dir"
    apt_private_download "$dir" "$TEST_NGINX_SUITE" libtest-nginx-perl
    apt_system update
    apt_system install -y --no-install-recommends \
        "$dir"/libtest-nginx-perl_*.deb
    rm -rf "$dir"
}


# Unpacked, not installed: the package would start a server.
install_prometheus() {
    local dir to=build/prometheus

    ! have prometheus || ! have promtool || return 0
    [ ! -x "$to/usr/bin/promtool" ] || return 0

    say "unpacking Debian's prometheus into $to"

    dir=$(mktemp -d)
    apt_private_download "$dir" "$(debian_release)" prometheus
    mkdir -p "$to"
    dpkg -x "$dir"/prometheus_*.deb "$to"
    rm -rf "$dir"
}


install_k6() {
    local go version bin=build/bin

    for k6 in "$bin/k6" k6; do
        if have "$k6" && "$k6" version 2> /dev/null | grep -q 'k6.* v2\.'; then
            return 0
        fi
    done

    for go in go /usr/local/go/bin/go "$HOME/go/bin/go"; do
        have "$go" || continue
        version=$("$go" env GOVERSION)
        version=${version#go}

        if [ "$(printf '%s\n' "$GO_MINIMUM" "$version" | sort -V | head -n 1)" \
             = "$GO_MINIMUM" ]
        then
            say "installing with $go: k6 $K6_VERSION into $bin"
            mkdir -p "$bin"
            GOBIN=$PWD/$bin "$go" install "go.k6.io/k6/v2@$K6_VERSION" && return 0
            die "building k6 $K6_VERSION failed; install k6 v2 in PATH," \
                "or use \"make sale LOAD=crowd\""
        fi
    done

    die "k6 v2 not found, and no Go $GO_MINIMUM or later to build it;" \
        "install one of them in PATH"
}


# Debian's nginx, its modules and their libraries.  Unpacked, not installed: the
# package would start a server.
install_bench() {
    local dir=$PWD/build/bench/debian deb
    local new=$dir.new

    [ ! -f "$dir/complete" ] || return 0

    say "unpacking into build/bench/debian: nginx, its Lua and njs modules"
    rm -rf "$dir" "$new"
    mkdir -p "$new"
    apt_private_download "$new/apt" "$(debian_release)" \
        nginx nginx-dev libnginx-mod-http-ndk libnginx-mod-http-lua \
        libnginx-mod-http-js lua-resty-core lua-resty-lrucache \
        lua-nginx-redis libluajit2-5.1-2 libpcre3 > "$new.log" 2>&1 \
        || { cat "$new.log" >&2; die "downloading Debian's nginx packages failed"; }

    for deb in "$new"/apt/*.deb; do
        dpkg -x "$deb" "$new"
    done

    rm -rf "$new/apt"
    touch "$new/complete"
    mv "$new" "$dir"
}


# The versions in package-lock.json, without running install scripts.
install_browser() {
    local from=t/browser to=build/browser

    ! cmp -s "$from/package-lock.json" "$to/package-lock.json" \
        || [ ! -f "$to/complete" ] || return 0

    say "installing with npm: playwright-core, axe-core, terser into $to"
    mkdir -p "$to"
    rm -f "$to/complete"
    cp "$from/package.json" "$from/package-lock.json" "$to/"
    ( cd "$to" && npm ci --ignore-scripts --no-audit --no-fund < /dev/null ) \
        || die "npm ci failed in $to; Node 18 or later and access to the npm" \
               "registry are required"
    touch "$to/complete"
}


[ $# -gt 0 ] || die "usage: ${0##*/} GROUP... (build test valgrind matrix k6 report bench browser)"
cd "$(dirname "$0")/.."

wanted=()
for group; do
    packages=$(packages_of "$group")
    read -r -a list <<< "$packages"
    wanted+=("${list[@]}")
done

if [ "${INSTALL_DEPS:-yes}" = no ]; then
    say "INSTALL_DEPS=no: installing nothing"
    exit 0
fi

have apt-get \
    || die "apt-get not found; install the equivalents of these Debian packages:" \
           "${wanted[*]} (and Test::Nginx from CPAN for the tests)," \
           "then set INSTALL_DEPS=no"

install_packages "${wanted[@]}"

for group; do
    case $group in
    test) install_test_nginx; install_prometheus ;;
    k6) install_k6 ;;
    bench) install_bench ;;
    browser) install_browser ;;
    esac
done
