#!/bin/sh
#
# flash-report against the simulator: a log made of a trace gives its figures.

. "$(dirname "$0")/tap.sh"

sim=${FLASH_SIM:-build/flash-sim}
report=${FLASH_REPORT:-build/flash-report}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# the log that nginx would have written: every poll but the last is QUEUED

"$sim" --runs 1 --variant waiting-room --trace "$dir/trace" --json \
    > "$dir/sim.json"

awk -F '\t' '
    NR == 1 { next }
    {
        for (i = 1; i < $5; i++) {
            print "time=0 id=s" NR " status=QUEUED first=" $2 " waited=-"
        }

        if ($3 == "-") {
            print "time=0 id=s" NR " status=QUEUED first=" $2 " waited=-"
        } else {
            printf "time=0 id=s%d status=ADMITTED first=%s waited=%.6f\n", NR,
                   $2, $3 - $2
            print "time=0 id=s" NR " status=PASSED first=" $2 " waited=-"
        }
    }
    NR % 50 == 0 { print "- - [01/Jan/2030] \"GET /favicon.ico\" 404" }
    ' "$dir/trace" > "$dir/log"

"$report" --json "$dir/log" > "$dir/report.json"

agree() {
    perl -MJSON::PP -e '
        local $/;
        open my $a, "<", $ARGV[0] or die;
        open my $b, "<", $ARGV[1] or die;
        my ($sim, $report) = (decode_json(<$a>), decode_json(<$b>));
        exit !(abs($sim->{$ARGV[2]}{mean} - $report->{$ARGV[2]}) < 2e-3);
        ' "$dir/sim.json" "$dir/report.json" "$1"
}

for figure in shoppers admitted polls_per_shopper wait_p50_s wait_p95_s \
              wait_spread_s overtaken kendall_tau worst_inversion_s
do
    ok "$figure of a log is the simulator's" agree $figure
done

has() { grep -q "^\"$1\":$2,\$" "$dir/$3"; }

ok 'lines of another format are counted apart' has other_lines 51 report.json
ok 'requests with a pass are no polls' \
    has passed "$(grep -c PASSED "$dir/log")" report.json

"$report" --json - < "$dir/log" > "$dir/stdin.json"
ok '"-" reads the standard input' cmp -s "$dir/report.json" "$dir/stdin.json"

cat > "$dir/few" <<'END'
id=a status=QUEUED_DRY_RUN first=10.000
id=a status=ADMITTED_DRY_RUN first=10.000 waited=2.000
id=a status=ADMITTED_DRY_RUN first=10.000 waited=5.000
id=b status=ADMITTED first=10.000
id=c status=REJECTED
END
"$report" --json "$dir/few" > "$dir/few.json" 2> "$dir/few.err"
ok 'a dry run is reported, and said to be one' has dry_run 3 few.json
ok 'the first admission of a shopper counts' has wait_p95_s 2.000 few.json
ok 'shoppers are told apart by id' has shoppers 3 few.json
ok 'an admission without its times is left out, with a word' \
    grep -q '1 admissions lack' "$dir/few.err"

: > "$dir/empty"
refuses 'it takes the log_format of docs/log.md' "$report" "$dir/empty"
refuses 'cannot open /nonexistent/log' "$report" /nonexistent/log
refuses 'cannot read' "$report" "$dir"
refuses 'name an access log' "$report"
refuses 'one log at a time' "$report" "$dir/log" "$dir/few"

done_testing
