# The SQLite store in a file: restarts, locking, errors.

use strict;
use warnings;

use File::Temp qw( tempdir );
use Test::More;
use CheckoutServer qw( read_all post_text wait_until );

my $dir = tempdir(CLEANUP => 1);
my @fast = qw( --payment-min-ms=1 --payment-max-ms=5 --decline=0 );

subtest 'a sale continues after a restart' => sub {
    my @args = ("--store=sqlite:$dir/sale.db", @fast);
    my $server = CheckoutServer->start(@args, '--stock=10');

    is($server->buy()->{status}, 200, 'an order') for 1 .. 3;
    my ($status) = $server->stop();
    is($status, 0, 'stopped');

    $server = CheckoutServer->start(@args, '--stock=99');
    like($server->errors(), qr/continued: 7 of 10 .*, 3 orders, 0 held/,
         'log message');

    my $stats = $server->stats();
    is($stats->{stock_initial}, 10, 'the initial stock');
    is($stats->{stock_now}, 7, 'the stock');
    is($stats->{orders}, 3, 'the orders');

    is($server->buy()->{status}, 200, 'the next order');
    is($server->stats()->{orders}, 4, 'orders after it');
};

subtest 'killed with units held' => sub {
    my @store = ("--store=sqlite:$dir/killed.db", '--stock=10');
    my $server = CheckoutServer->start(@store, qw( --payment-min-ms=60000
                                                   --payment-max-ms=60000 ));
    my @sockets = map { $server->send_raw(post_text('')) } 1 .. 4;

    is($server->wait_for(paying => 4)->{stock_held}, 4, 'held units');
    $server->signal('KILL');
    my ($status) = $server->ended();
    is($status & 127, 9, 'killed');

    $server = CheckoutServer->start(@store, @fast);
    like($server->errors(), qr/continued: 10 of 10 .* 4 held units released/,
         'log message');
    is($server->stats()->{stock_now}, 10, 'all units are available');
};

subtest 'one process at a time' => sub {
    my @store = ("--store=sqlite:$dir/shared.db");
    my $server = CheckoutServer->start(@store, @fast);
    my ($status, $out, $err)
        = CheckoutServer->run(@store, '--listen=127.0.0.1:0');

    is($status, 1, 'the second is refused');
    like($err, qr/--store=sqlite:\S+shared\.db: .*another process uses/,
         'error message');
    is($server->buy()->{status}, 200, 'the first still sells');
};

subtest 'a file with a negative stock' => sub {
    my @store = ("--store=sqlite:$dir/naive.db", '--stock=2');
    my $server = CheckoutServer->start(@store, qw( --mode=naive --decline=0
        --payment-min-ms=1000 --payment-max-ms=1000 ));

    read_all(map { $server->send_raw(post_text('')) } 1 .. 3);
    is($server->stats()->{stock_now}, -1, 'naive goes below 0');
    $server->stop();

    my ($status, $out, $err)
        = CheckoutServer->run(@store, '--listen=127.0.0.1:0');
    is($status, 1, 'reserve refuses the file');
    like($err, qr/--mode=naive left a negative stock/,
         'error message');

    $server = CheckoutServer->start(@store, '--mode=naive');
    is($server->stats()->{oversold}, 1, 'naive continues it');
};

subtest 'locations' => sub {
    my $server = CheckoutServer->start(@fast, '--stock=4', '--locations=2');
    my $order = sub {
        return $server->request('POST', '/checkout', body => $_[0], headers =>
            { 'Content-Type' => 'application/x-www-form-urlencoded' }
        )->{status};
    };

    is($order->('locations=2&quantity=2'), 200, 'all units of one location');
    is($order->('locations=2'), 409, 'a location without stock');
    is($order->('locations=2,1'), 200, 'one of two locations');
    is($order->('locations=1&locations=2'), 400, 'two lists of locations');
    is($server->stats()->{stock_now}, 1, 'stock');
};

subtest 'a file that is not a database' => sub {
    open(my $file, '>', "$dir/letter.txt") or die $!;
    print $file "Dear customer,\n" x 100;
    close($file);

    my ($status, $out, $err) = CheckoutServer->run(
        "--store=sqlite:$dir/letter.txt", '--listen=127.0.0.1:0');
    is($status, 1, 'refused');
    like($err, qr/letter\.txt: .*not a database/, 'error message');
};

subtest 'a full disk' => sub {
    my @store = ("--store=sqlite:$dir/full.db", '--stock=500');
    my $server = CheckoutServer->start([ qw( prlimit --fsize=800000 ) ],
                                       @store, @fast);
    my (%ids, $response);

    wait_until {
        $response = $server->buy();
        $ids{$response->{json}{order_id}} = 1 if $response->{status} == 200;
        $response->{status} != 200;
    } 'the disk to be full';

    is($response->{status}, 500, 'status');
    is($response->{json}{status}, 'failed', 'name in JSON');
    cmp_ok($server->stats()->{store_failures}, '>=', 1, 'counted');
    like($server->errors(), qr/store: .*(?:full|I\/O)/, 'log message');
    $server->stop();

    $server = CheckoutServer->start(@store, @fast);
    my $stats = $server->stats();

    cmp_ok(scalar(keys %ids), '>', 10, 'orders that were confirmed');
    is($stats->{orders}, scalar(keys %ids), 'all of them are in the store');
    is($stats->{stock_now}, 500 - keys %ids, 'no other unit is sold');
    is($server->buy()->{status}, 200, 'the next order after a restart');
};

subtest 'available + held + sold = initial, at all times' => sub {
    my $server = CheckoutServer->start("--store=sqlite:$dir/sum.db",
        qw( --mode=queue --payment-slots=20 --payment-min-ms=1
            --payment-max-ms=20 --decline=0.3 --stock=150 ));
    my @sockets = map { $server->send_raw(post_text('')) } 1 .. 400;
    my ($samples, $wrong) = (0, 0);

    my $stats = wait_until {
        my $stats = $server->stats();
        my $sum = $stats->{stock_now} + $stats->{stock_held}
                  + $stats->{stock_sold};
        $samples++;
        $wrong++ if $sum != 150 || $stats->{stock_now} < 0;
        $stats->{arrivals} == 400 && $stats->{in_progress} == 0 && $stats;
    } 'all orders to finish';

    is($wrong, 0, "in $samples samples");
    cmp_ok($samples, '>', 1, 'more than one sample');
    is($stats->{stock_held}, 0, 'nothing held at the end');
    is($stats->{orders}, $stats->{stock_sold}, 'one unit per order');

    my @responses = read_all(@sockets);
    my %ids = map { $_ => 1 }
              map { $_->{content} =~ /"order_id":"([^"]+)"/ } @responses;
    is(scalar(keys %ids), $stats->{orders}, 'order ids are unique');
};

done_testing();
