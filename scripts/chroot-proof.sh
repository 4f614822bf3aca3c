#!/usr/bin/env bash
#
# Runs the README's two commands in a clone of HEAD in a bare Debian 12, which
# has only git, make and ca-certificates.
#
# usage: scripts/chroot-proof.sh [COMMAND]
#
#   COMMAND   instead of "DEMO_EXIT=1 make demo && make test"

set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/chroot-lib.sh"

command=${1:-DEMO_EXIT=1 make demo && make test}

cd "$(dirname "$0")/.."
root=$PWD
scripts/install-deps.sh matrix
reason=$(chroot_check) || die "cannot make a chroot: $reason"

dir=$(mktemp -d)
trap 'rm -rf --one-file-system "$dir"' EXIT

chroot_make "$dir/root" bookworm
apt_archives | sed 's/.*/deb & main/' > "$dir/root/etc/apt/sources.list"
chroot_run "$dir/root" sh -c 'apt-get -q update && apt-get -q install -y \
    --no-install-recommends git make ca-certificates' > "$dir/log" 2>&1 \
    || { tail -n 20 "$dir/log" >&2; die "apt-get install failed in the chroot"; }

git clone -q --no-hardlinks "$root" "$dir/root/root/flash_throttle"
say "in a bare Debian 12, at $(git rev-parse --short HEAD): $command"

if chroot_run "$dir/root" sh -c "cd /root/flash_throttle && { $command; }"; then
    say "fresh machine: 1 passed, 0 failed"
else
    say "fresh machine: 0 passed, 1 failed"
    exit 1
fi
