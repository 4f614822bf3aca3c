#!/bin/sh
#
# flash-sim's command line: reproducible, consistent output and error messages.

. "$(dirname "$0")/tap.sh"

sim=${FLASH_SIM:-build/flash-sim}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

edge="--runs 3 --workers 3 --no-show 0.2 --patience 5-25"

same() { cmp -s "$dir/$1" "$dir/$2"; }
differs() { ! same "$1" "$2"; }

"$sim" $edge --json --trace "$dir/trace" > "$dir/json" 2>&1
"$sim" $edge --json --trace "$dir/trace.again" > "$dir/json.again" 2>&1
"$sim" $edge --json --seed 2 --trace "$dir/trace.2" > "$dir/json.2" 2>&1

ok 'the same seed gives the same trace' \
    same trace trace.again
ok 'the same seed gives the same figures' same json json.again
ok 'another seed gives another trace' differs trace trace.2

"$sim" $edge --runs 1 --trace "$dir/trace.one" > /dev/null
head -n 2561 "$dir/trace" > "$dir/trace.head"
ok 'run 1 does not depend on the number of runs' same trace.one trace.head

ok 'the trace has a header and a line per shopper and run' \
    test "$(wc -l < "$dir/trace")" -eq 7681

# every shopper has an outcome and ascending times

consistent() {
    awk -F '\t' '
        NR == 1 { next }
        $6 == "-" || $4 == "-" || $2 > $4 { bad = 1 }
        $3 != "-" && ($3 + 0 < $2 + 0 || $3 + 0 > $4 + 0) { bad = 1 }
        $6 == "confirmed" && $3 == "-" { bad = 1 }
        $5 < 1 { bad = 1 }
        END { exit bad || NR < 2 }' "$1"
}

# confirmed + declined + sold_out + refused + gave_up + timed_out = shoppers

adds_up() {
    perl -MJSON::PP -e '
        local $/;
        my $j = decode_json(<STDIN>);
        my $m = sub { $j->{$_[0]}{mean} };
        my $sum = 0;
        $sum += $m->($_) for qw(confirmed declined sold_out refused gave_up
                                timed_out);
        exit !(abs($sum - $m->("shoppers")) < 1e-6
               && $j->{confirmed}{p5} <= $m->("confirmed")
               && $m->("confirmed") <= $j->{confirmed}{p95}
               && $m->("orders") <= $m->("confirmed") + $m->("late_charges")
                                    + 1e-6
               && $j->{idle}{mean} <= 1);' < "$1"
}

for variant in naive reserve queue deadline waiting-room edge-lottery \
               edge-proportional edge-fair ideal
do
    for deadline in on off; do
        "$sim" --runs 2 --variant $variant --deadline $deadline --json \
            --stock 900 --patience 5-25 --trace "$dir/trace.v" > "$dir/json.v"

        ok "$variant, deadline $deadline: outcomes add up to shoppers" \
            adds_up "$dir/json.v"
        ok "$variant, deadline $deadline: every shopper has an outcome" \
            consistent "$dir/trace.v"
    done
done

# limits hold in every variant

bounds() { "$sim" --runs 2 "$@" > "$dir/bounds" || ! cat "$dir/bounds"; }

ok 'reserve never oversells' \
    bounds --profile drop --variant reserve --slots 40 --require oversold=0
ok 'the deadline check prevents late charges' \
    bounds --variant waiting-room --deadline on --require late_charges=0
ok 'without the deadline check there are late charges' \
    bounds --deadline off --require 'late_charges>=1'
ok '--inflight limits concurrent requests' \
    bounds --inflight 10 --require 'in_progress_max<=10'
ok '--sessions limits valid passes and uses all of them' \
    bounds --runs 5 --patience 300 --slots 100 --inflight 0 --sessions 20 \
    --session 10 --require 'admitted<=720' --require 'admitted>=600'
ok 'a spent pass frees its session' \
    bounds --runs 5 --patience 300 --slots 100 --inflight 0 --sessions 20 \
    --session 10 --over 0.9 --require 'admitted>=2000'
ok '--sessions with --rate keeps the order' \
    bounds --runs 5 --patience 300 --slots 100 --inflight 0 --rate 15 \
    --sessions 100 --session 20 --over 0.7 --require 'overtaken<=0.001' \
    --require 'polls_per_shopper<=9'
ok '--adapt reduces admissions to a slow payment provider' \
    bounds --runs 3 --profile sim/profiles/adapt.txt --patience 60 \
    --deadline off --rate 40 --inflight 0 --adapt 0.5 \
    --require 'in_progress_max<=40' --require 'confirmed>=1300'
ok '--adapt-by aimd admits more and confirms less' \
    bounds --runs 3 --profile sim/profiles/adapt.txt --patience 60 \
    --deadline off --rate 32 --inflight 0 --adapt 0.5 --adapt-by aimd \
    --require 'in_progress_max>=80' --require 'confirmed<=1000'
ok '--hold 0 holds no request' \
    bounds --hold 0 --require held_max=0
ok '--scale 10 multiplies the shoppers' \
    bounds --scale 10 --variant queue --require shoppers=25600
ok 'without slots the rate paces the ideal variant' \
    bounds --slots 0 --rate 32 --variant ideal --require 'over_admitted<=0' \
    --require 'idle<=0.01' --require 'admitted<=2000'

ok '--help lists the options' \
    sh -c '"$0" --help | grep -q -- --clock-skew' "$sim"

refuses 'invalid value "0" for --runs: expected a number from 1 to 1000000' "$sim" --runs 0
refuses 'invalid value "fast" for --rate' "$sim" --rate fast
refuses 'invalid value "1.5" for --burst: expected an integer' "$sim" --burst 1.5
refuses 'invalid value "fair" for --variant' "$sim" --variant fair
refuses 'invalid value "yes" for --deadline: expected on or off' "$sim" --deadline yes
refuses 'invalid value "soon" for --patience' "$sim" --patience soon
refuses 'open() "flood" failed: No such file or directory' "$sim" --profile flood
refuses '--poll-min must not exceed --poll-max' "$sim" --poll-min 9 --poll-max 3
refuses 'invalid value "often" for --polls' "$sim" --polls often
refuses '--polls requires --variant edge-fair or edge-proportional' \
    "$sim" --variant edge-lottery --polls 1
refuses '--no-show requires --variant waiting-room or an edge variant' \
    "$sim" --variant queue --no-show 0.5
refuses 'the edge requires --slots, --inflight, --rate, --sessions or --adapt' "$sim" --inflight 0
refuses 'invalid value "guess" for --adapt-by: expected window or aimd' "$sim" --adapt-by guess
refuses 'unexpected argument "peak"' "$sim" peak
refuses 'open() "/nonexistent/trace" failed' "$sim" --trace /nonexistent/trace
refuses 'invalid value "fair>=1" for --require' "$sim" --require 'fair>=1'

"$sim" --runs 1 --variant queue --require 'confirmed>=2500' > "$dir/missed"
ok 'a requirement that is not met gives exit status 1' test $? -eq 1
ok 'its row ends with MISSED' grep -q 'MISSED$' "$dir/missed"

done_testing
