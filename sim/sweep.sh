#!/bin/sh
#
# Where the engine breaks: one parameter at a time is moved away from its
# default, and the sale's figures are drawn over it.
#
# usage: sim/sweep.sh DIR PLOTS [RUNS]
#
# Leaves DIR/NAME.tsv (columns: see the head of each) and PLOTS/NAME.png.

set -eu

dir=${1:?usage: sim/sweep.sh DIR PLOTS [RUNS]}
plots=${2:?usage: sim/sweep.sh DIR PLOTS [RUNS]}
runs=${3:-40}
sim=${FLASH_SIM:-build/flash-sim}
here=$(dirname "$0")

command -v gnuplot > /dev/null || {
    echo "make sweep draws with gnuplot: install gnuplot-nox" >&2
    exit 1
}

mkdir -p "$dir" "$plots"

# means SIM OPTIONS...: one line of a table
means() {
    program=$1
    shift
    "$program" --runs "$runs" --json "$@" | perl -MJSON::PP -0777 -ne '
        my $j = decode_json($_);
        print join("\t", map { $j->{$_}{mean} // "nan" }
            qw(confirmed idle overtaken wait_spread_s polls_per_shopper
               worst_inversion_s in_progress_max)), "\n"'
}

# ideals OPTIONS...: what the ideal line confirms, of either crowd
ideals() {
    ideal15=$(means "$sim" --variant ideal "$@" | cut -f 1)
    ideal5_25=$(means "$sim" --variant ideal --patience 5-25 "$@" | cut -f 1)
}

# point NAME X SIM OPTIONS...: two crowds, one line
point() {
    table=$dir/$1.tsv
    x=$2
    shift 2

    {
        printf '%s\t%s\t' "$x" "$ideal15"
        means "$@" | tr '\n' '\t'
        printf '%s\t' "$ideal5_25"
        means "$@" --patience 5-25
    } >> "$table"
}

begin() {
    echo "$1"
    printf '%s\tideal\tconfirmed\tidle\tovertaken\tspread\tpolls\tinversion\tin_progress\t' \
        "$1" > "$dir/$1.tsv"
    printf 'ideal_5_25\tconfirmed_5_25\tidle_5_25\tovertaken_5_25\tspread_5_25\tpolls_5_25\tinversion_5_25\tin_progress_5_25\n' \
        >> "$dir/$1.tsv"
}

# sweep OPTION X...
sweep() {
    option=$1
    shift
    begin "$option"

    for x; do
        point "$option" "$x" "$sim" --"$option" "$x"
    done
}

# build NAME FLAGS: a simulator with another constant in the core
build() {
    ${MAKE:-make} --no-print-directory BUILD="$dir/$1" SANITIZE=0 \
        CFLAGS="-O2 -Wall -Wextra -Werror $2" "$dir/$1/flash-sim" > /dev/null
}

ideals

sweep poll-min 0.1 0.2 0.3 0.5 0.75 1 1.5 2 3
sweep poll-max 1 2 3 5 8 15 25 40 55
sweep hold 0 0.1 0.25 0.5 1 2 3 5
sweep inflight 8 9 10 12 14 16 20 24 32 48 64
sweep rate 24 28 32 40 48 64 96 128 256

# a bucket without slots behind it

begin burst
ideals --slots 0 --rate 32
for x in 1 2 4 8 16 32 64; do
    point burst $x "$sim" --slots 0 --rate 32 --burst $x
done

ideals

begin no-show
for x in 0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9; do
    point no-show $x "$sim" --no-show $x
done

# how many times as many shoppers as checkout can take

begin overload
for x in 1.25 1.5 2 2.5 3 4 5; do
    awk -v r="$x" 'BEGIN { r *= 32; print 10, 0, r; print 30, r, r;
                           print 10, r, 0 }' > "$dir/overload.txt"
    ideals --profile "$dir/overload.txt"
    point overload "$x" "$sim" --profile "$dir/overload.txt"
done

ideals

begin tick
for x in 25 50 100 200 400 800 1600; do
    build "tick-$x" "-DFT_TICK_MS=$x"
    point tick $x "$dir/tick-$x/flash-sim"
done

# the proportional controller: gain, sampled every second and every five

for sample in 1000 5000; do
    begin "gain-$sample"

    for x in 100 250 500 1000 2000 4000; do
        build "gain-$x-$sample" "-DFT_KP_MILLI=$x -DFT_EDGE_SAMPLE_MS=$sample"
        point "gain-$sample" $x "$dir/gain-$x-$sample/flash-sim" \
            --variant edge-proportional
    done
done

# who was served when

for variant in edge-lottery edge-proportional edge-fair ideal; do
    "$sim" --runs 1 --variant $variant --trace "$dir/$variant.trace" \
        > /dev/null
done

gnuplot -e "dir='$dir'; plots='$plots'" "$here/sweep.gp"
echo "drawn: $plots/*.png"
