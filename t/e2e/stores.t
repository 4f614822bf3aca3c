# A sale with each store that needs a server: exactly the stock is sold, also if
# the store is switched twice during the sale.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib", "$FindBin::Bin/../../tools/t/lib",
    "$FindBin::Bin/../../upstream-demo/t/lib",
    "$FindBin::Bin/../../inventory/t/lib";
use CheckoutServer qw(wait_until);
use Edge;
use File::Temp qw(tempdir);
use FlashCrowd qw(begin_crowd end_crowd);
use PrivateMariaDB;
use PrivateRedis;
use StoreAdmin qw(compared settled);
use Test::More;

use constant { STOCK => 300, SHOPPERS => 840 };

my $db = PrivateMariaDB->start();
my $redis = PrivateRedis->start();
my $admin = tempdir(CLEANUP => 1) . '/admin.sock';


# An empty Redis with its own ledger.
sub redis_store {
    my ($shop) = @_;

    $redis->cli('FLUSHALL');

    return 'redis:' . $redis->socket() . '+' . $db->store("shop=$shop");
}


# Runs a sale; $during is called meanwhile.
sub sale {
    my ($name, $store, $during) = @_;

    my $checkout = CheckoutServer->start("--store=$store",
        "--admin=unix:$admin", '--stock=' . STOCK, qw(--mode=queue
        --deadline=on --payment-min-ms=20 --payment-max-ms=80));
    my $edge = Edge->start(checkout => $checkout, zone => 'inflight=16',
                           throttle => 'policy=fair');

    my $crowd = begin_crowd('--url', $edge->url, '--json',
        '--stages=1:300-300,9:60-60', '--shoppers=' . SHOPPERS,
        '--patience=60', '--deadline',
        '--stats-url', "http://127.0.0.1:$checkout->{port}/stats");

    $during->($checkout) if $during;

    my $figures = end_crowd($crowd)->{figures};
    my $stats = $checkout->wait_for(in_progress => 0);

    is($stats->{confirmed}, STOCK, "$name: exactly the stock is sold");
    is($stats->{late_charges}, 0, "$name: no late charge");

    # the kill switch does not wait for a slow store
    is($stats->{store_failures}, $stats->{shadow}{withdrawn} // 0,
       "$name: no order failed");
    is($figures->{orders}, STOCK, "$name: orders of the crowd");

    wait_until {
        $stats = $checkout->stats();
        $stats->{stock_sold} == STOCK && $stats->{stock_held} == 0
        && $stats->{stock_now} == 0;
    } 'the store to be settled';

    return;
}


sub confirmed {
    my ($checkout, $n) = @_;

    return wait_until { $checkout->stats()->{confirmed} >= $n } "$n orders";
}


sale('mysql', $db->store('shop=1'));
sale('redis', redis_store(2));

sale('both', 'shadow:' . redis_store(3) . ',' . $db->store('shop=4'), sub {
    my ($checkout) = @_;

    confirmed($checkout, 60);
    is(settled($admin, 'truth=second')->{status}, 200, 'both: cut over');
    confirmed($checkout, 150);
    is(settled($admin, 'kill=1')->{status}, 200, 'both: switched back');
    confirmed($checkout, STOCK);

    my $shadow = compared($admin);
    is($shadow->{truth}, 'first', 'both: the first store is used');
    is($shadow->{switches}, 2, 'both: two switches');
    is($shadow->{drift}{levels}, 0, 'both: the stores agree');
    is($shadow->{losses}, 0, 'both: no losses');
});

done_testing();
