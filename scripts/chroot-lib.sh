# shellcheck shell=bash
#
# A small Debian of any release in a folder, to run things in.
# Sourced after lib.sh; needs root and debootstrap.

# chroot_check: says what is missing, and fails, where no chroot can be made.
chroot_check() {
    if [ "$(id -u)" -ne 0 ]; then
        say "not root"
        return 1
    fi

    if ! have debootstrap; then
        say "debootstrap is not installed"
        return 1
    fi

    if ! unshare --mount --pid --fork true 2> /dev/null; then
        say "the kernel gives no mount namespace here"
        return 1
    fi
}

# chroot_make DIR SUITE: from the machine's own mirror; keeps what is there.
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
        || die "debootstrap failed: $(tail -n 1 "$dir.log"); see $dir.log"

    printf 'deb %s %s main\n' "$mirror" "$suite" > "$dir/etc/apt/sources.list"
    apt-config dump | grep -E '^Acquire::(http|https|Check|Force)' \
        > "$dir/etc/apt/apt.conf.d/00machine" || true

    chroot_npm "$dir"

    # no package may start its server
    printf '#!/bin/sh\nexit 101\n' > "$dir/usr/sbin/policy-rc.d"
    chmod 755 "$dir/usr/sbin/policy-rc.d"

    touch "$dir.made"
}

# chroot_npm DIR: the registry that the machine's npm asks, and whom it trusts.
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


# chroot_run DIR COMMAND...: in namespaces of its own, so that no mount and no
# process of it outlives the command.
chroot_run() {
    local dir=$1
    shift

    cp -L /etc/resolv.conf /etc/hosts "$dir/etc/"

    # shellcheck disable=SC2016 # the inner shell expands them
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
