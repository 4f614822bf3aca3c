#!/usr/bin/env perl
#
# Tests two stores as one: Redis with a ledger in MariaDB is the truth, MariaDB
# the shadow.  Then runs whole sales on every store.
#
# usage: scripts/inventory-shadow.pl [PART...]
#
#   even    10,000 reservations: no drift
#   lost    1 % of the shadow's writes are lost: all are found, a switch is
#           refused, and a forced switch oversells the lost units
#   switch  a sale (profile drop) with a switch and the kill switch
#   sales   a sale (profile drop) on mysql, on redis and on both
#
#   RESERVATIONS=10000   of "even" and "lost"
#
# The servers are private and removed afterwards.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../upstream-demo/t/lib",
    "$FindBin::Bin/../inventory/t/lib";

use File::Temp qw(tempdir);
use JSON::PP;
use Time::HiRes qw(time);

use CheckoutServer;
use PrivateMariaDB;
use PrivateRedis;
use StoreAdmin qw(compared settled);

chdir "$FindBin::Bin/.." or die "$FindBin::Bin/..: $!\n";
$| = 1;

my $RESERVATIONS = $ENV{RESERVATIONS} // 10_000;
my @FAST = qw(--payment-min-ms=0 --payment-max-ms=2);
my $EVEN = { initial => 0, available => 0, held => 0, sold => 0 };

my $failures = 0;
my $shop = 0;
my ($db, $redis);
my $admin = tempdir(CLEANUP => 1) . '/admin.sock';
my $json = JSON::PP->new->canonical;


sub must {
    my ($good, $format, @values) = @_;

    $failures += !$good;
    printf "   %-4s $format\n", $good ? 'ok' : 'NOT', @values;

    return;
}


sub start {
    my (@args) = @_;

    $db //= PrivateMariaDB->start();
    $redis //= PrivateRedis->start();

    $redis->cli('FLUSHALL');
    my ($ledger, $mysql) = map { $db->store('shop=' . ++$shop) } 1 .. 2;

    return CheckoutServer->start("--admin=unix:$admin",
        '--store=shadow:redis:' . $redis->socket() . "+$ledger,$mysql",
        @FAST, @args);
}


# Formats a drift.
sub units {
    my ($off) = @_;

    return join ', ', map { sprintf '%+d %s', $off->{$_}, $_ }
                      qw(available held sold);
}


sub even {
    my $stock = int($RESERVATIONS * 0.9);
    my $server = start("--stock=$stock", '--decline=0.05');
    my $start = time;
    my $confirmed = $server->crowd($RESERVATIONS);
    my $took = time - $start;
    my $shadow = compared($admin);

    print "5. two stores as one: Redis (ledger in MariaDB) is the truth,",
          " MariaDB the shadow\n\n";
    printf "   %d reservations, a stock of %d, 5 %% declined: %d/s\n",
        $RESERVATIONS, $stock, $RESERVATIONS / $took;
    printf "   decisions compared %d: agreed %d, would have denied %d,"
           . " would have granted %d\n", @$shadow{qw(decisions agreed
           would_have_denied would_have_granted)};
    must($json->encode($shadow->{drift}{units}) eq $json->encode($EVEN),
         'drift: %s', units($shadow->{drift}{units}));
    must($server->stats()->{stock_sold} == $confirmed, 'sold %d, confirmed %d',
         $server->stats()->{stock_sold}, $confirmed);
    print "\n";

    return;
}


sub lost {
    my $stock = int($RESERVATIONS * 1.1);
    my $server = start("--stock=$stock", '--decline=0.05',
                       '--fault=lose:0.01');
    $server->crowd($RESERVATIONS);

    my $shadow = compared($admin);
    my $drift = $shadow->{drift};

    printf "   %d reservations, 1 %% of the shadow's writes lost\n",
        $RESERVATIONS;
    must($shadow->{writes_lost} == $shadow->{writes_lost_by_fault},
         'lost %d, found %d', @$shadow{qw(writes_lost_by_fault writes_lost)});
    must($json->encode($drift->{units}) eq $json->encode($drift->{explained}),
         'drift: %s; explained by the losses: %s',
         units($drift->{units}), units($drift->{explained}));
    must(settled($admin, 'truth=second')->{status} == 409,
         'the switch is refused');
    must(settled($admin, 'mend=1')->{status} == 200, 'mended %d',
         compared($admin)->{mended});
    must(settled($admin, 'truth=second')->{status} == 200,
         'drift %s; switched',
         units(compared($admin)->{drift}{units}));
    undef $server;
    print "\n";

    forced();

    return;
}


sub forced {
    my $stock = $RESERVATIONS;
    my $server = start("--stock=$stock", '--decline=0', '--fault=lose:0.01');
    my $confirmed = $server->crowd(int($RESERVATIONS * 0.7));
    my $drift = compared($admin)->{drift};
    my $more = $drift->{units}{available};

    printf "   forced after %d of %d units: %d sold units are not in the"
           . " shadow\n", $confirmed, $stock, $more;
    must(settled($admin, 'truth=second')->{status} == 409, 'refused at first');
    must(settled($admin, 'truth=second&force=1')->{status} == 200, 'forced');
    $confirmed += $server->crowd(int($RESERVATIONS * 0.5));
    must($confirmed == $stock + $more,
         'confirmed %d of a stock of %d: oversold by %d', $confirmed, $stock,
         $confirmed - $stock);
    print "\n";

    return;
}


# Runs a sale; returns its directory and the final stats of the checkout.
sub sale {
    my ($store, $orders) = @_;
    my $dir = "build/sale/drop-$store" . ($orders ? '-switch' : '');

    local $ENV{STORE} = $store;
    local $ENV{ORDERS} = $orders // '';

    # 3: the machine was too slow for the schedule
    my $status = system('scripts/sale.sh', '-o', $dir, 'drop',
                        'edge-fair-deadline', $ENV{SEED} || 1) >> 8;
    die "the sale on $store failed\n" unless $status == 0 || $status == 3;

    open my $file, '<', "$dir/server-stats.json" or die "$dir: $!\n";
    local $/;

    return ($dir, decode_json(<$file>));
}


sub sold_exactly {
    my ($stats) = @_;

    must($stats->{confirmed} == 500 && $stats->{stock_sold} == 500
         && $stats->{oversold} == 0 && $stats->{stock_held} == 0
         && $stats->{late_charges} == 0,
         'confirmed %d, sold %d of %d, oversold %d, held at the end %d,'
         . ' checkout p50 %.0f ms p99 %.0f ms', @$stats{qw(confirmed stock_sold
         stock_initial oversold stock_held)},
         @{$stats->{latencies}{checkout_200}}{qw(p50_ms p99_ms)});

    return;
}


sub switch {
    my $orders = '8:truth=second 14:kill=1';

    print "   a sale behind the throttle (drop), with commands at the seconds:",
          " $orders\n   ";
    my ($dir, $stats) = sale('shadow', $orders);
    my $shadow = $stats->{shadow};

    sold_exactly($stats);
    must($shadow->{switches} == 2, 'switches: %d',
         $shadow->{switches});
    must($shadow->{losses} == 0 && !$shadow->{drift}{levels},
         'losses %d, drift %s', $shadow->{losses},
         units($shadow->{drift}{units}));
    print "\n";

    return;
}


sub sales {
    print "6. a sale behind the throttle (drop, a stock of 500) on each",
          " store\n\n";

    for my $store (qw(mysql redis shadow)) {
        print "   $store\n   ";
        my ($dir, $stats) = sale($store);
        sold_exactly($stats);
    }

    print "\n";

    return;
}


my %PARTS = (even => \&even, lost => \&lost, switch => \&switch,
             sales => \&sales);
my @parts = @ARGV ? @ARGV : qw(even lost switch sales);

for my $part (@parts) {
    die "usage: inventory-shadow.pl [even] [lost] [switch] [sales]\n"
        unless $PARTS{$part};
}

$PARTS{$_}->() for @parts;

print $failures ? "inventory: requirements not met\n"
                : "inventory: all requirements met\n";

exit($failures != 0);
