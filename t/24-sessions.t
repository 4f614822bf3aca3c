# The bound on passes alive: over workers, over reloads, and how it is freed.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use Sale;

Test::Nginx::Util::workers(3);
no_root_location();
run_tests();

__DATA__

=== TEST 1: as many passes as the bound says, over workers and a reload
--- http_config
    flash_throttle_zone $server_name zone=sale:1m sessions=5;
--- config
    location / {
        flash_throttle zone=sale policy=reject;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my @in = map { shopper } 1 .. 5;

    is($_->get('/checkout')->status, 200, 'let in') for @in;
    is(shopper->get('/checkout')->status, 503, 'not the sixth') for 1 .. 5;
    is($_->get('/checkout')->status, 200, 'a pass takes no other place') for @in;

    my $sale = status_of('sale', 'localhost');

    is($sale->{sessions}, 5, 'the status says so');
    is($sale->{admitted}, 5, 'none was let in twice');
    is(shopper->get('/throttle')->json->{zones}{sale}{sessions_max}, 5, 'and the bound');

    # a longer session, and room for two more

    reload('sessions=5' => 'sessions=7', 'policy=reject;' => 'policy=reject; flash_throttle_session 1h;');

    is(shopper->get('/checkout')->status, 200, 'two more') for 1 .. 2;
    is(shopper->get('/checkout')->status, 503, 'and no third') for 1 .. 3;
    is(status_of('sale', 'localhost')->{sessions}, 7, 'seven are alive');



=== TEST 2: a place is free when its pass ends
--- http_config
    flash_throttle_zone $server_name zone=sale:1m sessions=1;
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
    my $first = shopper;
    my $began = time;

    is($first->get('/checkout')->status, 200, 'let in');

    my $next = shopper;

    is($next->get('/checkout')->status, 503, 'the next one waits');

    wait_until('its turn', sub { $next->get('/checkout')->status == 200 });
    cmp_ok(time - $began, '>=', 1.9, 'not before the pass has ended');

    my $again = $first->get('/checkout');

    is($again->status, 503, 'whose holder begins anew');
    is(status_of('sale', 'localhost')->{sessions}, 1, 'one at a time');



=== TEST 3: with a rate beside it, whichever is less
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m burst=2 sessions=10;
    flash_throttle_zone $server_name zone=few:1m rate=100r/s burst=50 sessions=2;
--- config
    location /a {
        flash_throttle zone=sale policy=reject;
        proxy_pass http://upstream;
    }
    location /b {
        flash_throttle zone=few policy=reject;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    is(join(' ', map { shopper->get('/a')->status } 1 .. 4), '200 200 503 503', 'the rate');
    is(status_of('sale', 'localhost')->{sessions}, 2, 'who was refused has no pass');
    is(join(' ', map { shopper->get('/b')->status } 1 .. 4), '200 200 503 503', 'the bound');



=== TEST 4: a look at the door takes no place, and sees that there is none
--- http_config
    flash_throttle_zone $server_name zone=sale:1m sessions=1;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    is(shopper->head('/checkout')->status, 200, 'room');
    is(status_of('sale', 'localhost')->{sessions} // 0, 0, 'still');
    is(shopper->get('/checkout')->status, 200, 'let in');
    is(shopper->head('/checkout')->status, 503, 'none');
