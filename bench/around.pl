#!/usr/bin/env perl
#
# Measures the core's decisions in nanoseconds, the checkout, flash-report and
# flash-sim.
#
# usage: bench/around.pl OUT.json      SOLD, HELD, LOG_MB, RUNS; CORES

use strict;
use warnings;

use File::Basename qw(dirname);
use File::Path qw(make_path);
use JSON::PP;
use Time::HiRes qw(time);

use lib dirname(__FILE__) . '/lib';

chdir dirname(__FILE__) . '/..' or die "cannot chdir: $!\n";

use Bench::Edge qw(start_program stop_edge cpu_ns resident_kb);
use Bench::Measure qw(load median);

my $out = shift // die "usage: $0 OUT.json\n";
my $sold = $ENV{SOLD} || 20_000;
my $held = $ENV{HELD} || 1_200;
my $log_mb = $ENV{LOG_MB} || 1_000;
my $runs = $ENV{RUNS} || 400;
my $build = $ENV{BUILD} || 'build';
my ($core, $other) = split ' ', $ENV{CORES} || '0 1';
my @client = ('taskset', '-c', $other);
my @server = ('taskset', '-c', $core);
my $run = 'build/bench/run';

make_path($run);


sub decisions {
    my %ns;

    for (1 .. 3) {
        for (`taskset -c $core $build/bench/decisions`) {
            push @{ $ns{$1} }, $2 if /^(\w+) (\d+)$/;
        }
    }

    die "$build/bench/decisions failed\n" unless %ns;

    return { map { $_ => median(@{ $ns{$_} }) } keys %ns };
}


# checkout(STORE, OPTIONS): starts a checkout at a free port.

sub checkout {
    my ($store, @options) = @_;

    chomp(my $port = `scripts/free-port.pl`);

    return start_program('checkout', $port, {}, @server, "$build/checkout",
                         "--listen=127.0.0.1:$port", "--store=$store",
                         '--mode=reserve', '--stock=100000000',
                         '--decline=0', @options);
}


sub buy {
    my ($checkout, %with) = @_;

    return load(\@client, port => $checkout->{port}, path => '/checkout',
                method => 'POST', body => '{"quantity":1}',
                headers => [ 'Content-Type: application/json' ], %with);
}


# Orders with payments of 0 ms, which measures the store.

sub sales {
    my ($store) = @_;

    my $checkout = checkout($store, '--payment-min-ms=0', '--payment-max-ms=0');

    buy($checkout, requests => int($sold / 10) + 1);

    my $before = cpu_ns($checkout);
    my $answer = buy($checkout, requests => $sold);
    my $spent = cpu_ns($checkout) - $before;

    stop_edge($checkout);
    my $confirmed = $answer->{status}{200} // 0;
    die "$confirmed of $sold orders confirmed\n" if $confirmed != $sold;

    return { a_second => int($sold / $answer->{seconds}),
             us => 0 + sprintf('%.1f', $spent / $sold / 1000) };
}


# $held concurrent requests with payments of 100 to 400 ms.

sub held {
    my $checkout = checkout('sqlite::memory:');
    my $empty = resident_kb($checkout);
    my $requests = 10 * $held;

    my $before = cpu_ns($checkout);
    my $answer = buy($checkout, requests => $requests, connections => $held);
    my $spent = cpu_ns($checkout) - $before;
    my $kb = resident_kb($checkout);

    stop_edge($checkout);

    return { held => $held, kb => $kb, empty_kb => $empty,
             a_second => int($requests / $answer->{seconds}),
             cpu_share => 0 + sprintf('%.3f', $spent / 1e9 / $answer->{seconds}) };
}


sub mysql {
    return undef if system('sh', '-c', 'PATH=$PATH:/usr/sbin; '
                           . 'command -v mariadbd > /dev/null') != 0;

    my $dir = "/tmp/ft-bench-$$";

    system('scripts/mariadb.sh', 'start', $dir) == 0
        or die "scripts/mariadb.sh start $dir failed\n";

    my $sales = eval {
        sales("mysql:socket=$dir/socket;user=root;database=flash_throttle");
    };
    my $error = $@;

    system('scripts/mariadb.sh', 'stop', $dir);
    system('rm', '-rf', $dir);
    die $error if $error;

    return $sales;
}


# A log in the format of docs/log.md; each shopper polls five times.

sub write_log {
    my ($name) = @_;
    my ($size, $shopper) = (0, 0);

    open my $file, '>', $name or die "cannot write $name: $!\n";

    while ($size < $log_mb * 1_000_000) {
        my $text = '';

        for (1 .. 1000) {
            my $first = 1_796_040_060 + $shopper++ / 100;

            for my $poll (0 .. 5) {
                my $now = $first + $poll * 2.6;
                my $in = $poll == 5;

                $text .= sprintf "time=%.3f id=%016u status=%s first=%.3f "
                    . "waited=%s position=%s wait=%s retry=%s code=%d "
                    . "request_time=0.000\n", $now,
                    $shopper, $in ? 'ADMITTED' : 'QUEUED',
                    $first, $in ? sprintf('%.3f', $now - $first) : '-',
                    $in ? '-' : 1300 - 260 * $poll, $in ? '-' : '13.000',
                    $in ? '-' : '2.600', $in ? 200 : 503;
            }
        }

        print {$file} $text;
        $size += length $text;
    }

    close $file or die "cannot write $name: $!\n";

    return $size;
}


sub timed {
    my (@command) = @_;

    my $from = time;
    open my $pipe, '-|', @command or die "cannot run $command[0]: $!\n";
    my $text = do { local $/; <$pipe> };
    close $pipe or die "@command failed\n";

    return (time - $from, $text);
}


sub report {
    my $name = "$run/access.log";
    my $bytes = write_log($name);
    my ($cold) = timed(@server, "$build/flash-report", $name);
    my ($seconds) = timed(@server, "$build/flash-report", $name);

    unlink $name;

    return { bytes => $bytes, seconds => 0 + sprintf('%.2f', $seconds),
             mb_a_second => int($bytes / $seconds / 1e6) };
}


sub simulator {
    my ($seconds, $text) = timed(@server, "$build/flash-sim", "--runs=$runs");

    return { runs => $runs, seconds => 0 + sprintf('%.1f', $seconds) };
}


my %figures = (
    decisions => decisions(),
    sqlite    => sales("sqlite:$run/checkout.db"),
    held      => held(),
    report    => report(),
    simulator => simulator(),
);

unlink glob "$run/checkout.db*";

my $mysql = mysql();
$figures{mariadb} = $mysql if $mysql;

open my $file, '>', $out or die "cannot write $out: $!\n";
print {$file} JSON::PP->new->pretty->canonical->encode(\%figures);
close $file or die "cannot write $out: $!\n";
