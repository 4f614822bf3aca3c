# The programs that the benchmark is made of: tickets, load, decisions.

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

# a state that is older than the tickets, and has no room left
is(load([], port => $edge->{port}, path => '/due', requests => 1,
        connections => 1)->{status}{200}, 1, 'the first one is let in');

my @tickets = `$build/bench/tickets -n 200 -s '$SECRET' -z due -k shop -a 0`;
is(scalar @tickets, 200, 'as many tickets as asked for');
is(scalar(grep { /^E[A-Za-z0-9_-]{63}$/ } @tickets), 200, '... are tickets');

my %seen;
$seen{$_}++ for @tickets;
is(scalar keys %seen, 200, '... and all different');

open my $file, '>', "$dir/tickets" or die;
print {$file} @tickets;
close $file;

my %due = (port => $edge->{port}, path => '/due', requests => 200,
           cookie => 'flash_throttle_due');

my $answer = load([], %due, in => "$dir/tickets", out => "$dir/now", keep => 1);
is($answer->{status}{503}, 200, 'all are told to wait');
is($answer->{cookies}, 200, '... and get a ticket');
is(changed('tickets', 'now'), 200, '... that is newer');

$answer = load([], %due, in => "$dir/now", out => "$dir/again", keep => 1);
is($answer->{cookies}, 200, 'who comes back with it gets one');
is(changed('now', 'again'), 200, '... and is counted anew');

# every 16 s the edge forgets which it has seen; not twice in a moment
my @again = sort { $a <=> $b }
            map { load([], %due, in => "$dir/now")->{cookies} } 1 .. 2;
cmp_ok($again[0], '<', 20, 'who shows the same once more gets none');

# told less than the longest time, whoever comes is early
my %early = (%due, path => '/early', cookie => 'flash_throttle_early',
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

is(changed('early.before', 'early'), 0, 'who is early gets the same ticket');

# as of the last tick
my $waiting = 0;

for (1 .. 100) {
    ($waiting) = `curl -s http://127.0.0.1:$edge->{port}/status`
                 =~ /"due":.*?"waiting":(\d+)/;
    last if $waiting >= 190;
    sleep 0.1;
}

cmp_ok($waiting, '>=', 190, 'the line is as long as there are tickets');
cmp_ok($waiting, '<', 400, '... who are counted once');

my $before = cpu_ns($edge);
my $ns = cost($edge, [], %due, in => "$dir/now", requests => 500,
              path => '/first');
cmp_ok($ns, '>', 0, 'a request costs something');
cmp_ok(abs($ns * 500 - (cpu_ns($edge) - $before)), '<', $ns * 500,
       '... which is what the scheduler says');

ok(!eval { cost($edge, [], %due, path => '/status', expect => 503); 1 },
   'a wrong answer is not measured');
like($@, qr{throttle /status: of 200 answers only 0 are 503: 200: 200},
     '... and told of');

my $rated = load([], port => $edge->{port}, path => '/status', requests => 30,
                 rate => 100);
cmp_ok($rated->{seconds}, '>=', 0.29, 'a rate is kept to');

stop_edge($_) for $edge, $shop;

open my $stderr, '>&', \*STDERR or die;
open STDERR, '>', "$dir/stderr" or die;
my $loaded = eval { load([], port => $edge->{port}, path => '/', requests => 1); 1 };
open STDERR, '>&', $stderr or die;

ok(!$loaded, 'no server, no figure');
like(join('', @{ lines_of("$dir/stderr") }), qr/^load: connecting to the server: Connection refused$/m,
     '... and the reason is printed');

is(median(3, 1, 2), 2, 'the median of three');
is(median(4, 1, 2, 3), 2.5, 'the median of four');

my %ns = map { /^(\w+) (\d+)$/ ? ($1 => $2) : () } `$build/bench/decisions`;
is(join(' ', sort keys %ns),
   'bytes_of_a_key first_attempt pass poll_called poll_early '
   . 'poll_in_time poll_in_time_of_a_million tick tick_at_a_million',
   'all decisions are timed');
is(scalar(grep { $_ > 0 } values %ns), 9, '... and take a while');

done_testing();


# changed(BEFORE, AFTER): of how many shoppers the ticket has changed.
sub changed {
    my ($before, $after) = map { lines_of("$dir/$_") } @_;

    return scalar grep { $before->[$_] ne $after->[$_] } 0 .. $#$before;
}


sub lines_of {
    my ($name) = @_;

    open my $in, '<', $name or die "$name: $!\n";

    return [ <$in> ];
}
