# A payment provider that becomes slow while a sale runs.

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

is(pace($server, '?min-ms=50&max-ms=60')->{status}, 200, 'they become slow');

my $ms = $server->buy()->{json}{payment_ms};

cmp_ok($ms, '>=', 50, 'not faster than that');
cmp_ok($ms, '<=', 60, 'nor slower');

is(pace($server, '?min-ms=1&max-ms=2')->{status}, 200, 'and fast again');
cmp_ok($server->buy()->{json}{payment_ms}, '<=', 2, 'as before');

for my $query ('', '?min-ms=1', '?min-ms=3&max-ms=2', '?min-ms=-1&max-ms=2', '?min-ms=1&max-ms=600001',
    '?min-ms=1s&max-ms=2s')
{
    is(pace($server, $query)->{status}, 400, "not \"$query\"");
}

is($server->request("GET", "/payments")->{status}, 405, 'only POST');
is(pace(CheckoutServer->start(@args), '?min-ms=1&max-ms=2')->{status}, 403, 'only where it is allowed');

done_testing;
