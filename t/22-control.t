# The control: orders of an operator, in force in all workers at once.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use JSON::PP ();
use Sale;

workers(2);

# order(name => value ...): posts it; the response.
sub order {
    my %fields = @_;

    return post(JSON::PP->new->canonical->ascii->encode(\%fields));
}

# post(body, name => value ...): with further headers.
sub post {
    my ($body, %headers) = @_;

    return shopper->request('POST', '/control', 'Content-Type' => 'application/json', Body => $body, %headers);
}

sub chunk { sprintf "%x\r\n%s\r\n0\r\n\r\n", length $_[0], $_[0] }

# Each of the workers answers some of these.
sub statuses {
    my ($n) = @_;

    return join ' ', map { shopper->get('/checkout')->status } 1 .. $n;
}

no_root_location();
run_tests();

__DATA__

=== TEST 1: pause, and resume
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1000r/s burst=100;
--- config
    location / {
        flash_throttle zone=sale max_wait=1s;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
    location /control {
        flash_throttle_control;
    }
--- shop
    my ($in, $waiting) = (shopper, shopper(Accept => 'application/json'));

    is($in->get('/checkout')->status, 200, 'let in');

    my $response = order(command => 'pause', zone => 'sale', key => 'localhost');

    is($response->status, 200, 'status');
    is($response->header('Content-Type'), 'application/json', 'JSON');
    is($response->header('Cache-Control'), 'no-store', 'not stored');
    is($response->json->{command}, 'pause', 'the command');
    is($response->json->{zone}, 'sale', 'the zone');
    is($response->json->{key}, 'localhost', 'the key');
    ok($response->json->{state}{paused}, 'in force');
    ok(!$response->json->{state}{sold_out}, 'not sold out');

    is(statuses(12), join(' ', (503) x 12), 'everyone queues, at each worker');
    is($in->get('/checkout')->status, 200, 'but who has a pass');
    is($waiting->get('/checkout')->json->{status}, 'queued', 'queues');
    ok(status_of('sale', 'localhost')->{paused}, 'the status says so');
    is(status_of('sale', 'localhost')->{free_capacity_milli}, 0, 'there is no room');
    cmp_ok(status_of('sale', 'localhost')->{wait_ms}, '>', 3600e3, 'nobody knows how long it lasts');
    cmp_ok($waiting->get('/checkout')->json->{wait_ms}, '>', 3600e3, 'no shopper is told another wait');

    my $reader = shopper;

    $reader->get('/checkout');
    like($reader->get('/checkout')->body, qr/data-ft="?wait"?>&gt; 60 min</, 'nor by the page');
    like(log_line('error.log', qr/flash_throttle_control/),
        qr/\[notice\].*"pause" for key "localhost" in zone "sale".*client: 127\.0\.0\.1/, 'logged');

    reload();
    is(statuses(12), join(' ', (503) x 12), 'over a reload');

    ok(!order(command => 'resume')->json->{state}{paused}, 'until it is taken back');
    is(wait_for_admission($waiting, '/checkout')->status, 200, 'and the line goes on');
    ok(!status_of('sale', 'localhost')->{paused}, 'the status says so');



=== TEST 2: a rate, until reset
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale policy=reject;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
    location /control {
        flash_throttle_control;
    }
--- shop
    is(statuses(3), '200 503 503', 'one a minute');

    my $state = order(command => 'rate', rate => '1000r/s')->json->{state};

    is($state->{rate_now_milli}, 1000000, 'in force');
    is($state->{rate_override_milli}, 1000000, 'by the operator');

    wait_until('room', sub { status_of('sale', 'localhost')->{free_capacity_milli} >= 50000 });
    is(statuses(20), join(' ', (200) x 20), 'at each worker');

    reload();
    is(statuses(20), join(' ', (200) x 20), 'over a reload');
    is(order(command => 'rate', rate => '90r/m')->json->{state}{rate_now_milli}, 1500, 'a minute');

    $state = order(command => 'resume')->json->{state};
    is($state->{rate_now_milli}, 1500, 'resume leaves it');

    $state = order(command => 'reset')->json->{state};
    is($state->{rate_now_milli}, 16, 'the configured one again');
    is($state->{rate_override_milli}, 0, 'none in its place');
    like(error_log(), qr/"rate 1000r\/s" for key/, 'logged with its value');



=== TEST 3: sold out: everyone waiting hears it, those held at once
--- http_config
    flash_throttle_zone $server_name zone=sale:1m inflight=1;
    log_format decided '$flash_throttle_status $status $flash_throttle_position';
--- config
    access_log logs/decided.log decided;
    location / {
        flash_throttle zone=sale hold=20s;
        flash_throttle_poll min=100ms max=500ms;
        proxy_pass http://till;
    }
    location /throttle {
        flash_throttle_status;
    }
    location /control {
        flash_throttle_control;
    }
--- shop
    my ($till, $in, $first) = busy_till('/checkout');
    my @held = map { shopper(Accept => 'application/json') } 1;
    my @sockets = map { hold_at_edge($_, '/checkout') } @held;
    my @waiting = map { shopper } 1 .. 4;

    $_->get('/checkout') for @waiting;

    ok(order(command => 'sold-out')->json->{state}{sold_out}, 'sold out');

    for my $i (0 .. $#sockets) {
        my $response = $held[$i]->answer($sockets[$i]);

        is($response->status, 409, 'who was held hears it');
        is($response->json->{status}, 'sold_out', 'as JSON');
        ok(length $response->json->{ticket}, 'and keeps a ticket');
        cmp_ok($response->json->{retry_ms}, '>', 0, 'may ask again');
    }

    for my $shopper (@waiting) {
        my $json = $shopper->poll('/checkout');

        is($json->status, 409, 'a poll');
        is($json->json->{status}, 'sold_out', 'its JSON');
        is($json->header('Cache-Control'), 'no-store', 'not stored');
    }

    my $page = $waiting[0]->get('/checkout');

    is($page->status, 409, 'a page');
    like($page->header('Content-Type'), qr{^text/html}, 'HTML');
    like($page->body, qr/data-ft-when="?sold_out/, 'the page for it');
    unlike($page->body, qr/\{\{/, 'filled in');
    cmp_ok($page->header('Retry-After'), '>=', 1, 'Retry-After');
    like($page->header('Set-Cookie'), qr/^flash_throttle_sale=/, 'a ticket');

    my $new = shopper->get('/checkout');
    is($new->status, 409, 'who comes now');
    like($new->body, qr/data-ft-when="?sold_out/, 'sees it, too');
    is(shopper->head('/checkout')->status, 409, 'HEAD');
    is(shopper->request('POST', '/checkout', Body => 'a=b', Expect => '100-continue')->status, 409, 'POST');
    like(log_line('decided.log', qr/SOLD_OUT/), qr/^SOLD_OUT 409 -$/, 'the variable');

    wait_until('an empty line', sub { !status_of('sale', 'localhost')->{waiting} });
    cmp_ok(status_of('sale', 'localhost')->{sold_out_total}, '>=', 9, 'counted');

    # those at checkout may be paying
    serve($till);
    is($in->answer($first)->status, 200, 'the one inside is served');
    my $again = $in->request('GET', '/checkout', Wait => 0);
    serve($till);
    is($in->answer($again)->status, 200, 'and again');

    reload();
    is(shopper->get('/checkout')->status, 409, 'over a reload');

    # the first to come back is the last who came, and is let in nonetheless
    order(command => 'resume');
    is(wait_for_admission($waiting[3], '/checkout')->status, 200, 'it goes on');



=== TEST 4: a place is kept while it is sold out
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=60r/m burst=1;
--- config
    location / {
        flash_throttle zone=sale;
        flash_throttle_poll min=100ms max=400ms;
        proxy_pass http://upstream;
    }
    location /control {
        flash_throttle_control;
    }
--- shop
    my @waiting = map { shopper } 1 .. 3;
    shopper->get('/checkout');
    my @stamps = map { $_->poll('/checkout')->json->{first_attempt_ms} } @waiting;

    order(command => 'sold-out');
    $_->poll('/checkout') for reverse @waiting;
    order(command => 'open');

    # while the edge listens to those it has sent away, nobody passes them by
    is($_->poll('/checkout')->json->{status}, 'queued', 'an old place') for @waiting;
    is(shopper->poll('/checkout')->json->{status}, 'queued', 'nor whoever is new');

    for my $i (0 .. 2) {
        is(wait_for_admission($waiting[$i], '/checkout')->json->{first_attempt_ms}, $stamps[$i], "the stamp of $i");
    }



=== TEST 5: dry run
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1000r/s;
    log_format decided '$flash_throttle_status';
--- config
    access_log logs/decided.log decided;
    location / {
        flash_throttle zone=sale;
        flash_throttle_dry_run on;
        proxy_pass http://upstream;
    }
    location /control {
        flash_throttle_control;
    }
--- shop
    is(order(command => 'sold-out', key => 'localhost', new => JSON::PP::true)->status, 200, 'sold out');
    is(shopper->get('/checkout')->status, 200, 'let through');
    is(shopper->poll('/checkout')->json->{status}, 'admitted', 'and a poll');
    like(log_line('decided.log', qr/SOLD/), qr/^SOLD_OUT_DRY_RUN$/, 'the variable');



=== TEST 6: a key of its own; which are there
--- http_config
    flash_throttle_zone $arg_shop zone=sale:8m rate=1000r/s;
    flash_throttle_zone $server_name zone=other:1m rate=1000r/s;
    flash_throttle_zone $server_name zone=unused:1m rate=1000r/s;
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
    location /control {
        flash_throttle_control;
    }
--- shop
    my $error = sub {
        my $response = order(@_);
        return $response->status . ' ' . ($response->json->{error} // '');
    };

    like($error->(command => 'pause'), qr/^400 "zone" is required, zones in use: "sale", "other"$/, 'a zone is needed');
    like($error->(command => 'pause', zone => 'sail'), qr/^404 no "flash_throttle" uses zone "sail", zones in use: "sale", "other"$/,
        'no such zone');
    like($error->(command => 'pause', zone => 'unused'), qr/^404 /, 'a zone that nobody uses');
    like($error->(command => 'pause', zone => 'sale'), qr/^404 "key" is required in zone "sale", keys: none$/, 'no key yet');

    is(shopper->get("/checkout?shop=$_")->status, 200, "shop $_") for qw( a b ), "caf\xc3\xa9";

    like($error->(command => 'pause', zone => 'sale'), qr/^400 "key" is required in zone "sale", keys: "a", "b", "caf/, 'a key is needed');
    like($error->(command => 'pause', zone => 'sale', key => 'c'),
        qr/^404 unknown key "c" in zone "sale", keys: "a", "b", .*; "new":true creates it$/, 'no such key');
    like($error->(command => 'pause', zone => 'sale', key => ''), qr/^400 the key is empty$/, 'an empty key');

    is(order(command => 'pause', zone => 'sale', key => 'a')->status, 200, 'pause a');
    is(shopper->get('/checkout?shop=a')->status, 503, 'a is paused');
    is(shopper->get('/checkout?shop=b')->status, 200, 'b is not');

    is(order(command => 'pause', zone => 'sale', key => "caf\xc3\xa9")->status, 200, 'a key of any bytes');
    is(shopper->get("/checkout?shop=caf\xc3\xa9")->status, 503, 'is paused');

    is(order(command => 'pause', zone => 'sale', key => 'c', new => JSON::PP::true)->json->{key}, 'c', 'a new key');
    is(shopper->get('/checkout?shop=c')->status, 503, 'is paused before its first request');

    is(shopper->get('/other')->status, 200, 'the other zone is not');
    is(order(command => 'pause', zone => 'other')->json->{key}, 'localhost', 'its only key need not be named');

    is(order(command => 'pause', zone => 'sale', key => "a\nb\e\"\0", new => JSON::PP::true)->json->{key}, "a\nb\e\"\0",
        'bytes that no log should have');
    like(error_log(), qr/"pause" for key "a\?b\?\?\?" in zone "sale"/, 'are not logged as they are');

    $error->(command => 'pause', zone => 'sale', key => "k$_", new => JSON::PP::true) for 1 .. 14;
    like($error->(command => 'pause', zone => 'sale'), qr/ "k11" and more$/, 'not more than some are listed');



=== TEST 7: what is refused
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1000r/s;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
    location /control {
        flash_throttle_control;
    }
--- shop
    shopper->get('/checkout');

    my $get = shopper->get('/control');
    is($get->status, 405, 'GET');
    is($get->header('Allow'), 'POST', 'Allow');
    is($get->json->{error}, 'the method must be POST', 'says why');
    is(shopper->request($_, '/control')->status, 405, $_) for qw( HEAD PUT DELETE OPTIONS );

    my $pause = '{"command":"pause"}';

    is(post($pause, 'Content-Type' => $_)->status, 415, $_ // 'no type')
        for undef, 'text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'multipart/form-data; boundary=application/json';

    is(post($pause, Origin => $_)->status, 403, "from $_")
        for 'http://evil.example', 'null', 'http://localhost.evil.example', 'http://evil.example/localhost', 'localhost', '',
            'http://localhost:81', 'https:/localhost';
    is(post($pause, 'Sec-Fetch-Site' => $_)->status, 403, "Sec-Fetch-Site: $_") for qw( cross-site same-site x );
    is(post($pause, Host => undef, Origin => 'http://localhost')->status, 400, 'without a host');
    like(log_line('error.log', qr/refused/), qr/\[warn\].*flash_throttle_control refused .*client: 127\.0\.0\.1/, 'logged');

    my %wrong = (
        ''                                         => qr/^an object is expected at byte 0$/,
        '[]'                                       => qr/^an object is expected at byte 0/,
        '{"command":"pause"'                        => qr/^a comma or a brace is expected at byte 18/,
        '{"command":"pause","zones":"sale"}'        => qr/^no such field at byte 19/,
        '{"command":1}'                            => qr/^a string is expected at byte 11/,
        '{"command":"' . 'x' x 40 . '"}'           => qr/^the string is too long at byte 11/,
        '{}'                                       => qr/^invalid command "", it must be "rate", "pause", "open", "sold-out", "resume" or "reset"$/,
        '{"command":"stop"}'                       => qr/^invalid command "stop", it must be "rate"/,
        '{"command":"paus"}'                       => qr/^invalid command "paus"/,
        '{"command":"a\u0022b"}'                   => qr/^invalid command "a"b"/,
        '{"command":"rate"}'                       => qr/^invalid rate "", it must be "Nr\/s" or "Nr\/m"/,
        '{"command":"pause","rate":"1r/s"}'         => qr/^"rate" requires the command "rate"$/,
        map { ("{\"command\":\"rate\",\"rate\":\"$_\"}" => qr/^invalid rate "\Q$_\E"/) }
            qw( 0r/s -1r/s 50 r/s 1.5r/s 1000001r/s 50r/h 50r/s/s ),
    );

    for my $body (sort keys %wrong) {
        my $response = post($body);

        is($response->status, 400, "\"$body\"");
        like($response->json->{error}, $wrong{$body}, 'says why');
    }

    my $large = '{"command":"pause"' . ' ' x 5000 . '}';

    is(post($large)->status, 413, 'too large');
    is(post($large)->json->{error}, 'the request body must be at most 4096 bytes', 'says so');
    is(post(undef, 'Transfer-Encoding' => 'chunked', Behind => chunk($_))->status, 413, 'in chunks, too') for $large, '{"command":"pause"' . ' ' x 500000 . '}';
    is(post($pause . ' ' x (4096 - length $pause))->status, 200, 'just not too large');

    order(command => 'reset');
    is(shopper->get('/checkout')->status, 200, 'nothing of all that was obeyed');

    is(post($pause, Origin => 'http://localhost', 'Sec-Fetch-Site' => 'same-origin', 'Content-Type' => 'Application/JSON; charset=utf-8')
        ->status, 200, 'from a page of its own');
    is(post($pause, 'Sec-Fetch-Site' => 'none')->status, 200, 'from no page');
    is(post(undef, 'Transfer-Encoding' => 'chunked', Behind => chunk($pause))->status, 200, 'in a chunk');



=== TEST 8: an order waits in no line, and others may be kept out
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;

        location /control {
            flash_throttle_control;
        }

        location /closed {
            flash_throttle_control;
            deny all;
        }
    }
--- shop
    is(statuses(2), '200 503', 'a line');
    is(order(command => 'pause')->status, 200, 'not for orders');
    is(shopper->request('POST', '/closed', 'Content-Type' => 'application/json', Body => '{"command":"pause"}')->status, 403, 'deny');



=== TEST 9: a sale that opens later is opened
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1000r/s;
--- config
    flash_throttle_opens 2999-01-01T00:00:00Z;
    location / {
        flash_throttle zone=sale;
        flash_throttle_poll min=100ms max=500ms;
        proxy_pass http://upstream;
    }
    location /control {
        flash_throttle_control;
    }
--- shop
    my @early = map { shopper } 1 .. 5;

    is($_->poll('/checkout')->json->{status}, 'closed', 'before the opening') for @early;
    is(order(command => 'pause')->json->{state}{opened_ms}, 0, 'pause does not open it');
    is($early[0]->poll('/checkout')->json->{status}, 'closed', 'closed');

    is(order(command => 'sold-out')->status, 200, 'sold beforehand');
    is($early[0]->poll('/checkout')->json->{status}, 'sold_out', 'is sold out');
    order(command => 'resume');
    is($early[0]->poll('/checkout')->json->{status}, 'closed', 'closed again');

    my $state = order(command => 'open')->json->{state};

    cmp_ok(abs($state->{opened_ms} / 1000 - time), '<', 5, 'opened now');
    is(wait_for_admission($_, '/checkout')->status, 200, 'let in') for @early;

    reload();
    is(wait_for_admission(shopper, '/checkout')->status, 200, 'open over a reload');

    order(command => 'reset');
    is(shopper->poll('/checkout')->json->{status}, 'closed', 'reset: it opens when the configuration says');



=== TEST 10: twice in a location
--- config
    location /control {
        flash_throttle_control;
        flash_throttle_control;
    }
--- must_die
--- error_log
"flash_throttle_control" directive is duplicate
--- no_error_log
[alert]



=== TEST 11: it takes no arguments
--- config
    location /control {
        flash_throttle_control on;
    }
--- must_die
--- error_log
invalid number of arguments in "flash_throttle_control" directive
--- no_error_log
[alert]



=== TEST 12: a body in a file
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1000r/s;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location /control {
        flash_throttle_control;
        client_body_in_file_only clean;
    }
    location /control/small {
        flash_throttle_control;
        client_body_buffer_size 16;
    }
--- shop
    my $posted = sub {
        return shopper->request('POST', shift, 'Content-Type' => 'application/json', @_);
    };

    is(shopper->get('/checkout')->status, 200, 'a key');

    for my $uri (qw( /control /control/small )) {
        ok($posted->($uri, Body => '{"command":"pause"' . ' ' x 2000 . '}')->json->{state}{paused}, "$uri, read");
        is($posted->($uri, Body => '{"command":"reset"' . ' ' x 4096 . '}')->status, 413, 'too large');
        is($posted->($uri, 'Transfer-Encoding' => 'chunked', Behind => chunk('{"command":"reset"' . ' ' x 8000 . '}'))->status, 413,
            'too large, of a length that was not told');
        is(shopper->get('/checkout')->status, 503, 'the first one is in force');
        ok(!$posted->($uri, Body => '{"command":"reset"}')->json->{state}{paused}, 'a short one');
    }



=== TEST 13: keys of any bytes, from the command line
--- http_config
    flash_throttle_zone $binary_remote_addr zone=sale:1m rate=1000r/s;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location /status {
        flash_throttle_status;
    }
    location /control {
        flash_throttle_control;
    }
--- shop
    my $program = ($ENV{BUILD} // 'build') . '/flashctl';
    my $flashctl = "$program --url http://127.0.0.1:" . port;

    is(shopper->get('/checkout')->status, 200, 'a key with bytes 0');

    SKIP: {
        -x $program or skip 'flashctl is not built here', 4;

        like(scalar `$flashctl status 2>&1`, qr/^sale  \?+  \[open\]/, 'shown');
        like(scalar `$flashctl pause 2>&1`, qr/^sale \?+: paused, /, 'paused');
        is(shopper->get('/checkout')->status, 503, 'obeyed');
        like(scalar `$flashctl --json status 2>&1`, qr/\\u0000\\u0000\\u0001": \{/, 'as it is, in JSON');
    }



=== TEST 14: a status that is none of ours
--- config
    location /status {
        return 200 '{"time_ms":1,"zones":{"sale":{"keys":{"a":{"waiting":-5,"admitted":9223372036854775807}}}}}';
    }
--- shop
    my $program = ($ENV{BUILD} // 'build') . '/flashctl';
    my $flashctl = "$program --url http://127.0.0.1:" . port;

    SKIP: {
        -x $program or skip 'flashctl is not built here', 1;

        like(scalar `$flashctl watch --count=1 2>&1`, qr/ sale a waiting=0 held=0 inflight=0 admitted=9000000000000 /, 'within bounds');
    }



=== TEST 15: a server's own control leaves its locations throttled
--- http_config
    flash_throttle_zone $arg_shop zone=sale:1m rate=1r/m;
--- config
    flash_throttle zone=sale;
    flash_throttle_control;

    location /checkout {
        proxy_pass http://upstream;
    }
--- shop
    is(shopper->get('/checkout?shop=a')->status, 200, 'let in');
    is(shopper->get('/checkout?shop=a')->status, 503, 'a line');
    is(order(command => 'reset')->status, 200, 'not for orders');
