#!/usr/bin/env bash
#
# Runs Test::Nginx suites against an nginx that has the module.
#
# usage: scripts/prove.sh [ARGUMENT of prove ...] [FILE.t ...]
#
#   scripts/prove.sh                            all of t/*.t
#   scripts/prove.sh -v t/cookie.t              one, with every check
#   MODULE_SO=build/x.so NGINX_BINARY=/usr/sbin/nginx scripts/prove.sh
#                                               another nginx, module loaded
#
#   scripts/prove.sh -j1                        one file at a time, for a debugger
#
# Four files run at the same time: they mostly wait.  Each file has its own ports
# and server root, see t/lib/run.sh.  With SANITIZE=1 a report of ASan or UBSan,
# from any process of any test, fails the run even where the test did not notice.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

# nginx takes a variable of this name for the sockets of a binary upgrade
unset NGINX

cd "$(dirname "$0")/.."
root=$PWD
BUILD=${BUILD:-build}
NGINX_BINARY=${NGINX_BINARY:-$BUILD/nginx}

[ -x "$NGINX_BINARY" ] || die "there is no $NGINX_BINARY; \"make\" builds it"
perl -MTest::Nginx::Socket -e 1 2> /dev/null \
    || die "Test::Nginx is not installed; scripts/install-deps.sh test does that"


# sanitizer_fires: a detector that never fired proves nothing.  A program
# with one overrun, built as nginx was, has to leave a report.
sanitizer_fires() {
    local dir=$1

    cat > "$dir/overrun.c" <<'EOF'
#include <stdlib.h>

int
main(int argc, char **argv)
{
    char  *p = malloc(argc);

    (void) argv;
    return p[argc];
}
EOF
    # SANITIZE_FLAGS is a list of words
    # shellcheck disable=SC2086
    ${CC:-cc} ${SANITIZE_FLAGS:-} -o "$dir/overrun" "$dir/overrun.c"
    ! "$dir/overrun" 2> /dev/null && rm "$dir"/log/report*
}


servroot=$(mktemp -d "$root/$BUILD/t.XXXXXX")
chmod 755 "$servroot"       # for workers that have left root's rights
reports=$servroot.reports
trap 'rm -rf "$servroot" "$reports"' EXIT

export TEST_NGINX_BINARY PROVE_DIR=$servroot
TEST_NGINX_BINARY=$(realpath "$NGINX_BINARY")

if [ -n "${MODULE_SO:-}" ]; then
    TEST_NGINX_LOAD_MODULES=$(realpath "$MODULE_SO")
    export TEST_NGINX_LOAD_MODULES
fi

if [ "${SANITIZE:-0}" = 1 ]; then
    mkdir -p "$reports/log"

    # workers that have left root's rights report, too
    chmod 777 "$reports/log"

    # nginx frees nothing on its way out, so leaks are for valgrind; each dynamic
    # module has a table of the same name.  Test::Nginx puts the name of the test
    # behind log_path, and splits at commas.
    export ASAN_OPTIONS=detect_leaks=0,detect_odr_violation=0,log_path=$reports/log/report
    export UBSAN_OPTIONS=print_stacktrace=1,log_path=$reports/log/report
    sanitizer_fires "$reports" \
        || die "the sanitizers report nothing, not even on a planted fault"

fi

# seconds to wait for an answer or for the end of nginx
export TEST_NGINX_TIMEOUT=${TEST_NGINX_TIMEOUT:-30}

files=0
for argument; do
    case $argument in
    *.t) files=1 ;;
    esac
done

if [ $files = 0 ]; then
    compgen -G 't/*.t' > /dev/null || die "there is no test in $root/t"

    # the longest first, so that no other waits for one of them at the end
    mapfile -t slow < <(ls t/*-{workers,log-lines,opens,adapt}.t 2> /dev/null || true)
    mapfile -t other < <(printf '%s\n' t/*.t "${slow[@]}" | sort | uniq -u)
    set -- "$@" "${slow[@]}" "${other[@]}"
fi

PROVE_PORT=${TEST_NGINX_PORT:-$(scripts/free-port.pl $((4 * $(set -- t/*.t; echo $#))))}
export PROVE_PORT

status=0
prove -j4 --exec t/lib/run.sh "$@" || status=$?

if [ "${SANITIZE:-0}" = 1 ] && [ -n "$(ls "$reports/log")" ]; then
    cat "$reports"/log/report* >&2
    die "the sanitizers reported what is printed above"
fi

exit $status
