# The benchmark's programs: tickets, load, decisions.

use strict;
use warnings;

use File::Temp qw(tempdir);
use Test::More;
use Time::HiRes qw(sleep);

use Bench::Edge qw($SECRET stop_edge cpu_ns);
use Bench::Measure qw(load cost median);

my $build = $ENV{BUILD} || 'build';
my $dir = tempdir(CLEANUP => 1);

chomp(my $port = `scripts/free-port.pl 5`);
my $shop = Bench::Edge::start_shop($port);
my $edge = Bench::Edge::start_edge('throttle', { port => $port + 1, shop => $port });

# the state is older than the tickets, and its capacity is used up
is(load([], port => $edge->{port}, path => '/on_time', requests => 1,
        connections => 1)->{status}{200}, 1, 'the first request is admitted');

my @tickets = `$build/bench/tickets -n 200 -s '$SECRET' -z on_time -k shop -a 0`;
is(scalar @tickets, 200, 'tickets prints 200 lines');
is(scalar(grep { /^E[A-Za-z0-9_-]{63}$/ } @tickets), 200, '... of valid form');

my %seen;
$seen{$_}++ for @tickets;
is(scalar keys %seen, 200, '... all different');

open my $file, '>', "$dir/tickets" or die;
print {$file} @tickets;
close $file;

my %on_time = (port => $edge->{port}, path => '/on_time', requests => 200,
           cookie => 'flash_throttle_on_time');

my $answer = load([], %on_time, in => "$dir/tickets", out => "$dir/now", keep => 1);
is($answer->{status}{503}, 200, 'all requests get 503');
is($answer->{cookies}, 200, '... and a ticket');
is(changed('tickets', 'now'), 200, '... that differs');

$answer = load([], %on_time, in => "$dir/now", out => "$dir/again", keep => 1);
is($answer->{cookies}, 200, 'a poll on time gets a ticket');
is(changed('now', 'again'), 200, '... that differs');

# the edge forgets known tickets every 16 s: one of two runs is unaffected
my @again = sort { $a <=> $b }
            map { load([], %on_time, in => "$dir/now")->{cookies} } 1 .. 2;
cmp_ok($again[0], '<', 20, 'a repeated ticket gets no new one');

# with min below max a poll at once is early
my %early = (%on_time, path => '/early', cookie => 'flash_throttle_early',
             in => "$dir/early", out => "$dir/early", keep => 1);
my $early = sub {
    load([], %early);
    return system("cp $dir/early $dir/early.before") == 0;
};

system("$build/bench/tickets -n 200 -s '$SECRET' -z early -k shop -a 0 > $dir/early") == 0
    or die "no tickets\n";
load([], port => $edge->{port}, path => '/early', requests => 1, connections => 1);
$early->() for 1 .. 2;

for (1 .. 100) {
    load([], %early);
    last if changed('early.before', 'early') == 0;
    $early->();
    sleep 0.1;
}

is(changed('early.before', 'early'), 0, 'an early poll keeps its ticket');

# updated at each tick
my $waiting = 0;

for (1 .. 100) {
    ($waiting) = `curl -s http://127.0.0.1:$edge->{port}/status`
                 =~ /"on_time":.*?"waiting":(\d+)/;
    last if $waiting >= 190;
    sleep 0.1;
}

cmp_ok($waiting, '>=', 190, 'the census counts the tickets');
cmp_ok($waiting, '<', 400, '... once each');

my $before = cpu_ns($edge);
my $ns = cost($edge, [], %on_time, in => "$dir/now", requests => 500,
              path => '/first');
cmp_ok($ns, '>', 0, 'a request takes CPU time');
cmp_ok(abs($ns * 500 - (cpu_ns($edge) - $before)), '<', $ns * 500,
       '... as accounted by the scheduler');

ok(!eval { cost($edge, [], %on_time, path => '/status', expect => 503); 1 },
   'an unexpected status is an error');
like($@, qr{throttle /status: 0 of 200 answers are 503: 200: 200},
     '... that lists the statuses');

my $rated = load([], port => $edge->{port}, path => '/status', requests => 30,
                 rate => 100);
cmp_ok($rated->{seconds}, '>=', 0.29, 'load keeps the rate');

stop_edge($_) for $edge, $shop;

open my $stderr, '>&', \*STDERR or die;
open STDERR, '>', "$dir/stderr" or die;
my $loaded = eval { load([], port => $edge->{port}, path => '/', requests => 1); 1 };
open STDERR, '>&', $stderr or die;

ok(!$loaded, 'no server, no figure');
like(join('', @{ lines_of("$dir/stderr") }), qr/^load: connect\(\) to 127\.0\.0\.1:\d+ failed: Connection refused$/m,
     '... and the reason is printed');

is(median(3, 1, 2), 2, 'the median of three');
is(median(4, 1, 2, 3), 2.5, 'the median of four');

my %ns = map { /^(\w+) (\d+)$/ ? ($1 => $2) : () } `$build/bench/decisions`;
is(join(' ', sort keys %ns),
   'bytes_of_a_key first_attempt pass poll_called poll_early '
   . 'poll_on_time poll_on_time_at_a_million tick tick_at_a_million',
   'all decisions are measured');
is(scalar(grep { $_ > 0 } values %ns), 9, '... and positive');

done_testing();


# changed(BEFORE, AFTER): the number of tickets that differ.
sub changed {
    my ($before, $after) = map { lines_of("$dir/$_") } @_;

    return scalar grep { $before->[$_] ne $after->[$_] } 0 .. $#$before;
}


sub lines_of {
    my ($name) = @_;

    open my $in, '<', $name or die "$name: $!\n";

    return [ <$in> ];
}
