# Arrivals at /checkout, in the fullest window: what a throttle is judged by.

use strict;
use warnings;

use Test::More;
use CheckoutServer;

sub arrivals {
    my ($window, $ms, $n) = @_;
    my $server = CheckoutServer->start("--arrival-window-ms=$window",
        "--payment-min-ms=$ms", "--payment-max-ms=$ms", '--decline=0');

    $server->buy() for 1 .. $n;

    return $server->stats();
}

# One after the other, each at least a payment after the one before.
is(arrivals(20, 30, 10)->{arrivals_max_in_window}, 1,
   'never two in a window that is shorter than their distance');

my $stats = arrivals(3600000, 1, 25);
is($stats->{arrivals_max_in_window}, 25, 'all in a window without end');
is($stats->{arrivals}, 25, 'and in total');
ok(!exists $stats->{arrivals_max_in_5s}, 'this one is not 5 s long');

my $server = CheckoutServer->start('--payment-max-ms=100');
$server->request('GET', '/checkout');
$server->request('HEAD', '/checkout');
$server->request('POST', '/checkout', body => 'quantity=0',
                 headers => { 'Content-Type'
                              => 'application/x-www-form-urlencoded' });
$server->request('GET', '/');
$server->request('GET', '/healthz');
$server->request('PUT', '/checkout');

$stats = $server->stats();
is($stats->{arrivals}, 3, 'pages and refused orders count, the rest not');
cmp_ok($stats->{arrivals_max_in_5s}, '<=', 3, 'in 5 s');
is($stats->{arrivals_max_in_5s}, $stats->{arrivals_max_in_window},
   'which is the window unless another is given');
is($stats->{arrival_window_ms}, 5000, 'and says so');

done_testing();
