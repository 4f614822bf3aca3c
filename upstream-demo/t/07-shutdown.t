# SIGTERM and SIGINT: running payments finish and are recorded.

use strict;
use warnings;

use Test::More;
use CheckoutServer qw( read_all read_response post_text wait_until );

for my $case ([ qw( TERM queue ) ], [ qw( INT naive ) ],
              [ qw( TERM deadline ) ])
{
    my ($signal, $mode) = @$case;

    subtest "SIG$signal with running payments, $mode" => sub {
        my $server = CheckoutServer->start("--mode=$mode", qw(
            --payment-slots=3
            --payment-min-ms=2500 --payment-max-ms=2500 --decline=0
            --stock=9 ));
        my @sockets = map { $server->send_raw(post_text('')) } 1 .. 5;
        my $idle = $server->connect_raw();

        $server->wait_for(waiting_for_payment => 2);
        $server->signal($signal);

        my @responses = read_all(@sockets);
        my @statuses = sort map { $_->{status} } @responses;
        is_deeply(\@statuses, [ 200, 200, 200, 503, 503 ],
                  'running payments are confirmed, waiting ones refused');

        for my $response (grep { $_->{status} == 503 } @responses) {
            like($response->{head}, qr/^Retry-After: [1-9]/m, 'Retry-After');
            like($response->{head}, qr/^Connection: close/mi, 'Connection: close');
            like($response->{content}, qr/"closing"/, 'name in JSON');
        }

        my ($status, $stats) = $server->ended();
        is($status, 0, 'exit status');
        is($stats->{orders}, 3, 'orders in the last line');
        is($stats->{confirmed}, 3, 'all confirmed');
        is($stats->{refused_closing}, 2, 'refusals in the last line');
        is($stats->{stock_held}, 0, 'nothing is held');
        is($stats->{stock_now}, 6, 'stock');
        is($server->errors(), '', 'nothing on stderr');
    };
}

subtest 'requests during the shutdown' => sub {
    my $server = CheckoutServer->start(qw( --payment-min-ms=3000
        --payment-max-ms=3000 --decline=0 ));
    my $kept = $server->send_raw("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    is(read_response($kept)->{status}, 200, 'healthy');

    my $paying = $server->send_raw(post_text(''));
    $server->wait_for(paying => 1);

    my $other = $server->send_raw("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    is(read_response($other)->{status}, 200, 'healthy');

    $server->signal('TERM');
    wait_until {
        !IO::Socket::INET->new(PeerAddr => '127.0.0.1',
                               PeerPort => $server->{port});
    } 'the listener to close';
    $server->signal('TERM');

    syswrite($kept, post_text(''));
    is(read_response($kept)->{status}, 503, 'no new order');
    syswrite($other, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    is(read_response($other)->{status}, 503, 'not healthy');
    is(read_response($paying)->{status}, 200,
       'a second signal does not stop the payment');

    my ($status, $stats) = $server->ended();
    is($status, 0, 'exit status');
    is($stats->{orders}, 1, 'one order');
};

subtest 'without orders' => sub {
    my $server = CheckoutServer->start();
    my ($status, $stats) = $server->stop();

    is($status, 0, 'exit status');
    is($stats->{orders}, 0, 'no orders in the statistics');
    is($stats->{first_order_ms}, undef, 'no first order');
};

subtest 'with 1,200 requests in progress' => sub {
    my $server = CheckoutServer->start(qw( --mode=queue --payment-slots=8
        --payment-min-ms=1500 --payment-max-ms=1500 --decline=0
        --stock=2000 ));
    my @sockets = map { $server->send_raw(post_text('')) } 1 .. 1200;

    $server->wait_for(arrivals => 1200);
    $server->signal('TERM');

    my @responses = read_all(@sockets);
    my ($status, $stats) = $server->ended();
    my $ok = grep { defined $_ && $_->{status} == 200 } @responses;
    my $closing = grep { defined $_ && $_->{status} == 503 } @responses;

    is($status, 0, 'exit status');
    is($ok + $closing, 1200, 'all are answered');
    cmp_ok($ok, '>=', 8, 'at least eight are confirmed');
    is($stats->{orders}, $ok, 'and recorded in the store');
    is($stats->{refused_closing}, $closing, 'the others are refused');
    is($stats->{stock_now}, 2000 - $ok, 'no unit is lost');
    is($stats->{stock_held}, 0, 'none is held');
    is($stats->{in_progress}, 0, 'none is in progress');
};

subtest 'a client that does not read does not block the shutdown' => sub {
    my $server = CheckoutServer->start();
    my $client = $server->connect_raw();

    # Sends requests until the buffers of both sides are full.
    my $text = "GET / HTTP/1.1\r\nHost: x\r\n\r\n" x 5000;
    my ($full, $sent) = (0, 0);

    $client->blocking(0);
    wait_until {
        while (my $n = syswrite($client, $text, length($text), $sent)) {
            $sent = ($sent + $n) % length($text);
        }
        $full = IO::Select->new($client)->can_write(0.1) ? 0 : $full + 1;
        $full == 3;
    } 'the buffers to fill';

    is($server->stats()->{in_progress}, 0, 'other clients are answered');

    my ($status, $stats) = $server->stop();
    is($status, 0, 'exit status');
};

done_testing();
