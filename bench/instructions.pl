#!/usr/bin/env perl
#
# Counts the instructions of a decision of the core, and of a request in nginx,
# with callgrind.  The count does not depend on the load of the machine.
#
# usage: bench/instructions.pl           compares with bench/instructions.json,
#                                        fails if a count is 5 % higher
#        bench/instructions.pl NAME...   compares these counts alone
#        bench/instructions.pl --record  writes bench/instructions.json
#
# libcrypto is left out: valgrind lacks the SHA-256 instructions, so libcrypto
# takes another code path.

use strict;
use warnings;

use File::Basename qw(dirname);
use File::Path qw(make_path);
use JSON::PP;
use Time::HiRes qw(sleep);

use lib dirname(__FILE__) . '/lib';

chdir dirname(__FILE__) . '/..' or die "cannot chdir: $!\n";

use Bench::Edge qw(stop_edge $SECRET);
use Bench::Measure qw(load);

my $build = $ENV{BUILD} || 'build';
my $recorded = $ENV{INSTRUCTIONS} || 'bench/instructions.json';
my $dir = 'build/bench/instructions';
my $requests = 400;
my $limit = 1.05;

my @decisions = qw(first_attempt poll_early poll_on_time
                   poll_on_time_at_a_million poll_called pass tick
                   tick_at_a_million);

# The tick is left out: its share of a request depends on the request rate.
my @tick = qw(ft_census_rank ft_measure_tick ft_history_record);

my @poll = ('Flash-Throttle-Poll: 1', 'Accept: application/json');
my @requests = (
    [ 'request_return_503',    'plain',    path => '/page' ],
    [ 'request_first_attempt', 'throttle', path => '/first' ],
    [ 'request_poll_early',    'throttle', path => '/early', in => 'early',
      headers => \@poll ],
    [ 'request_poll_on_time',  'throttle', path => '/on_time', in => 'on_time',
      headers => \@poll ],
    [ 'request_proxy_pass',    'plain',    path => '/pass', in => 'pass' ],
    [ 'request_pass',          'throttle', path => '/pass', in => 'pass' ],
);


# instructions(FILE): the sum of self costs in callgrind's output.

sub instructions {
    my ($name) = @_;
    my (%objects, $object, $called, $sum);

    open my $file, '<', $name or die "cannot open $name: $!\n";

    while (<$file>) {
        if (/^ob=\((\d+)\)(?: (.*))?/) {
            $objects{$1} = $2 if defined $2;
            $object = $objects{$1};
        } elsif (/^cob=\((\d+)\)(?: (.*))?/) {
            $objects{$1} = $2 if defined $2;
        } elsif (/^calls=/) {
            $called = 1;
        } elsif (/^[+*\d-]\S* (\d+)$/) {
            $sum += $1 if !$called && ($object // '') !~ /libcrypto/;
            $called = 0;
        }
    }

    return $sum // 0;
}


# callgrind(NAME, [FUNCTIONS], COMMAND): collects in the first function, except
# in the others that it calls.

sub callgrind {
    my ($name, $toggles, @command) = @_;

    return ('valgrind', '--tool=callgrind', '--quiet',
            "--callgrind-out-file=$dir/$name", '--collect-atstart=no',
            (map { "--toggle-collect=$_" } @$toggles), @command);
}


sub of_a_decision {
    my ($name) = @_;

    open my $pipe, '-|', callgrind($name, ['decisions_measured*'],
                                   "$build/bench/decisions", $name)
        or die "cannot run valgrind: $!\n";
    my ($n) = map { /^$name (\d+)$/ ? $1 : () } <$pipe>;
    close $pipe;

    die "$build/bench/decisions $name failed under valgrind\n" unless $n;

    return int(instructions("$dir/$name") / $n);
}


# The difference of a run with 5 and a run with 4 rounds of requests.  By then
# the census has all tickets.  About one in ten is called, because the edge
# starts with a coarse threshold, and counts as a poll on time.

sub of_a_request {
    my ($name, $at, %with) = @_;
    my @sums;

    chomp(my $port = `scripts/free-port.pl 5`);

    if (my $zone = delete $with{in}) {
        my @pass = $zone eq 'pass' ? '-p' : ();
        system("$build/bench/tickets -n $requests -s '$SECRET' -z $zone "
               . "-k shop @pass > $dir/tickets") == 0 or die "$build/bench/tickets failed\n";
        $with{cookie} = "flash_throttle_$zone";
        $with{keep} = 1;
        $with{out} = "$dir/tickets.now";
    }

    for my $rounds (4, 5) {
        my $shop = Bench::Edge::start_shop($port);
        local $Bench::Edge::UNDER
            = [ callgrind($name, [ 'ngx_process_events_and_timers', @tick ]) ];
        my $edge = Bench::Edge::start_edge($at, { port => $port + 1,
                                                  shop => $port });

        for my $round (1 .. $rounds) {
            $with{in} = $round == 1 ? "$dir/tickets" : "$dir/tickets.now"
                if $with{cookie};
            load([], %with, port => $edge->{port}, connections => 1,
                 requests => $requests);

            # learning period of an edge that gets tickets of another
            sleep 1.2 if $round == 1 && $with{cookie};
        }

        stop_edge($edge);
        stop_edge($shop);
        push @sums, instructions("$dir/$name");
    }

    return int(($sums[1] - $sums[0]) / $requests);
}


sub machine {
    chomp(my $cc = `gcc -dumpfullversion`);
    chomp(my $arch = `uname -m`);
    my ($nginx) = `$build/nginx -v 2>&1` =~ m{nginx/(\S+)};

    return "gcc $cc, $arch, nginx $nginx";
}


my $record = @ARGV && $ARGV[0] eq '--record';
my %wanted = map { $_ => 1 } $record ? () : @ARGV;
my %old;

make_path($dir);
$ENV{BENCH_NGINX} or die "BENCH_NGINX is not set, it must be the nginx binary\n";

if (!$record) {
    open my $file, '<', $recorded or die "cannot read $recorded: $!\n";
    %old = %{ decode_json(do { local $/; <$file> }) };

    if ($old{machine} ne machine()) {
        print "instructions: recorded with $old{machine}, this is ",
              machine(), ": not compared\n";
        exit 0;
    }
}

my %new = (machine => machine(), instructions => {});
my $worse = 0;

for (@decisions, @requests) {
    my $name = ref $_ ? $_->[0] : $_;
    next if %wanted && !$wanted{$name};

    my $n = ref $_ ? of_a_request(@$_) : of_a_decision($_);
    my $was = $old{instructions}{$name};

    $new{instructions}{$name} = $n;

    printf "  %-26s %8d%s\n", $name, $n,
           defined $was ? sprintf('  recorded %8d  %+.1f %%', $was,
                                  100 * ($n / $was - 1))
           : $record ? '' : '  not recorded';

    $worse++ if !$record && (!defined $was || $n > $was * $limit);
}

if ($record) {
    open my $file, '>', $recorded or die "cannot write $recorded: $!\n";
    print {$file} JSON::PP->new->pretty->canonical->encode(\%new);
    close $file or die "cannot write $recorded: $!\n";
}

if ($worse) {
    print "instructions: $worse more than 5 % above $recorded\n";
    exit 1;
}
