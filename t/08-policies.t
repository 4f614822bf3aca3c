# Policies, bypass, dry run, and a full zone.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use Sale;

no_root_location();
run_tests();

__DATA__

=== TEST 1: lottery: any request that finds free capacity
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=5r/s burst=1;
--- config
    location / {
        flash_throttle zone=sale policy=lottery;
        proxy_pass http://upstream;
    }
--- shop
    shopper->get('/checkout');

    my $waiting = shopper(Accept => 'application/json');
    my $json = $waiting->get('/checkout')->json;

    is($json->{status}, 'queued', 'one waits');
    cmp_ok($json->{retry_ms}, '>=', 500, 'not less than half a second');
    cmp_ok($json->{retry_ms}, '<=', 1500, 'nor more than one and a half');

    my $late = wait_until('room', sub { my $r = shopper->get('/checkout'); $r->status == 200 ? $r : undef });

    is($late->body, "checkout GET\n", 'a newcomer is let in before it');



=== TEST 2: reject: admission or refusal
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
    log_format refused '$flash_throttle_status $status';
--- config
    access_log logs/refused.log refused;
    location / {
        flash_throttle zone=sale policy=reject;
        flash_throttle_queue_status 429;
        proxy_pass http://upstream;
    }
--- shop
    is(shopper->get('/checkout')->status, 200, 'free capacity');

    my $page = shopper->get('/checkout');

    is($page->status, 429, 'refusal');
    is($page->header('Set-Cookie'), undef, 'without a place');
    like($page->body, qr/Please come back later/, 'a page that says so');
    like($page->body, qr/try again in \d+-\d+ min\./, 'and when');
    cmp_ok($page->header('Retry-After'), '>', 1, 'the head says it too');
    is($page->header('Cache-Control'), 'no-store', 'not stored');

    my $json = shopper(Accept => 'application/json')->get('/checkout')->json;

    is($json->{status}, 'rejected', 'in JSON');
    is($json->{ticket}, undef, 'no ticket');
    cmp_ok($json->{retry_ms}, '>', 1000, 'when to come back');
    like(log_line('refused.log', 'REJ'), qr/^REJECTED 429$/, 'logged');



=== TEST 3: max_wait refuses first attempts
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s burst=1;
--- config
    location / {
        flash_throttle zone=sale max_wait=3s hold=0;
        flash_throttle_poll min=100ms max=200ms;
        proxy_pass http://upstream;
    }
--- shop
    shopper->get('/checkout');

    # whoever is told to wait comes back, and stands in line
    my @line;

    my $refused = wait_until('a refusal', sub {
        my $shopper = shopper(Accept => 'application/json');
        my $response = $shopper->get('/checkout');

        return $response if $response->json->{status} eq 'rejected';

        push @line, $shopper;
        $_->poll('/checkout') for @line;
        return;
    });

    cmp_ok(scalar(@line), '>=', 3, 'not before some wait');
    cmp_ok($refused->json->{wait_ms}, '>', 3000, 'who would wait longer');
    is($refused->header('Set-Cookie'), undef, 'gets no place');
    is($refused->header('Retry-After'), int(($refused->json->{wait_ms} + 999) / 1000), 'but a time to come back');



=== TEST 4: bypass
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
    log_format bypass '$arg_a-$arg_b $flash_throttle_status';
--- config
    access_log logs/bypass.log bypass;
    location / {
        flash_throttle zone=sale;
        flash_throttle_bypass $arg_a $arg_b;
        proxy_pass http://upstream;
    }
--- shop
    is(shopper->get('/checkout?a=1')->status, 200, 'the first') for 1 .. 3;
    is(shopper->get('/checkout?b=1')->status, 200, 'the second') for 1 .. 3;
    is(shopper->get('/checkout?a=0&b=')->status, 200, 'neither');
    is(shopper->get('/checkout?a=0&b=')->status, 503, 'counts');
    like(log_line('bypass.log', '^1-'), qr/ BYPASSED$/, 'logged');



=== TEST 5: dry run
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
    flash_throttle_zone $server_name zone=other:1m rate=1r/m;
    log_format dry '$flash_throttle_status $status';
--- config
    access_log logs/dry.log dry;
    flash_throttle_log_level notice;
    location / {
        flash_throttle zone=sale;
        flash_throttle_dry_run on;
        proxy_pass http://upstream;
    }
    location /reject {
        flash_throttle zone=other policy=reject;
        flash_throttle_dry_run on;
        proxy_pass http://upstream;
    }
--- shop
    my ($in, $waiting) = (shopper, shopper);

    is($in->get('/checkout')->status, 200, 'admitted');
    like($in->ticket, qr/^.{64}$/, 'with a pass');
    is($in->get('/checkout')->status, 200, 'passed');

    my $response = $waiting->get('/checkout');

    is($response->status, 200, 'queued, and let through');
    is($response->body, "checkout GET\n", 'to the upstream');
    like($response->header('Set-Cookie'), qr/; Max-Age=86400$/, 'with a ticket');
    is($waiting->poll('/checkout')->json->{status}, 'admitted', 'a poll is told so');
    is(shopper->get('/reject')->status, 200, 'admitted in the other zone');
    is(shopper->get('/reject')->status, 200, 'rejected, and let through');
    is(scalar(hits), 5, 'all but the poll at the upstream');

    log_line('dry.log', $_) for '^ADMITTED_DRY_RUN 200', '^PASSED_DRY_RUN 200', '^QUEUED_DRY_RUN 200', '^REJECTED_DRY_RUN 200';
    like(error_log, qr/queueing request, dry run, position: \d+, wait: \d+\.\d{3} by zone "sale"/, 'logged');
    like(error_log, qr/rejecting request, dry run, /, 'logged');



=== TEST 6: off, and inheritance
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m burst=2;
    flash_throttle_zone $server_name zone=other:1m rate=1r/m;
    flash_throttle zone=sale policy=reject;
    flash_throttle_queue_status 429;
--- config
    location /off {
        flash_throttle off;
        proxy_pass http://upstream;
        location /off/on {
            flash_throttle zone=other;
            proxy_pass http://upstream;
        }
    }
    location / {
        flash_throttle_queue_status 420;
        proxy_pass http://upstream;
        if ($arg_if) {
            proxy_pass http://upstream;
        }
        limit_except GET {
            proxy_pass http://upstream;
        }
    }
--- shop
    # /ready of the set-up was the first
    is(shopper->get('/checkout')->status, 200, 'the second');
    is(shopper->get('/checkout')->status, 420, 'inherited from http, the code of the location');
    is(shopper->get('/checkout?if=1')->status, 420, 'within if');
    is(shopper->request('POST', '/checkout', Body => 'x')->status, 420, 'within limit_except');
    is(shopper->get('/off')->status, 200, 'off');
    is(shopper->get('/off/on')->status, 200, 'on again, in another zone');
    is(shopper->get('/off/on')->status, 429, 'where the next one waits');
    like(shopper->get('/off/on')->body, qr/You are in line/, 'with its own policy');



=== TEST 7: the range of the advised retry time
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale hold=0;
        flash_throttle_poll min=4s max=6s;
        proxy_pass http://upstream;
    }
--- shop
    shopper->get('/checkout');

    my %retries;

    for (1 .. 20) {
        my $response = shopper(Accept => 'application/json')->get('/checkout');
        my $retry = $response->json->{retry_ms};

        # a tenth more or less, so that not all come at once
        ok($retry >= 3600 && $retry <= 6600, "retry in $retry ms");
        is($response->header('Retry-After'), int(($retry + 999) / 1000), 'rounded up');
        $retries{$retry} = 1;
    }

    cmp_ok(scalar(keys %retries), '>', 10, 'spread');



=== TEST 8: log levels
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    error_log logs/quiet.log notice;
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location /loud {
        error_log logs/loud.log warn;
        flash_throttle zone=sale;
        flash_throttle_log_level warn;
        proxy_pass http://upstream;
    }
--- shop
    shopper->get('/checkout');
    shopper->get('/checkout');
    shopper->get('/loud');

    like(log_line('loud.log', 'queueing'), qr/\[warn\] .* queueing request, position: /, 'the configured level');
    is(scalar(grep { /queueing/ } Sale::lines_of('quiet.log')), 0, 'nothing at a lower level');



=== TEST 9: a full zone rejects new keys
--- http_config
    flash_throttle_zone $arg_shop zone=sale:240k inflight=1;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://till;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my $till = open_till;
    my $keys = shopper->get('/throttle')->json->{zones}{sale}{keys_max};

    cmp_ok($keys, '<', 10, "room for $keys");

    # each busy, so none can make way
    my @busy = map {
        my $shop = $_;
        my $socket = shopper->request('GET', "/checkout?shop=$shop", Wait => 0);

        wait_until('a request in flight', sub { (status_of('sale', $shop) // {})->{inflight} });
        $socket;
    } 1 .. $keys;

    my $response = shopper->get('/checkout?shop=one-more');

    is($response->status, 503, 'one more is refused');
    like($response->body, qr/Please come back later/, 'with a time to come back');
    like(error_log, qr/\[error\] .* no space for key "one-more" in flash_throttle_zone "sale"/, 'logged');

    my $began = int time;

    shopper->get("/checkout?shop=more-$_") for 1 .. 30;

    my @lines = grep { /no space for key/ } Sale::lines_of('error.log');

    cmp_ok(scalar @lines, '<=', int(time) - $began + 2, 'not more than once a second');

    serve($till) for @busy;
    Shopper::read_all($_) for @busy;

    my $socket = shopper->request('GET', '/checkout?shop=one-more', Wait => 0);

    serve($till);
    like(Shopper::read_all($socket), qr/^HTTP\S+ 200 /, 'idle ones make way');
    like(error_log, qr/\[notice\] .* key "one-more" evicted an idle key in/, 'logged');



=== TEST 10: proportional
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location /checkout {
        flash_throttle zone=sale policy=proportional hold=0;
        proxy_pass http://upstream;
    }
--- shop
    is(shopper->get('/checkout')->status, 200, 'admitted');

    is(shopper->get('/checkout', Accept => 'application/json')->json->{status}, 'queued', 'queued');
