# The store in Redis with an SQL ledger, and claims that are interrupted between
# the two.

use strict;
use warnings;

use File::Temp qw( tempdir );
use Test::More;
use CheckoutServer qw( post_text read_to_end wait_until );
use PrivateRedis ();

my $dir = tempdir(CLEANUP => 1);
my $contract = $ENV{CHECKOUT_CONTRACT} || 'build/stores/contract';
my @fast = qw( --payment-min-ms=1 --payment-max-ms=5 --decline=0 );


# Buys until the stock is sold out; returns the number of orders.
sub buy_all {
    my ($server) = @_;

    for my $n (0 .. 100) {
        my $response = $server->buy();
        next if $response->{status} == 200;

        is($response->{json}{status}, 'sold_out', "sold out after $n");
        return $n;
    }

    return 'more than 100';
}


# Runs a checkout that is killed in its first claim.
sub interrupt_claim {
    my ($fault, @store) = @_;

    my $server = CheckoutServer->start(@store, @fast, '--stock=3',
                                       "--fault=$fault:1");
    is(read_to_end($server->send_raw(post_text(''))), '',
       'the shopper gets no response');
    my ($status) = $server->ended();
    is($status & 127, 9, 'the checkout was killed');
    like($server->errors(),
         qr/--fault: killed between the two steps of claim 1/,
         'between the two steps');

    return;
}


subtest 'option values' => sub {
    for my $place ('', 'sock+sqlite:a', '/sock', '/sock+', '/sock+nothing:a',
                   '/sock+redis:/sock+sqlite:a', '/sock+shadow:a,b')
    {
        my ($status, $out, $err)
            = CheckoutServer->run("--store=redis:$place");
        is($status, 2, "redis:$place is refused");
        like($err, qr/--store=redis:\Q$place\E: .*give/, 'with the form');
    }

    for my $fault ('', 'lose', 'lose:2', 'lose:x', 'lose:0.1x',
                   'die-after-ledger:0', 'die-after-redis:', 'rain:1')
    {
        my ($status, $out, $err) = CheckoutServer->run("--fault=$fault");
        is($status, 2, "--fault=$fault is refused");
        like($err, qr/--fault=\Q$fault\E: give lose:SHARE/, 'with the form');
    }

    my ($status, $out, $err) = CheckoutServer->run(
        "--store=redis:$dir/none.sock+sqlite::memory:",
        '--listen=127.0.0.1:0');
    is($status, 1, 'no Redis: refused');
    like($err, qr/none\.sock" failed: No such file/, 'with the reason');
};

subtest 'the contract' => sub {
    my $redis = PrivateRedis->start();
    my $store = 'redis:' . $redis->socket() . "+sqlite:$dir/contract.db";
    my @lines = qx($contract $store 2>&1);

    is($?, 0, 'exit status');
    is_deeply([ grep { !/^(?:ok|1\.\.)/ } @lines ], [], 'no failures');
    cmp_ok(scalar(grep { /^ok/ } @lines), '>', 50, 'number of checks');
};

subtest 'a sale continues after a restart' => sub {
    my $redis = PrivateRedis->start();
    my @args = ('--store=redis:' . $redis->socket() . "+sqlite:$dir/sale.db",
                '--stock=10', @fast);

    my $server = CheckoutServer->start(@args);
    is($server->buy()->{status}, 200, 'an order') for 1 .. 3;
    is($server->stats()->{redis}{ledger}{sold}, 3, 'the ledger has the orders');
    $server->stop();

    $server = CheckoutServer->start(@args);
    like($server->errors(), qr/continued: 7 of 10 .*, 3 orders/, 'a message');
    is(buy_all($server), 7, 'sells the remaining stock');
    $server->stop();

    $redis->down()->up();
    $server = CheckoutServer->start(@args);
    is($server->buy()->{status}, 409, 'an empty Redis is filled');
};

subtest 'a hold of a dead process expires' => sub {
    my $redis = PrivateRedis->start();
    my @store = ('--store=redis:' . $redis->socket() . "+sqlite:$dir/held.db",
                 '--stock=5', '--hold-ms=2000');
    my $server = CheckoutServer->start(@store, qw( --payment-min-ms=60000
                                                   --payment-max-ms=60000 ));
    my @sockets = map { $server->send_raw(post_text('')) } 1 .. 2;

    $server->wait_for(paying => 2);
    $server->signal('KILL');
    $server->ended();

    $server = CheckoutServer->start(@store, @fast);
    is($server->wait_for(stock_now => 5)->{stock_held}, 0,
       'both units are available again');
};

subtest 'ledger first: a unit is sold but still held' => sub {
    my $redis = PrivateRedis->start();
    my @store = ('--store=redis:' . $redis->socket() . "+sqlite:$dir/less.db");

    interrupt_claim('die-after-ledger', @store);

    my $server = CheckoutServer->start(@store, @fast);
    is($server->stats()->{orders}, 1, 'the ledger has the order');
    is(buy_all($server), 1, '1 of 2 units is sold');

    my $stats = $server->stats();
    is($stats->{stock_now}, 0, 'Redis has no unit left');
    is($stats->{redis}{ledger}{available}, 1, 'the ledger has one: undersold');
    is($stats->{stock_held}, 1, 'an orphaned hold');

    my ($hold) = $redis->cli('ZRANGE', '{flash-throttle}:ends', 0, -1);
    $redis->cli('ZADD', '{flash-throttle}:ends', 1, $hold);
    $server->wait_for(stock_now => 1);
    is(buy_all($server), 1, 'it is sold when the hold expires');
};

subtest 'Redis first: a payment without an order' => sub {
    my $redis = PrivateRedis->start();
    my @store = ('--store=redis:' . $redis->socket() . "+sqlite:$dir/more.db");

    interrupt_claim('die-after-redis', @store);

    my $server = CheckoutServer->start(@store, @fast);
    my $stats = $server->stats();
    is($stats->{orders}, 0, 'no order after a payment');
    is($stats->{stock_now}, 3, 'the unit is available again');
    is(buy_all($server), 3, '4 payments for 3 units: oversold');
};

subtest 'Redis hangs, then is down' => sub {
    my $redis = PrivateRedis->start();
    my @store = ('--store=redis:' . $redis->socket() . "+sqlite:$dir/away.db");
    my $server = CheckoutServer->start(@store, @fast, '--stock=5');

    is($server->buy()->{status}, 200, 'an order');
    $redis->signal('STOP');

    my $response = $server->buy();
    is($response->{status}, 500, 'Redis hangs: the order fails');
    is($server->request('GET', '/healthz')->{status}, 200,
       'other requests are served');
    $redis->signal('CONT');
    wait_until { $server->buy()->{status} == 200 } 'Redis in use again';
    like($server->errors(), qr/timed out.*reconnected/s, 'both are logged');

    $redis->down();
    is($server->buy()->{status}, 500, 'Redis is down: the order fails');
    $redis->up();
    wait_until { $server->errors() =~ /stock lost: empty/
                 || !$server->buy() } 'the loss to be detected';
    is($server->buy()->{status}, 500, 'an empty Redis is not sold out');
    $server->stop();

    $server = CheckoutServer->start(@store, @fast);
    is($server->stats()->{stock_now}, 5 - $server->stats()->{orders},
       'filled from the ledger');
};

done_testing();
