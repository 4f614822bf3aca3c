# Two stores as one: the truth decides, the shadow follows; what it loses is
# found, and the switch between them loses no hold and doubles none.

use strict;
use warnings;

use File::Temp qw( tempdir );
use Test::More;
use CheckoutServer qw( post_text read_all wait_until );
use PrivateMariaDB ();
use PrivateRedis ();
use StoreAdmin qw( compared look order settled );

my $dir = tempdir(CLEANUP => 1);
my $contract = $ENV{CHECKOUT_CONTRACT}
               || 'build/stores/contract';
my $admin = "$dir/admin.sock";
my @fast = qw( --payment-min-ms=0 --payment-max-ms=2 --decline=0.05 );
my $files = 0;


# A checkout with a pair of stores, and what it takes to order it about.
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


subtest 'what the options take' => sub {
    for my $place ('', 'sqlite:a', 'sqlite:a,', ',sqlite:a', 'sqlite:a,none:b',
                   'shadow:sqlite:a,sqlite:b,sqlite:c',
                   'sqlite:a,shadow:sqlite:b,sqlite:c')
    {
        my ($status, $out, $err)
            = CheckoutServer->run("--store=shadow:$place");
        is($status, 2, "shadow:$place is refused");
        like($err, qr/--store=shadow:\Q$place\E: .*give/, 'and told what to');
    }

    for my $value ('', 'unix:', '/tmp/a') {
        my ($status, $out, $err) = CheckoutServer->run("--admin=$value");
        is($status, 2, "--admin=$value is refused");
        like($err, qr/--admin=\Q$value\E: give unix:PATH/, 'and why');
    }

    my ($status, $out, $err) = CheckoutServer->run(
        "--admin=unix:$dir/none/admin.sock", '--listen=127.0.0.1:0');
    is($status, 1, 'no such folder');
    like($err, qr/--admin=unix:\S+: No such file.*give a path/, 'says so');
};

subtest 'what every store keeps to' => sub {
    my $redis = PrivateRedis->start();

    for my $store ('shadow:sqlite::memory:,sqlite::memory:',
                   'shadow:redis:' . $redis->socket()
                   . '+sqlite::memory:,sqlite::memory:')
    {
        my @lines = qx($contract $store 2>&1);

        is($?, 0, 'exit status');
        is_deeply([ grep { !/^(?:ok|1\.\.)/ } @lines ], [], 'all of it');
        cmp_ok(scalar(grep { /^ok/ } @lines), '>', 50, 'was tried');
    }
};

subtest 'the admin socket' => sub {
    my $server = start('--store=shadow:sqlite::memory:,sqlite::memory:');

    is((stat($admin))[2] & 07777, 0700, 'is its user\'s alone');
    is(look($admin)->{truth}, 'first', 'tells which is the truth');
    is($server->request($_, '/admin/store')->{status}, 404,
       "$_: not on the shoppers' port") for qw( GET POST );

    for my $body ('', 'truth=third', 'truth=', 'kill=2', 'kill=1&mend=1',
                  'force=1', 'kill=1&force=1', 'rain=1', 'truth')
    {
        my $response = order($admin, $body);
        is($response->{status}, 400, "\"$body\" is refused");
        like($response->{json}{why}, qr/^give one of truth=first/, 'and why');
    }

    my ($status, $out, $err) = CheckoutServer->run("--admin=unix:$admin",
                                                   '--listen=127.0.0.1:0');
    is($status, 1, 'one checkout at a time');
    like($err, qr/Address already in use; give a path that is free/, 'says so');

    $server->signal('KILL');
    $server->ended();
    $server = start('--store=sqlite::memory:');
    my $response = settled($admin, 'truth=second');
    is($response->{status}, 404, 'one that was left behind is taken over');
    like($response->{json}{why}, qr/--store=shadow:/, 'it takes no orders');
    $server->stop();
    ok(!-e $admin, 'and removed at the end');
};

subtest 'both have every order' => sub {
    my ($first, $second) = (sqlite(), sqlite());
    my $server = start("--store=shadow:$first,$second", @fast,
                       '--decline=0.3', '--stock=40');

    my $confirmed = $server->crowd(200);
    my $shadow = compared($admin);

    is_even($shadow, 'no drift at rest');
    is($shadow->{decisions}, $shadow->{agreed} + $shadow->{would_have_denied}
       + $shadow->{would_have_granted}, 'every decision was compared');
    is($shadow->{writes_lost}, 0, 'nothing was lost');
    is($server->stats()->{stock_sold}, $confirmed, 'sold');
    $server->stop();

    for my $store ($first, $second) {
        $server = CheckoutServer->start("--store=$store");
        is($server->stats()->{orders}, $confirmed, "$store: the orders");
        is($server->stats()->{stock_sold}, $confirmed, 'and the units');
    }
};

subtest 'a hold that is open at the switch' => sub {
    my $server = start('--store=shadow:' . sqlite() . ',' . sqlite(),
                       qw( --payment-min-ms=3000 --payment-max-ms=3000
                           --decline=0.5 --stock=30 ));
    my @sockets;

    for my $truth (qw( second first second )) {
        push @sockets, map { $server->send_raw(post_text('')) } 1 .. 10;
        wait_until { $server->stats()->{arrivals} == @sockets } 'all to come';

        my $response = settled($admin, "truth=$truth");
        is($response->{status}, 200, "the $truth is the truth");
        is($response->{json}{shadow}{truth}, $truth, 'and says so');
    }

    is(order($admin, 'kill=1')->{json}{shadow}{truth}, 'first', 'killed');

    my $confirmed = grep { $_->{status} == 200 } read_all(@sockets);
    my $shadow = compared($admin);
    my $stats = $server->stats();

    is_even($shadow, 'no drift at rest');
    is($shadow->{switches}, 4, 'four switches');
    is($stats->{stock_sold}, $confirmed, 'every order is one unit');
    is($stats->{stock_now}, 30 - $confirmed, 'every decline is one back');
    is($stats->{stock_held}, 0, 'none is held');
    is($stats->{store_failures}, 0, 'nobody noticed');
};

subtest 'a hold that is open at a forced switch, and was lost' => sub {
    my $server = start('--store=shadow:' . sqlite() . ',' . sqlite(),
                       qw( --payment-min-ms=2000 --payment-max-ms=2000
                           --decline=0.3 --stock=30 --fault=lose:1 ));
    my @sockets = map { $server->send_raw(post_text('')) } 1 .. 10;
    $server->wait_for(paying => 10);

    is(settled($admin, 'truth=second')->{status}, 409, 'refused');
    is(look($admin)->{losses}, 10, 'ten reservations are not there');
    is(settled($admin, 'truth=second&force=1')->{status}, 200, 'forced');

    my $confirmed = grep { $_->{status} == 200 } read_all(@sockets);
    my $shadow = compared($admin);

    is($server->stats()->{store_failures}, 0, 'who had paid has the order');
    $server->wait_for(stock_sold => $confirmed);
    is($shadow->{losses}, 0, 'nothing is missing');
    is_even($shadow, 'no drift');
};

subtest 'a shadow that does many things at once' => sub {
    my $db = PrivateMariaDB->start();
    my $server = start('--store=shadow:' . sqlite() . ',' . $db->store(),
                       @fast, '--stock=900');
    my $confirmed = $server->crowd(1000);
    my $shadow = compared($admin);

    is($shadow->{unknown}, 0, 'no hold is claimed before it is there');
    is($shadow->{losses}, 0, 'nothing is lost');
    is_even($shadow, 'no drift at rest');
    is(settled($admin, 'truth=second')->{status}, 200, 'it is the truth');
    is($server->crowd(100), 900 - $confirmed, 'and sells what is left');
    is_even(compared($admin), 'no drift at rest');
};

subtest 'a checkout that ends while its shadow still follows' => sub {
    my $db = PrivateMariaDB->start();
    my @args = ('--store=shadow:' . sqlite() . ',' . $db->store(), @fast,
                '--stock=900');

    for my $run (1 .. 3) {
        my $server = start(@args);
        $server->crowd(150, 150);
        $server->stop();
    }

    my $server = start(@args);
    is_even(compared($admin), 'took all of it along');
};

subtest '10,000 reservations, and the switch with them under way' => sub {
    my $redis = PrivateRedis->start();
    my $server = start('--store=shadow:redis:' . $redis->socket()
                       . '+' . sqlite() . ',' . sqlite(), @fast,
                       '--stock=9000');
    my $confirmed = $server->crowd(3000);

    # the orders are given while two hundred buy
    my @sockets = map { $server->send_raw(post_text('')) } 1 .. 200;
    is(settled($admin, 'truth=second')->{status}, 200, 'cut over');
    $confirmed += grep { $_->{status} == 200 } read_all(@sockets);
    $confirmed += $server->crowd(3000);

    @sockets = map { $server->send_raw(post_text('')) } 1 .. 200;
    is(order($admin, 'kill=1')->{status}, 200, 'and back');
    $confirmed += grep { $_->{status} == 200 } read_all(@sockets);
    $confirmed += $server->crowd(3600);

    my $shadow = compared($admin);
    is_even($shadow, 'no drift at rest');
    is($shadow->{truth}, 'first', 'the first again');
    cmp_ok($shadow->{decisions}, '>=', 10000, 'after ten thousand');
    is($server->stats()->{stock_sold}, 9000, 'exactly the stock is sold');
    is($confirmed, 9000, 'to as many');
};

subtest 'lost writes are found, and the switch is refused' => sub {
    my $server = start('--store=shadow:' . sqlite() . ',' . sqlite(), @fast,
                       '--stock=3000', '--fault=lose:0.01');
    $server->crowd(2500);

    my $shadow = compared($admin);
    my $lost = $shadow->{writes_lost_by_fault};

    cmp_ok($lost, '>', 10, "$lost writes were lost");
    is($shadow->{writes_lost}, $lost, 'each was noticed');
    is_deeply($shadow->{drift}{units}, $shadow->{drift}{explained},
              'and explains the drift, to the unit');
    cmp_ok($shadow->{drift}{units}{available}, '>', 0,
           'the shadow thinks that there are more');

    my $response = settled($admin, 'truth=second');
    is($response->{status}, 409, 'the switch is refused');
    like($response->{json}{why}, qr/sold twice or never; mend=1/, 'and why');

    is(settled($admin, 'mend=1')->{status}, 200, 'mended');
    $shadow = compared($admin);
    is($shadow->{losses}, 0, 'nothing is missing');
    is_even($shadow, 'no drift');
    is(settled($admin, 'truth=second')->{status}, 200, 'now it switches');
};

subtest 'forced, it oversells by as many' => sub {
    my $server = start('--store=shadow:' . sqlite() . ',' . sqlite(), @fast,
                       '--decline=0', '--stock=1500', '--fault=lose:0.01');
    my $confirmed = $server->crowd(1000);

    my $shadow = compared($admin);
    my $more = $shadow->{drift}{units}{available};
    cmp_ok($more, '>', 0, "$more reservations are not in the shadow");
    is(settled($admin, 'truth=second')->{status}, 409, 'refused');
    is(settled($admin, 'truth=second&force=1')->{status}, 200, 'forced');

    $confirmed += $server->crowd(1000);
    is($confirmed, 1500 + $more, 'oversold by as many');

    is(settled($admin, 'mend=1')->{status}, 200, 'mended too late');
    $server->wait_for(oversold => $more);
};

subtest 'drift that nobody told of' => sub {
    my $redis = PrivateRedis->start();
    my $server = start('--store=shadow:' . sqlite() . ',redis:'
                       . $redis->socket() . '+' . sqlite(), @fast,
                       '--decline=0', '--stock=100');
    is($server->buy()->{status}, 200, 'an order') for 1 .. 3;

    # one more by another hand
    for my $field ('1:1', 'all') {
        $redis->cli('HINCRBY', '{flash-throttle}:stock', $field, 1);
    }

    my $shadow = wait_until {
        my $shadow = look($admin);
        $shadow->{drift} && $shadow->{drift}{levels} && $shadow;
    } 'the audit at rest' if $server->buy();

    is($shadow->{drift}{units}{available}, 1, 'is found by itself');
    is($shadow->{drift}{explained}{available}, 0, 'and nothing explains it');
    is(settled($admin, 'truth=second')->{status}, 409, 'no switch');

    # the truth is sold out, and the shadow would have one more
    $server->crowd(120);
    $shadow = compared($admin);
    cmp_ok($shadow->{would_have_granted}, '>=', 1, 'would have granted');
    is($shadow->{differences}[0]{shadow_would_have}, 'granted', 'is listed');
    like($shadow->{differences}[0]{hold}, qr/^[0-9A-Z]{26}$/, 'by its hold');
};

subtest 'a shadow that dies, a truth that hangs' => sub {
    my $redis = PrivateRedis->start();
    my $server = start('--store=shadow:' . sqlite() . ',redis:'
                       . $redis->socket() . '+' . sqlite(), @fast,
                       '--decline=0', '--stock=100', '--hold-ms=10000');
    is($server->buy()->{status}, 200, 'an order');

    is(settled($admin, 'truth=second')->{status}, 200, 'Redis is the truth');
    is($server->buy()->{status}, 200, 'an order');

    $redis->signal('STOP');
    my $waiting = $server->send_raw(post_text(''));
    wait_until { $server->stats()->{in_progress} == 1 } 'one to hang';

    my $response = order($admin, 'kill=1');
    is($response->{status}, 200, 'the kill switch does not wait for it');
    is($server->buy()->{status}, 200, 'the sale goes on');
    my ($answer) = read_all($waiting);
    is($answer->{status}, 500, 'who hung is told so');

    $redis->signal('CONT');
    wait_until { order($admin, 'mend=1')->{status} == 200 } 'all mended';

    # what Redis did when it went on, and nobody waited for it, expires
    my $shadow = wait_until {
        my $shadow = compared($admin);
        $shadow->{drift}{levels} == 0 && $shadow;
    } 'the two to be even';
    is($shadow->{losses}, 0, 'nothing is missing');
    is($server->stats()->{stock_sold}, 3, 'and nothing was done twice');
};

subtest 'a shadow that is dead' => sub {
    my $redis = PrivateRedis->start();
    my $server = start('--store=shadow:' . sqlite() . ',redis:'
                       . $redis->socket() . '+' . sqlite(), @fast,
                       '--decline=0', '--stock=100');
    is($server->buy()->{status}, 200, 'an order');
    is_even(compared($admin), 'both have it');
    $redis->down();
    is($server->buy()->{status}, 200, 'the sale goes on') for 1 .. 3;

    my $shadow = wait_until {
        my $shadow = look($admin);
        $shadow->{following} == 0 && $shadow;
    } 'the shadow to be given up';

    is($shadow->{losses}, 3, 'what it missed is known');
    is_deeply([ map { $_->{missing} } @{$shadow->{listed}} ],
              [ ('claim') x 3 ], 'and listed');

    is(order($admin, 'truth=second')->{status}, 503, 'no switch');
    is(order($admin, 'mend=1')->{status}, 503, 'no mending');
    is(order($admin, 'kill=1')->{status}, 200, 'the kill switch works');
    is($server->buy()->{status}, 200, 'an order');
};

done_testing();
