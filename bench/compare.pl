#!/usr/bin/env perl
#
# Compares the CPU time of a request with other servers.  The servers take turns
# on one core in slices of about 50 ms; the CPU time is the scheduler's account.
# Only results of the same slice are compared, because the speed of the machine
# varies over time.  Each round starts new processes, which averages over memory
# layouts.
#
# usage: bench/compare.pl OUT.json
#
#   ROUNDS, SLICES, REQUESTS   rounds, slices per round, requests per slice
#   MILLION, KEYS              number of waiting shoppers, number of keys
#   CORES="0 1"                cores of the servers and the client
#   PARTS, SERVERS             parts and servers to run (default all)
#   WITHOUT="h2 tls"           prefixes of rows to leave out

use strict;
use warnings;

use File::Basename qw(dirname);
use JSON::PP;
use List::Util qw(shuffle uniq);
use Time::HiRes qw(sleep time);

use lib dirname(__FILE__) . '/lib';
use Bench::Edge qw(stop_edge start_program resident_kb $SECRET);
use Bench::Measure qw(load cost median spread);

chdir dirname(__FILE__) . '/..' or die "cannot chdir: $!\n";

my $out = shift // die "usage: $0 OUT.json\n";
my $rounds = $ENV{ROUNDS} || 5;
my $requests = $ENV{REQUESTS} || 5_000;
my $slices = $ENV{SLICES} || 9;
my $million = $ENV{MILLION} || 1_000_000;
my $keys = $ENV{KEYS} || 10_000;
my ($core, $other) = split ' ', $ENV{CORES} || '0 1';
my @pin = ('taskset', '-c', $other);
my $run = 'build/bench/run';

chomp(my $port = `scripts/free-port.pl 40`);

my %shop = (shop => $port);
my $redis_port = $port + 1;
my @edges = (
    [ 'plain', 4 ], [ 'throttle', 8 ], [ 'lua', 12 ], [ 'njs', 16 ], [ 'redis', 20 ],
);
my $peers = $ENV{SERVERS} || 'plain throttle lua njs redis';

@edges = grep { $peers =~ /\b$_->[0]\b/ } @edges;

my %servers;
my @poll = ('Flash-Throttle-Poll: 1', 'Accept: application/json');
my %called;

# Rows:
#
#   first   first attempt
#   early   reload of the page, or poll, before the advised time
#   on_time poll after the advised time, not called
#   called  poll that is admitted
#   pass    request of an admitted shopper, proxied to the shop

my $page = { expect => 503 };
my @cases = (
    { row => 'first', name => 'return 503, bare',  at => 'plain', path => '/bare',  %$page },
    { row => 'first', name => 'return 503',        at => 'plain', path => '/page',  %$page, base => 1 },
    { row => 'first', name => 'limit_req',         at => 'plain', path => '/limit', %$page },
    { row => 'first', name => 'flash_throttle',    at => 'throttle', path => '/first', %$page },
    { row => 'first', name => 'Lua',               at => 'lua',   path => '/early', %$page },
    { row => 'first', name => 'njs',               at => 'njs',   path => '/early', %$page },
    { row => 'first', name => 'Redis',             at => 'redis', path => '/redis', %$page },

    { row => 'early', name => 'return 503',        at => 'plain', path => '/page',  %$page, tickets => 'early', base => 1 },
    { row => 'early', name => 'limit_req',         at => 'plain', path => '/limit', %$page, tickets => 'early' },
    { row => 'early', name => 'flash_throttle',    at => 'throttle', path => '/early', %$page, tickets => 'early', prime => 1, keep => 1 },
    { row => 'early', name => 'Lua',               at => 'lua',   path => '/early', %$page, lua => 't' },
    { row => 'early', name => 'njs',               at => 'njs',   path => '/early', %$page, lua => 't' },
    { row => 'early', name => 'Redis',             at => 'redis', path => '/redis', %$page, tickets => 'early' },

    { row => 'early_json', name => 'return 503',     at => 'plain', path => '/queued', %$page, tickets => 'early', headers => \@poll, base => 1 },
    { row => 'early_json', name => 'flash_throttle', at => 'throttle', path => '/early', %$page, tickets => 'early', prime => 1, keep => 1, headers => \@poll },

    { row => 'on_time_json', name => 'return 503',     at => 'plain', path => '/queued', %$page, tickets => 'on_time', headers => \@poll, base => 1 },
    { row => 'on_time_json', name => 'flash_throttle', at => 'throttle', path => '/on_time', %$page, tickets => 'on_time', prime => 1, keep => 1, headers => \@poll },

    { row => 'called', name => 'return 200',       at => 'plain', path => '/admitted', expect => 200, tickets => 'early', headers => \@poll, base => 1 },
    { row => 'called', name => 'flash_throttle',   at => 'throttle', path => '/called', expect => 200, tickets => 'called', headers => \@poll },
    { row => 'called', name => 'Lua',              at => 'lua',   path => '/called', expect => 200, lua => 't', headers => \@poll },
    { row => 'called', name => 'njs',              at => 'njs',   path => '/called', expect => 200, lua => 't', headers => \@poll },

    { row => 'pass', name => 'proxy_pass',         at => 'plain', path => '/pass', expect => 200, tickets => 'passes', base => 1 },
    { row => 'pass', name => 'flash_throttle',     at => 'throttle', path => '/pass', expect => 200, tickets => 'passes' },
    { row => 'pass', name => 'Lua',                at => 'lua',   path => '/called', expect => 200, lua => 'p' },
    { row => 'pass', name => 'njs',                at => 'njs',   path => '/called', expect => 200, lua => 'p' },

    { row => 'status', name => 'stub_status',      at => 'plain', path => '/status', expect => 200, base => 1 },
    { row => 'status', name => 'flash_throttle',   at => 'throttle', path => '/status', expect => 200 },

    { row => 'h2_first', name => 'return 503',     at => 'plain', path => '/page', %$page, client => 'h2c', base => 1 },
    { row => 'h2_first', name => 'flash_throttle', at => 'throttle', path => '/first', %$page, client => 'h2c' },
    { row => 'h2_first', name => 'Lua',            at => 'lua',   path => '/early', %$page, client => 'h2c' },
    { row => 'h2_again', name => 'return 503',     at => 'plain', path => '/page', %$page, client => 'h2c', same => 'early', base => 1 },
    { row => 'h2_again', name => 'flash_throttle', at => 'throttle', path => '/early', %$page, client => 'h2c', same => 'early' },
    { row => 'h2_pass', name => 'proxy_pass',      at => 'plain', path => '/pass', expect => 200, client => 'h2c', same => 'passes', base => 1 },
    { row => 'h2_pass', name => 'flash_throttle',  at => 'throttle', path => '/pass', expect => 200, client => 'h2c', same => 'passes' },
    { row => 'h2_status', name => 'stub_status',   at => 'plain', path => '/status', expect => 200, client => 'h2c', base => 1 },
    { row => 'h2_status', name => 'flash_throttle', at => 'throttle', path => '/status', expect => 200, client => 'h2c' },

    { row => 'tls_first', name => 'return 503',     at => 'plain', path => '/page', %$page, client => 'tls-h1', base => 1 },
    { row => 'tls_first', name => 'flash_throttle', at => 'throttle', path => '/first', %$page, client => 'tls-h1' },
);

@cases = grep { $peers =~ /\b$_->{at}\b/ } @cases;

for my $prefix (split ' ', $ENV{WITHOUT} || '') {
    @cases = grep { $_->{row} !~ /^\Q$prefix\E_/ } @cases;
}

my %cookie = (early => 'early', on_time => 'on_time', called => 'called', passes => 'pass');
my (%ns, %ratio, %memory);


sub tickets {
    my ($name, $zone, $n, @more) = @_;

    system("build/bench/tickets -n $n -s '$SECRET' -z $zone -k shop @more "
           . "> $run/$name") == 0 or die "build/bench/tickets failed\n";
    unlink "$run/$name.now";
}


# The cookie that the Lua and njs throttles set.

sub peer_cookie {
    my ($kind) = @_;
    my $path = $kind eq 't' ? '/early' : '/called';

    my ($cookie) = `curl -s -D - -o /dev/null http://127.0.0.1:$servers{lua}{port}$path`
                   =~ /^Set-Cookie: (throttle=.*?);/mi;

    return $cookie // die "no cookie from the Lua throttle\n";
}


# Polls once with each ticket, so that the census counts the shoppers.  FILE.now
# has their new tickets.

sub prime {
    my ($with) = @_;
    my $now = "$with->{in}.now";
    my %load = (%$with, port => $servers{ $with->{at} // 'throttle' }{port},
                out => $now, in => -f $now ? $now : $with->{in});

    delete @load{qw(client expect)};
    load(\@pin, %load);
}


sub slice {
    my ($case) = @_;
    my %with = (requests => $requests, %$case);
    my $server = $servers{ $case->{at} };

    if (my $name = delete $with{tickets}) {
        $with{cookie} = "flash_throttle_$cookie{$name}";
        $with{in} = "$run/$name";

        # unused tickets
        $with{from} = ($called{ $case->{row} } += $requests) - $requests
            if $name eq 'called';
    }

    if (my $kind = $case->{lua}) {
        $with{headers} = [ @{ $with{headers} // [] }, 'Cookie: ' . peer_cookie($kind) ];
    }

    if (delete $with{prime}) {
        prime(\%with);
        $with{in} = $with{out} = "$with{in}.now";
    }

    # the last ticket is not called during the slice

    if (my $name = $case->{same}) {
        my $file = "$run/$name";

        $with{cookie} = "flash_throttle_$cookie{$name}";

        if ($name eq 'early' && $servers{throttle}) {
            prime({ path => '/early', requests => $requests, in => $file,
                    cookie => $with{cookie}, keep => 1 });
            $file .= '.now';
        }

        open my $tickets, '<', $file or die "$file: $!\n";
        chomp($with{ticket} = (<$tickets>)[-1]);
    }

    return cost($server, \@pin, %with);
}


# Waits until the throttle has learned its queue and admits.

sub await_call {
    open my $tickets, '<', "$run/called" or die "$run/called: $!\n";
    chomp(my $ticket = <$tickets>);

    my @poll = ('curl', '-s', '-o', '/dev/null', '-w', '%{http_code}',
                '-H', 'Flash-Throttle-Poll: 1',
                '-H', "Cookie: flash_throttle_called=$ticket",
                "http://127.0.0.1:$servers{throttle}{port}/called");
    my $until = time + 30;

    while (time < $until) {
        open my $answer, '-|', @poll or die "cannot run curl: $!\n";
        return if <$answer> == 200;
        sleep 0.05;
    }

    die "no admission within 30 s\n";
}


sub record {
    my ($row, $name, $round, $ns) = @_;

    push @{ $ns{$row}{$name}[$round] }, $ns;
}


sub rows_of {
    return uniq(map { $_->{row} } @_);
}


sub start_all {
    my ($workers) = @_;

    $servers{shop} = Bench::Edge::start_shop($port, $other);
    $servers{redis_server} = start_program('redis-server', $redis_port, {},
        'taskset', '-c', $other, 'bash', '-c',
        'exec -a redis-server "$0" "$@"', '/usr/bin/redis-check-rdb',
        '--port', $redis_port, '--bind', '127.0.0.1', '--save', '',
        '--appendonly', 'no', '--daemonize', 'no') if $peers =~ /redis/;

    for (@edges) {
        my ($name, $offset) = @$_;

        $servers{$name} = Bench::Edge::start_edge($name,
            { %shop, port => $port + $offset, redis => $redis_port },
            cores => $core);
    }
}


sub stop {
    stop_edge($servers{$_}) for keys %servers;
    %servers = ();
}


# compare(ROUND): one round of all cases.

sub compare {
    my ($round) = @_;

    start_all();
    tickets('early', 'early', $requests);
    tickets('on_time', 'on_time', $requests);
    tickets('called', 'called', ($slices + 1) * $requests);
    tickets('passes', 'pass', 1000, '-p');
    %called = ();

    # warm-up
    for my $case (@cases) {
        my %warm = %$case;
        delete $warm{expect};
        slice(\%warm);
    }

    await_call() if $servers{throttle};

    for my $row (rows_of(@cases)) {
        for (1 .. $slices) {
            record($_->{row}, $_->{name}, $round, slice($_))
                for shuffle(grep { $_->{row} eq $row } @cases);
        }
    }

    $memory{"$_->[0]_kb"} = resident_kb($servers{ $_->[0] }) for @edges;

    stop();
}


# Polls at a fixed rate with 10 and with 1,000,000 waiting shoppers.

sub waiting {
    my ($round) = @_;
    my $name = 'waiting';
    my $rate = 8000;
    my $n = 2000;

    tickets('ten', 'ten', 10);
    tickets('million', 'million', $million);

    $servers{shop} = Bench::Edge::start_shop($port, $other);
    my $edge = Bench::Edge::start_edge($name, { %shop, port => $port + 24 },
                                       cores => $core);
    my $plain = Bench::Edge::start_edge('plain', { %shop, port => $port + 4 },
                                        cores => $core);

    my %to = map { $_ => { path => "/$_", cookie => "flash_throttle_$_",
                           in => "$run/$_.now", connections => 8, keep => 1 } }
             qw(ten million);

    for (qw(million ten)) {

        # uses the only admission of the minute
        load(\@pin, port => $edge->{port}, path => "/$_", requests => 1,
             connections => 1);

        load(\@pin, %{ $to{$_} }, port => $edge->{port}, in => "$run/$_",
             out => "$run/$_.now",
             requests => $_ eq 'ten' ? 10 : $million);
    }

    for my $slice (0 .. $slices) {
        for my $who (shuffle(qw(ten million base))) {

            my $ns = $who eq 'base'
                ? cost($plain, \@pin, %{ $to{ten} }, path => '/page', keep => 0,
                       in => "$run/ten", rate => $rate, requests => $n,
                       expect => 503)
                : cost($edge, \@pin, %{ $to{$who} }, rate => $rate,
                       requests => $n, expect => 503,
                       from => $slice * $n);

            record('waiting', { ten => '10', million => '1,000,000',
                              base => 'return 503' }->{$who}, $round, $ns)
                if $slice > 0;
        }
    }

    my $status = `curl -s http://127.0.0.1:$edge->{port}/status`;
    my $waiting = decode_json($status)->{zones}{million}{keys}{shop}{waiting} // 0;

    warn "$waiting of $million shoppers waiting\n"
        if $waiting < 0.95 * $million;
    $memory{million_waiting} = $waiting;
    $memory{million_edge_kb} = resident_kb($edge);

    stop_edge($_) for $edge, $plain, $servers{shop};
}


sub many_keys {
    my ($round) = @_;

    $servers{shop} = Bench::Edge::start_shop($port, $other);
    my $edge = Bench::Edge::start_edge('keys', { %shop, port => $port + 28,
                                                 keys => $keys }, cores => $core);

    load(\@pin, port => $edge->{port}, path => '/many?k=', keys => $keys,
         requests => 2 * $keys);
    $memory{keys_edge_kb} = resident_kb($edge);

    for my $slice (1 .. $slices) {
        for my $who (shuffle(qw(one many))) {
            record('keys', $who eq 'one' ? '1' : '10,000', $round,
                 cost($edge, \@pin, path => "/$who?k=", keys => $keys,
                      from => $slice * $requests, requests => $requests,
                      expect => 503));
        }
    }

    stop_edge($_) for $edge, $servers{shop};
}


# Two workers on both cores; the client shares them.

sub two_workers {
    my ($round) = @_;

    $servers{shop} = Bench::Edge::start_shop($port, $other);

    for (qw(plain2 throttle2)) {
        $servers{$_} = Bench::Edge::start_edge($_,
            { %shop, port => $port + (/plain/ ? 32 : 36) },
            cores => "$core,$other", workers => 2);
    }

    my @two = map { { %$_, at => "$_->{at}2", row => "two_$_->{row}" } }
              grep { $_->{row} =~ /^(?:first|early|pass)$/
                     && $_->{at} =~ /^(?:plain|throttle)$/
                     && $_->{name} !~ /bare|limit/ } @cases;

    tickets('early', 'early', $requests);
    slice({ %$_, expect => undef }) for @two;

    for my $row (rows_of(@two)) {
        for (1 .. $slices) {
            record($_->{row}, $_->{name}, $round, slice($_))
                for shuffle(grep { $_->{row} eq $row } @two);
        }
    }

    stop();
}


sub results {
    my @rows;
    my %base = map { $_->{row} => $_->{name} } grep { $_->{base} } @cases;

    $base{"two_$_"} = $base{$_} for qw(first early pass);
    $base{waiting} = '10';
    $base{keys} = '1';

    for my $row (sort keys %ns) {
        for my $name (sort keys %{ $ns{$row} }) {
            my @rounds = @{ $ns{$row}{$name} };
            my @base = @{ $ns{$row}{ $base{$row} } };
            my @ratio;

            for my $round (grep { $rounds[$_] } 0 .. $#rounds) {
                push @ratio, median(map { $rounds[$round][$_] / $base[$round][$_] }
                                    0 .. $#{ $rounds[$round] });
            }

            my ($low, $high) = spread(@ratio);

            push @rows, { row => $row, name => $name, against => $base{$row},
                          us => 0 + sprintf('%.3f', median(map { @$_ } grep { $_ } @rounds)
                                                       / 1000),
                          ratio => 0 + sprintf('%.3f', median(@ratio)),
                          ratio_low => 0 + sprintf('%.3f', $low),
                          ratio_high => 0 + sprintf('%.3f', $high) };
        }
    }

    return \@rows;
}


my @parts = split ' ', $ENV{PARTS} || 'compare waiting keys workers';
my %part = (compare => \&compare, waiting => \&waiting, keys => \&many_keys,
            workers => \&two_workers);

for my $round (0 .. $rounds - 1) {
    for my $part (@parts) {
        my $from = time;

        $part{$part}->($round);
        printf STDERR "round %d of %d, %s: %.0f s\n", $round + 1, $rounds,
               $part, time - $from;
    }
}

my $json = JSON::PP->new->pretty->canonical;

open my $file, '>', $out or die "cannot write $out: $!\n";
print {$file} $json->encode({
    rounds => $rounds, requests => $requests, slices => $slices,
    rows => results(), memory => \%memory, million => $million, keys => $keys,
});
close $file or die "cannot write $out: $!\n";
