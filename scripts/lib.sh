# shellcheck shell=bash
#
# What the scripts share: messages, root, and a private apt.
# Sourced by bash with "set -euo pipefail" in force.

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

# as_root COMMAND...: runs it as root, through sudo where we are not root.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif have sudo; then
        sudo "$@"
    else
        die "needs root for: $*; become root or install sudo"
    fi
}

# apt_system ARGS...: the machine's own apt-get, without questions, waiting for
# another apt that holds the lock.
apt_system() {
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -q -o DPkg::Lock::Timeout=300 "$@" < /dev/null
}

debian_release() {
    ( . /etc/os-release && printf '%s' "${VERSION_CODENAME:-}" )
}

# apt_archives: "ADDRESS SUITE" for each archive of this release in the
# machine's own apt sources, whichever of their formats they are in.
# Asked of apt, offline.
apt_archives() {
    local empty
    empty=$(mktemp -d)

    apt-get -q -o Dir::State::lists="$empty" update --print-uris 2> /dev/null \
        | sed -n "s,^'\(.*\)/dists/\([^/]*\)/\(In\)\{0\,1\}Release'.*,\1 \2,p" \
        | grep " $(debian_release)\(-.*\)\{0,1\}\$" || true
    rm -rf "$empty"
}

# apt_mirror: the address of the archive that holds this release itself, and
# so its neighbours too.
apt_mirror() {
    apt_archives | awk -v suite="$(debian_release)" '
        $2 == suite && !found { found = 1; printf "%s", $1 }
        END { exit !found }'
}

die_no_mirror() {
    die "apt's sources name no archive for \"$(debian_release)\";" \
        "check /etc/apt/sources.list and sources.list.d"
}

# apt_private DIR SUITE: prepares an apt in DIR that knows SUITE of the
# machine's own mirror alone.  The machine's sources and lists stay untouched.
# Its options are left in the array APT_PRIVATE.
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
        -o Acquire::Languages=none
        -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false
    )

    apt-get "${APT_PRIVATE[@]}" update < /dev/null > "$dir/update.log" 2>&1 \
        || { cat "$dir/update.log" >&2
             die "cannot read \"$suite\" from the machine's apt mirror"; }
}

# apt_private_download DIR SUITE PACKAGE...: leaves the .deb files in DIR.
apt_private_download() {
    local dir=$1 suite=$2
    shift 2

    apt_private "$dir" "$suite"
    ( cd "$dir" && apt-get "${APT_PRIVATE[@]}" download "$@" < /dev/null ) \
        || die "cannot download from \"$suite\": $*"
}
