# The store in MySQL or MariaDB, with a private server.

use strict;
use warnings;

use Test::More;
use CheckoutServer qw( post_text read_all wait_until );
use PrivateMariaDB;

my $contract = $ENV{CHECKOUT_CONTRACT} || 'build/stores/contract';
my @fast = qw( --payment-min-ms=1 --payment-max-ms=5 --decline=0 );

my $db = PrivateMariaDB->start('--general-log', '--general-log-file=queries',
                               '--log-output=FILE');

# A pool of 3 rows is smaller than most carts: most calls use the slow path.
my $shop = 0;

for my $options ('pool=1000', 'pool=1000;low=0', 'pool=3;low=1;connections=2')
{
    my $store = $db->store('shop=' . ++$shop, $options);
    my @lines = qx($contract '$store' 2>&1);

    is($?, 0, "$options: the contract");
    is_deeply([ grep { !/^(?:ok|1\.\.)/ } @lines ], [],
              "$options: no failures");
    cmp_ok(scalar(grep { /^ok/ } @lines), '>', 50,
           "$options: number of checks");
}

subtest 'every statement names its business process' => sub {
    open(my $log, '<', $db->file('data/queries')) or die $!;
    my %tags;
    my @untagged;

    while (my $line = <$log>) {
        next if $line !~ /\bQuery\t(.*)/;
        my $query = $1;

        # sent by mariadb.sh
        next if $query =~ /^(?:CREATE DATABASE|select \@\@version_comment)/;

        if ($query =~ m{ /\*conn_tag='([a-z_]+)'\*/$}) {
            $tags{$1}++;
        } else {
            push @untagged, $query;
        }
    }

    is_deeply(\@untagged, [], 'all have a tag');
    cmp_ok($tags{$_} // 0, '>', 0, "some of $_")
        for qw( inventory_reserve checkout_completion inventory_release
                inventory_expire inventory_look inventory_count
                inventory_admin inventory_replenish );
};

subtest 'a sale' => sub {
    my $server = CheckoutServer->start('--store=' . $db->store('shop=10'),
                                       '--stock=40', '--locations=3', @fast);
    my %statuses;

    $statuses{$_->{status}}++
        for read_all(map { $server->send_raw(post_text('')) } 1 .. 60);
    is_deeply(\%statuses, { 200 => 40, 409 => 20 }, 'sells the whole stock');

    my ($status, $last) = $server->stop();
    is($status, 0, 'stops');
    is_deeply([ @$last{qw( stock_initial stock_now stock_held stock_sold
                           orders oversold )} ],
              [ 40, 0, 0, 40, 40, 0 ], 'the final stats');

    my @holders = @{$last->{connections}{holders}};
    my %count = map { $_->{conn_tag} => $_->{count} } @holders;
    is($count{checkout_completion}, 40, 'stats of connections by process');
    is($count{inventory_reserve}, 60, 'one for each reservation');

    is_deeply([ $db->ask('SELECT location, stock FROM ledger WHERE shop = 10'
                         . ' ORDER BY location') ],
              [ [ 1, 0 ], [ 2, 0 ], [ 3, 0 ] ], 'the ledger');
    is_deeply([ $db->ask('SELECT COUNT(*), SUM(quantity) FROM orders'
                         . ' WHERE shop = 10') ], [ [ 40, 40 ] ], 'the orders');

    $server = CheckoutServer->start('--store=' . $db->store('shop=10'),
                                    '--locations=3', @fast);
    like($server->errors(), qr/continued: 0 of 40 units left, 40 orders/,
         'a restart continues the sale');
    $server->stop();

    my $err;
    ($status, undef, $err) = CheckoutServer->run(
        '--store=' . $db->store('shop=10'), '--listen=127.0.0.1:0');
    is($status, 1, 'other locations are refused');
    like($err, qr/shop 10 has other items or locations/, 'with the reason');
};

subtest 'a hold of a dead process expires' => sub {
    my @store = ('--store=' . $db->store('shop=11'), '--stock=10',
                 '--hold-ms=2000');
    my $server = CheckoutServer->start(@store, qw( --payment-min-ms=60000
                                                   --payment-max-ms=60000 ));
    my @sockets = map { $server->send_raw(post_text('')) } 1 .. 4;

    $server->wait_for(paying => 4);
    $server->signal('KILL');
    $server->ended();

    $server = CheckoutServer->start(@store, @fast);
    is($server->buy()->{status}, 200, 'other shoppers buy');

    my $stats = $server->wait_for(holds_expired_units => 4);
    $stats = $server->wait_for(stock_held => 0);
    is_deeply([ @$stats{qw( stock_now stock_sold )} ], [ 9, 1 ],
              'all units are available again');
    $server->stop();
};

subtest 'the server is killed during a sale' => sub {
    my $server = CheckoutServer->start('--store=' . $db->store('shop=12'),
        '--stock=50', qw( --payment-min-ms=2000 --payment-max-ms=2500
                          --decline=0 ));
    my @sockets = map { $server->send_raw(post_text('')) } 1 .. 30;

    $server->wait_for(paying => 30);
    $db->killed();
    push @sockets, map { $server->send_raw(post_text('')) } 1 .. 30;

    # payments end, and their claims wait for the server
    $server->wait_for(paying => 0);
    $db->up();

    my %statuses;
    $statuses{$_->{status}}++ for read_all(@sockets);
    is_deeply(\%statuses, { 200 => 50, 409 => 10 }, 'no order fails');

    my (undef, $last) = $server->stop();
    is_deeply([ @$last{qw( stock_now stock_held stock_sold orders )} ],
              [ 0, 0, 50, 50 ], 'the stock is exact');
    cmp_ok($last->{connections}{lost}, '>', 0, 'connections were lost');
    like($server->errors(), qr/\A[^\n]*\n?\z/, 'no error is logged');
};

subtest 'no server' => sub {
    my ($status, undef, $err) = CheckoutServer->run(
        '--listen=127.0.0.1:0', '--store=mysql:socket=/nonexistent/socket');

    is($status, 1, 'refused');
    like($err, qr/nonexistent.*connection failed/, 'with the reason');
};

subtest 'tables of another version' => sub {
    $db->ask('CREATE DATABASE old; CREATE TABLE old.holds (shop INT NOT NULL,'
             . ' hold CHAR(26) NOT NULL, PRIMARY KEY (shop, hold))');

    my ($status, undef, $err) = CheckoutServer->run('--listen=127.0.0.1:0',
        '--store=' . $db->store('database=old'));

    is($status, 1, 'refused at the start');
    like($err, qr/belong to another version or program/, 'with the reason');
};

subtest 'the queue for a connection is limited' => sub {
    my $server = CheckoutServer->start(
        '--store=' . $db->store('shop=13', 'connections=1', 'queue=2',
                                'work_us=200000'),
        '--stock=50', @fast);
    my @responses = read_all(map { $server->send_raw(post_text('')) } 1 .. 20);
    my @busy = grep { $_->{status} == 503 } @responses;

    cmp_ok(scalar(grep { $_->{status} == 200 } @responses), '>=', 1,
           'some shoppers buy');
    cmp_ok(scalar(@busy), '>=', 10, 'most get 503');
    like($busy[0]{head}, qr/^Retry-After: 1\r$/m, 'with Retry-After');
    like($busy[0]{content}, qr/"status":"busy"/, 'with a JSON status');

    my $stats = $server->wait_for(in_progress => 0);
    is($stats->{connections}{refused}, scalar(@busy),
       'refused calls are counted');
    is($stats->{connections}{size}, 1, 'one connection');
};

subtest 'the holders of connections' => sub {
    my $server = CheckoutServer->start(
        '--store=' . $db->store('shop=14', 'connections=2'), '--stock=50',
        '--slow-report=400', @fast);

    is($server->buy()->{status}, 200, 'an order') for 1 .. 5;

    my $stats = wait_until {
        my $stats = $server->stats();
        my ($first) = @{$stats->{connections}{holders}};
        $first->{conn_tag} eq 'sales_report' && $first->{count} == 5 && $stats;
    } 'the reports';
    my ($first, $second) = @{$stats->{connections}{holders}};

    cmp_ok($first->{p50_ms}, '>=', 400, 'the slow report holds it longest');
    cmp_ok($first->{total_ms}, '>', $second->{total_ms}, 'and in total');
};

done_testing();
