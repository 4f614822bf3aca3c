# Claims during which Redis or its ledger hangs or dies: no unit is sold twice.

use strict;
use warnings;

use Test::More;
use CheckoutServer qw( now_ms post_text read_all wait_until );
use PrivateMariaDB ();
use PrivateRedis ();
use Time::HiRes qw( sleep );

my @fast = qw( --payment-min-ms=1 --payment-max-ms=5 --decline=0 );
my $ends = '{flash-throttle}:ends';
my $db = PrivateMariaDB->start();


sub start {
    my ($redis, $shop, @args) = @_;

    return CheckoutServer->start('--store=redis:' . $redis->socket() . '+'
                                 . $db->store("shop=$shop"), @fast, @args);
}


# The single unit is sold once.
sub sold_once {
    my ($server, $shop, $buying) = @_;

    is((read_all($buying))[0]{status}, 200, 'the order is confirmed');

    my $stats = $server->wait_for(stock_held => 0);
    is_deeply([ @$stats{qw( stock_now stock_sold )} ], [ 0, 1 ],
              'the unit is sold');
    is($server->buy()->{status}, 409, 'no second order');
    is_deeply([ $db->ask('SELECT initial - stock FROM ledger'
                         . " WHERE shop = $shop") ], [ [ 1 ] ],
              'the ledger agrees');

    return;
}


subtest 'a hold does not expire during its claim' => sub {
    my $redis = PrivateRedis->start();
    my $server = start($redis, 1, qw( --stock=1 --hold-ms=1000 ));

    $db->signal('STOP');
    my $buying = $server->send_raw(post_text(''));
    $server->wait_for(stock_held => 1);

    # longer than its life and the interval of expiry
    sleep(3);
    is($server->stats()->{holds_expired_units}, 0, 'not expired');
    $db->signal('CONT');

    sold_once($server, 1, $buying);
};

subtest 'Redis is down during a claim' => sub {
    my $redis = PrivateRedis->start();
    my $server = start($redis, 2, qw( --stock=1 --hold-ms=1000 ));

    $db->signal('STOP');
    my $buying = $server->send_raw(post_text(''));

    wait_until {
        my (undef, $end) = split(' ', $redis->cli('ZRANGE', $ends, 0, -1,
                                                  'WITHSCORES'));
        $end && $end > now_ms() + 60000;
    } 'the claim to start';

    $redis->cli('SAVE');
    $redis->down();
    $db->signal('CONT');
    wait_until { $server->errors() =~ /is sold, but Redis has not recorded it/ }
        'the claim in the ledger';
    $redis->up();

    sold_once($server, 2, $buying);
    like($server->errors(), qr/reconnected to Redis/, 'Redis is back');
};

subtest 'a hold is gone when the ledger has sold it' => sub {
    my $redis = PrivateRedis->start();
    my $server = start($redis, 3, qw( --stock=1 ));

    $db->signal('STOP');
    my $buying = $server->send_raw(post_text(''));

    wait_until {
        my (undef, $end) = split(' ', $redis->cli('ZRANGE', $ends, 0, -1,
                                                  'WITHSCORES'));
        $end && $end > now_ms() + 660000;
    } 'the claim to start';

    # expire it
    $redis->cli('ZADD', $ends, 1, $redis->cli('ZRANGE', $ends, 0, -1));
    $server->wait_for(stock_held => 0);
    $db->signal('CONT');

    sold_once($server, 3, $buying);
};

subtest 'Redis comes back with older data' => sub {
    my $redis = PrivateRedis->start();
    my $server = start($redis, 4, qw( --stock=3 ));

    is($server->buy()->{status}, 200, 'an order');
    $redis->cli('SAVE');
    is($server->buy()->{status}, 200, 'an order that Redis will lose');
    $redis->down()->up();

    wait_until {
        $server->buy()->{status} == 500
            && $server->errors() =~ /stock lost: empty, or older/;
    } 'the loss to be detected';
    is($server->buy()->{status}, 500, 'nothing is sold');
    $server->stop();

    $server = start($redis, 4);
    is($server->buy()->{status}, 200, 'filled from the ledger: the last unit');
    is($server->buy()->{status}, 409, 'then sold out');
};

done_testing();
