# HTTP: bodies, connections, caches, compression.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use Sale;

no_root_location();
run_tests();

__DATA__

=== TEST 1: a body is not read as the next request
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    shopper->get('/checkout');

    my $inner = "GET /inner HTTP/1.1\r\nHost: localhost\r\n\r\n";
    my $answer = Shopper::raw(port, "POST /checkout HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
        . length($inner) . "\r\n\r\n$inner"
        . "GET /ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    my @statuses = $answer =~ m{^HTTP/1.1 (\d+)}mg;

    is("@statuses", '503 200', 'two requests, two answers');
    is(scalar(hits), 1, 'nothing at the upstream');



=== TEST 2: a chunked body is not read as the next request
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    shopper->get('/checkout');

    my $answer = Shopper::raw(port, "POST /checkout HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        . "3\r\nabc\r\n0\r\n\r\n"
        . "GET /ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    my @statuses = $answer =~ m{^HTTP/1.1 (\d+)}mg;

    is("@statuses", '503 200', 'two requests, two answers');



=== TEST 3: no "100 Continue" for a body that is discarded
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        lingering_close off;
        proxy_pass http://upstream;
    }
--- shop
    shopper->get('/checkout');

    my $answer = Shopper::raw(port, "POST /checkout HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n"
        . "Expect: 100-continue\r\nConnection: close\r\n\r\n");
    my @statuses = $answer =~ m{^HTTP/1.1 (\d+)}mg;

    is("@statuses", '503', 'the answer alone');



=== TEST 4: the response to a big POST can be read
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
    server {
        $TEST_NGINX_LISTEN_H2
        server_name localhost;
        location / {
            flash_throttle zone=sale;
            proxy_pass http://upstream;
        }
    }
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- user_files eval
">>> big\n" . 'x' x 3000000
--- shop
    shopper->get('/checkout');

    is(shopper->request('POST', '/checkout', Body => 'x' x 3000000)->status, 503, 'HTTP/1.1');

    my $status = `curl -s -o /dev/null -w '%{http_code}' --http2-prior-knowledge --unix-socket $ENV{TEST_NGINX_HTML_DIR}/h2.sock --data-binary \@$ENV{TEST_NGINX_HTML_DIR}/big http://localhost/checkout`;

    is($status, 503, 'HTTP/2');



=== TEST 5: HEAD with keepalive
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    shopper->get('/checkout');

    my $answer = Shopper::raw(port, "HEAD /checkout HTTP/1.1\r\nHost: localhost\r\n\r\n"
        . "HEAD /checkout HTTP/1.1\r\nHost: localhost\r\nFlash-Throttle-Poll: 1\r\n\r\n"
        . "GET /ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");

    like($answer, qr{^HTTP/1.1 503 .*?\r\n\r\nHTTP/1.1 503 .*?\r\n\r\nHTTP/1.1 200 }s, 'heads without bodies');
    is(scalar(() = $answer =~ /^Connection: keep-alive\r$/mg), 2, 'the connection is kept');



=== TEST 6: conditions and ranges do not apply to the queue page
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

    my %conditions = (
        'If-None-Match'       => '*',
        'If-Match'            => '"x"',
        'If-Modified-Since'   => 'Fri, 01 Jan 2100 00:00:00 GMT',
        'If-Unmodified-Since' => 'Thu, 01 Jan 1970 00:00:01 GMT',
        'Range'               => 'bytes=0-9',
    );

    for my $name (sort keys %conditions) {
        my $response = shopper->get('/checkout', $name => $conditions{$name});

        is($response->status, 200, $name);
        like($response->body, qr{^<!DOCTYPE html>.*</script>\s*$}s, 'the whole page');
        is(scalar($response->headers('Set-Cookie')), 1, 'and the ticket');
    }



=== TEST 7: the queue page is not cached
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location /page {
        flash_throttle zone=sale;
        flash_throttle_queue_status 200;
        expires max;
        add_header X-Site 1 always;
        proxy_pass http://upstream;
    }
--- shop
    shopper->get('/checkout');

    is(join(', ', shopper->get('/checkout')->headers('Cache-Control')), 'no-store', 'status 503');

    my $response = shopper->get('/page');

    is($response->status, 200, 'status 200');
    ok((grep { $_ eq 'no-store' } $response->headers('Cache-Control')), 'no-store stays, whatever "expires" says');
    is($response->header('Vary'), 'Accept, Cookie', 'and a cache that keeps it all the same, keeps it apart');
    is($response->header('X-Site'), 1, 'the site\'s own headers stay');



=== TEST 8: the queue page is compressed
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    gzip_vary on;
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    use IO::Uncompress::Gunzip ();

    shopper->get('/checkout');

    my $plain = shopper->get('/checkout');
    my $response = shopper->get('/checkout', 'Accept-Encoding' => 'gzip, deflate');

    is($response->header('Content-Encoding'), 'gzip', 'gzip');
    is($response->header('Content-Length'), length $response->body, 'Content-Length');
    cmp_ok(length $response->body, '<', length($plain->body) / 1.5, 'shorter');

    IO::Uncompress::Gunzip::gunzip(\$response->body => \my $text);

    is($text, $plain->body, 'the same page');
    is($_->header('Vary'), 'Accept-Encoding', 'a cache is told') for $plain, $response;
    is(shopper->get('/checkout', 'Accept-Encoding' => 'gzip;q=0')->header('Content-Encoding'), undef, 'not for all');
    is(shopper->get('/checkout', 'Accept-Encoding' => 'gzip', Accept => 'application/json')->header('Content-Encoding'),
       undef, 'JSON is short');



=== TEST 9: a configured page
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        flash_throttle_queue_page $TEST_NGINX_HTML_DIR/wait.html;
        proxy_pass http://upstream;
    }
    location /short {
        flash_throttle zone=sale;
        flash_throttle_queue_page $TEST_NGINX_HTML_DIR/short.html;
        proxy_pass http://upstream;
    }
--- user_files
>>> wait.html
<p>One moment, one moment, one moment, one moment, one moment.</p>
>>> short.html
<p>Wait
--- shop
    shopper->get('/checkout');

    my $response = shopper->get('/checkout');

    is($response->body, "<p>One moment, one moment, one moment, one moment, one moment.</p>\n", 'the page');
    is($response->header('Content-Type'), 'text/html; charset=utf-8', 'its type');
    is(shopper->get('/checkout', 'Accept-Encoding' => 'gzip')->header('Content-Encoding'), 'gzip', 'compressed');
    is(shopper->get('/short', 'Accept-Encoding' => 'gzip')->header('Content-Encoding'), undef,
       'unless that makes it longer');

    # served from memory
    unlink "$ENV{TEST_NGINX_HTML_DIR}/wait.html";
    is(shopper->get('/checkout')->body, $response->body, 'the file may go');



=== TEST 10: filters do not modify the page
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location /filtered {
        flash_throttle zone=sale;
        sub_filter 'You are in line' 'Please wait';
        sub_filter_once off;
        ssi on;
        charset koi8-r;
        override_charset on;
        proxy_pass http://upstream;
    }
--- shop
    shopper->get('/checkout');

    my $before = shopper->get('/checkout')->body;

    like(shopper->get('/filtered')->body, qr/Please wait/, 'a site may change what it sends');
    is(shopper->get('/checkout')->body, $before, 'the page stays as it is');



=== TEST 11: proxy_cache does not store the cookie
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m burst=9;
    proxy_cache_path $TEST_NGINX_HTML_DIR/cache keys_zone=cache:1m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_cache cache;
        proxy_cache_valid 200 1m;
        add_header X-Cache $upstream_cache_status;
        proxy_pass http://upstream;
    }
--- shop
    my $one = shopper->get('/checkout');
    my $two = shopper->get('/checkout');

    is($one->header('X-Cache'), 'MISS', 'the first one fills the cache');
    is($two->header('X-Cache'), 'HIT', 'the second one is served from it');
    isnt($one->header('Set-Cookie'), $two->header('Set-Cookie'), 'each with its own pass');
    is(scalar($two->headers('Set-Cookie')), 1, 'and only that');
