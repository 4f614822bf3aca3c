# The forms of the status: JSON, Prometheus' text, OpenMetrics, the dashboard.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use Sale;
use Metrics;

no_root_location();
run_tests();

__DATA__

=== TEST 1: by Accept, and by an argument
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my %type = (
        json        => 'application/json',
        html        => 'text/html; charset=utf-8',
        prometheus  => 'text/plain; version=0.0.4; charset=utf-8',
        openmetrics => 'application/openmetrics-text; version=1.0.0; charset=utf-8',
    );

    for ([ undef, 'json' ],
         [ '*/*', 'json' ],
         [ 'application/json', 'json' ],
         [ 'application/json, text/plain, */*', 'json' ],
         [ 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'html' ],
         [ 'TEXT/HTML', 'html' ],
         [ 'text/html;q=0.5, application/json', 'json' ],
         [ 'text/plain;version=0.0.4', 'prometheus' ],
         [ 'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,'
           . 'text/plain;version=0.0.4;q=0.5,*/*;q=0.1', 'openmetrics' ],
         [ 'application/openmetrics-text;q=0.2,text/plain;q=0.3', 'prometheus' ],
         [ 'image/png', 'json' ],
         [ 'text/html;q=0', 'json' ])
    {
        my ($accept, $format) = @$_;
        my $response = shopper->get('/throttle', defined $accept ? (Accept => $accept) : ());

        is($response->header('Content-Type'), $type{$format}, ($accept // 'no Accept') . ": $format");
        is($response->header('Vary'), 'Accept', 'varies');
    }

    for my $format (sort keys %type) {
        my $response = shopper->get("/throttle?format=$format", Accept => 'text/html');

        is($response->status, 200, $format);
        is($response->header('Content-Type'), $type{$format}, "... $format by its name");
        is($response->header('Content-Length'), length $response->body, '... of its length');

        my $head = shopper->head("/throttle?format=$format");

        is($head->status, 200, '... HEAD');
        is($head->header('Content-Type'), $type{$format}, '... HEAD has its type');
        is($head->body, '', '... HEAD has no body');
    }

    is(shopper->get('/throttle?format=xml')->status, 400, 'no such format');
    is(shopper->get('/throttle?history=x')->status, 400, 'no such history');
    is(shopper->get('/throttle?history=361')->status, 400, 'nor such a long one');



=== TEST 2: who may keep what
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my $page = shopper->get('/throttle?format=html');
    my $etag = $page->header('ETag');

    is($page->header('Cache-Control'), 'no-cache', 'the dashboard may be kept, and asked for');
    like($etag, qr/^"[0-9a-f]{16}"$/, 'by its tag');

    my $again = shopper->get('/throttle?format=html', 'If-None-Match' => $etag);

    is($again->status, 304, 'not modified');
    is($again->body, '', 'not sent');
    is(shopper->get('/throttle?format=html', 'If-None-Match' => '"other"')->status, 200, 'modified');

    for my $format (qw( json prometheus openmetrics )) {
        my $response = shopper->get("/throttle?format=$format", 'If-None-Match' => '*',
                                    'If-Modified-Since' => 'Thu, 01 Jan 2037 00:00:00 GMT');

        is($response->status, 200, "$format: no conditions");
        is($response->header('Cache-Control'), 'no-store', "$format: not kept");
        is($response->header('ETag'), undef, "$format: no tag");
    }



=== TEST 3: the policy of the dashboard allows its script and its style
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    require Digest::SHA;

    my $page = shopper->get('/throttle?format=html');
    my $policy = $page->header('Content-Security-Policy');

    like($policy, qr/^default-src 'none'; connect-src 'self'; /, 'nothing but its own');

    for my $tag (qw( script style )) {
        my @parts = $page->body =~ m{<$tag>(.*?)</$tag>}sg;

        is(scalar @parts, 1, "one $tag");
        like($policy, qr{$tag-src 'sha256-\Q${\ Digest::SHA::sha256_base64($parts[0])}\E='}, "its $tag");
    }

    unlike($page->body, qr{(?:src|href)=["']?(?:https?:)?//|\@import|url\(}, 'no resource from elsewhere');
    unlike($page->body, qr{\son\w+=|\sstyle=}, 'nothing that the policy forbids');



=== TEST 4: Prometheus' own check finds nothing, and docs/metrics.md has every metric
--- http_config
    flash_throttle_zone $arg_shop zone=sale:1m rate=30r/m inflight=7;
    flash_throttle_zone $server_name zone=other:1m inflight=5;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    shopper->get("/checkout?shop=$_") for qw( a a a b );

    my %told;

    open my $in, '<', 'docs/metrics.md' or die "docs/metrics.md: $!\n";

    while (<$in>) {
        $told{$1} = [ $2, $3, $4 ] if /^\| `(\w+)` \| (\w+) \| (.*?) \| (.*?) \|$/;
    }

    for my $format (qw( prometheus openmetrics )) {
        my $text = shopper->get("/throttle?format=$format")->body;
        my $metrics = Metrics->new($text);
        my %found = map {
            my $m = $metrics->{family}{$_};
            ($_ => [ $m->{type}, join(', ', map { "`$_`" } @{ $m->{labels} }), $m->{help} ]);
        } keys %{ $metrics->{family} };

        is_deeply($metrics->{faults}, [], "$format: well-formed");
        is_deeply(\%found, \%told, "$format: docs/metrics.md has them all, and no other")
            or diag(map { "| `$_` | " . join(' | ', @{ $found{$_} }) . " |\n" } sort keys %found);

        is($text =~ /# EOF\n\z/ ? 1 : 0, $format eq 'openmetrics' ? 1 : 0, "$format: its end");
    }

    SKIP: {
        my $promtool = Metrics::program('promtool')
            or skip 'there is no promtool (scripts/install-deps.sh test)', 1;

        is(Metrics::piped(shopper->get('/throttle?format=prometheus')->body, $promtool, 'check', 'metrics'), '',
           'promtool check metrics');
    }



=== TEST 5: the figures are those of the JSON
--- http_config
    flash_throttle_zone $arg_shop zone=sale:1m rate=30r/m burst=3;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    shopper->get('/checkout?shop=a') for 1 .. 5;
    shopper->get('/checkout?shop=b');

    my $a = shopper->get('/throttle')->json->{zones}{sale}{keys}{a};
    my $metrics = Metrics->new(shopper->get('/throttle?format=prometheus')->body);
    my $value = sub { $metrics->value("flash_throttle_$_[0]", zone => 'sale', key => $_[1] // 'a') };

    is($value->('first_attempts_total'), 5, 'first attempts');
    is($value->('first_attempts_total', 'b'), 1, 'of the other key');
    is($value->('admitted_total'), 3, 'admitted');
    is($value->('queueing'), 1, 'a line');
    is($value->('queueing', 'b'), 0, 'no line');
    is($value->('queued_total'), $a->{queued}, 'queued');
    is($value->('threshold_timestamp_seconds') * 1000, $a->{threshold_ms}, 'seconds, not milliseconds');
    is($metrics->value('flash_throttle_zone_rate_limit', zone => 'sale'), '0.500', 'the rate');
    is($metrics->value('flash_throttle_zone_burst', zone => 'sale'), 3, 'the burst');

    is($value->('wait_seconds_count'), 3, 'waits of the admitted');
    is($metrics->value('flash_throttle_wait_seconds_bucket', zone => 'sale', key => 'a', le => '+Inf'), 3,
       'all in the last bucket');
    is($metrics->value('flash_throttle_wait_seconds_bucket', zone => 'sale', key => 'a', le => '0.1'), 3,
       'and in the first');



=== TEST 6: the histogram knows who waited for how long
--- http_config
    flash_throttle_zone $server_name zone=sale:1m inflight=1;
--- config
    location / {
        flash_throttle zone=sale;
        flash_throttle_poll min=100ms;
        proxy_pass http://till;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my ($till, @first) = busy_till('/checkout');
    my $shopper = shopper;

    $shopper->poll('/checkout');
    sleep 0.3;
    serve($till);
    wait_for_admission($shopper, '/checkout');

    my $metrics = Metrics->new(shopper->get('/throttle?format=openmetrics')->body);
    my $below = sub {
        $metrics->value('flash_throttle_wait_seconds_bucket', zone => 'sale', key => 'localhost', le => $_[0])
    };

    is($below->('0.1'), 1, 'one did not wait');
    is($below->('0.25'), 1, 'the other one more than a quarter of a second');
    is($below->('+Inf'), 2, 'both');
    cmp_ok($metrics->value('flash_throttle_wait_seconds_sum', zone => 'sale', key => 'localhost'), '>=', 0.3, 'the sum');



=== TEST 7: labels are escaped, whatever a key is
--- http_config
    flash_throttle_zone $shop zone=sale:2m rate=1r/m;
--- config
    location / {
        set $shop $arg_shop;
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location = /line {
        set $shop "one
two";
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    for my $key ('"', '\\', '\\n', "caf\xc3\xa9", "\xff\xfe", '{a="b"}') {
        Shopper::raw(port, "GET /checkout?shop=$key HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    }

    shopper->get('/line');

    my $text = shopper->get('/throttle?format=openmetrics')->body;
    my $metrics = Metrics->new($text);
    my @keys = sort map { $_->{labels}{key} }
        grep { $_->{name} eq 'flash_throttle_admitted_total' } @{ $metrics->{samples} };

    is_deeply($metrics->{faults}, [], 'well-formed');
    is_deeply(\@keys, [ sort '"', '\\', '\\n', "caf\x{c3}\x{a9}", "\x{ff}\x{fe}", '{a="b"}', "one\ntwo" ],
              'each as it was');

    SKIP: {
        my $promtool = Metrics::program('promtool')
            or skip 'there is no promtool (scripts/install-deps.sh test)', 1;

        is(Metrics::piped(shopper->get('/throttle?format=prometheus')->body, $promtool, 'check', 'metrics'), '',
           'promtool can read them');
    }



=== TEST 8: counts survive a reload
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=30r/m burst=3;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my $value = sub {
        Metrics->new(shopper->get('/throttle?format=prometheus')->body)
            ->value("flash_throttle_$_[0]", zone => 'sale', key => 'localhost')
    };

    shopper->get('/checkout') for 1 .. 4;

    is($value->('admitted_total'), 3, 'before');
    reload('burst=3' => 'burst=4');

    is($value->('admitted_total'), 3, 'after');
    is($value->('wait_seconds_count'), 3, 'the histogram, too');
    is(eval { scalar @{ status_of_history()->{admitted} } > 0 }, 1, 'and the history');

    sub status_of_history {
        shopper->get('/throttle?history=360')->json->{zones}{sale}{keys}{localhost}{history}
    }



=== TEST 9: errors of the upstream are counted, the shop's refusals are not
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=100r/s burst=50;
    server {
        listen unix:$TEST_NGINX_HTML_DIR/broken.sock;
        location /500 { return 500; }
        location /404 { return 404; }
        location /409 { return 409; }
    }
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://unix:$TEST_NGINX_HTML_DIR/broken.sock:;
    }
    location /nobody {
        flash_throttle zone=sale;
        proxy_pass http://127.0.0.1:1;
    }
    location /hidden/ {
        flash_throttle zone=sale;
        proxy_intercept_errors on;
        error_page 500 =200 /sorry;
        proxy_pass http://unix:$TEST_NGINX_HTML_DIR/broken.sock:/;
    }
    location = /sorry {
        empty_gif;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my $errors = sub { status_of('sale', 'localhost')->{errors} };

    shopper->get("/$_") for 404, 409, 404;
    wait_until('all to end', sub { status_of('sale', 'localhost')->{done} == 3 });
    is($errors->(), 0, 'no errors');

    is(shopper->get('/500')->status, 500, 'an error');
    wait_until('it to end', sub { $errors->() == 1 });

    is(shopper->get('/nobody')->status, 502, 'nobody there');
    wait_until('it to end', sub { $errors->() == 2 });

    is(shopper->get('/hidden/500')->status, 200, 'hidden behind a page');
    wait_until('it to end', sub { $errors->() == 3 });

    is(status_of('sale', 'localhost')->{done}, 6, 'all in all');



=== TEST 10: the history, by columns
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=30r/m burst=3;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    my $begin = time * 1000;
    shopper->get('/checkout') for 1 .. 5;

    my $key = wait_until('the tick that enters it', sub {
        my $key = shopper->get('/throttle?history=360')->json->{zones}{sale}{keys}{localhost};
        my $sum = 0;

        $sum += $_ for @{ $key->{history}{first_attempts} // [] };
        return $sum == 5 ? $key : undef;
    });

    my $history = $key->{history};
    my %sum = map { my $n = 0; $n += $_ for @{ $history->{$_} }; ($_ => $n) }
        qw( admitted queued first_attempts );

    is($history->{step_ms}, 5000, 'steps of 5 s');
    cmp_ok($history->{from_ms}, '<=', $begin, 'from the beginning');
    cmp_ok($history->{from_ms} + 5000, '>', $begin - 5000, 'and not from before');
    is($history->{from_ms} % 5000, 0, 'on the step');
    is($sum{admitted}, 3, 'admitted');
    is($sum{queued}, 2, 'queued');

    my @lengths = map { scalar @$_ } grep { ref } values %$history;

    is(scalar(grep { $_ != $lengths[0] } @lengths), 0, 'all columns are as long');
    is($history->{waiting}[-1], $key->{waiting}, 'who waits');
    is(shopper->get('/throttle')->json->{zones}{sale}{keys}{localhost}{history}, undef, 'only for who asks');
    is(scalar @{ shopper->get('/throttle?history=1')->json->{zones}{sale}{keys}{localhost}{history}{waiting} }, 1,
       'the last step');



=== TEST 11: many keys: an answer of many buffers
--- http_config
    flash_throttle_zone $arg_shop zone=sale:8m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    shopper->get("/checkout?shop=shop-$_") for 1 .. 40;

    my $response = shopper->get('/throttle?history=360');
    my $keys = $response->json->{zones}{sale}{keys};

    is(scalar keys %$keys, 40, 'JSON has them all');
    is($response->header('Content-Length'), length $response->body, 'and its length');

    my $metrics = Metrics->new(shopper->get('/throttle?format=prometheus')->body);

    is_deeply($metrics->{faults}, [], 'well-formed');
    is(scalar(grep { $_->{name} eq 'flash_throttle_waiting' } @{ $metrics->{samples} }), 40, 'Prometheus, too');



=== TEST 12: no zone at all
--- config
    location /throttle {
        flash_throttle_status;
    }
--- no_secret
--- shop
    is_deeply(shopper->get('/throttle')->json->{zones}, {}, 'JSON');
    is_deeply(Metrics->new(shopper->get('/throttle?format=openmetrics')->body)->{faults}, [], 'OpenMetrics');
    is(shopper->get('/throttle?format=html')->status, 200, 'the dashboard');



=== TEST 13: a dry run has the figures of the real thing
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=30r/m burst=3;
--- config
    location / {
        flash_throttle zone=sale;
        flash_throttle_dry_run on;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    is(shopper->get('/checkout')->status, 200, 'let through') for 1 .. 5;

    my $metrics = Metrics->new(shopper->get('/throttle?format=prometheus')->body);
    my $value = sub { $metrics->value("flash_throttle_$_[0]", zone => 'sale', key => 'localhost') };

    is($value->('admitted_total'), 3, 'admitted');
    is($value->('queued_total'), 2, 'queued');
    is($value->('queueing'), 1, 'a line');
    is($value->('wait_seconds_count'), 3, 'waits');
