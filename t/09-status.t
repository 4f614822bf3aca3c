# The status, and the variables.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use Sale;

no_root_location();
run_tests();

__DATA__

=== TEST 1: the status of every zone and key
--- http_config
    flash_throttle_zone $arg_shop zone=sale:1m rate=30r/m period=10s burst=3 inflight=7;
    flash_throttle_zone $server_name zone=other:1m rate=1r/s;
    flash_throttle_zone $server_name zone=unused:1m inflight=5 rate=60000000r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location /other {
        flash_throttle zone=other;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    shopper->get('/checkout?shop=a') for 1 .. 4;

    my $in = shopper;
    $in->get('/checkout?shop=b') for 1 .. 3;

    my $response = shopper->get('/throttle');
    my $json = $response->json;

    is($response->status, 200, 'status');
    is($response->header('Content-Type'), 'application/json', 'JSON');
    is($response->header('Cache-Control'), 'no-store', 'not stored');
    is($response->header('Content-Length'), length $response->body, 'of that length');
    like($json->{version}, qr/^\d+\.\d+\.\d+$/, 'version');
    cmp_ok(abs($json->{time_ms} / 1000 - time), '<', 5, 'time');

    my $zone = $json->{zones}{sale};

    is($zone->{rate_milli}, 500, 'rate');
    is($zone->{period_ms}, 10000, 'period');
    is($zone->{burst}, 3, 'burst');
    is($zone->{inflight_max}, 7, 'in flight at most');
    cmp_ok($zone->{keys_max}, '>=', 4, 'a megabyte holds some keys');

    is(join(' ', sort keys %{ $zone->{keys} }), 'a b', 'the keys');
    is_deeply($json->{zones}{other}{keys}, {}, 'none in the other zone');
    is_deeply($json->{zones}{unused}{keys}, {}, 'nor in that which nobody uses');
    is($json->{zones}{unused}{rate_milli}, 1000000000, 'the highest rate, by the minute');

    my ($one, $two) = @{ $zone->{keys} }{qw( a b )};

    is($one->{first_attempts}, 4, 'first attempts');
    is($one->{admitted}, 3, 'admitted');
    is($one->{queued}, 1, 'queued');
    ok($one->{queueing}, 'a line');
    cmp_ok($one->{threshold_ms}, '<=', $json->{time_ms}, 'threshold');
    is($two->{passed}, 2, 'passed');
    ok(!$two->{queueing}, 'no line');

    for my $name (qw( waiting called held fresh inflight threshold_age_ms wait_ms admitted_last_period free_capacity_milli flow_milli
                      show_up_milli polls held_total turned_back rejected done left no_shows expired waited_ms )) {
        like($one->{$name}, qr/^\d+$/, $name);
    }



=== TEST 2: any bytes may be a key
--- http_config
    flash_throttle_zone $arg_shop zone=sale:2m rate=1r/m;
--- config
    location / {
        set $key $arg_shop;
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my $long = 'x' x 5000;
    my $like = 'x' x 5000 . 'y';

    for my $key ('"', '\\', "\x01", "\x7f", "caf\xc3\xa9", "\xff\xfe", "\\u0022", $long) {
        my $answer = Shopper::raw(port, "GET /checkout?shop=$key HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");

        # nginx itself refuses control characters
        next if $key eq "\x01" || $key eq "\x7f";

        like($answer, qr{^HTTP/1.1 200 }, 'let in');
    }

    is(shopper->get("/checkout?shop=$like")->status, 200, 'a long key is not cut off');
    is(shopper->get("/checkout?shop=$long")->status, 503, 'but the same again');

    my @keys = sort keys %{ shopper->get('/throttle')->json->{zones}{sale}{keys} };

    is(scalar(grep { $_ eq '"' } @keys), 1, 'a quote');
    is(scalar(grep { $_ eq '\\' } @keys), 1, 'a backslash');
    is(scalar(grep { $_ eq "caf\xc3\xa9" } @keys), 1, 'bytes');
    is(scalar(grep { /^x{128}[0-9a-f]{64}$/ } @keys), 2, 'long ones, digested');



=== TEST 3: GET and HEAD only
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
    is(shopper->request('POST', '/throttle', Body => 'x')->status, 405, 'POST');

    my $head = shopper->head('/throttle');

    is($head->status, 200, 'HEAD');
    is($head->body, '', 'no body');
    cmp_ok($head->header('Content-Length'), '>', 50, 'its length');
    is(shopper->get('/throttle', 'If-None-Match' => '*')->status, 200, 'no conditions');



=== TEST 4: variables
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=2r/s burst=1;
    log_format all '$request_method status=$flash_throttle_status id=$flash_throttle_id first=$flash_throttle_first_attempt waited=$flash_throttle_waited position=$flash_throttle_position wait=$flash_throttle_wait retry=$flash_throttle_retry';
--- config
    access_log logs/all.log all;
    location / {
        flash_throttle zone=sale hold=0;
        flash_throttle_bypass $arg_bypass;
        proxy_pass http://upstream;
    }
    location /off {
        proxy_pass http://upstream;
    }
--- shop
    my $time = qr/\d{10}\.\d{3}/;
    my $short = qr/\d+\.\d{3}/;

    shopper->get('/checkout');
    like(log_line('all.log', '=ADMITTED'),
         qr/ id=[0-9a-f]{16} first=$time waited=0\.\d{3} position=- wait=- retry=-$/, 'admitted');

    my $shopper = shopper;
    $shopper->get('/checkout');
    my $queued = log_line('all.log', '=QUEUED');
    like($queued, qr/ id=[0-9a-f]{16} first=$time waited=- position=\d+ wait=$short retry=$short$/, 'queued');

    my ($id, $first) = $queued =~ /id=(\S+) first=(\S+)/;

    wait_for_admission($shopper, '/checkout');
    like(log_line('all.log', "=ADMITTED id=$id"), qr/ first=$first waited=$short /, 'the same until admission');
    my ($waited) = log_line('all.log', "=ADMITTED id=$id") =~ / waited=(\S+)/;
    cmp_ok($waited, '>', 0.1, 'which it waited for');

    $shopper->get('/checkout');
    like(log_line('all.log', "=PASSED id=$id"), qr/ first=$first waited=$waited /, 'and to the end of its pass');

    shopper->get('/checkout?bypass=1');
    like(log_line('all.log', '=BYPASSED'),
         qr/ id=- first=- waited=- position=- wait=- retry=-$/, 'bypassed');

    shopper->request('PUT', '/off', Body => '');
    like(log_line('all.log', '^PUT'), qr/ status=- id=- first=- waited=- position=- wait=- retry=-$/, 'off');



=== TEST 5: variables behind a redirect, and of a request that was cut off
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m burst=5;
    log_format all '$uri status=$flash_throttle_status';
--- config
    access_log logs/all.log all;
    error_page 404 = /fallback;
    location / {
        flash_throttle zone=sale;
        proxy_intercept_errors on;
        proxy_pass http://upstream/gone;
    }
    location /fallback {
        proxy_pass http://upstream;
        proxy_set_header X-Status $flash_throttle_status;
    }
    location /till {
        flash_throttle zone=sale;
        proxy_pass http://till;
    }
--- shop
    shopper->get('/missing');
    like(log_line('all.log', '^/fallback'), qr/ status=ADMITTED$/, 'behind a redirect');

    my $till = open_till;
    my $socket = shopper->request('GET', '/till', Wait => 0);
    my $client = $till->accept;

    close $socket;
    like(log_line('all.log', '^/till'), qr/ status=ADMITTED$/, 'cut off');



=== TEST 6: who looks at the figures stands in no line, and takes no place
--- http_config
    flash_throttle_zone $arg_shop zone=sale:1m rate=1r/m;
--- config
    flash_throttle zone=sale;

    location / {
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    is(shopper->get('/throttle?shop=a')->status, 200, 'before anybody came') for 1 .. 4;
    is(shopper->get('/checkout?shop=a')->status, 200, 'room is where it was');
    is(shopper->get('/checkout?shop=a')->status, 503, 'a line');
    is(shopper->get('/throttle?shop=a')->status, 200, 'not for figures');
    is(status_of('sale', 'a')->{first_attempts}, 2, 'nor are they attempts');



=== TEST 7: a server's own status leaves its locations throttled
--- http_config
    flash_throttle_zone $arg_shop zone=sale:1m rate=1r/m;
--- config
    flash_throttle zone=sale;
    flash_throttle_status;

    location /checkout {
        proxy_pass http://upstream;
    }
--- shop
    is(shopper->get('/checkout?shop=a')->status, 200, 'let in');
    is(shopper->get('/checkout?shop=a')->status, 503, 'a line');
    is(shopper->get('/any?shop=a')->json->{zones}{sale}{keys}{a}{admitted}, 1, 'the figures, everywhere else');



=== TEST 8: a status and a control with an "if", and with a limit_except
--- http_config
    flash_throttle_zone $arg_shop zone=sale:1m rate=1r/m;
--- config
    flash_throttle zone=sale;

    location / {
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
        if ($arg_any) {
            set $any 1;
        }
    }
    location /control {
        flash_throttle_control;
        limit_except POST {
            deny all;
        }
    }
    location /elsewhere {
        flash_throttle_status;
        if ($arg_any) {
            proxy_pass http://upstream;
        }
    }
--- shop
    shopper->get('/checkout?shop=a');

    is(shopper->get('/throttle?shop=a&any=1')->json->{zones}{sale}{keys}{a}{admitted}, 1, 'the figures');
    is(shopper->get('/control?shop=a')->status, 403, 'kept out, not in line');
    is(shopper->get('/elsewhere?shop=a&any=1')->status, 503, 'what is no status waits');



=== TEST 9: another content handler, specified later, is throttled
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m burst=2;
--- config
    flash_throttle zone=sale;
    location /first {
        flash_throttle_status;
        proxy_pass http://upstream;
    }
    location /last {
        proxy_pass http://upstream;
        flash_throttle_status;
    }
--- shop
    is(shopper->get('/first')->body, "checkout GET\n", 'the upstream');
    is(shopper->get('/first')->status, 503, 'throttled');
    ok(shopper->get('/last')->json->{zones}, 'the stats, not throttled');
