# Before the opening everybody waits in a pre-queue without an order; at the
# opening they stand in the order that was drawn, and later ones behind them.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use Digest::SHA 'hmac_sha256';
use POSIX 'strftime';
use Sale;
use Ticket;

sub rfc3339 {
    my ($ms) = @_;

    return strftime('%Y-%m-%dT%H:%M:%S', gmtime int($ms / 1000)) . sprintf '.%03dZ', $ms % 1000;
}

# lot(opens_ms, id): the number that is drawn, as text that sorts
sub lot {
    my ($opens_ms, $id) = @_;

    my ($zone, $key) = qw( sale localhost );

    return unpack 'H16', hmac_sha256('flash_throttle draw' . pack('Q>', $opens_ms) . pack('H16', $id)
        . pack('n n', length $zone, length $key) . $zone . $key, Sale::secret());
}

# opens_in(seconds): moves the opening there; when it is, ms
sub opens_in {
    my ($s) = @_;

    my $at = int((time + $s) * 1000);

    reload('2999-01-01T00:00:00Z' => rfc3339($at));

    return $at;
}

no_root_location();
run_tests();

__DATA__

=== TEST 1: what is answered before the opening
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=10r/s;
--- config
    flash_throttle_opens 2999-01-01T01:00:00+01:00;
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
        add_header X-Status "$flash_throttle_status $flash_throttle_id $flash_throttle_first_attempt" always;
        add_header X-Empty "[$flash_throttle_position$flash_throttle_wait$flash_throttle_waited]" always;
        add_header X-Retry "$flash_throttle_retry" always;
    }
--- shop
    my $in = shopper();
    my $page = $in->get('/checkout');

    is($page->status, 503, 'the queue status');
    like($page->header('Retry-After'), qr/^[1-9]\d*$/, 'Retry-After');
    is($page->header('Refresh'), $page->header('Retry-After'), 'Refresh');
    is($page->header('Cache-Control'), 'no-store', 'not stored');
    like($page->header('Content-Type'), qr{^text/html}, 'a page');
    like($page->body, qr/data-ft=left/, 'with a countdown');
    like($page->header('Set-Cookie'), qr/^flash_throttle_sale=[\w-]{64};/, 'the ticket');

    my ($status, $id, $first) = split ' ', $page->header('X-Status');
    is($status, 'CLOSED', '$flash_throttle_status');
    like($id, qr/^[0-9a-f]{16}$/, '$flash_throttle_id');
    cmp_ok(abs($first - time), '<', 5, '$flash_throttle_first_attempt');
    is($page->header('X-Empty'), '[]', 'no position, no wait');
    like($page->header('X-Retry'), qr/^\d+\.\d{3}$/, '$flash_throttle_retry');

    my $answer = $in->poll('/checkout');
    my $json = $answer->json;

    is($answer->status, 503, 'the poll: the queue status');
    is(join(' ', sort keys %$json), 'first_attempt_ms opens_ms retry_ms status ticket', 'nothing else in the JSON');
    is($json->{status}, 'closed', 'closed');
    is($json->{opens_ms}, 32472144000000, 'opens_ms');
    is(sprintf('%.3f', $json->{first_attempt_ms} / 1000), $first, 'the first attempt stays');
    cmp_ok($json->{retry_ms}, '<=', 15000, 'retry_ms');
    cmp_ok($json->{retry_ms}, '>=', 10000, 'it polls rarely');
    is($json->{ticket}, $in->ticket, 'the ticket');

    for my $method (qw( POST HEAD PUT )) {
        my $r = $in->request($method, '/checkout', $method eq 'HEAD' ? () : (Body => 'a=1'));
        is($r->status, 503, "$method: closed");
        is($r->body, '', 'no body') if $method eq 'HEAD';
    }

    is(shopper()->head('/checkout')->status, 503, 'a first HEAD: closed');
    is(join('', hits()), '', 'nothing reached the upstream');



=== TEST 2: who passes before the opening
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=10r/s;
    flash_throttle_zone $server_name zone=past:1m rate=10r/s;
--- config
    flash_throttle_opens 2999-01-01T00:00:00Z;
    location / {
        flash_throttle zone=sale;
        flash_throttle_bypass $http_staff;
        proxy_pass http://upstream;
        add_header X-Status $flash_throttle_status always;
    }
    location /open {
        flash_throttle zone=sale;
        flash_throttle_opens off;
        proxy_pass http://upstream;
    }
    location /past {
        flash_throttle zone=past;
        flash_throttle_opens 2001-01-01T00:00:00Z;
        proxy_pass http://upstream;
    }
    location /dry {
        flash_throttle zone=sale;
        flash_throttle_dry_run on;
        proxy_pass http://upstream;
        add_header X-Status $flash_throttle_status always;
    }
--- shop
    is(shopper()->get('/', Staff => 1)->status, 200, 'bypass');
    is(shopper()->request('OPTIONS', '/', 'Access-Control-Request-Method' => 'POST')->status, 200, 'a preflight');

    my $dry = shopper()->get('/dry');
    is($dry->status, 200, 'a dry run');
    is($dry->header('X-Status'), 'CLOSED_DRY_RUN', 'and its status');

    my $in = shopper();
    is($in->get('/open')->status, 200, 'a place without an opening');
    my $again = $in->get('/');
    is($again->status, 200, 'a valid pass goes everywhere');
    is($again->header('X-Status'), 'PASSED', 'as a pass');

    is(shopper()->get('/past')->status, 200, 'an opening that is past');
    is(shopper()->get('/')->status, 503, 'another: closed');



=== TEST 3: other policies open at the same time
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=10r/s;
    flash_throttle_zone $server_name zone=other:1m rate=10r/s;
--- config
    flash_throttle_opens 2999-01-01T00:00:00Z;
    location /lottery {
        flash_throttle zone=sale policy=lottery;
        flash_throttle_queue_status 429;
        proxy_pass http://upstream;
    }
    location /reject {
        flash_throttle zone=other policy=reject;
        proxy_pass http://upstream;
    }
--- shop
    my ($one, $two) = (shopper(), shopper());
    my $answer = $one->poll('/lottery');

    is($answer->status, 429, 'the lottery: the queue status');
    is($answer->json->{status}, 'closed', 'the lottery is closed');
    is($two->poll('/reject')->json->{status}, 'closed', 'the other, too');

    opens_in(0);

    is($one->get('/lottery')->status, 200, 'open');
    is($two->get('/reject')->status, 200, 'open');



=== TEST 4: 50 in the pre-queue, in the order that was drawn; later ones behind
--- http_config
    log_format lot '$flash_throttle_status $flash_throttle_id $flash_throttle_first_attempt $msec';
    flash_throttle_zone $server_name zone=sale:1m rate=25r/s burst=1;
--- config
    location / {
        flash_throttle zone=sale;
        flash_throttle_opens 2999-01-01T00:00:00Z;
        proxy_pass http://upstream;
        access_log logs/lot.log lot;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my @shoppers = map { { s => shopper(), due => 0 } } 1 .. 50;
    my ($early, $largest) = (0, 0);

    # all are there before it is known when it opens, however long that takes
    $_->{first} = $_->{s}->poll('/checkout')->json->{first_attempt_ms} for @shoppers;

    my $opens_ms = opens_in(5);

    my $hears = sub {
        my ($who) = @_;

        my $json = $who->{s}->answer(delete $who->{socket})->json;
        my $now = time;

        $who->{first} //= $json->{first_attempt_ms};
        $who->{moved} = 1 if $json->{first_attempt_ms} != $who->{first};
        $who->{in} = 1 if $json->{status} eq 'admitted';
        $who->{due} = $now + ($json->{retry_ms} // 0) / 1000;

        if ($json->{status} eq 'closed') {
            $largest = $json->{retry_ms} if $json->{retry_ms} > $largest;

        } elsif ($now * 1000 < $opens_ms) {
            $early++;
        }
    };

    my $step = sub {
        for (@shoppers) {
            $_->{socket} = $_->{s}->request('GET', '/checkout', 'Flash-Throttle-Poll' => 1, Wait => 0)
                if !$_->{in} && !$_->{socket} && $_->{due} <= time;
        }

        my $select = IO::Select->new(map { $_->{socket} // () } @shoppers);
        my %ready = map { $_ => 1 } $select->can_read(0.01);

        $hears->($_) for grep { $_->{socket} && $ready{ $_->{socket} } } @shoppers;

        return !grep { !$_->{in} } @shoppers;
    };

    # the later ones come half a second after the opening
    wait_until('the opening', sub { $step->(); time * 1000 > $opens_ms + 500 });
    push @shoppers, map { { s => shopper(), due => 0 } } 1 .. 10;
    wait_until('everybody to be let in', $step);

    is($early, 0, 'nobody was let in before');
    is(scalar(grep { $_->{moved} } @shoppers), 0, 'all keep their first attempt');
    cmp_ok($largest, '<=', 5500, 'advised to come back at the opening');

    log_line('lot.log', 'ADMITTED');
    my @admitted = map { { id => $_->[1], first => $_->[2] * 1000 } }
        grep { $_->[0] eq 'ADMITTED' } map { [split] } Sale::lines_of('lot.log');

    is(scalar @admitted, 60, 'all were let in');

    my @before = grep { $_->{first} < $opens_ms } @admitted;
    is(scalar @before, 50, 'fifty of them from the pre-queue');

    # Kendall's tau of the lots as computed here and the order of admission
    my @lots = map { lot($opens_ms, $_->{id}) } @before;
    my ($sum, $pairs) = (0, 0);

    for my $i (0 .. $#lots) {
        for my $j (0 .. $i - 1) {
            $pairs++;
            $sum += $lots[$j] lt $lots[$i] ? 1 : -1;
        }
    }

    # not exactly: called shoppers come back within half a second, in any order
    cmp_ok($sum / $pairs, '>', 0.7, 'the order of admission is the shuffled one');

    # a shopper of the pre-queue whose poll is late is admitted late
    my ($later) = grep { $admitted[$_]{first} >= $opens_ms } 0 .. $#admitted;
    cmp_ok($later, '>=', 40, 'the pre-queue is admitted before later shoppers');
--- timeout: 60



=== TEST 5: the same ticket over reloads of the page and of nginx
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=10r/s;
--- config
    location / {
        flash_throttle zone=sale;
        flash_throttle_opens 2999-01-01T00:00:00Z;
        proxy_pass http://upstream;
        add_header X-Id $flash_throttle_id always;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my $in = shopper();
    my $id = $in->get('/')->header('X-Id');

    for (1 .. 3) {
        is($in->get('/')->header('X-Id'), $id, 'the same ticket');
    }

    reload('rate=10r/s' => 'rate=11r/s');
    is($in->get('/')->header('X-Id'), $id, 'over a reload, too');

    # one with many first attempts has one place: that of the ticket it keeps
    shopper()->get('/') for 1 .. 20;
    wait_until('one who waits', sub { shopper()->get('/'); status_of('sale', 'localhost')->{waiting} == 1 });



=== TEST 6: an opening that is moved, and removed
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=10r/s;
--- config
    location / {
        flash_throttle zone=sale;
        flash_throttle_opens 2999-01-01T00:00:00Z;
        proxy_pass http://upstream;
    }
--- shop
    my $in = shopper();
    $in->poll('/');
    is($in->poll('/')->json->{status}, 'closed', 'closed');

    reload('2999-01-01T00:00:00Z' => '2998-01-01T00:00:00Z');
    is($in->poll('/')->json->{opens_ms}, 32440608000000, 'brought forward');

    reload('2998-01-01T00:00:00Z' => '2999-01-01T00:00:00Z');
    is($in->poll('/')->json->{opens_ms}, 32472144000000, 'put off');

    reload('flash_throttle_opens 2999-01-01T00:00:00Z;' => '');
    is(wait_for_admission($in, '/')->json->{status}, 'admitted', 'removed: it is let in');



=== TEST 7: a server's opening is its locations', unless they have their own
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=10r/s;
    flash_throttle_zone $server_name zone=own:1m rate=10r/s;
    flash_throttle_opens 2999-01-01T00:00:00.001Z;
--- config
    flash_throttle_opens 2999-01-01T00:00:00.002Z;
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location /own {
        flash_throttle zone=own;
        flash_throttle_opens 2999-01-01T00:00:00.003Z;
        proxy_pass http://upstream;
    }
--- shop
    is(shopper()->poll('/')->json->{opens_ms}, 32472144000002, 'the server\'s');
    is(shopper()->poll('/own')->json->{opens_ms}, 32472144000003, 'its own');



=== TEST 8: opened by an order, and closed again when it is taken back
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=10r/s;
--- config
    location / {
        flash_throttle zone=sale;
        flash_throttle_opens 2999-01-01T00:00:00Z;
        proxy_pass http://upstream;
    }
    location /control {
        flash_throttle_control;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my $order = sub {
        return shopper()->request('POST', '/control', 'Content-Type' => 'application/json',
                                  Body => qq({"command":"$_[0]"}))->status;
    };

    my ($in, $late) = (shopper(), shopper());
    $in->poll('/');
    is($in->poll('/')->json->{status}, 'closed', 'closed');

    is($order->('open'), 200, 'the order to open');
    is(wait_for_admission($in, '/')->json->{status}, 'admitted', 'open');
    is(wait_for_admission($late, '/')->json->{status}, 'admitted', 'for latecomers, too');

    is($order->('reset'), 200, 'taken back');
    is($in->get('/')->status, 200, 'a pass stays a pass');
    is(shopper()->poll('/')->json->{status}, 'closed', 'closed again');



=== TEST 9: who has waited for days keeps the ticket
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=10r/s;
--- config
    location / {
        flash_throttle zone=sale;
        flash_throttle_opens 2999-01-01T00:00:00Z;
        proxy_pass http://upstream;
    }
    location /open {
        flash_throttle zone=sale;
        flash_throttle_opens off;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my $first_ms = int((time - 3 * 86400) * 1000);
    my $ticket = Ticket::sign(secret => Sale::secret(), zone => 'sale', key => 'localhost', first_ms => $first_ms);

    my $json = shopper(Cookie => "flash_throttle_sale=$ticket")->poll('/')->json;
    is($json->{first_attempt_ms}, $first_ms, 'the first attempt of three days ago');

    my $open = shopper(Cookie => "flash_throttle_sale=$ticket")->poll('/open')->json;
    cmp_ok($open->{first_attempt_ms}, '>', $first_ms, 'where it is open, a day is the most');
    is(status_of('sale', 'localhost')->{opens_ms}, 32472144000000, 'the stats have the opening of the zone');



=== TEST 10: the figures say when it opens
--- http_config
    flash_throttle_zone $arg_shop zone=sale:1m rate=1000r/s;
    flash_throttle_zone $server_name zone=other:1m rate=1000r/s;
    flash_throttle_zone $arg_shop zone=later:1m rate=1000r/s;
--- config
    location / {
        flash_throttle zone=sale;
        flash_throttle_opens 2199-01-01T00:00:00Z;
        proxy_pass http://upstream;
    }
    location /later {
        flash_throttle zone=later;
        flash_throttle_opens 2199-01-02T00:00:00Z;
        proxy_pass http://upstream;
    }
    location /other {
        flash_throttle zone=other;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
    location /status {
        flash_throttle_status;
    }
    location /control {
        flash_throttle_control;
    }
--- shop
    my $program = ($ENV{BUILD} // 'build') . '/flashctl';
    my $flashctl = "$program -z sale --url http://127.0.0.1:" . port;
    my $in = shopper();

    is($in->poll('/?shop=a')->json->{status}, 'closed', 'before the opening');
    is(shopper->poll('/later?shop=b')->json->{status}, 'closed', 'a zone that opens later');
    is(shopper->get('/other')->status, 200, 'one that has no opening');

    my $figures = status_of('sale', 'a');

    is($figures->{opens_ms}, 7226582400000, 'opens_ms');
    is($figures->{wait_ms}, 0, 'no wait');
    is($figures->{free_capacity_milli}, 0, 'no free capacity');
    is($figures->{threshold_age_ms}, 0, 'nobody is served');
    is(status_of('later', 'b')->{opens_ms}, 7226668800000, 'of each zone its own');
    is(status_of('other', 'localhost')->{opens_ms}, 0, 'it is open');
    like(shopper->get('/throttle?format=prometheus')->body,
        qr/^flash_throttle_opens_timestamp_seconds\{zone="sale",key="a"\} 7226582400\.000$/m, 'as a metric');

    SKIP: {
        -x $program or skip 'flashctl is not built here', 9;

        my $when = qr/opens 2\d{3}-\d\d-\d\dT\d\d:\d\d:00[+-]\d{4}/;

        like(scalar `$flashctl -k a status 2>&1`, qr/^sale  a  \[closed, $when\]\n.*\n  wait +none$/m, 'flashctl');
        like(scalar `$flashctl -k a --count=1 watch 2>&1`, qr/ wait_ms=0, $when$/m, 'as a line');
        like(scalar `$flashctl -k c --new pause 2>&1`, qr/^sale c: paused, $when, rate/, 'a key that nobody has asked for');
        like(scalar `$flashctl -k c status 2>&1`, qr/\[PAUSED, $when\]/, 'paused as well');
        is(status_of('sale', 'c')->{opens_ms}, 7226582400000, 'with the opening of the zone');

        like(scalar `$flashctl -k a open 2>&1`, qr/^sale a: opened, rate/, 'opened by order');
        is(status_of('sale', 'a')->{opens_ms}, 0, 'it is open');
        is(wait_for_admission($in, '/?shop=a')->json->{status}, 'admitted', 'and lets in');
        like(scalar `$flashctl -k a status 2>&1`, qr/^sale  a  \[(open|queueing)\]/, 'flashctl');
    }
