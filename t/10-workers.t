# Reloads, workers that leave, and workers that die.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use Sale;

no_root_location();
run_tests();

__DATA__

=== TEST 1: a reload keeps the line, and takes new limits at once
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
    my ($in, $waiting) = (shopper, shopper(Accept => 'application/json'));

    $in->get('/checkout');
    my $first = $waiting->get('/checkout')->json->{first_attempt_ms};

    reload();

    is($in->get('/checkout')->status, 200, 'a pass is a pass');
    is($waiting->get('/checkout')->json->{first_attempt_ms}, $first, 'a place is a place');
    is(shopper->get('/checkout')->status, 503, 'the bucket is as full as before');
    is(status_of('sale', 'localhost')->{first_attempts}, 3, 'the counts go on');

    reload('rate=1r/m' => 'rate=50r/s burst=7 inflight=9 period=1s');

    is(wait_for_admission($waiting, '/checkout')->json->{first_attempt_ms}, $first, 'a new rate lets it in');

    my $zone = shopper->get('/throttle')->json->{zones}{sale};

    is($zone->{rate_milli}, 50000, 'rate');
    is($zone->{burst}, 7, 'burst');
    is($zone->{inflight_max}, 9, 'in flight');
    is($zone->{period_ms}, 1000, 'period');



=== TEST 2: what a reload must not change
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- error_log
[emerg]
--- no_error_log
[alert]
--- shop
    my @before = worker_pids;
    my $conf = read_conf;

    for my $edit (
        ['$server_name zone=sale:1m', '$host zone=sale:1m',
         'flash_throttle_zone "sale" uses the "$host" key while previously it used the "$server_name" key'],
    ) {
        my ($old, $new, $message) = @$edit;

        (my $text = $conf) =~ s/\Q$old/$new/;
        write_conf($text);
        nginx_signal('HUP');

        like(log_line('error.log', quotemeta $message), qr/\[emerg\]/, $message);
    }

    is(join(' ', worker_pids), "@before", 'the old configuration goes on');



=== TEST 3: another size is another zone
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    shopper->get('/checkout');

    my $shopper = shopper(Accept => 'application/json');
    my $first = $shopper->get('/checkout')->json->{first_attempt_ms};

    reload('zone=sale:1m' => 'zone=sale:2m');

    is(wait_for_admission($shopper, '/checkout')->json->{first_attempt_ms}, $first,
       'but the place is in the cookie');
    like(error_log, qr/\[notice\] .* flash_throttle_zone "sale" has space for \d+ keys/, 'its size is logged');



=== TEST 4: the master stops growing, however often it reloads
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
    shopper->get('/checkout');
    shopper->get('/checkout');

    my $resident = sub {
        open my $in, '<', '/proc/' . Sale::master() . '/statm' or die;
        return (split ' ', <$in>)[1];
    };

    # the least of each twenty: what is freed goes back to the system now and then
    my $least = sub { (sort { $a <=> $b } map { reload(); $resident->() } 1 .. 20)[0] };
    my @least = map { $least->() } 1 .. 6;

    SKIP: {
        skip 'sanitizers keep what was freed', 1 if $ENV{SANITIZE};

        # what leaks fills holes first, so it takes as long to be seen
        push @least, $least->() while $least[-1] - $least[-5] >= 10 && @least < 15;

        cmp_ok($least[-1] - $least[-5], '<', 10, "less than ten pages in eighty reloads: @least");
    }

    is(status_of('sale', 'localhost')->{first_attempts}, 2, 'the counts are there');



=== TEST 5: workers that are killed take their counts with them
--- http_config
    flash_throttle_zone $server_name zone=sale:1m inflight=2;
--- config
    location / {
        flash_throttle zone=sale hold=1m;
        proxy_pass http://till;
    }
    location /throttle {
        flash_throttle_status;
    }
--- error_log eval
qr/\[alert\] .* exited on signal 9/
--- no_error_log
[emerg]
--- shop
    for my $round (1 .. 5) {
        my $till = open_till;
        my @sockets = map { shopper->request('GET', '/checkout', Wait => 0) } 1 .. 2;

        wait_until('two in flight', sub { ((status_of('sale', 'localhost') // {})->{inflight} // 0) == 2 });
        is(shopper->get('/checkout')->status, 503, 'a third one waits');

        my %old = map { $_ => 1 } worker_pids;
        kill 'KILL', keys %old;

        wait_until('other workers', sub { my @now = worker_pids; @now && !grep { $old{$_} } @now });
        is(status_of('sale', 'localhost')->{inflight}, 0, 'nothing is in flight');
        close $_ for @sockets;
        close $till;
        unlink "$ENV{TEST_NGINX_HTML_DIR}/till.sock";

        # nobody comes back for the place of the third one
        wait_until('an end of the line', sub { !status_of('sale', 'localhost')->{queueing} });
    }



=== TEST 6: another program takes over
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    my ($in, $waiting) = (shopper, shopper(Accept => 'application/json'));
    my $old = Sale::master();

    $in->get('/checkout');
    my $first = $waiting->get('/checkout')->json->{first_attempt_ms};

    nginx_signal('USR2');
    wait_until('a new master', sub { (eval { Sale::master() } // $old) != $old && worker_pids() });
    kill 'QUIT', $old;
    wait_until('the end of the old one', sub { !runs($old) });

    # memory is not handed over: one more may come in, but no place is lost
    is($in->get('/checkout')->status, 200, 'a pass is a pass');
    is($waiting->get('/checkout')->json->{first_attempt_ms}, $first, 'a place is a place')
        unless $waiting->poll('/checkout')->status == 200;

    shopper->get('/checkout') for 1 .. 10;
    cmp_ok(scalar(grep { /GET/ } hits), '<=', 4, 'admitted at most twice in a period');
