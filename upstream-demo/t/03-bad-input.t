# Invalid requests: none may take a unit or stop the service.

use strict;
use warnings;

use Test::More;
use CheckoutServer qw( read_response post_text );

my $server = CheckoutServer->start(qw( --payment-min-ms=1 --payment-max-ms=2
                                       --decline=0 ));
my $form = 'application/x-www-form-urlencoded';
my $json = 'application/json';

my @bad = (
    # content type, body, status, message
    [ $json, '{"locations":"0"}', 400, qr/locations .* from 1 to 16/ ],
    [ $json, '{"locations":"17"}', 400, qr/locations/ ],
    [ $json, '{"locations":"1,"}', 400, qr/locations/ ],
    [ $json, '{"locations":"1;2"}', 400, qr/locations/ ],
    [ $json, '{"locations":""}', 400, qr/locations/ ],
    [ $json, '{"locations":[1]}', 400, qr/locations/ ],
    [ $json, '{"quantity":0}', 400, qr/quantity .* from 1 to 10/ ],
    [ $json, '{"quantity":11}', 400, qr/quantity/ ],
    [ $json, '{"quantity":-1}', 400, qr/quantity/ ],
    [ $json, '{"quantity":1.5}', 400, qr/quantity/ ],
    [ $json, '{"quantity":1.0}', 400, qr/quantity/ ],
    [ $json, '{"quantity":"1"}', 400, qr/quantity/ ],
    [ $json, '{"quantity":true}', 400, qr/quantity/ ],
    [ $json, '{"quantity":null}', 400, qr/quantity/ ],
    [ $json, '{"quantity":[1]}', 400, qr/quantity/ ],
    [ $json, '{"quantity":99999999999999999999}', 400, qr/JSON|quantity/ ],
    [ $json, '{"quantity":1,"quantity":2}', 400, qr/JSON is malformed/ ],
    [ $json, '{"quantity":1', 400, qr/JSON is malformed at line 1/ ],
    [ $json, '{"quantity":1} {}', 400, qr/JSON is malformed/ ],
    [ $json, '[1]', 400, qr/JSON must be an object/ ],
    [ $json, '"1"', 400, qr/JSON/ ],
    [ $json, "{\"email\":\"\xff@\xfe.org\"}", 400, qr/JSON is malformed/ ],
    [ $json, '[' x 8000, 400, qr/JSON is malformed/ ],
    [ $json, '{"email":"nobody"}', 400, qr/e-mail/ ],
    [ $json, '{"email":7}', 400, qr/e-mail/ ],
    [ $json, '{"email":"a b@example.org"}', 400, qr/e-mail/ ],
    [ $json, '{"email":"a@' . 'x' x 300 . '"}', 400, qr/e-mail/ ],
    [ $form, 'quantity=zero', 400, qr/quantity/ ],
    [ $form, 'quantity=', 400, qr/quantity/ ],
    [ $form, 'quantity=%201', 400, qr/quantity/ ],
    [ $form, 'quantity=+1', 400, qr/quantity/ ],
    [ $form, 'quantity=1e0', 400, qr/quantity/ ],
    [ $form, 'quantity=0x1', 400, qr/quantity/ ],
    [ $form, 'quantity=1&quantity=1', 400, qr/two quantities/ ],
    [ $form, 'quantity', 400, qr/form is malformed/ ],
    [ $form, "quantity=1\0", 400, qr/null byte/ ],
    [ $form, 'email=@example.org', 400, qr/e-mail/ ],
    [ $form, 'email=%ff%40example.org', 400, qr/e-mail/ ],
    [ $form, 'email=a%ed%a0%80%40example.org', 400, qr/e-mail/ ],
    [ $form, 'email=a%40b&email=c%40d', 400, qr/two e-mail/ ],
    [ $form, 'email=a%0d%0ab%40c', 400, qr/e-mail/ ],
    [ 'text/plain', 'quantity=1', 415, qr/Content-Type/ ],
    [ 'application/jsonp', '{"quantity":1}', 415, qr/Content-Type/ ],
    [ $json, '{"email":"' . 'x' x 9000 . '"}', 413, qr/limit is 8192/ ],
);

for my $case (@bad) {
    my ($type, $body, $status, $message) = @$case;
    my $shown = substr($body, 0, 40) =~ s/[^ -~]/./gr;
    my $response = $server->request('POST', '/checkout', body => $body,
                                    headers => { 'Content-Type' => $type });

    is($response->{status}, $status, "$type: $shown");
    like($response->{json}{message}, $message, 'error message');
}

for my $value ('soon', '-5', '1e12', '99999999999999999999', '12 34', '') {
    my $response = $server->buy('Flash-Deadline-Ms' => $value);

    is($response->{status}, 400, "Flash-Deadline-Ms: $value");
    like($response->{json}{message}, qr/Flash-Deadline-Ms/, 'error message');
}

my $untyped = read_response($server->send_raw(post_text('quantity=1')));
is($untyped->{status}, 415, 'a body without a type');

my $page = $server->request('POST', '/checkout', body => 'quantity=0',
    headers => { 'Content-Type' => $form, 'Accept' => 'text/html' });
is($page->{status}, 400, 'a browser gets the status too');
like($page->{content}, qr/from 1 to 10/, 'and the error message as a page');

# Malformed HTTP: libevent answers or closes.
my $huge = $server->connect_raw();
syswrite($huge, "POST /checkout HTTP/1.1\r\nHost: x\r\nContent-Type: $json\r\n"
                . "Content-Length: 1000000\r\n\r\n");
my $left = 1_000_000;
while ($left > 0) {
    my $n = syswrite($huge, 'x' x ($left > 65536 ? 65536 : $left)) or last;
    $left -= $n;
}
is(read_response($huge)->{status}, 413, 'a body of a million bytes');

my $chunked = $server->send_raw(
    "POST /checkout HTTP/1.1\r\nHost: x\r\nContent-Type: $json\r\n"
    . "Transfer-Encoding: chunked\r\n\r\ne\r\n{\"quantity\":2}\r\n0\r\n\r\n");
is(read_response($chunked)->{status}, 200, 'a chunked body');

my $garbage = $server->send_raw("\x16\x03\x01\x02\x00\x01\x00\r\n\r\n");
my $answer = read_response($garbage);
ok(!defined $answer || $answer->{status} >= 400, 'a TLS hello');

my $unknown = $server->send_raw("BREW / HTTP/1.1\r\nHost: x\r\n\r\n");
is(read_response($unknown)->{status}, 501, 'an unknown method');

my $long = $server->send_raw("GET / HTTP/1.1\r\nHost: x\r\nX: "
                             . 'y' x 20000 . "\r\n\r\n");
$answer = read_response($long);
ok(!defined $answer || $answer->{status} >= 400, 'too long headers');

my $stats = $server->stats();
is($stats->{bad_requests}, @bad + 8, 'bad requests counted');
is($stats->{orders}, 1, 'only the chunked request was an order');
is($stats->{stock_sold}, 2, 'units sold');
is($stats->{stock_held}, 0, 'nothing is held');

# Unusual but valid orders.
my @good = (
    [ undef, undef, 1 ],
    [ $form, '', 1 ],
    [ $form, 'quantity=10', 10 ],
    [ $form, 'quantity=007', 7 ],
    [ "$form; charset=utf-8", 'email=&shoe=9', 1 ],
    [ "Application/JSON ; charset=utf-8", '{"quantity":3,"more":{}}', 3 ],
    [ $json, '{"email":"ada@example.org"}', 1 ],
    [ $json, '{"email":null}', 1 ],
);

for my $case (@good) {
    my ($type, $body, $quantity) = @$case;
    my $response = $server->request('POST', '/checkout', body => $body,
        headers => { $type ? ('Content-Type' => $type) : () });

    is($response->{status}, 200, ($type // 'no type') . ': '
                                 . ($body // 'no body'));
    is($response->{json}{quantity}, $quantity, "buys $quantity");
}

# Orders with random bytes changed: the status must be one of the contract.
srand(20251006);

my @seeds = (
    [ $json, '{"quantity":2,"email":"ada@example.org","more":[1,{"a":null}]}' ],
    [ $form, 'quantity=2&email=ada%40example.org&more=%5B1%5D' ],
);
my %contract = map { $_ => 1 } 200, 400, 409;
my $socket = $server->connect_raw();
my @odd;

for (1 .. 600) {
    my ($type, $body) = @{$seeds[$_ % 2]};

    for (0 .. rand(4)) {
        substr($body, rand(length($body)), rand(3)) = chr(rand(256));
    }

    syswrite($socket, post_text($body, 'Content-Type' => $type));

    my $status = read_response($socket)->{status};
    push @odd, "$status: $body" if !$contract{$status};
}

is_deeply(\@odd, [], '600 random orders');
is($server->stats()->{in_progress}, 0, 'none is still in progress');

done_testing();
