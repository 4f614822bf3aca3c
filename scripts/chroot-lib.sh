# shellcheck shell=bash
#
# Minimal Debian chroots.  Sourced after lib.sh; requires root and debootstrap.

# chroot_check: fails if no chroot can be made, and prints the reason.
chroot_check() {
    if [ "$(id -u)" -ne 0 ]; then
        say "not root"
        return 1
    fi

    if ! have debootstrap; then
        say "debootstrap not found"
        return 1
    fi

    if ! unshare --mount --pid --fork true 2> /dev/null; then
        say "unshare --mount --pid failed"
        return 1
    fi
}

# chroot_make DIR SUITE: makes a chroot from apt's mirror, unless DIR has one.
chroot_make() {
    local dir=$1 suite=$2 mirror script

    [ ! -f "$dir.made" ] || return 0

    mirror=$(apt_mirror) || die_no_mirror
    script=$suite
    [ -e "/usr/share/debootstrap/scripts/$suite" ] || script=sid

    say "making a chroot of \"$suite\" in $dir"
    rm -rf --one-file-system "$dir"
    debootstrap --variant=minbase "$suite" "$dir" "$mirror" "$script" \
        > "$dir.log" 2>&1 \
        || die "debootstrap failed, see $dir.log: $(tail -n 1 "$dir.log")"

    printf 'deb %s %s main\n' "$mirror" "$suite" > "$dir/etc/apt/sources.list"
    apt-config dump | grep -E '^Acquire::(http|https|Check|Force)' \
        > "$dir/etc/apt/apt.conf.d/00machine" || true

    chroot_npm "$dir"

    # policy-rc.d: packages do not start their services
    printf '#!/bin/sh\nexit 101\n' > "$dir/usr/sbin/policy-rc.d"
    chmod 755 "$dir/usr/sbin/policy-rc.d"

    touch "$dir.made"
}

# chroot_npm DIR: copies npm's registry address and certificates into the
# chroot.
chroot_npm() {
    local dir=$1 registry authorities

    have npm || return 0
    registry=$(npm config get registry)
    authorities=$(npm config get cafile)
    [ -f "$authorities" ] || authorities=${NODE_EXTRA_CA_CERTS:-}

    printf 'registry=%s\n' "$registry" > "$dir/root/.npmrc"

    if [ -f "$authorities" ]; then
        cp -L "$authorities" "$dir/root/authorities.pem"
        printf 'cafile=/root/authorities.pem\n' >> "$dir/root/.npmrc"
    fi
}


# chroot_run DIR COMMAND...: runs the command in namespaces of its own, which
# end its mounts and processes with it.
chroot_run() {
    local dir=$1
    shift

    cp -L /etc/resolv.conf /etc/hosts "$dir/etc/"

    # shellcheck disable=SC2016 # expanded by the inner shell
    unshare --mount --pid --fork --kill-child sh -c '
        dir=$1
        shift
        mount -t proc proc "$dir/proc" &&
        mount -t devpts -o newinstance,ptmxmode=0666 devpts "$dir/dev/pts" &&
        mount --bind "$dir/dev/pts/ptmx" "$dir/dev/ptmx" &&
        exec chroot "$dir" env -i \
            PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
            DEBIAN_FRONTEND=noninteractive "$@"
        ' sh "$dir" "$@" < /dev/null
}
