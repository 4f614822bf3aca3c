# nginx is stopped and started again while shoppers wait.  The new nginx has no
# state, and the shoppers keep their order, which is in their cookies.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib", "$FindBin::Bin/../../tools/t/lib",
    "$FindBin::Bin/../../upstream-demo/t/lib";
use CheckoutServer qw(wait_until);
use Edge;
use FlashCrowd qw(begin_crowd end_crowd);
use HTTP::Tiny;
use Test::More;

my $checkout = CheckoutServer->start('--stock=500', '--payment-slots=8');
my $edge = Edge->start(checkout => $checkout, zone => 'rate=20r/s',
                       throttle => 'policy=fair', log => 1);

my $crowd = begin_crowd('--json', '--url', $edge->url, '--poll', '--deadline',
    '--stages=4:50-50', '--patience=90',
    '--stats-url', "http://127.0.0.1:$checkout->{port}/stats");

# all shoppers have arrived: a new edge without a census admits a first attempt
wait_until {
    my $status = $edge->status;
    ($status->{first_attempts} // 0) == 200 && $status->{waiting} > 60;
} 'a long queue of all shoppers';

$edge->stop;
$edge->run;

wait_until { ($edge->status->{waiting} // 0) > 20 } 'the queue to be back';
is($edge->status->{first_attempts}, 0, 'all waiting shoppers have tickets');
is(HTTP::Tiny->new->get($edge->url)->{status}, 503, 'a first attempt waits');

my $run = end_crowd($crowd);
my $figures = $run->{figures};

my $order = $edge->report;

note(sprintf 'overtaken %.1f %%, tau %.3f, worst inversion %.2f s, %d requests'
     . ' without an answer', $order->{overtaken} * 100,
     @$order{qw(kendall_tau worst_inversion_s)}, $figures->{unanswered});

cmp_ok($figures->{unanswered}, '>', 0, 'some requests failed in the restart');
is($figures->{gave_up}, 0, 'none gives up');
is($figures->{admitted}, 200, 'all shoppers are admitted');
is($run->{status}, 0, 'no oversale, no late charge');

# a client whose connection is cut retries after a second, and a new edge admits
# nobody for a second
cmp_ok($order->{worst_inversion_s}, '<', 2.5, 'no shopper was overtaken by more');
cmp_ok($order->{kendall_tau}, '>', 0.9, 'the order was kept');

done_testing();
