# A worker is killed up to ten times during a sale, and nginx reloads every second:
# no request hangs, no count goes wrong, and the queue keeps its order.

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
use Time::HiRes qw(sleep time);

use constant { RATE => 20, BURST => 5, KILLS => 10 };

my $checkout = CheckoutServer->start('--stock=1000', '--payment-slots=8');
my $edge = Edge->start(checkout => $checkout, throttle => 'policy=fair', log => 1,
                       zone => 'rate=' . RATE . 'r/s inflight=16 burst='
                               . BURST);

my $crowd = begin_crowd('--json', '--url', $edge->url, '--poll', '--deadline',
    '--stages=8:35-35', '--patience=90',
    '--stats-url', "http://127.0.0.1:$checkout->{port}/stats");

wait_until { ($edge->status->{waiting} // 0) > 10 } 'a queue';

my $next = time;
my $kills = 0;

# a slow machine sells out before the last kill
while ($kills < KILLS && $edge->status->{waiting} > 0) {
    $edge->kill_worker;
    $edge->reload;
    $kills++;

    $next += 1;
    sleep($next - time) if $next > time;
}

cmp_ok($kills, '>=', 3, "$kills workers were killed while shoppers waited");
is($edge->logged('exited on signal 9'), $kills, 'as the log says');

my $run = end_crowd($crowd);
my $figures = $run->{figures};

my $order = $edge->report;

note(sprintf 'overtaken %.1f %%, tau %.3f, worst inversion %.2f s, %d requests'
     . ' without an answer, longest request %.1f s', $order->{overtaken} * 100,
     @$order{qw(kendall_tau worst_inversion_s)},
     @$figures{qw(unanswered longest_request_s)});

is($figures->{shoppers}, 280, 'shoppers');
is($figures->{gave_up}, 0, 'none gives up');
is($figures->{admitted}, 280, 'all shoppers are admitted');
is($figures->{oversold}, 0, 'no oversale');
cmp_ok($figures->{unanswered}, '>', 0, 'some requests failed');

# a payment in progress ends without its worker
cmp_ok($figures->{late_charges}, '<=', $figures->{failed},
       'late charges only for failed requests');
cmp_ok($figures->{failed}, '<=', KILLS * 16,
       'at most the requests in flight fail');
cmp_ok($figures->{longest_request_s}, '<', 20, 'no request hung');

# a client whose connection is cut retries after a second
cmp_ok($order->{overtaken}, '<=', 0.1, 'few were overtaken');
cmp_ok($order->{kendall_tau}, '>', 0.9, 'the order was kept');

cmp_ok($edge->most_admitted(5), '<=', RATE * 5 + BURST,
       'no more were admitted than the rate allows');

for my $count (qw(waiting held inflight)) {
    my $value = eval {
        wait_until { $edge->status->{$count} == 0 } "$count to be 0";
    };
    ok($value, "$count is 0 after the sale") or diag(explain($edge->status));
}

my $response = HTTP::Tiny->new->get($edge->url);
is($response->{status}, 200, 'a first attempt is admitted');

done_testing();
