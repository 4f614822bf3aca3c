#!/usr/bin/env perl
#
# What was counted in a rehearsal, by whom, side by side.
#
# usage: scripts/rehearsal-table.pl now STATUS STATS
#            one line for the shell, from the edge's status and the checkout's
#            statistics: first attempts, waiting, held, in flight, most in flight, ms that an
#            answer takes, let in, whether all is sold, units sold
#        scripts/rehearsal-table.pl compare DIR OPENS_MS
#            the table, from the files that scripts/rehearsal.sh leaves in DIR;
#            exit status 0 only if all agree to the unit

use strict;
use warnings;

use JSON::PP qw(decode_json);
use List::Util qw(sum0);

# a figure, and what it is called; each who counts it has it under this name
my @figures = (
    [ first_attempts => 'first attempts: shoppers' ],
    [ polls          => 'polls' ],
    [ closed         => 'told that it is not open yet' ],
    [ queued         => 'told to wait' ],
    [ queued_people  => 'how many were told to wait' ],
    [ sold_out       => 'told "sold out" at the edge' ],
    [ admitted       => 'let in' ],
    [ waited_ms      => 'their waits, summed, ms' ],
    [ passed         => 'orders: came with the pass' ],
    [ done           => 'orders answered' ],
    [ confirmed      => 'confirmed, and the pass over' ],
    [ declined       => 'payment declined' ],
    [ sold_out_there => 'told "sold out" at checkout' ],
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


# The one key of the one zone; nothing before the first request.
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
        confirmed => $key->{over},
    };
}


# The dashboard's rows of five seconds, summed.
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
        confirmed => $value{over_total},
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


# The lines themselves, counted.
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


# What they went home with, and how often they asked.
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


# Prints it; the number of rows whose figures differ.
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


# Prints what must be equal besides; how much is not.
sub besides {
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

    # flash-verify prints nothing where it could not check
    my $order = eval { json("$dir/order.json") } // {};

    print "\n";
    $wrong += besides(
        [ 'let in: orders that came to checkout', $by{status}{admitted}, $by{checkout}{passed} ],
        [ 'confirmed: the stock that was there', $stats->{confirmed}, $stats->{stock_initial} ],
        [ 'confirmed: units sold', $stats->{confirmed}, $stats->{stock_sold} ],
        [ 'confirmed: orders in the store', $stats->{confirmed}, $stats->{orders} ],
        [ 'oversold, charged after leaving: none', $stats->{oversold} + $stats->{late_charges}, 0 ],
        [ 'left without an answer: none', $by{crowd}{lost}, 0 ],
        [ 'waiting, held or at checkout still: nobody', sum0(@$key{qw(waiting held inflight)}), 0 ],
        [ 'in the pre-queue: by flash-verify, by the log', $order->{prequeue} // 0, $by{log}{prequeue} ],
        [ 'let in before the opening: nobody', $order->{early} // -1, 0 ],
        [ 'passed over in the order that was drawn: nobody', $order->{passed_over} // -1, 0 ],
        [ 'flash-verify: admitted in the order that was drawn', $order->{kept} ? 1 : 0, 1 ],
    );

    printf "\nwaits of those let in: median %.1f s, 95th percentile %.1f s (flash-report)\n",
        map { $_ // 0 } @$report{qw(wait_p50_s wait_p95_s)};
    print $wrong ? "$wrong of these DIFFER; what was read is in $dir\n"
                 : "all agree to the unit; what was read is in $dir\n";

    return $wrong ? 1 : 0;
}


my %commands = (now => \&now, compare => \&compare);
my $command = $commands{ shift // '' };

die "usage: $0 now STATUS STATS | compare DIR OPENS_MS\n" if !$command || @ARGV != 2;

exit $command->(@ARGV);
