# Feedback to the waiting room: the Flash-Throttle header.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use CheckoutServer;
use Test::More;

sub feedback { $_[0]{headers}{'flash-throttle'} }

my $checkout = CheckoutServer->start('--stock=3', '--payment-slots=2', '--payment-min-ms=1', '--payment-max-ms=1', '--decline=0', '--allow-reset');

is(feedback($checkout->request('GET', '/checkout')), undef, 'a page has no feedback');
is(feedback($checkout->buy), 'done', 'an order') for 1 .. 2;
is(feedback($checkout->buy), 'sold-out, done', 'the order of the last unit');

my $response = $checkout->buy;
is($response->{status}, 409, 'no unit left');
is(feedback($response), 'sold-out', 'sold out');

$checkout->request('POST', '/reset');
is(feedback($checkout->buy), 'resume, done', 'units are available again');

# a held unit does not count as sold: its payment may be declined
my $declining = CheckoutServer->start('--stock=1', '--payment-min-ms=1', '--payment-max-ms=1', '--decline=1');

$response = $declining->buy;
is($response->{status}, 402, 'declined');
is(feedback($response), undef, 'no feedback');

done_testing();
