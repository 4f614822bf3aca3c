# A ticket admits one shopper once.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use Sale;


# Returns an admitted shopper and the ticket that it waited with.
sub admitted {
    my ($uri) = @_;

    my $shopper = shopper;

    shopper->get($uri);
    $shopper->get($uri);

    my $ticket = $shopper->ticket;

    wait_for_admission($shopper, $uri);

    return ($shopper, $ticket);
}

no_root_location();
run_tests();

__DATA__

=== TEST 1: other tabs, and a lost response, get the same pass
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=2r/s burst=1;
    log_format again '$http_x_name $flash_throttle_status $flash_throttle_id';
--- config
    access_log logs/again.log again;
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location /throttle {
        access_log off;
        flash_throttle_status;
    }
--- shop
    my ($shopper, $ticket) = admitted('/checkout');
    my %cookie = (Cookie => "flash_throttle_sale=$ticket");

    is($shopper->get('/checkout', 'X-Name' => 'first')->status, 200, 'the pass');

    my ($id) = log_line('again.log', '^first ') =~ /^first PASSED (\w{16})$/;
    ok($id, 'has an id');

    for my $tab (1 .. 5) {
        my $other = shopper('X-Name' => "tab$tab");

        is($other->get('/checkout', %cookie)->status, 200, "tab $tab is let in");
        like(log_line('again.log', "^tab$tab "), qr/ PASSED $id$/, 'as the same shopper');
        is($other->get('/checkout')->status, 200, 'and has a pass');
    }

    is(status_of('sale', 'localhost')->{admitted}, 2, 'admitted once');



=== TEST 2: a poll without cookies
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=2r/s burst=1;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my (undef, $ticket) = admitted('/checkout');
    my $json = shopper->poll('/checkout', 'Flash-Throttle-Ticket' => $ticket)->json;

    is($json->{status}, 'admitted', 'status');
    isnt($json->{ticket}, $ticket, 'gets the pass');

    my $response = shopper->get('/checkout', 'Flash-Throttle-Ticket' => $json->{ticket});

    is($response->status, 200, 'which is a pass');
    is($response->header('Set-Cookie'), undef, 'no new cookie');
    is(status_of('sale', 'localhost')->{admitted}, 2, 'admitted once');



=== TEST 3: a ticket whose pass has ended is a first attempt
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=2r/s burst=1;
--- config
    location / {
        flash_throttle zone=sale;
        flash_throttle_session 2s;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my ($shopper, $ticket) = admitted('/checkout');
    my $first = $shopper->poll('/checkout')->json->{first_attempt_ms};

    my $json = wait_until('the end of the pass', sub {
        my $json = shopper->poll('/checkout', Cookie => "flash_throttle_sale=$ticket")->json;

        return $json->{first_attempt_ms} == $first ? undef : $json;
    });

    # the end that the pass had is known to the second
    cmp_ok($json->{first_attempt_ms}, '>', $first + 1000, 'a new first attempt');



=== TEST 4: requests are counted once, as in the log
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=2r/s burst=1;
    log_format status '$flash_throttle_status';
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
    my ($shopper, $ticket) = admitted('/checkout');
    my %cookie = (Cookie => "flash_throttle_sale=$ticket");

    $shopper->get('/checkout');
    $shopper->poll('/checkout');
    shopper->get('/checkout', %cookie);
    shopper->poll('/checkout', %cookie);

    open my $in, '<', "$Test::Nginx::Util::ServRoot/logs/status.log" or die "status.log: $!";
    my %n = (PASSED => 0, ADMITTED => 0, QUEUED => 0);
    chomp, $n{$_}++ for <$in>;

    my $sale = status_of('sale', 'localhost');

    is($n{PASSED}, 4, 'four with a pass, two of them polls');
    is($sale->{passed}, $n{PASSED}, 'passed');
    is($sale->{admitted}, $n{ADMITTED}, 'admitted');
    is($sale->{queued}, $n{QUEUED}, 'queued');
    is($sale->{first_attempts} + $sale->{polls}, $n{ADMITTED} + $n{QUEUED}, 'no more polls');
    is($sale->{done}, 3, 'three at the upstream');
