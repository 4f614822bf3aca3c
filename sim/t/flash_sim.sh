#!/bin/sh
#
# flash-sim's command line: reproducible, consistent, clear about mistakes.

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

ok 'the same seed gives the same sale, shopper by shopper' \
    same trace trace.again
ok 'and the same figures' same json json.again
ok 'another seed gives another sale' differs trace trace.2

"$sim" $edge --runs 1 --trace "$dir/trace.one" > /dev/null
head -n 2561 "$dir/trace" > "$dir/trace.head"
ok 'run 1 is the same, however many follow' same trace.one trace.head

ok 'the trace has a head and one line a shopper and run' \
    test "$(wc -l < "$dir/trace")" -eq 7681

# every shopper has one outcome, is admitted after it came and ends after that

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

        ok "$variant, deadline $deadline: the figures are JSON and add up" \
            adds_up "$dir/json.v"
        ok "$variant, deadline $deadline: every shopper's story is whole" \
            consistent "$dir/trace.v"
    done
done

# what a sale must be whatever the edge does

bounds() { "$sim" --runs 2 "$@" > "$dir/bounds" || ! cat "$dir/bounds"; }

ok 'reserving never oversells, with any number of slots' \
    bounds --profile drop --variant reserve --slots 40 --require oversold=0
ok 'the deadline check charges nobody late, whatever stands before it' \
    bounds --variant waiting-room --deadline on --require late_charges=0
ok 'without it the edge charges some late' \
    bounds --deadline off --require 'late_charges>=1'
ok 'the bound on requests in flight holds' \
    bounds --inflight 10 --require 'in_progress_max<=10'
ok 'passes alive are bounded, and no place stays empty' \
    bounds --runs 5 --patience 300 --slots 100 --inflight 0 --sessions 20 \
    --session 10 --require 'admitted<=720' --require 'admitted>=600'
ok 'a pass that is over frees its place' \
    bounds --runs 5 --patience 300 --slots 100 --inflight 0 --sessions 20 \
    --session 10 --over 0.9 --require 'admitted>=2000'
ok 'beside a rate, nobody is overtaken for it' \
    bounds --runs 5 --patience 300 --slots 100 --inflight 0 --rate 15 \
    --sessions 100 --session 20 --over 0.7 --require 'overtaken<=0.001' \
    --require 'polls_per_shopper<=9'
ok 'what is let in follows a payment provider that slows down' \
    bounds --runs 3 --profile sim/profiles/adapt.txt --patience 60 \
    --deadline off --rate 40 --inflight 0 --adapt 0.5 \
    --require 'in_progress_max<=40' --require 'confirmed>=1300'
ok 'better than by additive increase and multiplicative decrease' \
    bounds --runs 3 --profile sim/profiles/adapt.txt --patience 60 \
    --deadline off --rate 32 --inflight 0 --adapt 0.5 --adapt-by aimd \
    --require 'in_progress_max>=80' --require 'confirmed<=1000'
ok 'nobody is held when hold is 0' \
    bounds --hold 0 --require held_max=0
ok 'a sale ten times as large has ten times the shoppers' \
    bounds --scale 10 --variant queue --require shoppers=25600
ok 'without slots, the ideal line is paced by the rate' \
    bounds --slots 0 --rate 32 --variant ideal --require 'over_admitted<=0' \
    --require 'idle<=0.01' --require 'admitted<=2000'

ok 'the help names every option of the usage' \
    sh -c '"$0" --help | grep -q -- --clock-skew' "$sim"

refuses '--runs takes a number from 1 to 1000000, not "0"' "$sim" --runs 0
refuses '--rate takes a number' "$sim" --rate fast
refuses '--burst takes a whole number, not "1.5"' "$sim" --burst 1.5
refuses '--variant takes naive, reserve' "$sim" --variant fair
refuses '--deadline takes on or off' "$sim" --deadline yes
refuses '--patience takes seconds as 15' "$sim" --patience soon
refuses 'is not drop, low or peak, and cannot be read' "$sim" --profile flood
refuses '--poll-min must not exceed --poll-max' "$sim" --poll-min 9 --poll-max 3
refuses '--polls takes seconds in a form of --patience' "$sim" --polls often
refuses '--polls needs a variant that tells when to come back' \
    "$sim" --variant edge-lottery --polls 1
refuses '--no-show needs a variant where shoppers poll' \
    "$sim" --variant queue --no-show 0.5
refuses '--rate or --sessions must bound the admissions' "$sim" --inflight 0
refuses '--adapt-by takes window or aimd' "$sim" --adapt-by guess
refuses '"peak" is not an option' "$sim" peak
refuses 'cannot write /nonexistent/trace' "$sim" --trace /nonexistent/trace
refuses '--require takes up to' "$sim" --require 'fair>=1'

"$sim" --runs 1 --variant queue --require 'confirmed>=2500' > "$dir/missed"
ok 'a bound that is missed: exit status 1' test $? -eq 1
ok 'and the line says so' grep -q 'MISSED$' "$dir/missed"

done_testing
