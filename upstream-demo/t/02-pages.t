# Pages, JSON answers, methods, statistics, reset.

use strict;
use warnings;

use Test::More;
use CheckoutServer qw( read_to_end );

my $server = CheckoutServer->start(qw( --stock=2 --payment-min-ms=1
                                       --payment-max-ms=2 --decline=0 ));
my %browser = (Accept => 'text/html,application/xhtml+xml,*/*;q=0.8');

my $page = $server->request('GET', '/', headers => \%browser);
is($page->{status}, 200, 'product page');
like($page->{headers}{'content-type'}, qr{^text/html}, 'is HTML');
like($page->{content}, qr/2 in stock/, 'shows the stock');
like($page->{content}, qr{<a [^>]*href="/checkout">Buy</a>}, 'has a Buy link');
is($page->{headers}{'cache-control'}, 'no-store', 'is not cacheable');

my $form = $server->request('GET', '/checkout', headers => \%browser);
is($form->{status}, 200, 'checkout page');
like($form->{content}, qr{<form method="post" action="/checkout">},
     'has the form');
like($form->{content}, qr/name="quantity"[^>]*min="1" max="10"/,
     'with a quantity');
like($form->{content}, qr/name="email"/, 'and an address');

for my $path ('/', '/checkout', '/stats', '/healthz') {
    my $get = $server->request('GET', $path);
    my $head = read_to_end($server->send_raw(
        "HEAD $path HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));

    like($head, qr{\AHTTP/1\.1 $get->{status} },
         "HEAD $path has the status of GET");
    like($head, qr/^content-length: [1-9]/mi, "HEAD $path has the length");
    like($head, qr/\A(?:[^\r\n]+\r\n)+\r\n\z/, "HEAD $path has no body");
}

my $bought = $server->request('POST', '/checkout',
    body => 'quantity=1&email=ada%40example.org',
    headers => { %browser,
                 'Content-Type' => 'application/x-www-form-urlencoded' });
is($bought->{status}, 200, 'a browser buys');
like($bought->{headers}{'content-type'}, qr{^text/html}, 'gets a page');
like($bought->{content}, qr/<code>FT-[0-9A-Z]{16}<\/code>/,
     'with the order id');

my $json = $server->request('POST', '/checkout', body => '{"quantity":1}',
    headers => { 'Content-Type' => 'application/json' });
is($json->{status}, 200, 'a client with JSON buys');
is($json->{json}{status}, 'confirmed', 'gets JSON');
like($json->{json}{order_id}, qr/^FT-[0-9A-Z]{16}$/, 'with the order id');
is($json->{json}{quantity}, 1, 'and the quantity');
like($json->{headers}{vary}, qr/Accept/, 'that varies with Accept');

like($server->request('GET', '/')->{content}, qr/Sold out/,
     'the product page shows sold out');
is($server->buy()->{status}, 409, 'JSON: sold out, status');
is($server->buy()->{json}{status}, 'sold_out', 'JSON: sold out, name');

my $gone = $server->buy(%browser);
is($gone->{status}, 409, 'page: sold out');
like($gone->{content}, qr{<h1>Sold out</h1>}, 'page: heading');

is($server->request('GET', '/healthz')->{content}, "ok\n", 'health');
is($server->request('GET', '/admin')->{status}, 404, 'an unknown address');
is($server->request('GET', '/checkout?from=mail')->{status}, 200,
   'a query is not part of the address');

my %allow = (
    '/' => 'GET, HEAD',
    '/checkout' => 'GET, HEAD, POST',
    '/stats' => 'GET, HEAD',
    '/healthz' => 'GET, HEAD',
    '/reset' => 'POST',
);

for my $path (sort keys %allow) {
    for my $method (qw( PUT DELETE PATCH OPTIONS )) {
        my $response = $server->request($method, $path);

        is($response->{status}, 405, "$method $path");
        is($response->{headers}{allow}, $allow{$path}, "$method $path: Allow");
    }
}

my $stats = $server->stats();
is($stats->{$_->[0]}, $_->[1], "statistics: $_->[0]")
    for [ mode => 'reserve' ], [ seed => 1 ], [ stock_initial => 2 ],
        [ stock_now => 0 ], [ stock_held => 0 ], [ stock_sold => 2 ],
        [ orders => 2 ], [ oversold => 0 ], [ confirmed => 2 ],
        [ late_charges => 0 ], [ declined => 0 ], [ sold_out => 3 ],
        [ refused_busy => 0 ], [ refused_deadline => 0 ],
        [ in_progress => 0 ], [ in_progress_max => 1 ];

my $latencies = $stats->{latencies};
is($latencies->{checkout}{count}, 5, 'latencies of every checkout');
is($latencies->{checkout_200}{count}, 2, 'latencies of confirmed orders');
cmp_ok($latencies->{checkout_200}{p50_ms}, '>=', 1, 'at least the payment');
cmp_ok($latencies->{checkout_200}{p50_ms}, '<=',
       $latencies->{checkout_200}{max_ms}, 'percentiles in order');

my $counts = $stats->{orders_per_second}{counts};
my $sum = 0;
$sum += $_ for @$counts;
is($sum, 2, 'orders per second, sum');
is($stats->{orders_per_second}{start_s},
   int($stats->{first_order_ms} / 1000), 'orders per second, start');
cmp_ok($stats->{last_order_ms}, '>=', $stats->{first_order_ms},
       'first and last order');

is($server->request('POST', '/reset')->{status}, 403,
   'reset without --allow-reset');

$server = CheckoutServer->start(qw( --stock=1 --payment-min-ms=1
                                    --payment-max-ms=2 --decline=0
                                    --allow-reset ));
my $first = $server->buy()->{json};
is($server->buy()->{status}, 409, 'sold out before the reset');
is($server->request('POST', '/reset')->{status}, 200, 'reset');
my $again = $server->buy()->{json};
is($again->{payment_ms}, $first->{payment_ms}, 'payment numbers restart');
isnt($again->{order_id}, $first->{order_id}, 'order ids do not repeat');
is($server->stats()->{orders}, 1, 'statistics restart');

done_testing();
