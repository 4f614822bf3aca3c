# Tickets: where they are found, and which are valid.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use Sale;
use Ticket;

no_root_location();
run_tests();

__DATA__

=== TEST 1: the cookie at any position
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    my $shopper = shopper;
    $shopper->get('/checkout');
    my $pass = $shopper->ticket;

    my %cookies = (
        'alone'             => "flash_throttle_sale=$pass",
        'first'             => "flash_throttle_sale=$pass; a=1; b=2",
        'in the middle'     => "a=1; flash_throttle_sale=$pass; b=2",
        'last'              => "a=1; b=2; flash_throttle_sale=$pass",
        'without spaces'    => "a=1;flash_throttle_sale=$pass;b=2",
        'with a semicolon'  => "flash_throttle_sale=$pass;",
        'in quotes'         => "a=1; flash_throttle_sale=\"$pass\"",
        'behind a comma'    => "a=1,2; flash_throttle_sale=$pass",
        'behind empty ones' => "; ;a; =b; flash_throttle_sale=$pass",
        'behind near names' => "xflash_throttle_sale=1; flash_throttle_salex=2; flash_throttle_sale=$pass",
        'behind 8 KB'       => 'a=' . 'x' x 7000 . "; flash_throttle_sale=$pass",
    );

    for my $where (sort keys %cookies) {
        is(shopper->get('/checkout', Cookie => $cookies{$where})->status, 200, $where);
    }

    is(shopper->get('/checkout', Cookie => "xflash_throttle_sale=$pass")->status, 503, 'another name');
    is(shopper->get('/checkout', Cookie => "flash_throttle_salex=$pass")->status, 503, 'one more');
    is(shopper->get('/checkout', Cookie => "Flash_Throttle_Sale=$pass")->status, 503, 'names have cases');



=== TEST 2: several Cookie headers
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    my $shopper = shopper;
    $shopper->get('/checkout');
    my $pass = $shopper->ticket;

    for my $lines (["a=1", "flash_throttle_sale=$pass"], ["flash_throttle_sale=$pass", "a=1"]) {
        my $answer = Shopper::raw(port, "GET /checkout HTTP/1.1\r\nHost: localhost\r\n"
            . join('', map { "Cookie: $_\r\n" } @$lines) . "Connection: close\r\n\r\n");

        like($answer, qr{^HTTP/1.1 200 }, "@$lines");
    }



=== TEST 3: HTTP/2 splits cookies
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
--- shop
    my $shopper = shopper;
    $shopper->get('/checkout');
    my $pass = $shopper->ticket;

    my $curl = sub {
        my ($cookie) = @_;

        return `curl -s -o /dev/null -w '%{http_code} %{http_version}' --http2-prior-knowledge --unix-socket $ENV{TEST_NGINX_HTML_DIR}/h2.sock -H 'Cookie: $cookie' http://localhost/checkout`;
    };

    is($curl->("a=1; flash_throttle_sale=$pass; b=2"), '200 2', 'with the pass');
    is($curl->('a=1; b=2'), '503 2', 'without it');



=== TEST 4: an invalid ticket is a first attempt
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    my $shopper = shopper;
    $shopper->get('/checkout');
    my $pass = $shopper->ticket;

    my %forged = (
        'nothing'      => '',
        'a word'       => 'let-me-in',
        'cut short'    => substr($pass, 0, 63),
        'too long'     => $pass . 'A',
        'no base64url' => '!' x 64,
        'padded'       => substr($pass, 0, 62) . '==',
        'zeroes'       => 'A' x 64,
        'bytes'        => "\xff" x 64,
        'very long'    => $pass x 100,
    );

    # every digit counts
    for my $i (0 .. 63) {
        my $digit = substr($pass, $i, 1) eq 'A' ? 'B' : 'A';

        substr(my $other = $pass, $i, 1) = $digit;
        $forged{"another digit at $i"} = $other;
    }

    for my $what (sort keys %forged) {
        my $response = shopper(Accept => 'application/json')
            ->get('/checkout', Cookie => "flash_throttle_sale=$forged{$what}");
        my $age = time - $response->json->{first_attempt_ms} / 1000;

        ok($response->status == 503 && abs($age) < 5, $what) or diag($response->head);
    }



=== TEST 5: a ticket of another zone, key or binding
--- startup_warning
the cookie "place" is used by two zones, "sale" and "other"
--- http_config
    flash_throttle_zone $arg_shop zone=sale:1m rate=1r/m;
    flash_throttle_zone $arg_shop zone=other:1m rate=1r/m;
--- config
    flash_throttle_cookie place;
    location / {
        flash_throttle zone=sale;
        flash_throttle_bind $http_user_agent;
        proxy_pass http://upstream;
    }
    location /other {
        flash_throttle zone=other;
        flash_throttle_bind $http_user_agent;
        proxy_pass http://upstream;
    }
--- shop
    like(error_log, qr/\[warn\] .*the cookie "place" is used by two zones, "sale" and "other", in the server in \S+nginx.conf:\d+/,
         'one cookie for two zones is warned of');

    # nobody else can be let in
    shopper('User-Agent' => 'A')->get($_) for qw( /checkout?shop=b /other?shop=a );

    my $shopper = shopper('User-Agent' => 'A');
    $shopper->get('/checkout?shop=a');

    is($shopper->get('/checkout?shop=a')->status, 200, 'the pass');
    is($shopper->get('/checkout?shop=b', Cookie => 'place=' . $shopper->ticket('place'))->status, 503, 'at another shop');
    is($shopper->get('/other?shop=a', Cookie => 'place=' . $shopper->ticket('place'))->status, 503, 'at another sale');

    my $pass = shopper('User-Agent' => 'A');
    $pass->get('/checkout?shop=c');

    is($pass->get('/checkout?shop=c')->status, 200, 'the pass');
    is($pass->get('/checkout?shop=c', 'User-Agent' => 'B')->status, 503, 'in other hands');



=== TEST 6: a pass is preferred, then the earliest ticket
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    my ($in, $early, $late) = map { shopper(Accept => 'application/json') } 1 .. 3;
    $in->get('/checkout');
    my $first = $early->get('/checkout')->json->{first_attempt_ms};
    sleep 0.005;
    $late->get('/checkout');

    my ($pass, $one, $two) = map { $_->ticket } $in, $early, $late;
    my $get = sub {
        my $cookie = join '; ', map { "flash_throttle_sale=$_" } @_;

        return shopper(Accept => 'application/json')->get('/checkout', Cookie => $cookie);
    };

    is($get->($two, $one, $pass)->status, 200, 'the pass');
    is($get->($two, $one)->json->{first_attempt_ms}, $first, 'the earlier ticket');
    is($get->($one, $two)->json->{first_attempt_ms}, $first, 'in whatever order');

    # of this length, of a later version, by another secret, with another signature
    my $later = 'I' . substr $pass, 1;
    my $other = substr($pass, 0, 2) . ($pass =~ /^..A/ ? 'Q' : 'A') . substr $pass, 3;
    my $forged = substr($pass, 0, 60) . ($pass =~ /AAAA$/ ? 'BBBB' : 'AAAA');

    is($get->(($_) x 90, $pass)->status, 200, "behind 90 like $_") for 'x' x 64, $later, $other, $forged;

    # a line holds so many
    my $behind = sub {
        my ($cookie, $lines) = @_;

        my $line = 'Cookie: ' . join('; ', ("flash_throttle_sale=$cookie") x 90) . "\r\n";

        return Shopper::raw(port, "GET /checkout HTTP/1.1\r\nHost: localhost\r\n" . $line x $lines
            . "Cookie: flash_throttle_sale=$pass\r\nConnection: close\r\n\r\n");
    };

    like($behind->($other, 3), qr{^HTTP/1.1 200 }, 'behind any number that cannot be one');
    like($behind->($forged, 1), qr{^HTTP/1.1 200 }, 'behind a line of forged ones');
    like($behind->($forged, 3), qr{^HTTP/1.1 503 }, 'not behind any number of these');



=== TEST 7: the cookie's name and attributes
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m burst=9;
    flash_throttle_zone $server_name zone=one:1m rate=1r/m burst=9;
--- config
    location /plain {
        flash_throttle zone=sale;
        flash_throttle_cookie place;
        proxy_pass http://upstream;
    }
    location /one {
        flash_throttle zone=one;
        flash_throttle_cookie place "path=/shop; domain=example.com; samesite=none; secure; partitioned";
        flash_throttle_session 90s;
        proxy_pass http://upstream;
    }
    location /each {
        flash_throttle zone=sale;
        flash_throttle_cookie place Domain=example.com SameSite=Strict HttpOnly;
        proxy_pass http://upstream;
    }
    location /host {
        flash_throttle zone=sale;
        flash_throttle_cookie __Host-place Secure;
        proxy_pass http://upstream;
    }
--- shop
    my %attributes = (
        '/plain' => 'Path=/; HttpOnly; SameSite=Lax; Max-Age=600',
        '/one'   => 'Path=/shop; Domain=example.com; HttpOnly; SameSite=none; Secure; Partitioned; Max-Age=90',
        '/each'  => 'Path=/; Domain=example.com; HttpOnly; SameSite=Strict; Max-Age=600',
        '/host'  => 'Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=600',
    );

    for my $uri (sort keys %attributes) {
        like(shopper->get($uri)->header('Set-Cookie'), qr/place=[\w-]{64}; $attributes{$uri}$/, $uri);
    }



=== TEST 8: Secure on TLS
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m burst=9;
    server {
        listen unix:$TEST_NGINX_HTML_DIR/tls.sock ssl;
        server_name localhost;
        ssl_certificate     $TEST_NGINX_HTML_DIR/cert.pem;
        ssl_certificate_key $TEST_NGINX_HTML_DIR/key.pem;
        location / {
            flash_throttle zone=sale;
            proxy_pass http://upstream;
        }
        location /set {
            flash_throttle zone=sale;
            flash_throttle_cookie place Secure;
            proxy_pass http://upstream;
        }
    }
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- user_files eval
my $pair = `openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout /dev/stdout 2>/dev/null`;
my ($key) = $pair =~ /(-----BEGIN PRIVATE.*END PRIVATE KEY-----)/s;
my ($cert) = $pair =~ /(-----BEGIN CERT.*END CERTIFICATE-----)/s;
">>> key.pem\n$key\n>>> cert.pem\n$cert\n"
--- shop
    my $curl = sub {
        return `curl -ksi --unix-socket $ENV{TEST_NGINX_HTML_DIR}/tls.sock https://localhost$_[0]`;
    };

    like($curl->('/checkout'), qr/^set-cookie: .*; SameSite=Lax; Max-Age=600; Secure\r$/mi, 'added');
    like($curl->('/set'), qr/^set-cookie: .*; SameSite=Lax; Secure; Max-Age=600\r$/mi, 'once');
    unlike(shopper->get('/checkout')->header('Set-Cookie'), qr/Secure/, 'not without TLS');



=== TEST 9: two sales on one host need two cookies
--- http_config
    flash_throttle_zone $server_name zone=shoes:1m rate=1r/m;
    flash_throttle_zone $server_name zone=shirts:1m rate=1r/m;
--- config
    location /shoes {
        flash_throttle zone=shoes;
        proxy_pass http://upstream;
    }
    location /shirts {
        flash_throttle zone=shirts;
        proxy_pass http://upstream;
    }
--- shop
    my $shopper = shopper;

    is($shopper->get('/shoes')->status, 200, 'shoes');
    is($shopper->get('/shirts')->status, 200, 'shirts');
    is($shopper->get('/shoes')->status, 200, 'shoes again');
    is($shopper->get('/shirts')->status, 200, 'shirts again');
    is(join(' ', sort keys %{ $shopper->{jar} }), 'flash_throttle_shirts flash_throttle_shoes', 'two cookies');
    unlike(error_log, qr/is used by two zones/, 'of which nothing is to be said');



=== TEST 10: all secrets verify, the first signs
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    my $shopper = shopper;
    my $file = "$ENV{TEST_NGINX_HTML_DIR}/secret";
    my $write = sub {
        open my $out, '>', $file or die;
        print $out @_;
        close $out;
    };

    is($shopper->get('/checkout')->status, 200, 'signed with the old secret');

    $write->("# new\nanother secret for tests\r\n\n", "a secret for tests, and for nothing else\n");
    reload();

    is($shopper->get('/checkout')->status, 200, 'verified with it while it is there');

    my $late = shopper(Accept => 'application/json');
    my $first = $late->get('/checkout')->json->{first_attempt_ms};

    $write->("another secret for tests");
    reload();

    is($shopper->get('/checkout')->status, 503, 'not any longer');
    is($late->get('/checkout')->json->{first_attempt_ms}, $first, 'the new one signed in the meantime');



=== TEST 11: without a file the secret survives a reload
--- no_secret
--- startup_warning
no "flash_throttle_secret_file" is set
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    my $shopper = shopper;

    is($shopper->get('/checkout')->status, 200, 'admitted');
    reload();
    is($shopper->get('/checkout')->status, 200, 'still in');



=== TEST 12: tickets that are too old or too new
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    shopper->get('/checkout');

    my $now = int(time * 1000);
    my %of = (secret => Sale::secret(), zone => 'sale', key => 'localhost');
    my $hour = 3600 * 1000;

    # whether the stamp was taken for a first attempt
    my $is_first = sub {
        my ($name, %ticket) = @_;

        my $json = shopper(Accept => 'application/json')->get('/checkout',
            Cookie => 'flash_throttle_sale=' . Ticket::sign(%of, %ticket))->json;

        return abs($json->{first_attempt_ms} - $ticket{first_ms}) > 0;
    };

    ok(!$is_first->('a', first_ms => $now - 1000), 'a second ago');
    ok(!$is_first->('b', first_ms => $now - 23 * $hour), '23 hours ago');
    ok($is_first->('c', first_ms => $now - 25 * $hour), 'not 25 hours ago');
    ok(!$is_first->('d', first_ms => $now + 2000), 'a small skew');
    ok($is_first->('e', first_ms => $now + 60000), 'not a minute ahead');
    ok($is_first->('f', first_ms => $now - 1000, zone => 'other'), 'not of another zone');
    ok($is_first->('g', first_ms => $now - 1000, key => 'shop'), 'nor of another key');
    ok($is_first->('h', first_ms => $now - 1000, bind => 'x'), 'nor bound to anything');
    ok($is_first->('i', first_ms => $now - 1000, secret => 'some other secret'), 'nor of another secret');

    my $get = sub {
        return shopper->get('/checkout',
            Cookie => 'flash_throttle_sale=' . Ticket::sign(%of, kind => 'pass', @_))->status;
    };

    is($get->(first_ms => $now - $hour, due_ms => $now + $hour), 200, 'a pass');
    is($get->(first_ms => $now - 30 * $hour, seen_ms => $now - 23 * $hour, due_ms => $now + $hour), 200,
       'a pass after a long wait');
    is($get->(first_ms => $now - $hour, due_ms => $now - 1), 503, 'not one that has ended');



=== TEST 13: a timestamp from an edge whose clock is ahead
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m burst=2;
    log_format waited '$request_uri $flash_throttle_status waited=$flash_throttle_waited';
--- config
    access_log logs/waited.log waited;
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    my $ticket = Ticket::sign(secret => Sale::secret(), zone => 'sale', key => 'localhost',
        first_ms => int(time * 1000) + 3000);
    my $shopper = shopper;

    is($shopper->get('/admitted', Cookie => "flash_throttle_sale=$ticket")->status, 200, 'is admitted');
    is($shopper->get('/passed')->status, 200, 'its pass is good');

    like(log_line('waited.log', $_), qr/waited=0\.000$/, "$_ waited for nothing") for qw( ADMITTED PASSED );



=== TEST 14: of two tickets of one shopper the latest version
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        flash_throttle_poll min=1s max=50s;
        proxy_pass http://upstream;
    }
--- shop
    shopper->get('/checkout');

    my $shopper = shopper(Accept => 'application/json');
    $shopper->get('/checkout');
    my $old = $shopper->ticket;

    sleep 0.005;
    $shopper->get('/checkout');
    my $new = $shopper->ticket;

    isnt($old, $new, 'two tickets');

    # an attribute of the cookie has changed, or a client keeps both

    for ("$old; flash_throttle_sale=$new", "$new; flash_throttle_sale=$old") {
        my $both = shopper(Accept => 'application/json', Cookie => "flash_throttle_sale=$_");
        is($both->get('/checkout')->json->{ticket}, $new, 'in two cookies');
    }

    my $both = shopper(Accept => 'application/json', Cookie => "flash_throttle_sale=$old",
                       'Flash-Throttle-Ticket' => $new);
    is($both->get('/checkout')->json->{ticket}, $new, 'in a cookie and a header');
