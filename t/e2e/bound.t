# In every window of five seconds at most rate x period + burst requests reach the
# checkout, with two workers, 64 clients that ignore the advised time and a crowd
# that follows it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib", "$FindBin::Bin/../../tools/t/lib",
    "$FindBin::Bin/../../upstream-demo/t/lib";
use CheckoutServer;
use Edge;
use FlashCrowd qw(figures);
use HTTP::Tiny;
use List::Util qw(max);
use POSIX ();
use Test::More;
use Time::HiRes qw(sleep time);

use constant { RATE => 20, PERIOD => 5, BURST => 20, CLIENTS => 64 };

# The checkout counts a request some time after its admission, so the limit is
# exact only if this delay does not shrink.  The initial burst must arrive within
# AT_ONCE; later windows tolerate a delay of BURST / RATE = 1 s.
use constant AT_ONCE => 0.02;

# with policy=lottery, clients without a cookie delay the others
my %patience = (fair => 60, lottery => 10);

my @clients;


# Starts a client that sends 20 requests per second without cookies.
sub hammer {
    my ($url) = @_;

    my $pid = fork() // die "fork: $!";

    if ($pid == 0) {
        my $http = HTTP::Tiny->new(timeout => 60);
        $SIG{TERM} = sub { POSIX::_exit(0) };

        while (1) {
            $http->get($url);
            sleep(0.05);
        }
    }

    push @clients, $pid;
}


sub stop_clients {
    kill TERM => @clients;
    waitpid $_, 0 for splice @clients;
}


# Starts a checkout and an edge, and uses up the burst.
sub begin {
    my ($policy) = @_;

    for (1 .. 50) {
        my $checkout = CheckoutServer->start('--stock=1000');
        my $edge = Edge->start(checkout => $checkout,
                               throttle => "policy=$policy",
                               zone => 'rate=' . RATE . 'r/s period=' . PERIOD
                                       . 's burst=' . BURST,
                               listen => 'reuseport');
        my $http = HTTP::Tiny->new;
        my $slowest = 0;

        for (1 .. BURST) {
            my $start = time;
            $http->get($edge->url);
            $slowest = max($slowest, time - $start);
        }

        return ($checkout, $edge) if $slowest < AT_ONCE;
    }

    die 'machine too busy: burst not admitted within ' . AT_ONCE . ' s per request';
}


for my $policy (qw(fair lottery)) {
    my ($checkout, $edge) = begin($policy);

    hammer($edge->url) for 1 .. CLIENTS;
    my $run = figures('--url', $edge->url, '--stages=3:60-60',
                      '--patience', $patience{$policy});
    stop_clients();

    my $stats = $checkout->stats;
    my $most = RATE * PERIOD + BURST;

    is($run->{figures}{shoppers}, 180, "$policy: shoppers");
    cmp_ok($run->{figures}{admitted}, '>', 0, "$policy: some are admitted");
    is($run->{figures}{admitted}, 180, "$policy: all are admitted")
        if $policy eq 'fair';
    cmp_ok($stats->{arrivals_max_in_5s}, '<=', $most,
           "$policy: at most $most in 5 s");
    cmp_ok($stats->{arrivals_max_in_5s}, '>', $most * 0.8,
           "$policy: more than 80 % of it");

    diag("$policy: $stats->{arrivals_max_in_5s} in the fullest 5 s of"
         . " $stats->{arrivals}, $most allowed");
}


END { local $?; stop_clients() }

done_testing();
