# Memory as it comes: nothing rests on what nginx's pools happen to hold.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use Sale;

# glibc fills what it hands out with the complement of this; a sanitizer has a
# way of its own.
Test::Nginx::Socket::add_block_preprocessor(sub {
    my $block = shift;

    ($ENV{MALLOC_PERTURB_}) = $block->perturb =~ /(\d+)/;

    $block->set_value(http_config => <<'EOF_HTTP' . $block->http_config);
    flash_throttle_zone $server_name zone=sale:1m inflight=1;
    log_format sent '$request_uri $status $flash_throttle_status "$sent_http_set_cookie" "$sent_http_retry_after"';
EOF_HTTP

    $block->set_value(config => <<'EOF_CONFIG' . $block->config);
    access_log logs/sent.log sent;
    location / {
        flash_throttle zone=sale hold=10s;
        flash_throttle_feedback on;
        proxy_pass http://till;
    }
    location /fallback {
        flash_throttle zone=sale hold=10s;
        error_page 404 = /set-cookie;
        proxy_intercept_errors on;
        proxy_pass http://upstream/gone;
    }
    location /set-cookie {
        flash_throttle zone=sale hold=10s;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
EOF_CONFIG
});


sub sale { status_of('sale', 'localhost') }


# Every kind of answer, n times: what the first requests gave back is handed out
# anew.
sub answers {
    my ($n) = @_;

    for (1 .. $n) {
        my $fallback = shopper->get('/fallback');
        is($fallback->status, 200, 'let in, and redirected');
        is_deeply([map { s/=.*//r } $fallback->headers('Set-Cookie')], ['flash_throttle_sale', 'a'],
                  'a pass beside the cookie of the upstream');

        wait_until('its end', sub { !sale->{inflight} });

        my ($till, $one, $first) = busy_till('/checkout');
        my $two = shopper;

        my $page = $two->get('/checkout');
        is($page->status, 503, 'the next one waits');
        is(scalar($page->headers($_)), 1, "one $_") for qw( Set-Cookie Retry-After Cache-Control );
        like($page->header('Content-Type'), qr{^text/html}, 'a page');
        is($two->get('/checkout', Accept => 'application/json')->json->{status}, 'queued', 'JSON');
        is($two->head('/checkout')->body, '', 'HEAD');
        is(sale->{inflight}, 1, 'one is at the upstream');

        my $second = hold_at_edge($two, '/checkout');

        serve($till);
        is($one->answer($first)->status, 200, 'the first one is served');
        serve($till);
        is($two->answer($second)->status, 200, 'then the second, who was held');

        wait_until('the end', sub { !sale->{inflight} });
        is($two->poll('/checkout')->json->{status}, 'admitted', 'a pass, asked about');
        close $till;
        unlink "$ENV{TEST_NGINX_HTML_DIR}/till.sock";

        wait_until('an end of the line', sub { !sale->{queueing} });
    }

    is(sale->{held}, 0, 'none is held');
    is(sale->{admitted}, 3 * $n, 'three were admitted each time');
    is(sale->{done}, 3 * $n, 'and done');
    like(log_line('sent.log', '^/checkout 503 QUEUED'), qr/"flash_throttle_sale=[^"]+" "[1-9]\d*"$/,
         'the headers, read as variables');
}

no_root_location();
run_tests();

__DATA__

=== TEST 1: memory full of one pattern
--- http_config
--- config
--- perturb: 9
--- shop
    answers(3);



=== TEST 2: and of the other bits
--- http_config
--- config
--- perturb: 246
--- shop
    answers(3);
