#!/usr/bin/env bash
#
# Runs "make sale": the sale VARIANT; by default the same sale through nginx
# with policy=lottery and policy=fair (or only with POLICY), as a table with a
# column per sale.
#
# Environment: PROFILE VARIANT POLICY SEED LOAD STORE ORDERS, see mk/k6.mk

set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/.."

PROFILE=${PROFILE:-peak}
SEED=${SEED:-1}
LOAD=$(scripts/sale-load.sh)
export LOAD
variants=()


choose_variants() {
    if [ -n "${VARIANT:-}" ]; then
        [ -z "${POLICY:-}" ] \
            || die "POLICY=$POLICY and VARIANT=$VARIANT are exclusive"
        variants=("$VARIANT")
        return
    fi

    case ${POLICY:-} in
    '')           variants=(edge-lottery-deadline edge-fair-deadline) ;;
    fair|lottery) variants=("edge-$POLICY-deadline") ;;
    *)            die "POLICY=$POLICY: must be fair or lottery" ;;
    esac
}


choose_variants
dirs=()

for variant in "${variants[@]}"; do
    dir=build/sale/$PROFILE-$variant-$SEED
    scripts/sale.sh -o "$dir" "$PROFILE" "$variant" "$SEED"
    dirs+=("$dir")

    if [ "$LOAD" = k6 ]; then
        cat "$dir/load.txt"
    fi

    if [ -e "$dir/access.log" ]; then
        say "fairness, from nginx's access log ($variant):"
        build/flash-report "$dir/access.log"
        say ""
    fi
done

[ "$PROFILE" = rehearse ] || scripts/sale-table.pl "${dirs[@]}"
say ""
say "files: ${dirs[*]}"
