# Each mode with many shoppers at once.

use strict;
use warnings;

use Test::More;
use CheckoutServer qw( read_all post_text now_ms );

# All shoppers arrive during the first payment.
my @slow = qw( --payment-min-ms=2500 --payment-max-ms=2500 --decline=0 );

sub crowd {
    my ($server, $n) = @_;

    return map { $server->send_raw(post_text('')) } 1 .. $n;
}

sub count {
    my ($status, @responses) = @_;

    return scalar(grep { $_->{status} == $status } @responses);
}

subtest 'naive: oversells' => sub {
    my $server = CheckoutServer->start('--mode=naive', '--stock=5', @slow);
    my @responses = read_all(crowd($server, 8));
    my $stats = $server->stats();

    is(count(200, @responses), 8, 'eight orders of five units');
    is($stats->{orders}, 8, 'orders in the statistics');
    is($stats->{oversold}, 3, 'oversold units');
    is($stats->{stock_now}, -3, 'stock below 0');
    is($server->buy()->{status}, 409, 'the next shopper gets sold out');
    like($server->request('GET', '/')->{content}, qr/Sold out/,
         'the page shows sold out');
};

subtest 'reserve: sells exactly the stock' => sub {
    my $server = CheckoutServer->start('--mode=reserve', '--stock=5', @slow);
    my @sockets = crowd($server, 8);
    my $stats = $server->wait_for(sold_out => 3);

    is($stats->{stock_held}, 5, 'all units are held during the payments');
    is($stats->{stock_now}, 0, 'no unit is available');
    is($stats->{orders}, 0, 'no unit is sold');

    my @responses = read_all(@sockets);
    is(count(200, @responses), 5, 'five orders');
    is(count(409, @responses), 3, 'three sold-out answers');

    $stats = $server->stats();
    is($stats->{oversold}, 0, 'nothing oversold');
    is($stats->{stock_held}, 0, 'nothing held');
    is($stats->{stock_sold}, 5, 'five sold');
};

subtest 'an order of several units is all or nothing' => sub {
    my $server = CheckoutServer->start(qw( --stock=5 --payment-min-ms=1
                                           --payment-max-ms=2 --decline=0 ));
    my %form = (headers => { 'Content-Type' => 'application/json' });

    is($server->request('POST', '/checkout', %form,
                        body => '{"quantity":4}')->{status}, 200, 'four');
    is($server->request('POST', '/checkout', %form,
                        body => '{"quantity":2}')->{status}, 409, 'not two');
    is($server->request('POST', '/checkout', %form,
                        body => '{"quantity":1}')->{status}, 200, 'one');

    my $stats = $server->stats();
    is($stats->{stock_sold}, 5, 'units');
    is($stats->{orders}, 2, 'orders');
};

subtest 'a declined payment releases the unit' => sub {
    for my $mode (qw( naive reserve queue deadline waiting-room )) {
        my $server = CheckoutServer->start("--mode=$mode",
            qw( --stock=1 --payment-min-ms=1 --payment-max-ms=2
                --decline=1 ));

        for (1 .. 3) {
            my $response = $server->buy();
            is($response->{status}, 402, "$mode: declined");
            is($response->{json}{status}, 'declined', "$mode: name in JSON");
        }

        my $stats = $server->stats();
        is($stats->{declined}, 3, "$mode: counted");
        is($stats->{stock_now}, 1, "$mode: the unit is available");
        is($stats->{stock_held}, 0, "$mode: no unit is held");
        is($stats->{orders}, 0, "$mode: no order");
    }
};

subtest 'queue: first in, first out' => sub {
    my @args = qw( --payment-min-ms=5 --payment-max-ms=25 --decline=0
                   --seed=7 );
    my $alone = CheckoutServer->start('--mode=queue', @args);
    my @expected = map { $alone->buy()->{json}{payment_ms} } 1 .. 12;

    # The duration identifies the number of a payment.
    my $server = CheckoutServer->start(qw( --mode=queue --payment-slots=1 ),
                                       @args);
    my @sockets;

    for my $n (1 .. 12) {
        push @sockets, $server->send_raw(post_text(''));
        $server->wait_for(arrivals => $n);
    }

    my @order = map { $_->{content} =~ /"payment_ms":([\d.]+)/ ? $1 : 0 }
                read_all(@sockets);

    is_deeply(\@order, \@expected, 'payments in the order of arrival');
    cmp_ok($server->stats()->{in_progress_max}, '<=', 12, 'at most 12 in progress');
};

subtest 'queue: at most one payment per slot' => sub {
    my $server = CheckoutServer->start(qw( --mode=queue --payment-slots=3 ),
                                       @slow);
    my @sockets = crowd($server, 5);
    my $stats = $server->wait_for(waiting_for_payment => 2);

    is($stats->{paying}, 3, 'three payments');
    is($stats->{in_progress}, 5, 'five in progress');
    is(count(200, read_all(@sockets)), 5, 'all are confirmed');
};

subtest 'queue: a shopper who has left is charged' => sub {
    my $server = CheckoutServer->start(qw( --mode=queue --payment-slots=1
        --payment-min-ms=200 --payment-max-ms=200 --decline=0 ));

    my $response = $server->buy('Flash-Deadline-Ms' => now_ms() + 100);
    is($response->{status}, 200, 'charged after the deadline');

    my $stats = $server->stats();
    is($stats->{late_charges}, 1, 'counted as a late charge');
    is($stats->{confirmed}, 0, 'not counted as confirmed');
    is($stats->{orders}, 1, 'counted as an order');
};

subtest 'waiting-room: a limit on orders in progress' => sub {
    my $server = CheckoutServer->start(qw( --mode=waiting-room
        --max-in-progress=3 --payment-slots=2 ), @slow);
    my @sockets = crowd($server, 3);

    $server->wait_for(in_progress => 3);

    for (1 .. 2) {
        my $response = $server->buy();
        is($response->{status}, 503, 'the fourth is refused');
        is($response->{headers}{'retry-after'}, 1, 'Retry-After');
        is($response->{json}{status}, 'busy', 'name in JSON');
    }

    is(count(200, read_all(@sockets)), 3, 'the three are confirmed');
    is($server->buy()->{status}, 200, 'then the next is accepted');

    my $stats = $server->stats();
    is($stats->{refused_busy}, 2, 'refusals counted');
    is($stats->{in_progress_max}, 3, 'at most three in progress');
};

subtest 'queue: 1,000 requests in progress' => sub {
    my $server = CheckoutServer->start(qw( --mode=queue --stock=900
        --payment-slots=0 --payment-min-ms=3500 --payment-max-ms=4000
        --decline=0.1 --seed=3 ));
    my @sockets = crowd($server, 1000);

    $server->wait_for(arrivals => 1000);

    my @responses = read_all(@sockets);
    my $stats = $server->stats();

    is(scalar(@responses), 1000, 'all are answered');
    is(count(200, @responses), $stats->{orders}, 'orders');
    is(count(402, @responses), $stats->{declined}, 'declined');
    is(count(409, @responses), $stats->{sold_out}, 'sold out');
    is($stats->{orders} + $stats->{declined} + $stats->{sold_out}, 1000,
       'no other answers');
    is($stats->{stock_now} + $stats->{stock_sold}, 900, 'no unit is lost');
    cmp_ok($stats->{in_progress_max}, '>=', 900, 'in progress at once');
};

done_testing();
