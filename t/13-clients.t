# What clients send and get.  "report": a fault that was reported for another
# waiting room.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use Sale;

no_root_location();
run_tests();

__DATA__

=== TEST 1: JSON or a page
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    shopper->get('/checkout');

    my $json = 'application/json';
    my $page = 'text/html; charset=utf-8';

    my @clients = (
        # browsers: a link, a reload, a form
        [ 'Chromium', $page => 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,'
                             . '*/*;q=0.8,application/signed-exchange;v=b3;q=0.7' ],
        [ 'Firefox', $page => 'text/html,application/xhtml+xml,application/xml;q=0.9,image/png,image/svg+xml,*/*;q=0.8' ],
        [ 'Safari', $page => 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' ],
        [ 'Internet Explorer 8', $page => 'image/jpeg, application/x-ms-application, image/gif, application/xaml+xml, '
                             . 'image/pjpeg, application/x-ms-xbap, */*' ],
        [ 'Lynx', $page => 'text/html, text/plain, text/sgml, text/css, application/xhtml+xml, */*;q=0.01' ],

        # scripts in browsers
        [ 'fetch(), XMLHttpRequest', $page => '*/*' ],
        [ 'axios, Angular', $json => 'application/json, text/plain, */*' ],
        [ 'jQuery.getJSON()', $json => 'application/json, text/javascript, */*; q=0.01' ],
        [ 'Relay, graphql-request', $json => 'application/graphql-response+json, application/json;q=0.9' ],
        [ 'Ember, JSON:API', $json => 'application/vnd.api+json' ],
        [ 'htmx', $page => 'text/html, */*' ],
        [ 'Turbo', $page => 'text/vnd.turbo-stream.html, text/html, application/xhtml+xml' ],
        [ 'EventSource', $page => 'text/event-stream' ],

        # tools
        [ 'curl, wget, Postman, HTTPie, python-requests, URLSession', $page => '*/*' ],
        [ 'HTTPie with a JSON body', $json => 'application/json, */*;q=0.5' ],
        [ 'okhttp, Go, urllib, Dio', $page => undef ],
        [ 'HttpURLConnection', $page => 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2' ],

        # SDKs that say what they want
        [ 'Retrofit, Alamofire, Dio with a wish', $json => 'application/json' ],
        [ 'Spring RestTemplate', $json => 'application/json, application/*+json' ],
        [ 'HttpClient of .NET', $json => 'application/json; charset=utf-8' ],
        [ 'Feign', $json => 'application/json;q=0.9, */*;q=0.1' ],
        [ 'problem details', $json => 'application/problem+json, application/json' ],

        # images, styles, media of a page that is throttled as a whole
        [ 'an image', $page => 'image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8' ],
        [ 'a style', $page => 'text/css,*/*;q=0.1' ],
    );

    for (@clients) {
        my ($who, $type, $accept) = @$_;

        is(shopper->get('/checkout', Accept => $accept)->header('Content-Type'), $type, $who);
    }



=== TEST 2: a program does not get a page with status 200
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location /ok {
        flash_throttle zone=sale;
        flash_throttle_queue_status 200;
        proxy_pass http://upstream;
    }
--- shop
    shopper->get('/checkout');

    # the report: XHR got an HTML page with 200 and failed silently
    my $script = shopper(Accept => 'application/json', 'X-Requested-With' => 'XMLHttpRequest');
    my $response = $script->get('/checkout');

    is($response->status, 503, 'an error for a program');
    is($response->json->{status}, 'queued', 'that says why');
    like($response->header('Retry-After'), qr/^[1-9]\d*$/, 'and when to come back');
    is(shopper(Accept => '*/*')->get('/checkout')->status, 503, 'an error for who does not say what it wants, too');

    $response = $script->get('/ok');

    is($response->status, 200, 'the status of the operator\'s choice');
    is($response->json->{status}, 'queued', 'with JSON that tells the difference');
    is($response->header('Vary'), 'Accept, Cookie', 'and caches are told what it depends on');



=== TEST 3: report: HEAD took a slot
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
    log_format status '$request_method $status $flash_throttle_status';
--- config
    access_log logs/status.log status;
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location /throttle {
        access_log off;
        flash_throttle_status;
    }
--- shop
    for (1 .. 3) {
        my $response = shopper->head('/checkout');

        is($response->status, 200, 'the head of the shop\'s page');
        is($response->header('Set-Cookie'), undef, 'no pass');
    }

    is(status_of('sale', 'localhost')->{admitted}, 0, 'nobody was admitted');

    my $get = shopper->get('/checkout');

    is($get->status, 200, 'the slot is still there');

    my $head = shopper->head('/checkout');

    is($head->status, 503, 'then it is gone, and HEAD says so');
    is(shopper->get('/checkout')->status, 503, 'as GET does');
    like(log_line('status.log', 'HEAD 200'), qr/BYPASSED$/, 'logged as bypassed');
    like(log_line('status.log', 'HEAD 503'), qr/QUEUED$/, 'and queued');

    # with a pass it is as any other request
    is(shopper->head('/checkout', Cookie => $get->header('Set-Cookie') =~ s/;.*//r)->status, 200, 'with a pass');



=== TEST 4: HEAD takes no capacity
--- http_config
    flash_throttle_zone $server_name zone=sale:1m inflight=1;
--- config
    location / {
        flash_throttle zone=sale hold=0;
        proxy_pass http://till;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my ($till, $payer, $socket) = busy_till('/checkout');

    is(shopper->head('/checkout')->status, 503, 'no room');

    serve($till);
    $payer->answer($socket);
    wait_until('the end', sub { !status_of('sale', 'localhost')->{inflight} });



=== TEST 5: report: a ticket expired while its owner still queued
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale hold=0;
        flash_throttle_poll min=100ms max=100ms;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    shopper->get('/checkout');

    my $shopper = shopper;
    my $first = $shopper->poll('/checkout')->json;
    my $later = $shopper->poll('/checkout')->json;

    # counted no longer: long overdue
    wait_until('its fall from the census', sub { !status_of('sale', 'localhost')->{waiting} });

    my $back = $shopper->poll('/checkout')->json;

    is($_->{first_attempt_ms}, $first->{first_attempt_ms}, 'the same place') for $later, $back;



=== TEST 6: cookies in crumbs, HTTP/2
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    $TEST_NGINX_LISTEN_H2
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    my $shopper = shopper;
    $shopper->get('/checkout');
    $shopper->{jar}{"a$_"} = $_ for 1 .. 30;

    my $answer = do { local $/; my $out = h2_request($shopper, '/checkout'); <$out> };

    like($answer, qr{^HTTP/2 200}, 'the pass among thirty crumbs');

    my $new = do { local $/; my $out = h2_request(shopper, '/checkout'); <$out> };

    like($new, qr{^HTTP/2 503}, 'a newcomer waits');
    like($new, qr{^retry-after: [1-9]}m, 'and is told when');
    like($new, qr{^set-cookie: flash_throttle_sale=}m, 'with a ticket');
    like($new, qr/You are in line/, 'on the page');



=== TEST 7: ranges and conditions apply to the upstream's page
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        flash_throttle_queue_status 200;
        proxy_pass http://upstream;
    }
--- shop
    shopper->get('/checkout');

    my $whole = shopper->get('/checkout')->body;
    my %conditions = (
        'Range'               => 'bytes=0-9',
        'If-Range'            => '"x"',
        'If-None-Match'       => '*',
        'If-Match'            => '"x"',
        'If-Modified-Since'   => 'Fri, 01 Jan 2100 00:00:00 GMT',
        'If-Unmodified-Since' => 'Thu, 01 Jan 1970 00:00:01 GMT',
    );

    for my $name (sort keys %conditions) {
        my $response = shopper->get('/checkout', $name => $conditions{$name});

        is($response->status, 200, $name);
        is($response->body, $whole, 'the whole page');
        ok($response->header('Set-Cookie'), 'with the ticket');
    }



=== TEST 8: big and chunked bodies of a queued form
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    my $payer = shopper;
    $payer->get('/checkout');

    my $big = 'x' x 1_000_000;
    my $waits = shopper->request('POST', '/checkout', Body => $big);

    is($waits->status, 503, 'a big form waits');
    like($waits->body, qr/You are in line/, 'and its sender can read the page');
    is($payer->request('POST', '/checkout', Body => $big)->status, 200, 'with a pass it goes through');

    my $chunks = join '', map { sprintf "%x\r\n%s\r\n", length $_, $_ } ('abc' x 1000) x 20, '';
    my $ask = sub {
        my ($cookie) = @_;

        return Shopper::raw(port, "POST /checkout HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
            . ($cookie ? "Cookie: flash_throttle_sale=$cookie\r\n" : '') . "Connection: close\r\n\r\n$chunks");
    };

    like($ask->(), qr{^HTTP/1.1 503 .*You are in line}s, 'in chunks, it waits');
    like($ask->($payer->ticket), qr{^HTTP/1.1 200 }, 'and goes through');

    like(Shopper::raw(port, "POST /checkout HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nExpect: 100-continue\r\n"
        . "Cookie: flash_throttle_sale=" . $payer->ticket . "\r\nConnection: close\r\n\r\nabc"),
        qr{^HTTP/1.1 100 .*?HTTP/1.1 200 }s, 'who is through is told to go on with the body');



=== TEST 9: report: a preflight was queued (across origins, with the operator's headers)
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
    map $http_origin $shop_origin {
        https://shop.example  $http_origin;
    }
--- config
    location / {
        flash_throttle zone=sale;
        add_header Access-Control-Allow-Origin $shop_origin always;
        add_header Access-Control-Allow-Credentials true always;
        add_header Access-Control-Expose-Headers Retry-After always;
        proxy_pass http://upstream;
    }
--- shop
    my $origin = 'https://shop.example';

    my $preflight = shopper->request('OPTIONS', '/checkout', Origin => $origin,
        'Access-Control-Request-Method' => 'GET', 'Access-Control-Request-Headers' => 'flash-throttle-poll');

    is($preflight->status, 200, 'a preflight passes');
    is($preflight->header('Access-Control-Allow-Origin'), $origin, 'with the operator\'s headers');

    is(shopper->get('/checkout')->status, 200, 'and has taken no slot');

    my $response = shopper(Origin => $origin, Accept => 'application/json')->get('/checkout');

    is($response->status, 503, 'a request waits');
    is($response->header('Access-Control-Allow-Origin'), $origin, 'its answer may be read');
    is($response->header('Access-Control-Expose-Headers'), 'Retry-After', 'and when to come back');
    is($response->json->{status}, 'queued', 'in JSON');



=== TEST 10: a client without cookies
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=2r/s burst=1;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    shopper->get('/checkout');

    my $json = shopper(Accept => 'application/json')->get('/checkout')->json;
    my $first = $json->{first_attempt_ms};

    wait_until('admission', sub {
        $json = shopper->poll('/checkout', 'Flash-Throttle-Ticket' => $json->{ticket})->json;

        return 1 if $json->{status} eq 'admitted';
        sleep $json->{retry_ms} / 1000;
        return;
    });

    is($json->{first_attempt_ms}, $first, 'the place was kept');

    for my $method (qw( GET POST HEAD )) {
        is(shopper->request($method, '/checkout', 'Flash-Throttle-Ticket' => $json->{ticket})->status, 200,
           "$method goes through with the pass");
    }

    my $again = shopper->poll('/checkout', 'Flash-Throttle-Ticket' => $json->{ticket})->json;

    is($again->{status}, 'admitted', 'a poll with it is let in');
    is($again->{ticket}, undef, 'and does not renew it');
