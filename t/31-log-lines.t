# The queue log: queueing started, continues, ended.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use Sale;

no_root_location();
log_level('notice');
workers(2);
run_tests();

__DATA__

=== TEST 1: one event when queueing starts, one when it ends
--- http_config
    flash_throttle_zone $server_name zone=sale:1m inflight=1;
--- config
    location / {
        flash_throttle zone=sale;
        flash_throttle_poll min=100ms max=300ms;
        proxy_pass http://till;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my ($till, @first) = busy_till('/checkout');
    my @shoppers = map { shopper } 1 .. 12;

    # over all workers, as connections come
    for (1 .. 3) {
        $_->poll('/checkout') for @shoppers;
    }

    my $begins = qr/\[notice\] .*queueing started for key "localhost" in zone "sale"/;

    like(log_line('error.log', 'queueing started'), $begins, 'queueing started');
    unlike(error_log, qr/queueing ended/, 'not ended');

    # the shoppers give up; nobody asks for anything any more
    serve($till);

    my $ended = log_line('error.log', 'queueing ended');

    like($ended, qr/\[notice\] .*queueing ended for key "localhost" in zone "sale" after \d+\.\d{3} s, admitted: \d+, gone: \d+, rejected: 0, most waiting: \d+, mean wait: \d+\.\d{3}, longest: \d+\.\d{3}$/,
         'queueing ended');
    is(() = error_log =~ /queueing started/g, 1, 'one event');
    is(() = error_log =~ /queueing ended/g, 1, 'one event');
    unlike(error_log, qr/queueing request/, 'no lines for single requests');



=== TEST 2: the totals of the line
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=10r/s burst=1;
--- config
    location / {
        flash_throttle zone=sale;
        flash_throttle_poll min=100ms max=300ms;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my @shoppers = map { shopper } 1 .. 6;

    $_->poll('/checkout') for @shoppers;
    log_line('error.log', 'queueing started');
    wait_for_admission($_, '/checkout') for @shoppers;

    my $ended = log_line('error.log', 'queueing ended');
    my $key = status_of('sale', 'localhost');

    # the first one was let in before there was a line, the others all waited
    cmp_ok($key->{admitted}, '>=', 6, 'all were admitted');
    my ($admitted, $gone) = $ended =~ /admitted: (\d+), gone: (\d+)/;
    cmp_ok($admitted, '<=', $key->{admitted}, 'admitted of the line');
    is($gone, $key->{left} + $key->{no_shows} + $key->{expired}, 'gone');



=== TEST 3: a key with control characters
--- http_config
    flash_throttle_zone $shop zone=sale:1m rate=1r/m;
--- config
    location / {
        set $shop "one\"
two";
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    shopper->get('/checkout') for 1 .. 2;

    like(log_line('error.log', 'queueing started'), qr/ for key "one\?\?two" in zone/, 'replaced characters');



=== TEST 4: a reload
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=30r/m burst=2;
--- config
    location / {
        flash_throttle zone=sale;
        flash_throttle_poll max=500ms;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    shopper->get('/checkout') for 1 .. 3;
    log_line('error.log', 'queueing started');

    reload('burst=2' => 'burst=3');

    # no request comes: the new workers look by themselves
    log_line('error.log', 'queueing ended');
    is(() = error_log =~ /queueing started/g, 1, 'one start');
    is(() = error_log =~ /queueing ended/g, 1, 'one end');



=== TEST 5: a worker exits while a line exists
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    shopper->get('/checkout') for 1 .. 3;

    my @workers = worker_pids;

    reload('rate=1r/m' => 'rate=2r/m');
    wait_until('the old ones to be gone', sub { !grep { runs($_) } @workers });
    pass('the old workers have exited');
