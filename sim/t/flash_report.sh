#!/bin/sh
#
# flash-report on a log made from a trace prints the simulator's figures.

. "$(dirname "$0")/tap.sh"

sim=${FLASH_SIM:-build/flash-sim}
report=${FLASH_REPORT:-build/flash-report}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# as nginx logs it: each poll except the last is QUEUED

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
    ok "$figure of the log equals the simulator's" agree $figure
done

has() { grep -q "^\"$1\":$2,\$" "$dir/$3"; }

ok 'lines of another format are counted separately' has other_lines 51 report.json
ok 'requests with a pass are not polls' \
    has passed "$(grep -c PASSED "$dir/log")" report.json

"$report" --json - < "$dir/log" > "$dir/stdin.json"
ok '"-" reads standard input' cmp -s "$dir/report.json" "$dir/stdin.json"

cat > "$dir/few" <<'END'
id=a status=QUEUED_DRY_RUN first=10.000
id=a status=ADMITTED_DRY_RUN first=10.000 waited=2.000
id=a status=ADMITTED_DRY_RUN first=10.000 waited=5.000
id=b status=ADMITTED first=10.000
id=c status=REJECTED
END
"$report" --json "$dir/few" > "$dir/few.json" 2> "$dir/few.err"
ok 'a dry run is reported and labelled' has dry_run 3 few.json
ok 'the first admission of a shopper counts' has wait_p95_s 2.000 few.json
ok 'shoppers are distinguished by id' has shoppers 3 few.json
ok 'an admission without times is ignored with a warning' \
    grep -q '1 admissions without' "$dir/few.err"

cat > "$dir/opening" <<'END'
id=a status=CLOSED first=10.000
id=a status=CLOSED first=10.000
id=a status=ADMITTED first=10.000 waited=5.000
id=a status=PASSED first=10.000 waited=5.000
id=b status=CLOSED first=11.000
id=b status=SOLD_OUT first=11.000
id=c status=SOLD_OUT first=17.000
END
"$report" --json "$dir/opening" > "$dir/opening.json"
ok 'CLOSED and SOLD_OUT count as shoppers' has shoppers 3 opening.json
ok 'only queued shoppers count for polls' has polls_per_shopper 1.000 opening.json

# a growing log, rotated logs, a compressed log, an overlong line

head -c -20 "$dir/few" > "$dir/growing"
"$report" --json "$dir/growing" > "$dir/growing.json" 2> "$dir/growing.err"
ok 'an incomplete last line is ignored' has cut_lines 1 growing.json
ok 'only the incomplete line is ignored' has shoppers 2 growing.json

tail -n +3000 "$dir/log" > "$dir/log.1"
head -n 2999 "$dir/log" > "$dir/log.0"
"$report" --json "$dir/log.1" "$dir/log.0" > "$dir/rotated.json"
ok 'rotated logs are read in any order' \
    cmp -s "$dir/report.json" "$dir/rotated.json"

gzip -c "$dir/log" > "$dir/log.gz"
gzip -dc "$dir/log.gz" | "$report" --json - > "$dir/zcat.json"
ok 'a compressed log is read through zcat' cmp -s "$dir/report.json" "$dir/zcat.json"
refuses 'is compressed: use zcat ' "$report" "$dir/log.gz"

{ cat "$dir/few"; head -c 3000000 /dev/zero | tr '\0' 'x'; echo; cat "$dir/few"; } \
    > "$dir/long"
"$report" --json "$dir/long" > "$dir/long.json" 2> "$dir/long.err"
ok 'a line of 3 MB is ignored' has cut_lines 1 long.json
ok 'the next line is read' has dry_run 6 long.json

# --plot

"$report" --plot "$dir/plot.svg" "$dir/log" > "$dir/plotted"
"$report" "$dir/log" > "$dir/table"
ok '--plot changes no figure' cmp -s "$dir/plotted" "$dir/table"
ok 'the plot is well-formed XML' perl -e '
    local $/; my $text = <>; my @open;
    while ($text =~ m{<(/?)(\w+)[^<>]*?(/?)>}g) {
        if ($1) { exit 1 if pop @open ne $2 } elsif (!$3) { push @open, $2 }
    }
    exit(@open != 0 || $text !~ /^<svg /);
    ' "$dir/plot.svg"
marks() { [ "$(grep -c '<use ' "$1")" -gt "$2" ] && [ "$(grep -c '<use ' "$1")" -lt 8041 ]; }
ok 'with its marks' marks "$dir/plot.svg" 100
quiet() { "$@" > /dev/null 2>&1; }
ok 'one shopper makes a picture, too' quiet "$report" --plot "$dir/one.svg" "$dir/few"
ok 'and so does an empty sale' quiet "$report" --plot "$dir/none.svg" - <<'END'
id=c status=REJECTED
END
refuses 'open() "/nonexistent/plot.svg" failed' "$report" --plot /nonexistent/plot.svg "$dir/log"

echo 'id=a status=ADMITTED first=10.000 waited=75.000' > "$dir/late"
"$report" --plot "$dir/late.svg" "$dir/late" > /dev/null
ok 'a long wait is labelled in minutes and seconds' grep -q '>1:10 min<' "$dir/late.svg"

# an opening

{ cat "$dir/few"; echo 'id=d status=CLOSED first=9.000'; } > "$dir/opening"
"$report" "$dir/opening" > "$dir/opening.table" 2> "$dir/opening.err"
"$report" "$dir/few" > "$dir/few.table" 2> "$dir/few.err"
ok 'after an opening the table refers to flash-verify' \
    grep -q 'flash-verify checks such an order' "$dir/opening.table"
lacks() { ! grep -q "$1" "$2"; }
ok 'without an opening it does not' lacks flash-verify "$dir/few.table"

# memory depends on the shoppers, not on the length of the log

lines() { awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) print "time=" i " id=s" i % 1000 " status=QUEUED first=1" }'; }
most() { lines "$1" | ( ulimit -v 20000; "$report" --json - > /dev/null ); }
ok '500,000 lines of 1,000 shoppers fit in 20 MB' most 500000

: > "$dir/empty"
refuses 'no "status=" in 0 lines' "$report" "$dir/empty"
refuses 'open() "/nonexistent/log" failed (2: ' "$report" /nonexistent/log
refuses 'read() ' "$report" "$dir"
refuses 'missing access log' "$report"

done_testing
