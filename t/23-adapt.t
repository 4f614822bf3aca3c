# Adaptation to the upstream's response times and errors.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use Sale;

sub adapt { status_of('sale', 'localhost') }


# Sends requests one after another; the till answers each when it is told to.
sub buy {
    my ($till, $n, $delay, $status) = @_;

    for (1 .. $n) {
        my $socket = shopper->request('GET', '/checkout', Wait => 0);
        my $client = $till->accept;
        my $head = '';

        1 while $head !~ /\r\n\r\n/ && sysread $client, $head, 4096, length $head;

        sleep $delay;
        print $client "HTTP/1.0 $status\r\nContent-Length: 0\r\n\r\n";
        close $client;
        Shopper::read_all($socket);
    }
}

no_root_location();
run_tests();

__DATA__

=== TEST 1: slow responses reduce the window
--- http_config
    flash_throttle_zone $server_name zone=sale:1m inflight=50;
--- config
    location / {
        flash_throttle zone=sale;
        flash_throttle_adapt target=20ms;
        proxy_pass http://till;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my $till = open_till;

    buy($till, 1, 0, '200 OK');
    is(adapt->{adapt_inflight}, 50, 'starts at the limit');

    wait_until('a smaller window', sub { buy($till, 5, 0.06, '200 OK'); adapt->{adapt_inflight} < 50 });

    my $adapt = adapt;

    cmp_ok($adapt->{answer_ms}, '>', 40, 'the time is that of the answers');
    is($adapt->{answer_errors_milli}, 0, 'no errors');
    cmp_ok($adapt->{adapt_rate_milli}, '<', 50_000 / 0.04, 'and what it lets in');

    # what was learnt survives a reload

    reload('inflight=50' => 'inflight=49');
    cmp_ok(adapt->{adapt_inflight}, '<', 50, 'still smaller');
    cmp_ok(adapt->{answer_ms}, '>', 40, 'still known');



=== TEST 2: 5xx responses reduce the window, 4xx do not
--- http_config
    flash_throttle_zone $server_name zone=sale:1m inflight=50;
--- config
    location / {
        flash_throttle zone=sale policy=reject;
        flash_throttle_adapt target=1s min=2r/s max=1000r/s;
        proxy_pass http://till;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my $till = open_till;

    buy($till, 20, 0.1, '409 Conflict');
    is(adapt->{answer_ms}, 0, '4xx says nothing');

    wait_until('errors', sub {
        my $socket = shopper->request('GET', '/checkout', Wait => 0);

        if (IO::Select->new($till)->can_read(0.05)) {
            my $client = $till->accept;
            my $head = '';

            1 while $head !~ /\r\n\r\n/ && sysread $client, $head, 4096, length $head;
            print $client "HTTP/1.0 500 Error\r\nContent-Length: 0\r\n\r\n";
            close $client;
        }

        Shopper::read_all($socket);
        adapt->{answer_errors_milli} == 1000;
    });

    cmp_ok(adapt->{adapt_rate_milli}, '<=', 700_000, 'less is let in');
    cmp_ok(adapt->{adapt_rate_milli}, '>=', 2000, 'but the least rate');



=== TEST 3: an unreachable upstream is an error, a page of nginx is not counted
--- error_log eval
qr/\[crit\] .* connect\(\) to unix:/
--- http_config
    flash_throttle_zone $server_name zone=sale:1m inflight=50;
--- config
    location / {
        flash_throttle zone=sale;
        flash_throttle_adapt target=1s;
        proxy_pass http://till;
    }
    location /pixel {
        flash_throttle zone=sale;
        flash_throttle_adapt target=1s;
        empty_gif;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    for (1 .. 30) {
        shopper->get('/pixel');
        sleep 0.05;
    }

    is(adapt->{answers_milli}, 0, 'no upstream, no answer');

    wait_until('errors', sub { shopper->get('/checkout'); sleep 0.05; adapt->{answer_errors_milli} == 1000 });
    ok(1, 'no connection is an error');



=== TEST 4: off in a location, and inherited
--- error_log eval
qr/\[crit\] .* connect\(\) to unix:/
--- http_config
    flash_throttle_zone $server_name zone=sale:1m inflight=50;
    flash_throttle_adapt target=1s;
--- config
    flash_throttle zone=sale;
    location / {
        flash_throttle_adapt off;
        proxy_pass http://till;
    }
    location /bought {
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle off;
        flash_throttle_status;
    }
--- shop
    for (1 .. 40) {
        shopper->get('/checkout');
        sleep 0.03;
    }

    is(adapt->{answers_milli}, 0, 'its answers tell nothing');

    wait_until('answers', sub { shopper->get('/bought'); sleep 0.03; adapt->{answers_milli} });
    is(adapt->{answer_errors_milli}, 0, 'those of the other location do');
