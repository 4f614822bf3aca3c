# Clients that disconnect while their order is in progress.

use strict;
use warnings;

use Socket qw( SHUT_WR );
use Test::More;
use CheckoutServer qw( read_response post_text reset_connection );

my @slow = qw( --payment-slots=1 --payment-min-ms=4000 --payment-max-ms=4000
               --decline=0 --stock=9 );

# One order is being paid; the client of a second one disconnects while waiting.
sub leaves {
    my ($way, $text, @args) = @_;
    my $server = CheckoutServer->start(@args, @slow);

    my $first = $server->send_raw(post_text(''));
    $server->wait_for(paying => 1);

    my $second = $server->send_raw($text);
    $server->wait_for(waiting_for_payment => 1);

    $way->($second, $server);

    return ($server, $first);
}

my %ways = (
    'closes' => sub { close($_[0]) },
    'resets' => \&reset_connection,
    'closes its sending side' => sub { shutdown($_[0], SHUT_WR) },

    # a pipelined order; after the stats request the event loop has seen it
    'sends on and closes' => sub {
        my ($socket, $server) = @_;
        syswrite($socket, post_text(''));
        $server->stats();
        close($socket);
    },
    'sends on and resets' => sub {
        my ($socket, $server) = @_;
        syswrite($socket, post_text(''));
        $server->stats();
        reset_connection($socket);
    },
);

my %texts = (
    'an order' => post_text(''),
    'an order with a body' => post_text('{"quantity":2}',
                                  'Content-Type' => 'application/json'),
    'two orders at once' => post_text('') x 2,
);

# All cases wait for payments, so they run at the same time.
my %left;

for my $way (sort keys %ways) {
    for my $text (sort keys %texts) {
        my ($server, $first) = leaves($ways{$way}, $texts{$text},
                                      '--mode=deadline');

        subtest "$text; the client $way while it waits" => sub {
            my $stats = $server->wait_for(stock_held => 1);
            is($stats->{paying}, 1,
               'its unit is released during the first payment');
            cmp_ok($stats->{left_before_payment}, '>=', 1, 'counted');
        };

        $left{"$text; the client $way"} = [ $server, $first ];
    }
}

my %charged = map {
    $_ => [ leaves($ways{$_}, post_text(''), '--mode=queue') ]
} sort keys %ways;

for my $case (sort keys %left) {
    my ($server, $first) = @{delete $left{$case}};

    subtest "$case; afterwards" => sub {
        is(read_response($first)->{status}, 200, 'the first is confirmed');
        is($server->wait_for(in_progress => 0)->{late_charges}, 0,
           'no late charge');
        cmp_ok($server->cpu(), '<', 2, 'the event loop did not spin');
    };
}

for my $way (sort keys %charged) {
    my ($server, $first) = @{delete $charged{$way}};

    subtest "without the check; the client $way" => sub {
        is(read_response($first)->{status}, 200, 'the first is confirmed');

        my $stats = $server->wait_for(orders => 2);
        is($stats->{late_charges}, 1, 'the second is charged late');
        is($stats->{confirmed}, 1, 'one is confirmed');
        cmp_ok($server->cpu(), '<', 2, 'the event loop did not spin');
    };
}

subtest 'the client leaves during its payment' => sub {
    my $server = CheckoutServer->start('--mode=deadline', @slow);
    my $socket = $server->send_raw(post_text(''));

    $server->wait_for(paying => 1);
    close($socket);

    is($server->wait_for(orders => 1)->{late_charges}, 1,
       'counted as a late charge');
};

subtest 'half-closed connections get their answer' => sub {
    my $server = CheckoutServer->start('--mode=deadline', @slow);

    my $first = $server->send_raw(post_text(''));
    $server->wait_for(paying => 1);

    my $second = $server->send_raw(post_text(''));
    shutdown($second, SHUT_WR);
    is(read_response($second)->{status}, 504, 'waiting: not charged');

    shutdown($first, SHUT_WR);
    is(read_response($first)->{status}, 200, 'paying: charged');
};

subtest '600 clients that disconnect' => sub {
    my $server = CheckoutServer->start(qw( --mode=deadline --payment-slots=2
        --payment-min-ms=4000 --payment-max-ms=4000 --decline=0
        --stock=1000 ));
    my @sockets = map { $server->send_raw(post_text('')) } 1 .. 600;

    $server->wait_for(in_progress => 600);

    for my $i (0 .. $#sockets) {
        $i % 2 ? close($sockets[$i]) : reset_connection($sockets[$i]);
    }

    my $stats = $server->wait_for(left_before_payment => 598);
    is($stats->{stock_held} + $stats->{stock_sold}, 2, 'two were being paid');
    $stats = $server->wait_for(in_progress => 0);
    is($stats->{stock_now}, 998, 'the other units are released');
    is($stats->{late_charges}, 2, 'only the two were charged, late');
};

done_testing();
