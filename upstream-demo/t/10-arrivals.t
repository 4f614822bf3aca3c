# The maximum number of arrivals at /checkout in a time window.

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

# One after another, at least the duration of a payment apart.
is(arrivals(20, 30, 10)->{arrivals_max_in_window}, 1,
   'one in a window shorter than a payment');

my $stats = arrivals(3600000, 1, 25);
is($stats->{arrivals_max_in_window}, 25, 'all in a long window');
is($stats->{arrivals}, 25, 'and in total');
ok(!exists $stats->{arrivals_max_in_5s}, 'arrivals_max_in_5s only for a window of 5 s');

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
is($stats->{arrivals}, 3, 'pages and refused orders count');
cmp_ok($stats->{arrivals_max_in_5s}, '<=', 3, 'in the default window');
is($stats->{arrivals_max_in_5s}, $stats->{arrivals_max_in_window},
   'the default window has 5 s');
is($stats->{arrival_window_ms}, 5000, 'arrival_window_ms');

done_testing();
