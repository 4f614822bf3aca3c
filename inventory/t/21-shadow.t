# Two stores as one: lost writes are found, and a switch neither loses nor
# duplicates a hold.

use strict;
use warnings;

use File::Temp qw( tempdir );
use Test::More;
use CheckoutServer qw( post_text read_all wait_until );
use PrivateMariaDB ();
use PrivateRedis ();
use StoreAdmin qw( command compared settled state );

my $dir = tempdir(CLEANUP => 1);
my $contract = $ENV{CHECKOUT_CONTRACT} || 'build/stores/contract';
my $admin = "$dir/admin.sock";
my @fast = qw( --payment-min-ms=0 --payment-max-ms=2 --decline=0.05 );
my $files = 0;


# A checkout with an admin socket.
sub start {
    my (@args) = @_;

    return CheckoutServer->start("--admin=unix:$admin", @args);
}


sub sqlite {
    return "sqlite:$dir/" . ++$files . '.db';
}


sub is_even {
    my ($shadow, $what) = @_;

    is_deeply($shadow->{drift}{units},
              { initial => 0, available => 0, held => 0, sold => 0 }, $what);
}


subtest 'option values' => sub {
    for my $place ('', 'sqlite:a', 'sqlite:a,', ',sqlite:a', 'sqlite:a,none:b',
                   'shadow:sqlite:a,sqlite:b,sqlite:c',
                   'sqlite:a,shadow:sqlite:b,sqlite:c')
    {
        my ($status, $out, $err)
            = CheckoutServer->run("--store=shadow:$place");
        is($status, 2, "shadow:$place is refused");
        like($err, qr/--store=shadow:\Q$place\E: .*give/, 'with the form');
    }

    for my $value ('', 'unix:', '/tmp/a') {
        my ($status, $out, $err) = CheckoutServer->run("--admin=$value");
        is($status, 2, "--admin=$value is refused");
        like($err, qr/--admin=\Q$value\E: give unix:PATH/, 'with the form');
    }

    my ($status, $out, $err) = CheckoutServer->run(
        "--admin=unix:$dir/none/admin.sock", '--listen=127.0.0.1:0');
    is($status, 1, 'no such directory: refused');
    like($err, qr/--admin=unix:\S+: No such file/, 'with the reason');
};

subtest 'the contract' => sub {
    my $redis = PrivateRedis->start();

    for my $store ('shadow:sqlite::memory:,sqlite::memory:',
                   'shadow:redis:' . $redis->socket()
                   . '+sqlite::memory:,sqlite::memory:')
    {
        my @lines = qx($contract $store 2>&1);

        is($?, 0, 'exit status');
        is_deeply([ grep { !/^(?:ok|1\.\.)/ } @lines ], [], 'no failures');
        cmp_ok(scalar(grep { /^ok/ } @lines), '>', 50, 'number of checks');
    }
};

subtest 'the admin socket' => sub {
    my $server = start('--store=shadow:sqlite::memory:,sqlite::memory:');

    is((stat($admin))[2] & 07777, 0700, 'mode 0700');
    is(state($admin)->{truth}, 'first', 'the first store is the truth');
    is($server->request($_, '/admin/store')->{status}, 404,
       "$_: not on the shoppers' port") for qw( GET POST );

    for my $body ('', 'truth=third', 'truth=', 'kill=2', 'kill=1&mend=1',
                  'force=1', 'kill=1&force=1', 'rain=1', 'truth')
    {
        my $response = command($admin, $body);
        is($response->{status}, 400, "\"$body\" is refused");
        like($response->{json}{why}, qr/^give one of truth=first/,
             'with the forms');
    }

    my ($status, $out, $err) = CheckoutServer->run("--admin=unix:$admin",
                                                   '--listen=127.0.0.1:0');
    is($status, 1, 'a socket in use is refused');
    like($err, qr/Address already in use/, 'with the reason');

    $server->signal('KILL');
    $server->ended();
    $server = start('--store=sqlite::memory:');
    my $response = settled($admin, 'truth=second');
    is($response->{status}, 404, 'a stale socket is replaced');
    like($response->{json}{why}, qr/--store=shadow:/,
         'no commands without a shadow');
    $server->stop();
    ok(!-e $admin, 'the socket is removed at the end');
};

subtest 'both stores have every order' => sub {
    my ($first, $second) = (sqlite(), sqlite());
    my $server = start("--store=shadow:$first,$second", @fast,
                       '--decline=0.3', '--stock=40');

    my $confirmed = $server->crowd(200);
    my $shadow = compared($admin);

    is_even($shadow, 'no drift');
    is($shadow->{decisions}, $shadow->{agreed} + $shadow->{would_have_denied}
       + $shadow->{would_have_granted}, 'all decisions are compared');
    is($shadow->{writes_lost}, 0, 'no writes are lost');
    is($server->stats()->{stock_sold}, $confirmed, 'sold');
    $server->stop();

    for my $store ($first, $second) {
        $server = CheckoutServer->start("--store=$store");
        is($server->stats()->{orders}, $confirmed, "$store: orders");
        is($server->stats()->{stock_sold}, $confirmed, 'units');
    }
};

subtest 'holds that are open at a switch' => sub {
    my $server = start('--store=shadow:' . sqlite() . ',' . sqlite(),
                       qw( --payment-min-ms=3000 --payment-max-ms=3000
                           --decline=0.5 --stock=30 ));
    my @sockets;

    for my $truth (qw( second first second )) {
        push @sockets, map { $server->send_raw(post_text('')) } 1 .. 10;
        wait_until { $server->stats()->{arrivals} == @sockets } 'all arrivals';

        my $response = settled($admin, "truth=$truth");
        is($response->{status}, 200, "switch to the $truth");
        is($response->{json}{shadow}{truth}, $truth, 'the response has it');
    }

    is(command($admin, 'kill=1')->{json}{shadow}{truth}, 'first',
       'kill switch');

    my $confirmed = grep { $_->{status} == 200 } read_all(@sockets);
    my $shadow = compared($admin);
    my $stats = $server->stats();

    is_even($shadow, 'no drift');
    is($shadow->{switches}, 4, 'four switches');
    is($stats->{stock_sold}, $confirmed, 'one unit for each order');
    is($stats->{stock_now}, 30 - $confirmed, 'declined units are available');
    is($stats->{stock_held}, 0, 'no unit is held');
    is($stats->{store_failures}, 0, 'no call failed');
};

subtest 'lost holds that are open at a forced switch' => sub {
    my $server = start('--store=shadow:' . sqlite() . ',' . sqlite(),
                       qw( --payment-min-ms=2000 --payment-max-ms=2000
                           --decline=0.3 --stock=30 --fault=lose:1 ));
    my @sockets = map { $server->send_raw(post_text('')) } 1 .. 10;
    $server->wait_for(paying => 10);

    is(settled($admin, 'truth=second')->{status}, 409, 'refused');
    is(state($admin)->{losses}, 10, 'ten lost reservations');
    is(settled($admin, 'truth=second&force=1')->{status}, 200, 'forced');

    my $confirmed = grep { $_->{status} == 200 } read_all(@sockets);
    my $shadow = compared($admin);

    is($server->stats()->{store_failures}, 0, 'all paid orders are made');
    $server->wait_for(stock_sold => $confirmed);
    is($shadow->{losses}, 0, 'no losses');
    is_even($shadow, 'no drift');
};

subtest 'a shadow with many connections' => sub {
    my $db = PrivateMariaDB->start();
    my $server = start('--store=shadow:' . sqlite() . ',' . $db->store(),
                       @fast, '--stock=900');
    my $confirmed = $server->crowd(1000);
    my $shadow = compared($admin);

    is($shadow->{unknown}, 0, 'claims follow their reservations');
    is($shadow->{losses}, 0, 'no losses');
    is_even($shadow, 'no drift');
    is(settled($admin, 'truth=second')->{status}, 200, 'switch');
    is($server->crowd(100), 900 - $confirmed, 'sells the remaining stock');
    is_even(compared($admin), 'no drift');
};

subtest 'a checkout ends while the shadow follows' => sub {
    my $db = PrivateMariaDB->start();
    my @args = ('--store=shadow:' . sqlite() . ',' . $db->store(), @fast,
                '--stock=900');

    for my $run (1 .. 3) {
        my $server = start(@args);
        $server->crowd(150, 150);
        $server->stop();
    }

    my $server = start(@args);
    is_even(compared($admin), 'no writes are missing');
};

subtest '10,000 reservations, with two switches' => sub {
    my $redis = PrivateRedis->start();
    my $server = start('--store=shadow:redis:' . $redis->socket()
                       . '+' . sqlite() . ',' . sqlite(), @fast,
                       '--stock=9000');
    my $confirmed = $server->crowd(3000);

    # switch while 200 calls are in progress
    my @sockets = map { $server->send_raw(post_text('')) } 1 .. 200;
    is(settled($admin, 'truth=second')->{status}, 200, 'switch');
    $confirmed += grep { $_->{status} == 200 } read_all(@sockets);
    $confirmed += $server->crowd(3000);

    @sockets = map { $server->send_raw(post_text('')) } 1 .. 200;
    is(command($admin, 'kill=1')->{status}, 200, 'kill switch');
    $confirmed += grep { $_->{status} == 200 } read_all(@sockets);
    $confirmed += $server->crowd(3600);

    my $shadow = compared($admin);
    is_even($shadow, 'no drift');
    is($shadow->{truth}, 'first', 'the first store is the truth');
    cmp_ok($shadow->{decisions}, '>=', 10000, '10,000 decisions');
    is($server->stats()->{stock_sold}, 9000, 'the stock is sold');
    is($confirmed, 9000, 'all are confirmed');
};

subtest 'lost writes are found, and a switch is refused' => sub {
    my $server = start('--store=shadow:' . sqlite() . ',' . sqlite(), @fast,
                       '--stock=3000', '--fault=lose:0.01');
    $server->crowd(2500);

    my $shadow = compared($admin);
    my $lost = $shadow->{writes_lost_by_fault};

    cmp_ok($lost, '>', 10, "$lost writes were lost");
    is($shadow->{writes_lost}, $lost, 'all are detected');
    is_deeply($shadow->{drift}{units}, $shadow->{drift}{explained},
              'they explain the drift exactly');
    cmp_ok($shadow->{drift}{units}{available}, '>', 0,
           'the shadow has more available units');

    my $response = settled($admin, 'truth=second');
    is($response->{status}, 409, 'the switch is refused');
    like($response->{json}{why}, qr/the stores differ; mend=1/,
         'with the reason');

    is(settled($admin, 'mend=1')->{status}, 200, 'mended');
    $shadow = compared($admin);
    is($shadow->{losses}, 0, 'no losses');
    is_even($shadow, 'no drift');
    is(settled($admin, 'truth=second')->{status}, 200, 'switch');
};

subtest 'a forced switch oversells the lost units' => sub {
    my $server = start('--store=shadow:' . sqlite() . ',' . sqlite(), @fast,
                       '--decline=0', '--stock=1500', '--fault=lose:0.01');
    my $confirmed = $server->crowd(1000);

    my $shadow = compared($admin);
    my $more = $shadow->{drift}{units}{available};
    cmp_ok($more, '>', 0, "$more reservations are not in the shadow");
    is(settled($admin, 'truth=second')->{status}, 409, 'refused');
    is(settled($admin, 'truth=second&force=1')->{status}, 200, 'forced');

    $confirmed += $server->crowd(1000);
    is($confirmed, 1500 + $more, 'oversold by the lost units');

    is(settled($admin, 'mend=1')->{status}, 200, 'mended');
    $server->wait_for(oversold => $more);
};

subtest 'drift without losses' => sub {
    my $redis = PrivateRedis->start();
    my $server = start('--store=shadow:' . sqlite() . ',redis:'
                       . $redis->socket() . '+' . sqlite(), @fast,
                       '--decline=0', '--stock=100');
    is($server->buy()->{status}, 200, 'an order') for 1 .. 3;

    # change the shadow's stock
    for my $field ('1:1', 'all') {
        $redis->cli('HINCRBY', '{flash-throttle}:stock', $field, 1);
    }

    my $shadow = wait_until {
        my $shadow = state($admin);
        $shadow->{drift} && $shadow->{drift}{levels} && $shadow;
    } 'the audit' if $server->buy();

    is($shadow->{drift}{units}{available}, 1, 'the audit finds it');
    is($shadow->{drift}{explained}{available}, 0, 'no loss explains it');
    is(settled($admin, 'truth=second')->{status}, 409, 'the switch is refused');

    # the truth is sold out, the shadow has one more unit
    $server->crowd(120);
    $shadow = compared($admin);
    cmp_ok($shadow->{would_have_granted}, '>=', 1, 'would have granted');
    is($shadow->{differences}[0]{shadow_would_have}, 'granted', 'listed');
    like($shadow->{differences}[0]{hold}, qr/^[0-9A-Z]{26}$/, 'with its hold');
};

subtest 'the truth hangs' => sub {
    my $redis = PrivateRedis->start();
    my $server = start('--store=shadow:' . sqlite() . ',redis:'
                       . $redis->socket() . '+' . sqlite(), @fast,
                       '--decline=0', '--stock=100', '--hold-ms=10000');
    is($server->buy()->{status}, 200, 'an order');

    is(settled($admin, 'truth=second')->{status}, 200, 'Redis is the truth');
    is($server->buy()->{status}, 200, 'an order');

    $redis->signal('STOP');
    my $waiting = $server->send_raw(post_text(''));
    wait_until { $server->stats()->{in_progress} == 1 } 'a call in progress';

    my $response = command($admin, 'kill=1');
    is($response->{status}, 200, 'the kill switch does not wait');
    is($server->buy()->{status}, 200, 'the sale continues');
    my ($answer) = read_all($waiting);
    is($answer->{status}, 500, 'the waiting call fails');

    $redis->signal('CONT');
    wait_until { command($admin, 'mend=1')->{status} == 200 }
        'all writes mended';

    # reservations that Redis made after the timeout expire
    my $shadow = wait_until {
        my $shadow = compared($admin);
        $shadow->{drift}{levels} == 0 && $shadow;
    } 'no drift';
    is($shadow->{losses}, 0, 'no losses');
    is($server->stats()->{stock_sold}, 3, 'no order is duplicated');
};

subtest 'the shadow is down' => sub {
    my $redis = PrivateRedis->start();
    my $server = start('--store=shadow:' . sqlite() . ',redis:'
                       . $redis->socket() . '+' . sqlite(), @fast,
                       '--decline=0', '--stock=100');
    is($server->buy()->{status}, 200, 'an order');
    is_even(compared($admin), 'no drift');
    $redis->down();
    is($server->buy()->{status}, 200, 'the sale continues') for 1 .. 3;

    my $shadow = wait_until {
        my $shadow = state($admin);
        $shadow->{following} == 0 && $shadow;
    } 'all writes to fail';

    is($shadow->{losses}, 3, 'three losses');
    is_deeply([ map { $_->{missing} } @{$shadow->{listed}} ],
              [ ('claim') x 3 ], 'listed');

    is(command($admin, 'truth=second')->{status}, 503, 'the switch is refused');
    is(command($admin, 'mend=1')->{status}, 503, 'mending fails');
    is(command($admin, 'kill=1')->{status}, 200, 'the kill switch works');
    is($server->buy()->{status}, 200, 'an order');
};

done_testing();
