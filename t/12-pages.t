# The pages: first attempts get the same bytes, slots are filled in for clients
# without a script, configured pages, a page for each host.

use lib 't/lib';
use Compress::Zlib qw( memGunzip );
use Test::Nginx::Socket 'no_plan';
use Sale;

my $pages = 'conf/pages';

# Checks the size of a page, and that it loads nothing else.
for my $name (qw( queue closed sold_out rejected )) {
    open my $in, '<:raw', "$pages/$name.html" or die "$name.html: $!\n";
    local $/;
    my $html = <$in>;

    cmp_ok(length $html, '<=', 12_000, "$name.html is small");
    cmp_ok(length Compress::Zlib::memGzip($html), '<=', 5_000, "$name.html is smaller when compressed");
    unlike($html, qr/\bsrc=|https?:|url\(|\@import/, "$name.html asks for nothing else");

    $html =~ s{<script.*?</script>}{}gs;
    unlike($html, qr/\son\w+=|\sstyle=|nonce/, "$name.html fits a policy of hashes");
}

no_root_location();
run_tests();

__DATA__

=== TEST 1: first attempts get the same bytes
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    shopper->get('/checkout');

    my $first = shopper->get('/checkout?a=1');
    my $second = shopper('User-Agent' => 'another', 'Accept-Language' => 'de')->get('/checkout?b=2');

    is($second->body, $first->body, 'the same page');
    like($first->body, qr/Ahead of you.*?>\xe2\x80\xa6</, 'without a place yet');
    like($first->body, qr/data-ft-method="?GET\b/, 'asked for by a link');
    unlike($first->body, qr/\{\{/, 'no slot is left');



=== TEST 2: slots are filled in for a client without a script
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale hold=100ms;
        flash_throttle_poll min=1s max=1s;
        proxy_pass http://upstream;
    }
--- shop
    shopper->get('/checkout');

    my @line = map { shopper } 1 .. 3;
    $_->get('/checkout') for @line;

    for my $shopper (@line, @line) {
        my $position = sub { $shopper->poll('/checkout')->json->{position} };
        my ($ahead, $response);

        # others may expire between two requests
        wait_until('one position before and after', sub {
            $ahead = $position->();
            $response = $shopper->get('/checkout');
            $position->() == $ahead;
        });

        my $body = $response->body;

        is($response->header('Content-Length'), length $body, 'its length is right');
        like($body, qr/data-ft="?ahead"?>$ahead</, "$ahead ahead");
        like($body, qr/data-ft="?place"?>@{[ $ahead + 1 ]}</, 'and the place');
        like($body, qr/data-ft="?wait"?>(\d+-|&gt; )\d+ min</, 'and the wait');
    }



=== TEST 3: compressed pages are the same, with and without slots
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale hold=0;
        flash_throttle_poll min=1s max=1s;
        gzip on;
        gzip_vary on;
        proxy_pass http://upstream;
    }
--- shop
    shopper->get('/checkout');

    my $shopper = shopper;
    my $new = $shopper->get('/checkout', 'Accept-Encoding' => 'gzip');

    is($new->header('Content-Encoding'), 'gzip', 'compressed');
    is(memGunzip(my $copy = $new->body), shopper->get('/checkout')->body, 'the page for the new');

    for (1 .. 3) {
        my $packed = $shopper->get('/checkout', 'Accept-Encoding' => 'gzip');
        my $plain = $shopper->get('/checkout');
        my $body = $packed->body;
        my ($crc, $size) = unpack 'VV', substr $body, -8;
        my $unpacked = memGunzip(my $other = $body);

        is($packed->header('Content-Encoding'), 'gzip', 'compressed');
        is($packed->header('Vary'), 'Accept-Encoding', 'and says so');
        is($packed->header('Content-Length'), length $body, 'its length is right');
        ok(defined $unpacked, 'a whole gzip stream');
        is($unpacked, $plain->body, 'of the page with the figures');
        is($size, length $unpacked, 'with its size');
        is($crc, Compress::Zlib::crc32($unpacked), 'and checksum');
    }



=== TEST 4: the method of a form
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
--- shop
    shopper->get('/checkout');

    like(shopper->request('POST', '/checkout', Body => 'a=1')->body, qr/data-ft-method="?POST\b/, 'a first attempt');

    my $shopper = shopper;
    $shopper->get('/checkout');
    like($shopper->request('POST', '/checkout', Body => 'a=1')->body, qr/data-ft-method="?POST\b/, 'one who waits');
    like($shopper->get('/checkout')->body, qr/data-ft-method="?GET\b/, 'and back');
    like($shopper->request('PUT', '/checkout', Body => 'a=1')->body, qr/data-ft-method="?GET\b/, 'no form');



=== TEST 5: a configured page with the script and slots
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        flash_throttle_queue_page $TEST_NGINX_HTML_DIR/own.html;
        proxy_pass http://upstream;
    }
    location /built-in {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location /plain {
        flash_throttle zone=sale;
        flash_throttle_queue_page $TEST_NGINX_HTML_DIR/plain.html;
        proxy_pass http://upstream;
    }
--- user_files
>>> own.html
<!DOCTYPE html><title>Wait</title>
<p>{{ahead}}|{{place}}|{{wait}}|{{method}}|{{unknown}}|{ {ahead}}</p>
{{script}}
>>> plain.html
Wait
--- shop
    shopper->get('/checkout');

    my $shopper = shopper;
    my $blank = "\xe2\x80\xa6";
    my $new = $shopper->get('/checkout')->body;
    my ($script) = shopper->get('/built-in')->body =~ m{(<script>.*?</script>)}s;

    is($new, "<!DOCTYPE html><title>Wait</title>\n<p>$blank|$blank|$blank|GET|{{unknown}}|{ {ahead}}</p>\n$script\n",
       'new: blank slots, and the script of the page that is built in');
    like($shopper->get('/checkout')->body, qr/<p>0\|1\|\d+-\d+ min\|GET\|\{\{unknown\}\}\|\{ \{ahead\}\}</, 'back: filled');
    is($shopper->get('/plain')->body, "Wait\n", 'a page without slots stays as it is');



=== TEST 6: a slot at the end, and two adjacent slots
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        flash_throttle_queue_page $TEST_NGINX_HTML_DIR/own.html;
        proxy_pass http://upstream;
    }
--- user_files eval
">>> own.html\n{{place}}{{ahead}}" . (' the quick brown fox' x 100) . "{{method}}\n"
--- shop
    shopper->get('/checkout');

    my $shopper = shopper;
    $shopper->get('/checkout');

    my $plain = $shopper->get('/checkout')->body;
    my $packed = $shopper->get('/checkout', 'Accept-Encoding' => 'gzip');

    like($plain, qr/^10 the quick .* foxGET\s*$/, 'filled');
    is($packed->header('Content-Encoding'), 'gzip', 'compressed');
    is(memGunzip(my $copy = $packed->body), $plain, 'too');



=== TEST 7: a page for each host
--- http_config
    flash_throttle_zone sale zone=sale:1m rate=1r/m;
--- config
    flash_throttle_queue_page $TEST_NGINX_HTML_DIR/other.html;
    location / {
        flash_throttle zone=sale;
        flash_throttle_queue_page $TEST_NGINX_HTML_DIR/pages/$host-${arg_l}.html;
        proxy_pass http://upstream;
    }
    location /inner {
        flash_throttle zone=sale;
        flash_throttle_queue_page $TEST_NGINX_HTML_DIR/pages/$host-en.html;
        proxy_pass http://upstream;
        location /inner/one {
            proxy_pass http://upstream;
        }
        location /inner/two {
            flash_throttle_queue_page $TEST_NGINX_HTML_DIR/other.html;
            proxy_pass http://upstream;
        }
    }
--- user_files
>>> pages/one.example-en.html
one
>>> pages/one.example-de.html
eins
>>> pages/two.example-en.html
two
>>> other.html
other
>>> secret.html
not for you
--- shop
    shopper->get('/checkout');

    my $body = sub {
        my ($uri, $host) = @_;

        return shopper(Host => $host)->get($uri)->body;
    };

    is($body->('/?l=en', 'one.example'), "one\n", 'one host');
    is($body->('/?l=de', 'one.example'), "eins\n", 'and its other page');
    is($body->('/?l=en', 'two.example'), "two\n", 'another host');
    is($body->('/?l=de', 'two.example'), "other\n", 'the page around, where there is none');
    is($body->('/?l=../../secret', 'one.example'), "other\n", 'a variable names no other file');
    is($body->('/?l=', 'one.example'), "other\n", 'nor none');
    is($body->('/inner/one', 'two.example'), "two\n", 'inherited');
    is($body->('/inner/two', 'two.example'), "other\n", 'and replaced');



=== TEST 8: pages with variables are read at configuration
--- http_config
    flash_throttle_zone sale zone=sale:1m rate=1r/m;
--- config
    location / {
        flash_throttle zone=sale;
        flash_throttle_queue_page $TEST_NGINX_HTML_DIR/pages/$host.html;
        proxy_pass http://upstream;
    }
--- user_files
>>> pages/one.example.html
before
--- shop
    shopper->get('/checkout');

    my $write = sub {
        open my $out, '>', "$ENV{TEST_NGINX_HTML_DIR}/pages/$_[0].html" or die $!;
        print $out $_[1];
        close $out;
    };
    my $body = sub { shopper(Host => $_[0])->get('/checkout')->body };

    $write->('one.example', 'after');
    $write->('two.example', 'new');
    is($body->('one.example'), "before\n", 'not later');
    like($body->('two.example'), qr/You are in line/, 'nor as they come');

    reload();
    is($body->('one.example'), 'after', 'but with a reload');
    is($body->('two.example'), 'new', 'both');
