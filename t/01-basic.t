# What a shopper sees: admission, or the queue page.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use Sale;

no_root_location();
run_tests();

__DATA__

=== TEST 1: the first shopper is admitted, with a pass
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    my $response = shopper->get('/checkout');

    is($response->status, 200, 'admitted');
    is($response->body, "checkout GET\n", 'by the upstream');
    like($response->header('Set-Cookie'),
         qr{^flash_throttle_sale=[\w-]{64}; Path=/; HttpOnly; SameSite=Lax; Max-Age=600$},
         'a pass of ten minutes');



=== TEST 2: a pass skips the throttle
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    my $shopper = shopper;

    is($shopper->get('/checkout')->status, 200, 'admitted') for 1 .. 3;
    is($shopper->get('/checkout')->header('Set-Cookie'), undef, 'the pass is not renewed');
    is(scalar(hits), 4, 'all at the upstream');



=== TEST 3: the next one waits
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    shopper->get('/checkout');

    my $response = shopper->get('/checkout');

    is($response->status, 503, 'waits');
    is($response->header('Content-Type'), 'text/html; charset=utf-8', 'a page');
    is($response->header('Content-Length'), length $response->body, 'Content-Length');
    like($response->body, qr/You are in line/, 'the queue page');
    like($response->header('Retry-After'), qr/^[1-9]\d*$/, 'whole seconds');
    is($response->header('Refresh'), $response->header('Retry-After'), 'without scripts too');
    is($response->header('Cache-Control'), 'no-store', 'not stored');
    is($response->header('Vary'), undef, 'no Vary in an error');
    like($response->header('Set-Cookie'),
         qr{^flash_throttle_sale=[\w-]{64}; Path=/; HttpOnly; SameSite=Lax; Max-Age=86400$},
         'a ticket of a day');
    is(scalar(hits), 1, 'one request at the upstream');



=== TEST 4: JSON for a client that asks for it
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    shopper->get('/checkout');

    my $response = shopper(Accept => 'application/json')->get('/checkout');
    my $json = $response->json;

    is($response->status, 503, 'waits');
    is($response->header('Content-Type'), 'application/json', 'JSON');
    is($response->header('Refresh'), undef, 'no Refresh in JSON');
    like($response->header('Retry-After'), qr/^[1-9]\d*$/, 'Retry-After');
    is($json->{status}, 'queued', 'status');
    like($json->{position}, qr/^\d+$/, 'position');
    like($json->{wait_ms}, qr/^\d+$/, 'wait_ms');
    cmp_ok($json->{retry_ms}, '>=', 200, 'retry');
    cmp_ok(abs($json->{first_attempt_ms} / 1000 - time), '<', 5, 'first attempt');
    is($response->header('Set-Cookie') =~ /=([^;]+)/ ? $1 : '', $json->{ticket},
       'the ticket is in both');



=== TEST 5: HEAD has the same head, and no body
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    shopper->get('/checkout');

    my $get = shopper->get('/checkout');
    my $head = shopper->head('/checkout');

    is($head->status, 503, 'waits');
    is($head->body, '', 'no body');
    is_deeply([sort keys %{ $head->{headers} }], [sort keys %{ $get->{headers} }], 'same head');
    is($head->header($_), $get->header($_), $_)
        for qw( Content-Length Content-Type Cache-Control );



=== TEST 6: a shopper who returns keeps the place
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

    my $shopper = shopper(Accept => 'application/json');
    my $first = $shopper->get('/checkout')->json->{first_attempt_ms};

    is($shopper->get('/checkout')->json->{first_attempt_ms}, $first, 'reload') for 1 .. 3;

    my $tab = shopper(Accept => 'application/json', Cookie => "flash_throttle_sale=" . $shopper->ticket);

    is($tab->get('/checkout')->json->{first_attempt_ms}, $first, 'another tab') for 1 .. 10;

    my $status = wait_until('the next tick', sub {
        my $status = status_of('sale', 'localhost');

        return $status->{waiting} ? $status : undef;
    });

    is($status->{waiting}, 1, 'one shopper waits');



=== TEST 7: no first attempt overtakes the line
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=5r/s burst=1;
--- config
    location / {
        flash_throttle zone=sale hold=0;
        proxy_pass http://upstream;
    }
--- shop
    shopper->get('/checkout');

    my $waiting = shopper(Accept => 'application/json');
    my $json = $waiting->get('/checkout')->json;

    is($json->{status}, 'queued', 'one waits');

    # capacity is free before it returns
    sleep 0.25;

    is(shopper->get('/checkout')->status, 503, 'a newcomer waits too');
    is(wait_for_admission($waiting, '/checkout')->status, 200, 'the first one is admitted');



=== TEST 8: a ticket in a header, for clients without cookies
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=5r/s burst=1;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    shopper->get('/checkout');

    my $json = shopper(Accept => 'application/json')->get('/checkout')->json;

    my $next = wait_until('admission', sub {
        my $response = shopper->poll('/checkout', 'Flash-Throttle-Ticket' => $json->{ticket});

        return $response if $response->status == 200;

        $json = $response->json;
        sleep $json->{retry_ms} / 1000;
        return;
    })->json;

    is($next->{first_attempt_ms}, $json->{first_attempt_ms}, 'the same shopper');
    is(shopper->get('/checkout', 'Flash-Throttle-Ticket' => $next->{ticket})->status, 200,
       'the pass is valid in a header');



=== TEST 9: the upstream's cookies are kept
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    my @cookies = shopper->get('/set-cookie')->headers('Set-Cookie');

    is(scalar(@cookies), 2, 'two cookies');
    is(scalar(grep { /^a=1$/ } @cookies), 1, 'the upstream\'s');
    is(scalar(grep { /^flash_throttle_sale=/ } @cookies), 1, 'and ours');



=== TEST 10: an empty key is not throttled
--- http_config
    flash_throttle_zone $arg_shop zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    is(shopper->get('/checkout')->status, 200, 'no shop') for 1 .. 3;
    is(shopper->get('/checkout?shop=a')->status, 200, 'the first of shop a');
    is(shopper->get('/checkout?shop=a')->status, 503, 'the second of shop a');
    is(shopper->get('/checkout?shop=b')->status, 200, 'the first of shop b');



=== TEST 11: clients that return no cookie are not counted
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=5r/s burst=1;
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
    shopper->get('/checkout') for 1 .. 100;

    my $shopper = shopper(Accept => 'application/json');

    is($shopper->get('/checkout')->json->{position}, 0, 'position 0');

    my $begin = time;

    wait_for_admission($shopper, '/checkout');

    # 100 places would take 20 seconds
    cmp_ok(time - $begin, '<', 5, 'admitted soon');
    is(status_of('sale', 'localhost')->{admitted}, 2, 'as the second request');



=== TEST 12: a server without a name has an empty key, which is logged
--- startup_warning
the server in
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
    flash_throttle_zone $scheme zone=other:1m rate=1r/m;

    server {
        listen unix:$TEST_NGINX_HTML_DIR/nameless.sock;

        location /checkout {
            flash_throttle zone=sale;
            empty_gif;
        }
        location /again {
            flash_throttle zone=sale;
            empty_gif;
        }
        location /other {
            flash_throttle zone=other;
            empty_gif;
        }
    }
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    my @warnings = error_log =~ /\[warn\] .*(the server in .* has no "server_name".*)/g;

    is(scalar(@warnings), 1, 'logged once for a server');
    like($warnings[0], qr{^the server in \S+nginx.conf:\d+ has no "server_name", so the key "\$server_name" of zone "sale" is empty},
         'with the server');



=== TEST 13: keys: a variable, one with text, two, a capture
--- http_config
    flash_throttle_zone $arg_shop zone=plain:1m rate=1r/m;
    flash_throttle_zone ${arg_shop} zone=braces:1m rate=1r/m;
    flash_throttle_zone $arg_shop.$arg_sale zone=two:1m rate=1r/m;
    flash_throttle_zone ${arg_shop}s zone=text:1m rate=1r/m;
    flash_throttle_zone $1 zone=capture:1m rate=1r/m;
    flash_throttle_zone everybody zone=word:1m rate=1r/m;
--- config
    location /plain {
        flash_throttle zone=plain;
        proxy_pass http://upstream;
    }
    location /braces {
        flash_throttle zone=braces;
        proxy_pass http://upstream;
    }
    location /two {
        flash_throttle zone=two;
        proxy_pass http://upstream;
    }
    location /text {
        flash_throttle zone=text;
        proxy_pass http://upstream;
    }
    location ~ ^/capture/(.*) {
        flash_throttle zone=capture;
        proxy_pass http://upstream;
    }
    location /word {
        flash_throttle zone=word;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my %key = (plain => 'blue', braces => 'blue', two => 'blue.june', text => 'blues',
               capture => 'blue', word => 'everybody');

    for my $zone (sort keys %key) {
        my $uri = "/$zone" . ($zone eq 'capture' ? '/blue' : '') . '?shop=blue&sale=june';

        is(shopper->get($uri)->status, 200, "$zone: the first is let in");
        is(shopper->get($uri)->status, 503, '... the second waits');
        is(status_of($zone, $key{$zone})->{admitted}, 1, "... under \"$key{$zone}\"");
    }

    is(shopper->get('/plain?sale=june')->status, 200, 'an unknown argument is an empty key');
    is(shopper->get('/plain?sale=june')->status, 200, '... which is not throttled');
