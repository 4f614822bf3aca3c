# The hold: requests of called shoppers wait at the edge for capacity.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use Sale;

no_root_location();
run_tests();

__DATA__

=== TEST 1: a called shopper is held, then admitted
--- http_config
    flash_throttle_zone $server_name zone=sale:1m inflight=1;
--- config
    location / {
        flash_throttle zone=sale hold=10s;
        proxy_pass http://till;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my ($till, $one, $first) = busy_till('/checkout');
    my $two = shopper;

    my $second = hold_at_edge($two, '/checkout');

    is(status_of('sale', 'localhost')->{inflight}, 1, 'one is at the upstream');
    is(status_of('sale', 'localhost')->{held}, 1, 'one is held');

    serve($till);
    is($one->answer($first)->status, 200, 'the first one is served');
    serve($till);
    is($two->answer($second)->status, 200, 'then the second');

    wait_until('the end', sub { !status_of('sale', 'localhost')->{inflight} });
    is(status_of('sale', 'localhost')->{held}, 0, 'none is held');
    is(status_of('sale', 'localhost')->{admitted}, 2, 'two were admitted');



=== TEST 2: hold=0
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=2r/s burst=1;
--- config
    location / {
        flash_throttle zone=sale hold=0;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    shopper->get('/checkout');

    my $shopper = shopper;
    is($shopper->get('/checkout')->status, 503, 'waits');
    wait_for_admission($shopper, '/checkout');
    is(status_of('sale', 'localhost')->{held_total}, 0, 'never held');



=== TEST 3: the time of a hold ends with the queue page
--- http_config
    flash_throttle_zone $server_name zone=sale:1m inflight=1;
--- config
    location / {
        flash_throttle zone=sale hold=4s;
        proxy_pass http://till;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my ($till, $one, $first) = busy_till('/checkout');
    my $two = shopper;

    my $second = hold_at_edge($two, '/checkout');
    my $ticket = $two->ticket;
    my $response = $two->answer($second);

    is($response->status, 503, 'still waits');
    like($response->body, qr/You are in line/, 'with the page');
    isnt($two->ticket, $ticket, 'and a new ticket');
    is(status_of('sale', 'localhost')->{held}, 0, 'nobody is held');

    serve($till);
    $one->answer($first);



=== TEST 4: a client closes the connection of a held request
--- http_config
    flash_throttle_zone $server_name zone=sale:1m inflight=1;
--- config
    location / {
        flash_throttle zone=sale hold=1m;
        proxy_pass http://till;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my ($till, $one, $first) = busy_till('/checkout');
    my $two = shopper;

    close hold_at_edge($two, '/checkout');
    wait_until('its end', sub { !status_of('sale', 'localhost')->{held} });

    is(status_of('sale', 'localhost')->{left}, 1, 'left: 1');

    serve($till);
    $one->answer($first);
    wait_until('the end', sub { !status_of('sale', 'localhost')->{inflight} });
    is(status_of('sale', 'localhost')->{admitted}, 1, 'it was not admitted');



=== TEST 5: the earliest timestamp first
--- http_config
    flash_throttle_zone $server_name zone=sale:1m inflight=1;
--- config
    location / {
        flash_throttle zone=sale hold=1m;
        proxy_pass http://till;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my ($till, $one, $first) = busy_till('/checkout');
    my @shoppers = map { shopper('X-Name' => $_) } 1 .. 4;

    for my $shopper (@shoppers) {
        $shopper->get('/checkout');
        sleep 0.003;
    }

    # the last one first
    my @sockets = map { hold_at_edge($_, '/checkout') } reverse @shoppers;

    serve($till);

    my @names = map { serve($till) =~ /^X-Name: (\d)/m } @shoppers;

    is("@names", '1 2 3 4', 'in the order of their first attempts');
    is($_->answer(pop @sockets)->status, 200, 'served') for @shoppers;



=== TEST 6: a held poll
--- http_config
    flash_throttle_zone $server_name zone=sale:1m inflight=1;
--- config
    location / {
        flash_throttle zone=sale hold=1m;
        proxy_pass http://till;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my ($till, $one, $first) = busy_till('/checkout');
    my $two = shopper;

    my $second = hold_at_edge($two, '/checkout', 'Flash-Throttle-Poll' => 1);

    serve($till);

    my $response = $two->answer($second);

    is($response->status, 200, 'admitted');
    is($response->json->{status}, 'admitted', 'status');
    ok(!IO::Select->new($till)->can_read(0), 'not at the upstream');

    my $third = $two->request('GET', '/checkout', Wait => 0);

    serve($till);
    is($two->answer($third)->status, 200, 'the page follows with the pass');



=== TEST 7: pipelined requests behind a held one
--- http_config
    flash_throttle_zone $server_name zone=sale:1m inflight=1;
--- config
    location / {
        flash_throttle zone=sale hold=1m;
        proxy_pass http://till;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my ($till, $one, $first) = busy_till('/checkout');
    my $two = shopper;

    my $socket = hold_at_edge($two, '/checkout', Connection => undef,
        Behind => "GET /ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");

    serve($till);
    serve($till);

    my @statuses = Shopper::read_all($socket) =~ m{^HTTP/1.1 (\d+)}mg;

    is("@statuses", '200 200', 'both are answered, in order');



=== TEST 8: a hold over HTTP/2 with admission
--- http_config
    flash_throttle_zone $server_name zone=sale:1m inflight=1;
    server {
        $TEST_NGINX_LISTEN_H2
        server_name localhost;
        location / {
            flash_throttle zone=sale hold=1m;
            proxy_pass http://till;
        }
    }
--- config
    location / {
        flash_throttle zone=sale hold=1m;
        proxy_pass http://till;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my ($till, $one, $first) = busy_till('/checkout');
    my $two = shopper;
    my $held = hold_at_edge($two, sub { h2_request($two, '/checkout') });

    serve($till);
    serve($till);

    my $response = $two->answer($held);

    is($response->status, 200, 'admitted');
    is($response->body, "sold\n", 'by the upstream');



=== TEST 9: a hold over HTTP/2 whose client resets the stream
--- http_config
    flash_throttle_zone $server_name zone=sale:1m inflight=1;
    server {
        $TEST_NGINX_LISTEN_H2
        server_name localhost;
        location / {
            flash_throttle zone=sale hold=1m;
            proxy_pass http://till;
        }
    }
--- config
    location / {
        flash_throttle zone=sale hold=1m;
        proxy_pass http://till;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my ($till, $one, $first) = busy_till('/checkout');
    my $two = shopper;
    my $pid;
    my $held = hold_at_edge($two, sub { (my $out, $pid) = h2_request($two, '/checkout'); $out });

    kill 'TERM', $pid;
    wait_until('nobody held', sub { !status_of('sale', 'localhost')->{held} });
    is(status_of('sale', 'localhost')->{left}, 1, 'left: 1');
    close $held;
    serve($till);



=== TEST 10: a held POST keeps its body
--- http_config
    flash_throttle_zone $server_name zone=sale:1m inflight=1;
    server {
        listen unix:$TEST_NGINX_HTML_DIR/body.sock;
        location / {
            return 200 "$content_length";
        }
    }
--- config
    location / {
        flash_throttle zone=sale hold=1m;
        proxy_pass http://till;
    }
    location /post {
        flash_throttle zone=sale hold=1m;
        lingering_timeout 50ms;
        proxy_pass http://unix:$TEST_NGINX_HTML_DIR/body.sock:;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my ($till, $one, $first) = busy_till('/checkout');
    my $two = shopper;
    my $socket = hold_at_edge($two, sub {
        return $two->request('POST', '/post', Wait => 0, 'Content-Length' => 100000);
    });

    print $socket 'x' x 100000;
    serve($till);

    my $response = $two->answer($socket);

    is($response->status, 200, 'admitted');
    is($response->body, '100000', 'with all of its body');



=== TEST 11: a worker that exits admits its held requests first
--- http_config
    flash_throttle_zone $server_name zone=sale:1m inflight=1;
--- config
    location / {
        flash_throttle zone=sale hold=1m;
        proxy_pass http://till;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my ($till, $one, $first) = busy_till('/checkout');
    my $two = shopper;

    my $second = hold_at_edge($two, '/checkout');
    my @old = worker_pids;

    nginx_signal('HUP');
    wait_until('new workers', sub { worker_pids() > @old });

    serve($till);
    serve($till);
    is($one->answer($first)->status, 200, 'the first one is served');
    is($two->answer($second)->status, 200, 'and the held one');
    wait_until('the end of the old worker', sub { worker_pids() == @old });



=== TEST 12: a client leaves the hold, and a slow post_action follows
--- http_config
    flash_throttle_zone $server_name zone=sale:1m inflight=1;
--- config
    location / {
        flash_throttle zone=sale hold=1m;
        proxy_pass http://till;
        post_action /after;
    }
    location /after {
        # of whoever was decided
        if ($flash_throttle_status) {
            return 204;
        }
        proxy_pass http://till;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my ($till, $one, $first) = busy_till('/checkout');

    close hold_at_edge(shopper, '/checkout');

    wait_until('its end', sub { !status_of('sale', 'localhost')->{held} });
    is(status_of('sale', 'localhost')->{left}, 1, 'left: 1');

    like(serve($till), qr{^GET /checkout }, 'the admitted one');
    $one->answer($first);
    wait_until('the end', sub { !status_of('sale', 'localhost')->{inflight} });

    is(status_of('sale', 'localhost')->{admitted}, 1, 'the one who left was not admitted');
    like(serve($till), qr{^GET /after }, 'a request after it');
