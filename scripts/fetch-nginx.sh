#!/usr/bin/env bash
#
# Downloads and unpacks a pinned nginx release into build/nginx-src.
#
# usage: scripts/fetch-nginx.sh
#
# For each release, tries nginx.org, then the Debian mirror in apt's sources.
# The archive must have the SHA-256 below.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

# Debian's "orig" archives are identical to nginx's releases.  The second
# release is the one in Debian 12.
RELEASES=(
    1.26.3 69ee2b237744036e61d24b836668aad3040dda461fe6f570f1787eab570c75aa
    1.22.1 9ebb333a9e82b952acd3e2b4aeb1d4ff6406f72491bab6cd9fe69f0dea737f31
)

NGINX_SITE=${NGINX_SITE:-https://nginx.org/download}


sum_matches() {
    local file=$1 sum=$2

    [ -f "$file" ] && printf '%s  %s\n' "$sum" "$file" \
        | sha256sum --status --check -
}


download() {
    local url=$1 file=$2

    if have curl; then
        curl -fsSL --connect-timeout 10 --max-time 300 -o "$file" "$url"
    elif have wget; then
        wget -q --timeout=10 --tries=1 -O "$file" "$url"
    else
        echo "curl and wget not found" >&2
        return 1
    fi
}


from_site() {
    download "$NGINX_SITE/nginx-$1.tar.gz" "$2"
}


from_apt() {
    local version=$1 file=$2 mirror

    if ! have apt-get; then
        echo "apt-get not found" >&2
        return 1
    fi

    if ! mirror=$(apt_mirror); then
        echo "no archive of this Debian release in apt's sources" >&2
        return 1
    fi

    /usr/lib/apt/apt-helper -o APT::Sandbox::User="$(id -un)" download-file \
        "$mirror/pool/main/n/nginx/nginx_$version.orig.tar.gz" "$file"
}


# fetch VERSION SUM FILE: downloads the archive to FILE and checks it.
fetch() {
    local version=$1 sum=$2 file=$3 place answer

    for place in from_site from_apt; do
        rm -f "$file.part"

        if ! answer=$($place "$version" "$file.part" 2>&1); then
            tried+="  nginx $version, ${place#from_}: ${answer##*$'\n'}"$'\n'
            continue
        fi

        if ! sum_matches "$file.part" "$sum"; then
            tried+="  nginx $version, ${place#from_}: the SHA-256 is"
            tried+=" $(sha256sum < "$file.part" | cut -d ' ' -f 1), not $sum"
            tried+=$'\n'
            rm -f "$file.part"
            continue
        fi

        mv "$file.part" "$file"
        say "nginx $version: fetched (${place#from_}), SHA-256 checked"
        return 0
    done

    return 1
}


unpack() {
    local version=$1 file=$2

    rm -rf build/nginx-src build/nginx-src.new
    mkdir -p build/nginx-src.new
    tar -xzf "$file" -C build/nginx-src.new --strip-components=1 --no-same-owner
    echo "$version" > build/nginx-src.new/.release
    mv build/nginx-src.new build/nginx-src
}


cd "$(dirname "$0")/.."
mkdir -p build/download
exec 9> build/download/lock
flock 9

case " ${RELEASES[*]} " in
*" $(cat build/nginx-src/.release 2> /dev/null || echo none) "*)
    exit 0
esac

tried=
for ((i = 0; i < ${#RELEASES[@]}; i += 2)); do
    version=${RELEASES[i]}
    sum=${RELEASES[i + 1]}
    file=build/download/nginx-$version.tar.gz

    if sum_matches "$file" "$sum" || fetch "$version" "$sum" "$file"; then
        unpack "$version" "$file"
        exit 0
    fi
done

die "no nginx source could be downloaded:
$tried
Put the .tar.gz of one of these releases into build/download/, or set NGINX_SRC
to the source tree of any nginx from 1.22 to 1.30."
