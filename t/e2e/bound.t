# However many ask, no window of five seconds sees more than rate x period +
# burst at the checkout: two workers, 64 clients in parallel that take no
# advice, and a crowd that does.

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

# What is admitted at one moment is counted at the checkout a moment later, and
# the bound is exact only where this delay does not shrink.  So the burst, with
# which the fullest window begins, has to get there at once; in later windows
# there is room for a delay of BURST / RATE, a second.
use constant AT_ONCE => 0.02;

# fair: newcomers without a cookie delay nobody; lottery: they do
my %patience = (fair => 60, lottery => 10);

my @clients;


# A client that asks 20 times a second, whatever the answers, and keeps no
# cookie.
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


# A checkout and an edge that has just admitted a whole burst, at once.
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

    die 'this machine is too busy to measure anything';
}


for my $policy (qw(fair lottery)) {
    my ($checkout, $edge) = begin($policy);

    hammer($edge->url) for 1 .. CLIENTS;
    my $run = figures('--url', $edge->url, '--stages=3:60-60',
                      '--patience', $patience{$policy});
    stop_clients();

    my $stats = $checkout->stats;
    my $most = RATE * PERIOD + BURST;

    is($run->{figures}{shoppers}, 180, "$policy: the crowd came");
    cmp_ok($run->{figures}{admitted}, '>', 0, "$policy: and got in");
    is($run->{figures}{admitted}, 180, "$policy: all of it")
        if $policy eq 'fair';
    cmp_ok($stats->{arrivals_max_in_5s}, '<=', $most,
           "$policy: at most $most in 5 s");
    cmp_ok($stats->{arrivals_max_in_5s}, '>', $most * 0.8,
           "$policy: and hardly less");

    diag("$policy: $stats->{arrivals_max_in_5s} in the fullest 5 s of"
         . " $stats->{arrivals}, $most allowed");
}


END { local $?; stop_clients() }

done_testing();
