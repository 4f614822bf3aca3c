# A request is decided once, whatever internal redirects follow.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use Sale;

no_root_location();
run_tests();

__DATA__

=== TEST 1: error_page after admission
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    error_page 404 = /fallback;
    location / {
        flash_throttle zone=sale;
        proxy_intercept_errors on;
        proxy_pass http://upstream/gone;
    }
    location /fallback {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my $response = shopper->get('/missing');

    is($response->status, 200, 'admitted');
    is(scalar($response->headers('Set-Cookie')), 1, 'one pass');
    is(status_of('sale', 'localhost')->{admitted}, 1, 'admitted once');
    wait_until('the end', sub { !status_of('sale', 'localhost')->{inflight} });
    is(status_of('sale', 'localhost')->{done}, 1, 'and done once');



=== TEST 2: try_files, index, rewrite, named location, X-Accel-Redirect
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m burst=100;
--- config
    flash_throttle zone=sale;
    location /try {
        try_files /none @named;
    }
    location @named {
        proxy_pass http://upstream;
    }
    location /rewrite {
        rewrite ^ /target last;
    }
    location /target {
        proxy_pass http://upstream;
    }
    location /accel {
        proxy_pass http://upstream/accel;
    }
    location /dir/ {
        root html;
        index /target;
    }
    location /throttle {
        flash_throttle off;
        flash_throttle_status;
    }
--- user_files
>>> dir/x
x
--- shop
    my $n = 0;

    # the location /ready of the set-up is throttled here, too
    $n = status_of('sale', 'localhost')->{admitted};

    for my $uri (qw( /try /rewrite /accel /dir/ )) {
        my $response = shopper->get($uri);

        is($response->status, 200, "$uri is let in");
        is(scalar($response->headers('Set-Cookie')), 1, 'with one pass');
        is(status_of('sale', 'localhost')->{admitted}, ++$n, 'counted once');
    }



=== TEST 3: a first attempt behind an internal redirect
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location /try {
        try_files /none /checkout;
    }
    location /checkout {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location /fail {
        error_page 503 /checkout;
        return 503;
    }
--- shop
    is(shopper->get('/try')->status, 200, 'admitted');
    is(shopper->get('/try')->status, 503, 'the second one waits');
    is(scalar(hits), 1, 'not at the upstream');
    like(shopper->get('/fail')->body, qr/You are in line/, 'behind an error, too');



=== TEST 4: mirror, auth_request, addition and SSI
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m burst=100;
--- config
    flash_throttle zone=sale;
    location /mirror {
        mirror /copy;
        proxy_pass http://upstream;
    }
    location /auth {
        auth_request /copy;
        proxy_pass http://upstream;
    }
    location /addition {
        addition_types text/plain;
        add_before_body /copy;
        proxy_pass http://upstream;
    }
    location /ssi.html {
        ssi on;
        root html;
    }
    location /copy {
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle off;
        flash_throttle_status;
    }
--- user_files
>>> ssi.html
<!--#include virtual="/copy" -->
--- shop
    my $n = status_of('sale', 'localhost')->{admitted};

    for my $uri (qw( /mirror /auth /addition /ssi.html )) {
        my $response = shopper->get($uri);

        is($response->status, 200, "$uri is let in");
        is(scalar($response->headers('Set-Cookie')), 1, 'with one pass');
        is(status_of('sale', 'localhost')->{admitted}, ++$n, 'counted once');
    }

    is(scalar(grep { m{ /copy } } hits), 4, 'the subrequests reached the upstream');



=== TEST 5: a subrequest of a location without the throttle
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location /page {
        auth_request /checkout;
        proxy_pass http://upstream;
    }
    location /checkout {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    is(shopper->get('/page')->status, 200, 'is not throttled') for 1 .. 3;



=== TEST 6: an error_page for 503 does not replace the queue page
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    error_page 503 /maintenance;
    flash_throttle zone=sale;
    location / {
        proxy_pass http://upstream;
    }
    location /maintenance {
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle off;
        flash_throttle_status;
    }
--- shop
    # /ready of the set-up was the first
    my $response = shopper->get('/checkout');

    is($response->status, 503, 'waits');
    like($response->body, qr/You are in line/, 'the queue page');
    is(scalar(hits), 0, 'nothing at the upstream');



=== TEST 7: CORS preflights are bypassed
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
    log_format cors '$request_method $flash_throttle_status';
--- config
    access_log logs/cors.log cors;
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    for (1 .. 3) {
        my $response = shopper->request('OPTIONS', '/checkout', Origin => 'http://shop',
            'Access-Control-Request-Method' => 'POST');

        is($response->status, 200, 'passes');
        is($response->header('Set-Cookie'), undef, 'takes nothing home');
    }

    is(scalar(grep { /^OPTIONS / } hits), 3, 'at the upstream');

    shopper->request('OPTIONS', '/checkout', Origin => 'http://shop',
        'Access-Control-Request-Method' => 'POST', 'Flash-Throttle-Poll' => 1);

    is(scalar(grep { /^OPTIONS / } hits), 4, 'even if it says that it polls');

    is(shopper->get('/checkout')->status, 200, 'the slot is still there');
    is(shopper->request('OPTIONS', '/checkout')->status, 503, 'any other OPTIONS waits');
    like(log_line('cors.log', 'OPTIONS'), qr/^OPTIONS BYPASSED$/, 'logged as bypassed');



=== TEST 8: satisfy any, auth_basic and access
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m burst=2;
--- config
    location / {
        flash_throttle zone=sale;
        satisfy any;
        deny all;
        auth_basic shop;
        auth_basic_user_file $TEST_NGINX_HTML_DIR/users;
        proxy_pass http://upstream;
    }
--- user_files
>>> users
nobody:{PLAIN}secret
--- shop
    is(shopper->get('/checkout')->status, 401, 'admission does not authorize');
    is(scalar(hits), 0, 'nothing at the upstream');



=== TEST 9: realip in a location runs before the throttle, limits run after it
--- http_config
    flash_throttle_zone $remote_addr zone=sale:1m rate=1r/m;
    limit_req_zone $flash_throttle_id zone=one:1m rate=1r/m;
--- config
    location / {
        set_real_ip_from 127.0.0.1;
        real_ip_header X-Forwarded-For;
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location /limited {
        flash_throttle zone=sale;
        limit_req zone=one;
        limit_req_status 429;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    shopper->get('/checkout', 'X-Forwarded-For' => '192.0.2.1');
    ok(status_of('sale', '192.0.2.1'), 'keyed by the client\'s address');
    ok(!status_of('sale', '127.0.0.1'), 'not by the proxy\'s');

    my $shopper = shopper;
    is($shopper->get('/limited')->status, 200, 'admitted');
    is($shopper->get('/limited')->status, 429, 'but only so often');



=== TEST 10: an error_page admits nobody
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    error_page 400 = @shop;
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location @shop {
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my @broken = ('Transfer-Encoding' => 'chunked', Behind => "no length\r\n");
    my $response = shopper->request('POST', '/checkout', @broken);

    is($response->status, 200, 'let in, and answered as the shop says');
    is(scalar(hits), 1, 'by the upstream');

    $response = shopper->request('POST', '/checkout', @broken);

    is($response->status, 503, 'waits');
    is(scalar(hits), 1, 'and nothing at the upstream');
    is(status_of('sale', 'localhost')->{queued}, 1, 'told to wait once');



=== TEST 11: return and rewrite run before the throttle
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
    log_format decided '$uri "$flash_throttle_status"';
--- config
    access_log logs/decided.log decided;
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location /return {
        flash_throttle zone=sale;
        return 200 "closed\n";
    }
    location /rewrite {
        flash_throttle zone=sale;
        rewrite ^ /elsewhere redirect;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    shopper->get('/checkout');
    is(shopper->get('/checkout')->status, 503, 'there is a line');

    my $response = shopper->get('/return');
    is($response->status, 200, 'return answers nonetheless');
    is($response->body, "closed\n", 'what it says');
    is(scalar($response->headers('Set-Cookie')), 0, 'with no ticket');
    is(shopper->get('/rewrite')->status, 302, 'rewrite, too');
    like(log_line('decided.log', "^$_ "), qr/ "-?"$/, "$_: nothing was decided") for qw( /return /rewrite );
    is(status_of('sale', 'localhost')->{first_attempts}, 2, 'nor counted');
