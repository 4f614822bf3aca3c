# POST /payments changes the duration of payments.

use strict;
use warnings;

use Test::More;
use CheckoutServer;

my @args = qw( --mode=queue --payment-min-ms=1 --payment-max-ms=2 --decline=0 );


sub pace {
    my ($server, $query) = @_;

    return $server->request("POST", "/payments$query");
}

my $server = CheckoutServer->start(@args, '--allow-reset');

cmp_ok($server->buy()->{json}{payment_ms}, '<=', 2, 'payments are fast');

is(pace($server, '?min-ms=50&max-ms=60')->{status}, 200, 'slower');

my $ms = $server->buy()->{json}{payment_ms};

cmp_ok($ms, '>=', 50, 'minimum');
cmp_ok($ms, '<=', 60, 'maximum');

is(pace($server, '?min-ms=1&max-ms=2')->{status}, 200, 'faster');
cmp_ok($server->buy()->{json}{payment_ms}, '<=', 2, 'payments are fast again');

for my $query ('', '?min-ms=1', '?min-ms=3&max-ms=2', '?min-ms=-1&max-ms=2', '?min-ms=1&max-ms=600001',
    '?min-ms=1s&max-ms=2s')
{
    is(pace($server, $query)->{status}, 400, "query \"$query\"");
}

is($server->request("GET", "/payments")->{status}, 405, 'only POST');
is(pace(CheckoutServer->start(@args), '?min-ms=1&max-ms=2')->{status}, 403, 'without --allow-reset');

done_testing;
