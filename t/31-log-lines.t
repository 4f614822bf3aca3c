# What a line says in the error log: when it begins, lasts and ends.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use Sale;

no_root_location();
log_level('notice');
workers(2);
run_tests();

__DATA__

=== TEST 1: one line when queueing begins, one when it ends, by one of the workers
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

    my $begins = qr/\[notice\] .*queueing begins for key "localhost" in zone "sale"/;

    like(log_line('error.log', 'queueing begins'), $begins, 'it begins');
    unlike(error_log, qr/queueing ended/, 'and has not ended');

    # the shoppers give up; nobody asks for anything any more
    serve($till);

    my $ended = log_line('error.log', 'queueing ended');

    like($ended, qr/\[notice\] .*queueing ended for key "localhost" in zone "sale" after \d+\.\d{3} s, admitted: \d+, gone: \d+, rejected: 0, most waiting: \d+, mean wait: \d+\.\d{3}, longest: \d+\.\d{3}$/,
         'it ends');
    is(() = error_log =~ /queueing begins/g, 1, 'said once');
    is(() = error_log =~ /queueing ended/g, 1, 'by one');
    unlike(error_log, qr/queueing request/, 'nothing of single requests above info');



=== TEST 2: the totals are those of the line
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
    log_line('error.log', 'queueing begins');
    wait_for_admission($_, '/checkout') for @shoppers;

    my $ended = log_line('error.log', 'queueing ended');
    my $key = status_of('sale', 'localhost');

    # the first one was let in before there was a line, the others all waited
    cmp_ok($key->{admitted}, '>=', 6, 'all were let in');
    my ($admitted, $gone) = $ended =~ /admitted: (\d+), gone: (\d+)/;
    cmp_ok($admitted, '<=', $key->{admitted}, 'of the line');
    is($gone, $key->{left} + $key->{missed} + $key->{vanished}, 'gone');



=== TEST 3: a key that is not fit for a log
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

    like(log_line('error.log', 'queueing begins'), qr/ for key "one\?\?two" in zone/, 'is made fit');



=== TEST 4: over a reload
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
    log_line('error.log', 'queueing begins');

    reload('burst=2' => 'burst=3');

    # no request comes: the new workers look by themselves
    log_line('error.log', 'queueing ended');
    is(() = error_log =~ /queueing begins/g, 1, 'one beginning');
    is(() = error_log =~ /queueing ended/g, 1, 'and one end');



=== TEST 5: a worker leaves without waiting for an end
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
    pass('they are gone');
