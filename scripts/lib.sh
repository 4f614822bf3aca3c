# shellcheck shell=bash
#
# Functions for all scripts: messages, root, apt.
# Sourced by bash with "set -euo pipefail".

say() {
    printf '%s\n' "$*"
}

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

have() {
    command -v "$1" > /dev/null 2>&1
}

# as_root COMMAND...: runs the command as root, with sudo if necessary.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif have sudo; then
        sudo "$@"
    else
        die "root or sudo required for: $*"
    fi
}

# apt_system ARGS...: non-interactive apt-get; waits for the dpkg lock.
apt_system() {
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -q -o DPkg::Lock::Timeout=300 "$@" < /dev/null
}

debian_release() {
    ( . /etc/os-release && printf '%s' "${VERSION_CODENAME:-}" )
}

# apt_archives: prints "ADDRESS SUITE" for each archive of this release in apt's
# sources.  Offline; apt parses both formats of the sources.
apt_archives() {
    local empty
    empty=$(mktemp -d)

    apt-get -q -o Dir::State::lists="$empty" update --print-uris 2> /dev/null \
        | sed -n "s,^'\(.*\)/dists/\([^/]*\)/\(In\)\{0\,1\}Release'.*,\1 \2,p" \
        | grep " $(debian_release)\(-.*\)\{0,1\}\$" || true
    rm -rf "$empty"
}

# apt_mirror: prints the address of the main archive of this release, which also
# holds the other releases.
apt_mirror() {
    apt_archives | awk -v suite="$(debian_release)" '
        $2 == suite && !found { found = 1; printf "%s", $1 }
        END { exit !found }'
}

die_no_mirror() {
    die "no archive of \"$(debian_release)\" in /etc/apt/sources.list" \
        "and sources.list.d"
}

# apt_private DIR SUITE: prepares an apt in DIR with only SUITE of the mirror.
# Does not change the system's sources and lists.  Sets the array APT_PRIVATE to
# the options for apt-get.  APT_ARCH: the architecture, default this machine's.
apt_private() {
    local dir=$1 suite=$2 mirror
    mirror=$(apt_mirror) || die_no_mirror

    mkdir -p "$dir/lists/partial" "$dir/archives/partial"
    printf 'deb [signed-by=%s] %s %s main\n' \
        /usr/share/keyrings/debian-archive-keyring.gpg "$mirror" "$suite" \
        > "$dir/sources.list"

    APT_PRIVATE=(
        -q
        -o Dir::Etc::sourcelist="$dir/sources.list"
        -o Dir::Etc::sourceparts=/dev/null
        -o Dir::State::lists="$dir/lists"
        -o Dir::Cache="$dir"
        -o APT::Sandbox::User=root
        -o APT::Architecture="${APT_ARCH:-$(dpkg --print-architecture)}"
        -o APT::Architectures="${APT_ARCH:-$(dpkg --print-architecture)}"
        -o Acquire::Languages=none
        -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false
    )

    apt-get "${APT_PRIVATE[@]}" update < /dev/null > "$dir/update.log" 2>&1 \
        || { cat "$dir/update.log" >&2
             die "apt-get update failed for \"$suite\" of $mirror"; }
}

# apt_private_download DIR SUITE PACKAGE...: downloads the .deb files to DIR.
apt_private_download() {
    local dir=$1 suite=$2
    shift 2

    apt_private "$dir" "$suite"
    ( cd "$dir" && apt-get "${APT_PRIVATE[@]}" download "$@" < /dev/null ) \
        || die "apt-get download failed for \"$suite\": $*"
}
