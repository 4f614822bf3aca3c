# A request is in flight until its response is complete.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use Sale;

# larger than socket buffers, and not a multiple of a buffer
our $size = 12_345_678;


# Accepts the next request at the till; until it arrives, a client may read.
sub take {
    my ($till, $reader, $text) = @_;

    local $SIG{ALRM} = sub { die "no request at the till\n" };
    alarm($ENV{TEST_NGINX_TIMEOUT} // 10);

    while ($reader && !grep { $_ == $till } IO::Select->new($till, $reader)->can_read) {
        sysread $reader, $$text, 65536, length $$text;
    }

    my $client = $till->accept or die "the till: $!\n";
    my $head = '';
    1 while $head !~ /\r\n\r\n/ && sysread $client, $head, 4096, length $head;

    alarm 0;
    $client->autoflush(1);

    return $client;
}


# Sends a request without reading the response; returns the connection.
sub ask {
    my ($uri, @headers) = @_;

    return shopper->request('GET', $uri, Wait => 0, @headers);
}


sub sale { status_of('sale', 'localhost') }

sub wait_for_end { wait_until('the end in flight', sub { !sale->{inflight} }) }

no_root_location();
run_tests();

__DATA__

=== TEST 1: a slow reader of a response in memory
--- http_config
    flash_throttle_zone $server_name zone=sale:1m inflight=1;
    proxy_buffers 16 1m;
    proxy_busy_buffers_size 2m;
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
    my $slow = ask('/checkout');
    my $upstream = take($till);

    is(sale->{inflight}, 1, 'in flight while the upstream is at work');
    print $upstream "HTTP/1.0 200 OK\r\nContent-Length: $::size\r\n\r\n", 'x' x $::size;
    close $upstream;

    wait_for_end;

    my $next = shopper;
    my $socket = $next->request('GET', '/checkout', Wait => 0);

    serve($till);
    is($next->answer($socket)->status, 200, 'the next one is let in');

    wait_for_end;
    is(sale->{done}, 2, 'both are done');

    my $answer = Shopper::parse(Shopper::read_all($slow));

    is(length $answer->body, $::size, 'the slow one gets all of its answer');
    is(sale->{done}, 2, 'and is not done twice');



=== TEST 2: a slow reader of a response in a file, with and without sendfile or gzip
--- http_config
    flash_throttle_zone $server_name zone=sale:1m inflight=1;
    proxy_buffers 4 4k;
--- config
    location /copied {
        flash_throttle zone=sale;
        sendfile off;
        proxy_pass http://till;
    }
    location /sent {
        flash_throttle zone=sale;
        sendfile on;
        proxy_pass http://till;
    }
    location /compressed {
        flash_throttle zone=sale;
        gzip on;
        gzip_types text/plain;
        gzip_buffers 2 4k;
        proxy_pass http://till;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my $till = open_till;
    my $body = join '', map { pack 'N', rand 2 ** 32 } 1 .. $::size / 4;

    for my $uri (qw( /copied /sent /compressed )) {
        my $slow = ask($uri, 'Accept-Encoding' => 'gzip');
        my $upstream = take($till);

        print $upstream "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n", $body;
        close $upstream;

        wait_until("the end of $uri", sub { !sale->{inflight} });
        cmp_ok(length Shopper::parse(Shopper::read_all($slow))->body, '>=', length $body, "$uri is read");
    }

    is(sale->{done}, 3, 'all are done');



=== TEST 3: a response that the upstream has not completed
--- http_config
    flash_throttle_zone $server_name zone=sale:1m inflight=1;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://till;
    }
    location /unbuffered {
        flash_throttle zone=sale;
        proxy_buffering off;
        proxy_pass http://till;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my $till = open_till;

    for my $uri (qw( /checkout /unbuffered )) {
        my $socket = ask($uri);
        my $upstream = take($till);
        my $text = '';

        print $upstream "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst";

        if ($uri eq '/unbuffered') {
            1 while $text !~ /first$/ && sysread $socket, $text, 4096, length $text;
        }

        is(sale->{inflight}, 1, "$uri is in flight");

        print $upstream 'later';
        close $upstream;
        wait_for_end;

        like($text . Shopper::read_all($socket), qr/firstlater$/, 'then it ends');
    }

    is(sale->{done}, 2, 'both are done');



=== TEST 4: subrequests are a part of the response
--- http_config
    flash_throttle_zone $server_name zone=sale:1m inflight=1;
--- config
    location /ssi.html {
        flash_throttle zone=sale;
        ssi on;
        root html;
    }
    location /added {
        flash_throttle zone=sale;
        addition_types text/plain;
        add_after_body /part;
        proxy_pass http://upstream;
    }
    location /part {
        proxy_pass http://till;
    }
    location /throttle {
        flash_throttle_status;
    }
--- user_files
>>> ssi.html
before <!--#include virtual="/part" --> behind
--- shop
    my $till = open_till;

    for my $uri (qw( /ssi.html /added )) {
        my $shopper = shopper;
        my $socket = $shopper->request('GET', $uri, Wait => 0);
        my $upstream = take($till);

        is(sale->{inflight}, 1, "$uri is in flight during its subrequest");

        print $upstream "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nsold\n";
        close $upstream;
        wait_for_end;

        like($shopper->answer($socket)->body, qr/sold/, 'then it ends');
    }

    is(sale->{done}, 2, 'both are done');



=== TEST 5: slices with a slow reader
--- http_config
    flash_throttle_zone $server_name zone=sale:1m inflight=1;
    proxy_buffers 16 1m;
    proxy_busy_buffers_size 2m;
--- config
    location / {
        flash_throttle zone=sale;
        slice 12345678;
        proxy_set_header Range $slice_range;
        proxy_pass http://till;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my $till = open_till;
    my $slow = ask('/checkout');
    my $all = 2 * $::size;
    my $text = '';

    for my $from (0, $::size) {
        my $upstream = take($till, $slow, \$text);

        is(sale->{inflight}, 1, "in flight from $from on");

        print $upstream "HTTP/1.0 206 Partial Content\r\nContent-Length: $::size\r\n"
            . "Content-Range: bytes $from-" . ($from + $::size - 1) . "/$all\r\n\r\n", 'x' x $::size;
        close $upstream;
    }

    wait_for_end;
    is(length Shopper::parse($text . Shopper::read_all($slow))->body, $all, 'the client gets both');
    is(sale->{done}, 1, 'and is done once');



=== TEST 6: keepalive, responses without a body, failures
--- error_log eval
qr/\[crit\] .* connect\(\) to unix:/
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m burst=9;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location /fails {
        flash_throttle zone=sale;
        proxy_pass http://till;
    }
    location /empty {
        flash_throttle zone=sale;
        error_page 404 =204 /nothing;
        proxy_intercept_errors on;
        proxy_pass http://upstream/gone;
    }
    location /nothing {
        return 204;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my $shopper = shopper;
    my $n = 0;

    my $kept = $shopper->request('GET', '/checkout', Wait => 0, Connection => 'keep-alive');
    sysread $kept, my $text, 4096;
    like($text, qr{^HTTP/1.1 200 }, 'the connection is kept');
    wait_for_end;
    is(sale->{done}, ++$n, 'its request is done');

    is(shopper->get('/fails')->status, 502, 'no upstream');
    wait_for_end;
    is(sale->{done}, ++$n, 'is done');

    is(shopper->get('/empty')->status, 204, 'nothing');
    wait_for_end;
    is(sale->{done}, ++$n, 'is done');

    my $pass = $text =~ /^Set-Cookie: ([^;]+)/m ? $1 : die;
    is($shopper->head('/checkout', Cookie => $pass)->status, 200, 'a head');
    wait_for_end;
    is(sale->{done}, ++$n, 'is done');



=== TEST 7: a held request is admitted when a response is complete
--- http_config
    flash_throttle_zone $server_name zone=sale:1m inflight=1;
    proxy_buffers 16 1m;
    proxy_busy_buffers_size 2m;
--- config
    location / {
        flash_throttle zone=sale hold=1m;
        proxy_pass http://till;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my $till = open_till;
    my $slow = ask('/checkout');
    my $upstream = take($till);

    my $held = shopper;
    my $socket = hold_at_edge($held, '/checkout');

    print $upstream "HTTP/1.0 200 OK\r\nContent-Length: $::size\r\n\r\n", 'x' x $::size;
    close $upstream;

    serve($till);
    is($held->answer($socket)->status, 200, 'admitted');
    is(length Shopper::parse(Shopper::read_all($slow))->body, $::size, 'and the slow one reads on');
