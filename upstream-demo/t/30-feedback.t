# What the checkout says to the waiting room before it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use CheckoutServer;
use Test::More;

sub said { $_[0]{headers}{'flash-throttle'} }

my $checkout = CheckoutServer->start('--stock=3', '--payment-slots=2', '--payment-min-ms=1', '--payment-max-ms=1', '--decline=0', '--allow-reset');

is(said($checkout->request('GET', '/checkout')), undef, 'a page says nothing');
is(said($checkout->buy), 'done', 'an order is the end of a pass') for 1 .. 2;
is(said($checkout->buy), 'sold-out, done', 'the last one');

my $response = $checkout->buy;
is($response->{status}, 409, 'one too many');
is(said($response), 'sold-out', 'says so again');

$checkout->request('POST', '/reset');
is(said($checkout->buy), 'open, done', 'units came back');

# held is not sold: the payment of the last unit fails, and it is there again
my $declining = CheckoutServer->start('--stock=1', '--payment-min-ms=1', '--payment-max-ms=1', '--decline=1');

$response = $declining->buy;
is($response->{status}, 402, 'declined');
is(said($response), undef, 'nothing was sold');

done_testing();
