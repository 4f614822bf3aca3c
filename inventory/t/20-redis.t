# The store that was before: holds in Redis, what is sold in a ledger of SQL,
# and what happens to a claim that is cut short between the two.

use strict;
use warnings;

use File::Temp qw( tempdir );
use Test::More;
use CheckoutServer qw( post_text read_to_end wait_until );
use PrivateRedis ();

my $dir = tempdir(CLEANUP => 1);
my $contract = $ENV{CHECKOUT_CONTRACT}
               || 'build/stores/contract';
my @fast = qw( --payment-min-ms=1 --payment-max-ms=5 --decline=0 );


# Buys until it is sold out; returns how many times.
sub buy_all {
    my ($server) = @_;

    for my $n (0 .. 100) {
        my $response = $server->buy();
        next if $response->{status} == 200;

        is($response->{json}{status}, 'sold_out', "sold out after $n");
        return $n;
    }

    return 'far too many';
}


# A checkout whose first claim is cut short, and what it says then.
sub cut_short {
    my ($fault, @store) = @_;

    my $server = CheckoutServer->start(@store, @fast, '--stock=3',
                                       "--fault=$fault:1");
    is(read_to_end($server->send_raw(post_text(''))), '',
       'the shopper gets no answer');
    my ($status) = $server->ended();
    is($status & 127, 9, 'it died');
    like($server->errors(), qr/--fault: dies between the two steps of claim 1/,
         'between the two steps');

    return;
}


subtest 'what the option takes' => sub {
    for my $place ('', 'sock+sqlite:a', '/sock', '/sock+', '/sock+nothing:a',
                   '/sock+redis:/sock+sqlite:a', '/sock+shadow:a,b')
    {
        my ($status, $out, $err)
            = CheckoutServer->run("--store=redis:$place");
        is($status, 2, "redis:$place is refused");
        like($err, qr/--store=redis:\Q$place\E: .*give/, 'and told what to');
    }

    for my $fault ('', 'lose', 'lose:2', 'lose:x', 'lose:0.1x',
                   'die-after-ledger:0', 'die-after-redis:', 'rain:1')
    {
        my ($status, $out, $err) = CheckoutServer->run("--fault=$fault");
        is($status, 2, "--fault=$fault is refused");
        like($err, qr/--fault=\Q$fault\E: give lose:SHARE/, 'and why');
    }

    my ($status, $out, $err) = CheckoutServer->run(
        "--store=redis:$dir/none.sock+sqlite::memory:",
        '--listen=127.0.0.1:0');
    is($status, 1, 'no Redis there');
    like($err, qr/none\.sock: No such file.*give the path of the Unix socket/,
         'and what to do');
};

subtest 'what every store keeps to' => sub {
    my $redis = PrivateRedis->start();
    my $store = 'redis:' . $redis->socket() . "+sqlite:$dir/contract.db";
    my @lines = qx($contract $store 2>&1);

    is($?, 0, 'exit status');
    is_deeply([ grep { !/^(?:ok|1\.\.)/ } @lines ], [], 'all of it');
    cmp_ok(scalar(grep { /^ok/ } @lines), '>', 50, 'was tried');
};

subtest 'a sale goes on after a restart' => sub {
    my $redis = PrivateRedis->start();
    my @args = ('--store=redis:' . $redis->socket() . "+sqlite:$dir/sale.db",
                '--stock=10', @fast);

    my $server = CheckoutServer->start(@args);
    is($server->buy()->{status}, 200, 'an order') for 1 .. 3;
    is($server->stats()->{redis}{ledger}{sold}, 3, 'the ledger has them');
    $server->stop();

    $server = CheckoutServer->start(@args);
    like($server->errors(), qr/continued: 7 of 10 .*, 3 orders/, 'says so');
    is(buy_all($server), 7, 'and no more than there were');
    $server->stop();

    $redis->down()->up();
    $server = CheckoutServer->start(@args);
    is($server->buy()->{status}, 409, 'an empty Redis is filled again');
};

subtest 'a hold outlives who took it, and expires' => sub {
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
    is($server->wait_for(stock_now => 5)->{stock_held}, 0, 'both are back');
};

subtest 'the ledger first: a unit that is sold and still held' => sub {
    my $redis = PrivateRedis->start();
    my @store = ('--store=redis:' . $redis->socket() . "+sqlite:$dir/less.db");

    cut_short('die-after-ledger', @store);

    my $server = CheckoutServer->start(@store, @fast);
    is($server->stats()->{orders}, 1, 'the order is there');
    is(buy_all($server), 1, 'one more is sold');

    my $stats = $server->stats();
    is($stats->{stock_now}, 0, 'Redis has none left');
    is($stats->{redis}{ledger}{available}, 1, 'and the ledger one: undersold');
    is($stats->{stock_held}, 1, 'it is held by nobody');

    my ($hold) = $redis->cli('ZRANGE', '{flash-throttle}:ends', 0, -1);
    $redis->cli('ZADD', '{flash-throttle}:ends', 1, $hold);
    $server->wait_for(stock_now => 1);
    is(buy_all($server), 1, 'until the hold expires');
};

subtest 'Redis first: a payment of which the ledger knows nothing' => sub {
    my $redis = PrivateRedis->start();
    my @store = ('--store=redis:' . $redis->socket() . "+sqlite:$dir/more.db");

    cut_short('die-after-redis', @store);

    my $server = CheckoutServer->start(@store, @fast);
    my $stats = $server->stats();
    is($stats->{orders}, 0, 'one has paid, and there is no order');
    is($stats->{stock_now}, 3, 'the unit is for sale again');
    is(buy_all($server), 3, 'four have paid for three units: oversold');
};

subtest 'Redis away, and hanging' => sub {
    my $redis = PrivateRedis->start();
    my @store = ('--store=redis:' . $redis->socket() . "+sqlite:$dir/away.db");
    my $server = CheckoutServer->start(@store, @fast, '--stock=5');

    is($server->buy()->{status}, 200, 'an order');
    $redis->signal('STOP');

    my $response = $server->buy();
    is($response->{status}, 500, 'one that hangs fails the order');
    is($server->request('GET', '/healthz')->{status}, 200,
       'and nothing else hangs');
    $redis->signal('CONT');
    wait_until { $server->buy()->{status} == 200 } 'Redis to be used again';
    like($server->errors(), qr/does not answer.*is back/s, 'said so');

    $redis->down();
    is($server->buy()->{status}, 500, 'one that is away, too');
    $redis->up();
    wait_until { $server->errors() =~ /has lost its stock; restart/
                 || !$server->buy() } 'the loss to be noticed';
    is($server->buy()->{status}, 500, 'empty is not sold out');
    $server->stop();

    $server = CheckoutServer->start(@store, @fast);
    is($server->stats()->{stock_now}, 5 - $server->stats()->{orders},
       'filled from the ledger');
};

done_testing();
