# Feedback: the response header Flash-Throttle of the upstream.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use Sale;

# An upstream that returns X-Say and X-Also as feedback.
Test::Nginx::Socket::add_block_preprocessor(sub {
    my $block = shift;

    $block->set_value(http_config => ($block->http_config // '') . <<'EOF_UPSTREAM');

    log_format decided '$flash_throttle_status $status $flash_throttle_retry';

    upstream says {
        server  unix:$TEST_NGINX_HTML_DIR/says.sock;
    }

    server {
        listen      unix:$TEST_NGINX_HTML_DIR/says.sock;
        access_log  off;

        location / {
            add_header  Flash-Throttle $http_x_say always;
            add_header  Flash-Throttle $http_x_also always;
            add_header  Set-Cookie "basket=1" always;
            add_header  Cache-Control $http_x_cache;
            return      200 "checkout\n";
        }

        location /sold {
            add_header  Flash-Throttle $http_x_say always;
            return      409 "sold out\n";
        }

        location /accel {
            add_header  Flash-Throttle $http_x_say;
            add_header  X-Accel-Redirect /target;
            return      200;
        }

        location /accel/proxied {
            add_header  Flash-Throttle $http_x_say;
            add_header  X-Accel-Redirect /proxied;
            return      200;
        }
    }
EOF_UPSTREAM
});

# Returns feedback to an admitted shopper.
sub says {
    my ($text, %headers) = @_;

    return shopper->get('/checkout', 'X-Say' => $text, %headers);
}

sub state { status_of('sale', 'localhost') }

no_root_location();
run_tests();

__DATA__

=== TEST 1: sold-out and resume
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1000r/s;
--- config
    access_log logs/decided.log decided;
    location / {
        flash_throttle zone=sale;
        flash_throttle_feedback on;
        proxy_pass http://says;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my $in = shopper;
    my $response = $in->get('/checkout', 'X-Say' => 'sold-out');

    is($response->status, 200, 'the last buyer');
    is($response->header('Flash-Throttle'), undef, 'the client does not get the header');
    is(scalar(grep { /^flash_throttle_sale=/ } $response->headers('Set-Cookie')), 1, 'has a pass');
    ok(state->{sold_out}, 'sold out');

    my $new = shopper(Accept => 'application/json');
    is($new->get('/checkout')->status, 409, 'a first attempt');
    is($new->poll('/checkout')->json->{status}, 'sold_out', 'a poll gets sold_out');
    like(log_line('error.log', qr/upstream set/),
        qr/\[notice\].*upstream set "sold-out" for key "localhost" in zone "sale"/, 'logged');
    like(log_line('decided.log', qr/SOLD_OUT/), qr/^SOLD_OUT 409 \d+\.\d{3}$/, 'the variables');

    is($in->get('/checkout', 'X-Say' => 'sold-out')->status, 200, 'a pass goes to the upstream');
    is(scalar(() = error_log() =~ /upstream set/g), 1, 'a repetition is not logged');

    reload();
    is(shopper->get('/checkout')->status, 409, 'after a reload');

    is($in->get('/checkout', 'X-Say' => 'resume')->status, 200, 'open');
    ok(!state->{sold_out}, 'resumed');
    is(wait_for_admission($new, '/checkout')->status, 200, 'the waiting shopper is admitted');



=== TEST 2: queued and held requests after sold-out
--- http_config
    flash_throttle_zone $server_name zone=sale:1m inflight=1;
--- config
    location / {
        flash_throttle zone=sale hold=1m;
        flash_throttle_poll min=100ms max=500ms;
        flash_throttle_feedback on;
        proxy_pass http://till;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my ($till, $in, $first) = busy_till('/checkout');
    my $held = shopper;
    my $socket = hold_at_edge($held, '/checkout');
    my @waiting = map { shopper } 1 .. 3;

    $_->get('/checkout') for @waiting;

    my $client = $till->accept;
    my $head = '';
    1 while $head !~ /\r\n\r\n/ && sysread $client, $head, 4096, length $head;
    print $client "HTTP/1.0 200 OK\r\nflash-throttle: sold-out\r\nContent-Length: 5\r\n\r\nsold\n";
    close $client;

    is($in->answer($first)->status, 200, 'the last one');
    is($held->answer($socket)->status, 409, 'the held request does not go to the upstream');
    is($_->poll('/checkout')->status, 409, 'a poll does not count') for @waiting;

    wait_until('an empty line', sub { !state->{waiting} });
    is(state->{admitted}, 1, 'one was admitted');



=== TEST 3: valid and invalid values
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1000r/s;
--- config
    location / {
        flash_throttle zone=sale;
        flash_throttle_feedback on;
        proxy_pass http://says;
    }
    location /throttle {
        flash_throttle_status;
    }
    location /control {
        flash_throttle_control;
    }
--- shop
    my $in = shopper;
    $in->get('/checkout');

    my $say = sub {
        my ($text, $also) = @_;

        my $response = $in->get('/checkout', 'X-Say' => $text, 'X-Also' => $also);
        is($response->header('Flash-Throttle'), undef, "\"$text\" is not passed on");

        return state;
    };

    is($say->('rate=30')->{rate_now_milli}, 30000, 'a rate');
    is($say->('rate=2.5;unit=s')->{rate_now_milli}, 2500, 'a fraction');
    is(state->{rate_upstream_milli}, 2500, 'by the upstream');

    my $state = $say->('x=(1 2), rate=40', 'sold-out;why="all gone"');
    is($state->{rate_now_milli}, 40000, 'the first of two header lines');
    ok($state->{sold_out}, 'the second line');
    ok(!$say->('resume, rate=50')->{sold_out}, 'resumed');

    # nothing of these

    for my $text ('sold-out=1', 'sold-out="yes"', 'rate="7"', 'rate=0', 'rate=-7', 'rate=7, rate=fast', 'sold-out, resume', 'sold-out, !',
        'sold-out,', 'SOLD-OUT', 'rate=7 sold-out', 'sold-out=?0', 'nothing=to, say="of"', 'rate=7' . ', a' x 400)
    {
        $state = $say->($text);
        ok(!$state->{sold_out}, 'not sold out');
        cmp_ok($state->{rate_upstream_milli}, '!=', 7000, 'no such rate');
    }

    my @lines = grep { /response header ignored/ } split /\n/, error_log();
    cmp_ok(scalar @lines, '>=', 1, 'logged');
    like($lines[0], qr/\[warn\].*invalid value in "Flash-Throttle" response header ignored: "sold-out"/, 'with the value');

    # one warning a second, so not at the first try

    wait_until('a warning', sub {
        sleep 0.2;
        $say->('rate=7' . ', a' x 400);
        return error_log() =~ /too long "Flash-Throttle" response header ignored: "rate=7, a, a, /;
    });

    # the operator's word outranks it

    my $order = sub {
        shopper->request('POST', '/control', 'Content-Type' => 'application/json', Body => "{\"command\":$_[0]}")->json->{state};
    };

    is($order->('"rate","rate":"90r/s"')->{rate_now_milli}, 90000, "the operator's rate");
    is($say->('rate=30')->{rate_now_milli}, 90000, 'stays');
    ok($order->('"sold-out"')->{sold_out}, "the operator's word");
    ok($say->('resume')->{sold_out}, 'stays');
    ok(!$order->('"reset"')->{sold_out}, 'until reset');
    is(state->{rate_now_milli}, 1000000, 'both rates are reset');



=== TEST 4: done ends the pass
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1000r/s;
--- config
    location / {
        flash_throttle zone=sale;
        flash_throttle_feedback on;
        flash_throttle_cookie place Path=/checkout SameSite=Strict;
        proxy_pass http://says;
    }
--- shop
    my $in = shopper;
    my @cookies = $in->get('/checkout', 'X-Say' => 'done')->headers('Set-Cookie');

    is_deeply([sort @cookies], ['basket=1', 'place=; Path=/checkout; HttpOnly; SameSite=Strict; Max-Age=0'],
        'the pass of this response is not set');

    $in = shopper;
    $in->get('/checkout');
    like($in->ticket('place'), qr/^.{64}$/, 'a pass');
    @cookies = $in->get('/checkout', 'X-Say' => 'done')->headers('Set-Cookie');
    is_deeply([sort @cookies], ['basket=1', 'place=; Path=/checkout; HttpOnly; SameSite=Strict; Max-Age=0'], 'the cookie is deleted');



=== TEST 5: done frees the session
--- http_config
    flash_throttle_zone $server_name zone=sale:1m sessions=1;
--- config
    location / {
        flash_throttle zone=sale;
        flash_throttle_poll min=100ms max=500ms;
        flash_throttle_feedback on;
        proxy_pass http://says;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my ($in, $next) = (shopper, shopper);

    is($in->get('/checkout')->status, 200, 'one is admitted');
    my $pass = $in->ticket;

    is($next->get('/checkout')->status, 503, 'the next one waits');
    is($in->get('/checkout')->status, 200, 'continues');
    is($in->get('/checkout', 'X-Say' => 'done')->status, 200, 'and is done');
    is(wait_for_admission($next, '/checkout')->status, 200, 'the next one');

    is($in->get('/checkout', Cookie => "flash_throttle_sale=$pass", 'Flash-Throttle-Poll' => 1)->json->{status}, 'queued',
        'a kept pass is a first attempt');
    is(state->{spent}, 1, 'one pass is spent');
    is($next->get('/checkout')->status, 200, 'the other is not');



=== TEST 6: whose feedback counts
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1000r/s;
    proxy_cache_path $TEST_NGINX_HTML_DIR/cache keys_zone=cache:1m;
--- config
    location / {
        flash_throttle zone=sale;
        flash_throttle_feedback on;
        proxy_pass http://says;
    }
    location /off {
        flash_throttle zone=sale;
        proxy_pass http://says;
    }
    location /bypassed {
        flash_throttle zone=sale;
        flash_throttle_bypass 1;
        flash_throttle_feedback on;
        proxy_pass http://says;
    }
    location /hidden {
        flash_throttle zone=sale;
        flash_throttle_feedback on;
        proxy_hide_header Flash-Throttle;
        proxy_pass http://says;
    }
    location /own {
        flash_throttle zone=sale;
        flash_throttle_feedback on;
        add_header Flash-Throttle sold-out;
        proxy_pass http://upstream;
    }
    location /sold {
        flash_throttle zone=sale;
        flash_throttle_feedback on;
        proxy_intercept_errors on;
        error_page 409 = /ready;
        proxy_pass http://says;
    }
    location /accel {
        flash_throttle zone=sale;
        flash_throttle_feedback on;
        proxy_pass http://says;
    }
    location /target {
        internal;
        empty_gif;
    }
    location /sold/proxied {
        flash_throttle zone=sale;
        flash_throttle_feedback on;
        proxy_intercept_errors on;
        error_page 409 =200 @proxied;
        proxy_pass http://says;
    }
    location @proxied {
        proxy_pass http://upstream;
    }
    location /proxied {
        internal;
        proxy_pass http://upstream;
    }
    location /mirrored {
        flash_throttle zone=sale;
        flash_throttle_feedback on;
        mirror /mirror;
        proxy_pass http://upstream;
    }
    location /mirror {
        internal;
        flash_throttle zone=sale;
        flash_throttle_feedback on;
        proxy_pass http://says;
    }
    location /cached {
        flash_throttle zone=sale;
        flash_throttle_feedback on;
        proxy_cache cache;
        proxy_cache_key $uri;
        proxy_ignore_headers Set-Cookie;
        proxy_cache_valid 1h;
        proxy_pass http://says;
    }
    location /throttle {
        flash_throttle_status;
    }
    location /control {
        flash_throttle_control;
    }
--- shop
    my $in = shopper;
    $in->get('/checkout');

    my $reset = sub {
        shopper->request('POST', '/control', 'Content-Type' => 'application/json', Body => '{"command":"reset"}');
    };

    my $response = $in->get('/off', 'X-Say' => 'sold-out');
    ok(!state->{sold_out}, 'not where it is off');
    is($response->header('Flash-Throttle'), 'sold-out', 'sent to the client');

    for my $uri (qw( /checkout /bypassed /hidden /sold /accel /sold/proxied /accel/proxied )) {
        $response = $in->get($uri, 'X-Say' => 'sold-out');
        is($response->status, 200, $uri);
        is($response->header('Flash-Throttle'), undef, 'not sent to the client');
        ok(state->{sold_out}, 'feedback counts');
        $reset->();
    }

    $response = shopper->get('/accel/proxied', 'X-Say' => 'done');
    is(join("\n", $response->headers('Set-Cookie')), 'flash_throttle_sale=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0',
        'once, though another upstream responds');

    is($in->head('/checkout', 'X-Say' => 'sold-out')->status, 200, 'HEAD');
    ok(state->{sold_out}, 'feedback counts');
    $reset->();

    $in->get('/own');
    ok(!state->{sold_out}, 'what this server adds is not the upstream');

    is($in->get('/mirrored', 'X-Say' => 'sold-out')->status, 200, 'a mirror');
    ok(!state->{sold_out}, 'does not count');

    $in->get('/cached', 'X-Say' => 'sold-out');
    ok(state->{sold_out}, 'counts when it is cached');
    $reset->();
    $response = $in->get('/cached', 'X-Say' => 'resume');
    ok(!state->{sold_out}, 'does not count from the cache');
    is($response->header('Flash-Throttle'), undef, 'not sent to the client');

    is($in->get('/checkout', 'Flash-Throttle' => 'sold-out')->status, 200, 'a client');
    ok(!state->{sold_out}, 'no feedback');



=== TEST 7: dry run
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1000r/s;
--- config
    location / {
        flash_throttle zone=sale;
        flash_throttle_feedback on;
        flash_throttle_dry_run on;
        proxy_pass http://says;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    says('sold-out');
    ok(state->{sold_out}, 'as without dry run');
    is(shopper->get('/checkout')->status, 200, 'but sent to the upstream');
