# No window of five seconds sees more admissions than rate x period + burst, with
# two workers, 64 clients in parallel that ignore the retry interval, and a crowd
# that keeps to it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib", "$FindBin::Bin/../../tools/t/lib",
    "$FindBin::Bin/../../upstream-demo/t/lib";
use CheckoutServer;
use Edge;
use FlashCrowd qw(figures);
use HTTP::Tiny;
use POSIX ();
use Test::More;
use Time::HiRes qw(sleep);

use constant { RATE => 20, PERIOD => 5, BURST => 20, CLIENTS => 64 };

# Newcomers without a cookie delay the crowd with policy=lottery only.
my %patience = (fair => 60, lottery => 10);

my @clients;


# A client that sends 20 requests a second, whatever the answers, and keeps no
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


for my $policy (qw(fair lottery)) {
    my $checkout = CheckoutServer->start('--stock=1000');
    my $edge = Edge->start(checkout => $checkout,
                           throttle => "policy=$policy", log => 1,
                           zone => 'rate=' . RATE . 'r/s period=' . PERIOD
                                   . 's burst=' . BURST,
                           listen => 'reuseport');

    hammer($edge->url) for 1 .. CLIENTS;
    my $run = figures('--url', $edge->url, '--stages=3:60-60',
                      '--patience', $patience{$policy});
    stop_clients();

    my $most = RATE * PERIOD + BURST;
    my $fullest = $edge->most_admitted(PERIOD);

    is($run->{figures}{shoppers}, 180, "$policy: all shoppers came");
    cmp_ok($run->{figures}{admitted}, '>', 0, "$policy: some were admitted");
    is($run->{figures}{admitted}, 180, "$policy: all were admitted")
        if $policy eq 'fair';
    cmp_ok($fullest, '<=', $most, "$policy: at most $most in 5 s");
    cmp_ok($fullest, '>', $most * 0.8, "$policy: the limit is used");
    is($edge->status->{admitted}, scalar(my @all = $edge->admissions),
       "$policy: the log has every admission");

    note("$policy: $fullest in the fullest 5 s of " . scalar(@all)
         . ", $most allowed");
}


END { local $?; stop_clients() }

done_testing();
