# Polls: decided as other requests are, and not sent to the upstream.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use Sale;

no_root_location();
run_tests();

__DATA__

=== TEST 1: an admitted poll does not reach the upstream
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    my $shopper = shopper;
    my $response = $shopper->poll('/checkout');

    is($response->status, 200, 'admitted');
    is($response->header('Content-Type'), 'application/json', 'told so in JSON');
    is($response->json->{status}, 'admitted', 'admitted');
    is($response->json->{ticket}, $shopper->ticket, 'with the pass');
    is($response->header('Cache-Control'), 'no-store', 'not stored');
    is($response->header('Retry-After'), undef, 'nothing to retry');
    is(scalar(hits), 0, 'the upstream is not asked');

    is($shopper->get('/checkout')->status, 200, 'then the page is asked for');
    is(scalar(hits), 1, 'once');



=== TEST 2: a poll that is queued
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    shopper->get('/checkout');

    my $response = shopper(Accept => 'text/html')->poll('/checkout');

    is($response->status, 503, 'waits');
    is($response->json->{status}, 'queued', 'JSON, whatever it accepts');
    is(scalar(hits), 1, 'one request at the upstream');



=== TEST 3: polling does not renew a pass
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        flash_throttle_session 1s;
        proxy_pass http://upstream;
    }
--- shop
    my $shopper = shopper;
    my $begin = time;
    $shopper->get('/checkout');

    wait_until('the end of the pass', sub {
        my $response = $shopper->poll('/checkout');

        return 1 if $response->status == 503;

        is($response->header('Set-Cookie'), undef, 'no new pass') if time < $begin + 0.9;
        sleep 0.1;
        return;
    });

    cmp_ok(time - $begin, '>=', 1, 'not before its time');
    cmp_ok(time - $begin, '<', 5, 'and not much later');



=== TEST 4: only "1" makes a poll
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m burst=9;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    for my $value ('0', '', '11', 'yes') {
        is(shopper->get('/checkout', 'Flash-Throttle-Poll' => $value)->body, "checkout GET\n", "\"$value\"");
    }



=== TEST 5: a bypassed poll does not reach the upstream
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        flash_throttle_bypass $arg_staff;
        proxy_pass http://upstream;
    }
--- shop
    is(shopper->poll('/checkout?staff=1')->json->{status}, 'admitted', 'admitted');
    is(scalar(hits), 0, 'the upstream is not asked');



=== TEST 6: JSON or a page, by Accept
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    shopper->get('/checkout');

    my %accept = (
        'application/json'                                       => 'application/json',
        'APPLICATION/JSON'                                       => 'application/json',
        'application/json, text/plain, */*'                      => 'application/json',
        'application/*'                                          => 'application/json',
        'text/html;q=0.5, application/json'                      => 'application/json',
        'text/html;q=0.8, application/json;q=0.801'              => 'application/json',
        'text/html;q=0, */*'                                     => 'application/json',
        'application/json;q=0.2'                                 => 'application/json',
        'application/json;v=1 ; q=0.2 , text/plain'              => 'application/json',
        'text/html'                                              => 'text/html; charset=utf-8',
        'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
                                                                 => 'text/html; charset=utf-8',
        '*/*'                                                    => 'text/html; charset=utf-8',
        'application/json, text/html'                            => 'text/html; charset=utf-8',
        'application/json;q=0, */*'                              => 'text/html; charset=utf-8',
        'application/json;q=2, text/html'                        => 'text/html; charset=utf-8',
        'application/json;q=0.0000001, text/html;q=0.1'          => 'text/html; charset=utf-8',
        'application/jsonx'                                      => 'text/html; charset=utf-8',
        ',;,q=1;;,'                                              => 'text/html; charset=utf-8',
        ''                                                       => 'text/html; charset=utf-8',
    );

    for my $value (sort keys %accept) {
        is(shopper->get('/checkout', Accept => $value)->header('Content-Type'), $accept{$value}, "\"$value\"");
    }

    is(shopper->get('/checkout', Accept => undef)->header('Content-Type'), 'text/html; charset=utf-8', 'none');

    my $answer = Shopper::raw(port, "GET /checkout HTTP/1.1\r\nHost: localhost\r\nAccept: text/html;q=0.1\r\n"
        . "Accept: application/json\r\nConnection: close\r\n\r\n");

    like($answer, qr{^Content-Type: application/json\r$}m, 'two headers');



=== TEST 7: an early poll gets the same ticket and the remaining retry time
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        flash_throttle_poll min=1s max=50s;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    shopper->get('/checkout');

    my $shopper = shopper;
    $shopper->get('/checkout');

    my $first = $shopper->poll('/checkout')->json;
    my $ticket = $shopper->ticket;

    is($first->{status}, 'queued', 'counted now');
    cmp_ok($first->{retry_ms}, '>', 40_000, 'it is to come back much later');

    for (1 .. 5) {
        my $poll = $shopper->poll('/checkout');

        is($poll->json->{status}, 'queued', 'a poll: queued');
        is($poll->json->{ticket}, $ticket, 'with its ticket as it was');
        is($shopper->ticket, $ticket, 'in the cookie too');
        cmp_ok($poll->json->{retry_ms}, '<=', $first->{retry_ms}, 'told the rest');

        my $page = $shopper->get('/checkout', Accept => 'text/html');

        is($page->status, 503, 'a reload: queued');
        is($shopper->ticket, $ticket, 'with its ticket as it was');
        cmp_ok($page->header('Retry-After') * 1000, '<=', $first->{retry_ms}, 'told the rest');
    }

    my $others = shopper(Cookie => "flash_throttle_sale=$ticket");
    is($others->poll('/checkout')->json->{ticket}, $ticket, 'another tab: the same');
    wait_until('the next tick', sub { status_of('sale', 'localhost')->{waiting} });
    is(status_of('sale', 'localhost')->{waiting}, 1, 'one shopper waits');



=== TEST 8: JSON without a poll: whole seconds as in Retry-After
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    use MIME::Base64 ();

    shopper->get('/checkout');

    # how long the ticket is counted: its bytes 12 to 15
    my $counted = sub {
        my ($json) = @_;

        return unpack 'N', substr MIME::Base64::decode_base64url($json->{ticket}), 12, 4;
    };

    for (1 .. 5) {
        my $shopper = shopper(Accept => 'application/json');

        for my $time ('first', 'second') {
            my $answer = $shopper->get('/checkout');

            is($answer->json->{status}, 'queued', "waits for the $time time");
            cmp_ok($counted->($answer->json), '>', $answer->header('Retry-After') * 1100,
                'and is expected until a while after Retry-After');
        }

        my $polls = shopper->poll('/checkout')->json;
        cmp_ok($counted->($polls), '<', $polls->{retry_ms} * 1.1 + 300, 'a poll is expected to the millisecond');
    }
