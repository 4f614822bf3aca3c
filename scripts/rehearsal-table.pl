#!/usr/bin/env perl
#
# Compares the counts of a rehearsal from all sources that count.
#
# usage: scripts/rehearsal-table.pl now STATUS STATS
#            prints one line for the shell, from the status of the edge and
#            the statistics of the checkout: first attempts, waiting, held, in
#            flight, in-flight limit, answer time in ms, admitted, sold out (0
#            or 1), units sold
#        scripts/rehearsal-table.pl compare DIR OPENS_MS
#            prints the table, from the files of scripts/rehearsal.sh in DIR;
#            exit status 0 only if all counts are equal

use strict;
use warnings;

use JSON::PP qw(decode_json);
use List::Util qw(sum0);

# The rows: a count, as the from_...() functions name it, and its label.
my @figures = (
    [ first_attempts => 'first attempts' ],
    [ polls          => 'polls' ],
    [ closed         => 'answers "not open yet"' ],
    [ queued         => 'answers "wait"' ],
    [ queued_people  => 'shoppers who waited' ],
    [ sold_out       => 'answers "sold out", edge' ],
    [ admitted       => 'admitted' ],
    [ waited_ms      => 'sum of their waits, ms' ],
    [ passed         => 'orders with a pass' ],
    [ done           => 'orders answered' ],
    [ confirmed      => 'confirmed, pass spent' ],
    [ declined       => 'payment declined' ],
    [ sold_out_there => 'answers "sold out", checkout' ],
    [ errors         => 'errors (5xx)' ],
);

my @sources = (
    [ status   => 'status' ],
    [ history  => 'history' ],
    [ metrics  => 'metrics' ],
    [ report   => 'report' ],
    [ log      => 'log' ],
    [ checkout => 'checkout' ],
    [ crowd    => 'shoppers' ],
);


sub slurp {
    my ($name) = @_;

    open my $in, '<', $name or die "$name: $!\n";
    local $/;

    return scalar(<$in>) // '';
}


sub json {
    my ($name) = @_;

    return eval { decode_json(slurp($name)) } // die "$name: $@\n";
}


# The only key of the only zone; empty before the first request.
sub key_of {
    my ($status) = @_;

    return $status->{zones}{sale}{keys}{shop} // {};
}


sub now {
    my ($status, $stats) = @_;

    my $key = key_of(json($status));

    print join(' ', (map { $_ // 0 } @$key{qw(first_attempts waiting held inflight adapt_inflight answer_ms admitted)}),
               $key->{sold_out} ? 1 : 0, json($stats)->{stock_sold}), "\n";

    return 0;
}


sub from_status {
    my ($key) = @_;

    return {
        (map { $_ => $key->{$_} } qw(first_attempts polls queued admitted waited_ms passed done errors)),
        closed    => $key->{closed_total},
        sold_out  => $key->{sold_out_total},
        confirmed => $key->{spent},
    };
}


# The sums of the history's columns.
sub from_history {
    my ($history) = @_;

    return { map { $_ => sum0(@{ $history->{$_} }) }
             qw(first_attempts polls queued sold_out admitted passed done errors) };
}


sub from_metrics {
    my ($text) = @_;

    my %value = $text =~ /^flash_throttle_(\w+)\{zone="sale",key="shop"\} (\S+)$/mg;

    return {
        (map { $_ => $value{"${_}_total"} } qw(first_attempts polls queued closed sold_out passed done errors)),
        admitted  => $value{admitted_total},
        waited_ms => sprintf('%.0f', $value{waited_seconds_total} * 1000),
        confirmed => $value{spent_total},
    };
}


sub from_report {
    my ($report) = @_;

    return {
        first_attempts => $report->{shoppers},
        queued_people  => $report->{queued},
        map { $_ => $report->{$_} } qw(closed sold_out admitted passed)
    };
}


# Counts of the lines of the access log.
sub from_log {
    my ($name, $opens_ms) = @_;

    open my $in, '<', $name or die "$name: $!\n";

    my (%n, %code, %seen, %queued, %early);
    my $waited_ms = 0;

    while (my $line = <$in>) {
        my %pair = $line =~ /(\w+)=(\S*)/g;

        $n{ $pair{status} }++;
        $seen{ $pair{id} } = 1;
        $early{ $pair{id} } = 1 if sprintf('%.0f', $pair{first} * 1000) < $opens_ms;
        $queued{ $pair{id} } = 1 if $pair{status} eq 'QUEUED';
        $waited_ms += sprintf '%.0f', $pair{waited} * 1000 if $pair{status} eq 'ADMITTED';

        if ($pair{status} eq 'PASSED') {
            $code{ $pair{code} }++;
            $code{error}++ if $pair{code} >= 500;
        }
    }

    my $asked = sum0(map { $_ // 0 } @n{qw(CLOSED QUEUED SOLD_OUT ADMITTED REJECTED)});

    return {
        first_attempts => scalar(keys %seen),
        polls          => $asked - keys %seen,
        closed         => $n{CLOSED} // 0,
        queued         => $n{QUEUED} // 0,
        queued_people  => scalar(keys %queued),
        sold_out       => $n{SOLD_OUT} // 0,
        admitted       => $n{ADMITTED} // 0,
        waited_ms      => $waited_ms,
        passed         => $n{PASSED} // 0,
        done           => sum0(map { $code{$_} } grep { $_ ne 'error' } keys %code),
        confirmed      => $code{200} // 0,
        declined       => $code{402} // 0,
        sold_out_there => $code{409} // 0,
        errors         => $code{error} // 0,
        prequeue       => scalar(keys %early),
    };
}


sub from_checkout {
    my ($stats) = @_;

    my $errors = sum0(@$stats{qw(refused_busy refused_deadline refused_closing store_failures)});

    return {
        admitted       => $stats->{arrivals},
        passed         => $stats->{arrivals},
        done           => sum0($errors, @$stats{qw(confirmed late_charges declined sold_out)}),
        confirmed      => $stats->{confirmed},
        declined       => $stats->{declined},
        sold_out_there => $stats->{sold_out},
        errors         => $errors,
    };
}


# Outcomes and requests of the shoppers, from the trace of flash-crowd.
sub from_crowd {
    my ($name, $figures) = @_;

    my (%end, %n);

    for my $line (split /\n/, slurp($name)) {
        my (undef, undef, undef, undef, $end, $requests) = split /\t/, $line;

        $end{$end}++;
        $n{shoppers}++;
        $n{requests} += $requests;
    }

    my $admitted = $figures->{admitted};
    my $there = $admitted - sum0(map { $end{$_} // 0 } qw(confirmed declined refused failed));

    return {
        first_attempts => $n{shoppers},
        polls          => $n{requests} - $n{shoppers} - $admitted,
        sold_out       => ($end{sold_out} // 0) - $there,
        admitted       => $admitted,
        passed         => $admitted,
        done           => $admitted,
        confirmed      => $end{confirmed} // 0,
        declined       => $end{declined} // 0,
        sold_out_there => $there,
        errors         => sum0(map { $end{$_} // 0 } qw(refused failed)),
        lost           => sum0(map { $end{$_} // 0 } qw(gave_up timed_out vanished)),
    };
}


# Prints the table.  Returns the number of rows whose counts differ.
sub table {
    my ($by) = @_;

    my $wrong = 0;

    printf '%-30s' . ' %8s' x @sources . "\n", '', map { $_->[1] } @sources;

    for my $figure (@figures) {
        my ($name, $label) = @$figure;
        my @values = map { $by->{ $_->[0] }{$name} } @sources;
        my %different = map { $_ => 1 } grep { defined } @values;

        printf '%-30s' . ' %8s' x @sources . "%s\n", $label, (map { $_ // '-' } @values),
            keys %different == 1 ? '' : '  DIFFERS';
        $wrong++ if keys %different != 1;
    }

    return $wrong;
}


# Prints the other counts that must be equal.  Returns how many differ.
sub checks {
    my (@rules) = @_;

    my $wrong = 0;

    for my $rule (@rules) {
        my ($what, $is, $wanted) = @$rule;

        printf "%-58s %8s %8s%s\n", $what, $is, $wanted, $is == $wanted ? '' : '  DIFFERS';
        $wrong++ if $is != $wanted;
    }

    return $wrong;
}


sub compare {
    my ($dir, $opens_ms) = @_;

    my $key = key_of(json("$dir/status.json"));
    my $stats = json("$dir/stats.json");
    my $report = json("$dir/report.json");

    my %by = (
        status   => from_status($key),
        history  => from_history($key->{history}),
        metrics  => from_metrics(slurp("$dir/metrics.txt")),
        report   => from_report($report),
        log      => from_log("$dir/access.log", $opens_ms),
        checkout => from_checkout($stats),
        crowd    => from_crowd("$dir/shoppers.tsv", json("$dir/crowd.json")),
    );

    my $wrong = table(\%by);

    # order.json is empty if flash-verify failed
    my $order = eval { json("$dir/order.json") } // {};

    print "\n";
    $wrong += checks(
        [ 'admitted = orders at the checkout', $by{status}{admitted}, $by{checkout}{passed} ],
        [ 'confirmed = initial stock', $stats->{confirmed}, $stats->{stock_initial} ],
        [ 'confirmed = units sold', $stats->{confirmed}, $stats->{stock_sold} ],
        [ 'confirmed = orders in the store', $stats->{confirmed}, $stats->{orders} ],
        [ 'oversold or charged after leaving', $stats->{oversold} + $stats->{late_charges}, 0 ],
        [ 'shoppers without an answer', $by{crowd}{lost}, 0 ],
        [ 'waiting, held or at the checkout after the sale', sum0(@$key{qw(waiting held inflight)}), 0 ],
        [ 'shoppers in the pre-queue: flash-verify, log', $order->{prequeue} // 0, $by{log}{prequeue} ],
        [ 'admitted before the opening', $order->{early} // -1, 0 ],
        [ 'passed over in the shuffled order', $order->{passed_over} // -1, 0 ],
        [ 'flash-verify: admitted in the shuffled order', $order->{kept} ? 1 : 0, 1 ],
    );

    printf "\nwaits of the admitted: median %.1f s, 95th percentile %.1f s (flash-report)\n",
        map { $_ // 0 } @$report{qw(wait_p50_s wait_p95_s)};
    print $wrong ? "$wrong rows DIFFER; the files are in $dir\n"
                 : "all counts are equal; the files are in $dir\n";

    return $wrong ? 1 : 0;
}


my %commands = (now => \&now, compare => \&compare);
my $command = $commands{ shift // '' };

die "usage: $0 now STATUS STATS | compare DIR OPENS_MS\n" if !$command || @ARGV != 2;

exit $command->(@ARGV);
