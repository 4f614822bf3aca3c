# Flash-Deadline-Ms: no payment starts that could end after it.

use strict;
use warnings;

use Test::More;
use CheckoutServer qw( read_response read_all post_text now_ms );

my @fast = qw( --payment-min-ms=1 --payment-max-ms=100 --decline=0 );

# The variants that check the deadline.
my @checked = (
    [ qw( --mode=deadline ) ],
    [ qw( --mode=reserve ) ],
    [ qw( --mode=reserve --deadline=on ) ],
    [ qw( --mode=queue --deadline=on ) ],
    [ qw( --mode=waiting-room --deadline=on ) ],
    [ qw( --mode=naive --deadline=on ) ],
);

for my $variant (@checked) {
    subtest "@$variant refuses payments that could end too late" => sub {
        my $server = CheckoutServer->start(@$variant, @fast, '--stock=2');

        for my $in (-60_000, 0, 90, 99) {
            my $response = $server->buy('Flash-Deadline-Ms' => now_ms() + $in);
            is($response->{status}, 504, "$in ms left");
            is($response->{json}{status}, 'too_late', 'name in JSON');
        }

        is($server->buy('Flash-Deadline-Ms' => 0)->{status}, 504, 'deadline 0');
        is($server->buy('Flash-Deadline-Ms' => now_ms() + 30_000)->{status},
           200, '30 s left');
        is($server->buy()->{status}, 200, 'no deadline');

        my $stats = $server->stats();
        is($stats->{refused_deadline}, 5, 'refusals counted');
        is($stats->{late_charges}, 0, 'no late charge');
        is($stats->{stock_sold}, 2, 'refused orders took no unit');
    };
}

for my $variant ([ '--mode=naive' ], [ '--mode=queue' ],
                 [ '--mode=waiting-room' ],
                 [ qw( --mode=reserve --deadline=off ) ])
{
    subtest "@$variant charges after the deadline" => sub {
        my $server = CheckoutServer->start(@$variant, @fast);

        is($server->buy('Flash-Deadline-Ms' => now_ms() - 1)->{status}, 200,
           'charged after the deadline');
        is($server->stats()->{late_charges}, 1, 'counted as a late charge');
    };
}

subtest 'a deadline while waiting for a slot' => sub {
    my $server = CheckoutServer->start(qw( --mode=deadline --payment-slots=1
        --payment-min-ms=3000 --payment-max-ms=3000 --decline=0 --stock=9 ));

    my $first = $server->send_raw(post_text(''));
    $server->wait_for(paying => 1);

    my $second = $server->send_raw(post_text('',
        'Flash-Deadline-Ms' => now_ms() + 3000 + 400));
    is(read_response($second)->{status}, 504, 'refused');

    my $stats = $server->stats();
    is($stats->{paying}, 1, 'the first payment is still running');
    is($stats->{stock_held}, 1, 'the unit is released');
    is($stats->{stock_now}, 8, 'before the first payment ends');
    is(read_response($first)->{status}, 200, 'the first is confirmed');

    $stats = $server->stats();
    is($stats->{refused_deadline}, 1, 'one refusal');
    is($stats->{orders}, 1, 'one order');
};

subtest 'a full queue: no charge after the deadline' => sub {
    my $server = CheckoutServer->start(qw( --mode=deadline --payment-slots=4
        --payment-min-ms=20 --payment-max-ms=80 --decline=0 --stock=1000 ));
    my $deadline = now_ms() + 900;

    my @responses = read_all(map {
        $server->send_raw(post_text('', 'Flash-Deadline-Ms' => $deadline))
    } 1 .. 200);
    my $stats = $server->stats();

    my $ok = grep { $_->{status} == 200 } @responses;
    my $refused = grep { $_->{status} == 504 } @responses;

    is($ok + $refused, 200, 'confirmed or refused');
    cmp_ok($refused, '>', 0, 'some are refused');
    is($stats->{refused_deadline}, $refused, 'refusals in the statistics');
    is($stats->{orders}, $ok, 'orders in the statistics');
    is($stats->{stock_held}, 0, 'nothing is held');
    is($stats->{stock_now}, 1000 - $ok, 'no unit is lost');
};

done_testing();
