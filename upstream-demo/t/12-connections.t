# Connections: pipelined, persistent, slow, silent.

use strict;
use warnings;

use Test::More;
use CheckoutServer qw( read_response read_to_end post_text
                       wait_until );

subtest 'pipelining' => sub {
    my $server = CheckoutServer->start(qw( --mode=deadline --payment-min-ms=50
        --payment-max-ms=60 --decline=0 ));
    my $socket = $server->send_raw(post_text('')
        . "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" . post_text(''));
    my $rest = '';

    my @responses = map { read_response($socket, \$rest) } 1 .. 3;

    is_deeply([ map { $_->{status} } @responses ], [ 200, 200, 200 ],
              'all are answered');
    like($responses[0]{content}, qr/confirmed/, 'first answer');
    like($responses[1]{content}, qr/^ok/, 'second answer');
    like($responses[2]{content}, qr/confirmed/, 'third answer');
    is($server->stats()->{in_progress_max}, 1, 'one at a time');
};

subtest 'a persistent connection' => sub {
    my $server = CheckoutServer->start(qw( --payment-min-ms=0
        --payment-max-ms=1 --decline=0 --stock=100 ));
    my $socket = $server->connect_raw();
    my $ok = 0;

    for (1 .. 100) {
        syswrite($socket, post_text('quantity=1',
            'Content-Type' => 'application/x-www-form-urlencoded'));
        $ok++ if read_response($socket)->{status} == 200;
    }

    is($ok, 100, 'a hundred orders');
    is($server->stats()->{confirmed}, 100, 'no late charge');
};

subtest 'a slow client does not block others' => sub {
    my $server = CheckoutServer->start(qw( --payment-min-ms=1
        --payment-max-ms=2 --decline=0 ));
    my $socket = $server->connect_raw();
    my $text = post_text('{"quantity":3}',
                         'Content-Type' => 'application/json');
    my $others = 0;

    for my $byte (split(//, $text)) {
        syswrite($socket, $byte);
        $others++ if $server->buy()->{status} == 200;
    }

    is($others, length($text), 'others buy between its bytes');
    my $response = read_response($socket);
    is($response->{status}, 200, 'the slow client buys');
    like($response->{content}, qr/"quantity":3/, 'with its quantity');
};

subtest 'a silent client times out, a request in progress does not' => sub {
    my $server = CheckoutServer->start(qw( --client-timeout-ms=200
        --payment-min-ms=2500 --payment-max-ms=2500 --decline=0 ));
    my $held = $server->send_raw(post_text(''));
    my $silent = $server->send_raw("POST /checkout HTTP/1.1\r\nHost:");

    is(read_to_end($silent), '', 'half a request: closed');
    is($server->stats()->{in_progress}, 1, 'the order is in progress');
    is(read_response($held)->{status}, 200, 'and is confirmed');
};

subtest 'more connections than descriptors' => sub {
    my $server = CheckoutServer->start([ qw( prlimit --nofile=40 ) ]);
    my @idle = map { $server->connect_raw() } 1 .. 60;
    my $late = $server->send_raw("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");

    wait_until { $server->errors() } 'the limit to be reached';
    close($_) for @idle;

    is(read_response($late)->{status}, 200, 'other connections wait');
    like($server->errors(), qr/\Acheckout: accept\(\) failed \(24: .*\n\z/,
         'logged once');
};

done_testing();
