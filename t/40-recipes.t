# Runs each conf/*.conf.
#
# A recipe without a test of its own below is started and must admit a shopper.
# Only ports and paths of a recipe are changed.

use strict;
use warnings;

use Cwd qw( abs_path );
use File::Basename qw( basename );
use File::Temp qw( tempdir );
use IO::Select;
use IO::Socket::INET;
use IO::Socket::UNIX;
use Test::More;
use Time::HiRes qw( sleep time );
use lib 't/lib';
use Files qw(write_file);
use Shopper;

my $nginx = $ENV{TEST_NGINX_BINARY} || 'build/nginx';
my $module = $ENV{TEST_NGINX_LOAD_MODULES};
my $patience = $ENV{TEST_NGINX_TIMEOUT} // 10;

# where the shop sends slow requests
my $hold;

my @running;

END { stop($running[0]) while @running }


sub free_ports {
    my ($n) = @_;

    my ($first) = `scripts/free-port.pl $n` =~ /^(\d+)$/ or die "no free ports\n";

    return $first .. $first + $n - 1;
}


# What nginx has logged: at its start, and in the files of the recipe.
sub logs_of {
    my ($dir) = @_;

    return join '', map { read_file("$dir/$_") } qw(error.log flash_throttle.log);
}


sub read_file {
    my ($name) = @_;

    open my $in, '<', $name or return '';
    local $/;

    return scalar <$in>;
}


# Starts nginx in the foreground; returns its pid.
sub start {
    my ($dir, $name, $globals) = @_;

    defined(my $pid = fork) or die "fork: $!\n";

    if ($pid == 0) {
        open STDERR, '>>', "$dir/stderr" or die;
        exec abs_path($nginx), '-p', "$dir/", '-c', "$dir/$name", '-e', 'error.log', '-g', "daemon off; $globals"
            or die "$nginx: $!\n";
    }

    push @running, $pid;

    return $pid;
}


sub stop {
    my ($pid) = @_;

    kill 'TERM', $pid;
    waitpid $pid, 0;
    @running = grep { $_ != $pid } @running;
}


sub wait_for_port {
    my ($port, $what) = @_;

    my $until = time + 3 * $patience;

    while (time < $until) {
        return 1 if IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port);
        sleep 0.02;
    }

    return 0;
}


# Accepts a connection to a socket of the shop; dies if there is none.
sub accepted {
    my ($socket) = @_;

    IO::Select->new($socket)->can_read(3 * $patience)
        or die "no request came to the shop\n";

    return scalar $socket->accept;
}


# Answers the next FastCGI request and returns its parameters.  Each of the two
# lengths is one byte, or four with the highest bit set.
sub serve_fastcgi {
    my ($socket) = @_;

    my $client = accepted($socket);
    my ($in, $said, $type) = ('', '', 0);

    while ($type != 5) {

        while (length $in < 8) {
            sysread $client, $in, 65536, length $in or die "FastCGI: half a request\n";
        }

        ($type, my $len, my $padding) = unpack 'x C x2 n C', $in;

        while (length $in < 8 + $len + $padding) {
            sysread $client, $in, 65536, length $in or die "FastCGI: half a request\n";
        }

        $said .= substr $in, 8, $len if $type == 4;
        substr $in, 0, 8 + $len + $padding, '';
    }

    my $len = sub {
        my ($n) = unpack 'C', $said;

        return unpack 'C', substr $said, 0, 1, '' if $n < 128;
        return 0x7fffffff & unpack 'N', substr $said, 0, 4, '';
    };

    my %params;

    while (length $said) {
        my ($name, $value) = ($len->(), $len->());

        $name = substr $said, 0, $name, '';
        $params{$name} = substr $said, 0, $value, '';
    }

    my $out = "Content-Type: text/plain\r\n\r\nshop\n";

    print $client pack('C2 n2 C2', 1, 6, 1, length $out, 0, 0), $out, pack('C2 n2 C2 x8', 1, 3, 1, 8, 0, 0);

    return \%params;
}


# Takes all capacity with requests that the shop does not answer, until the value
# returned is destroyed.
sub fill {
    my ($port, $uri, $n, %headers) = @_;

    my (@asked, @come);

    # one by one: of two that ask two workers for the last room at one instant,
    # both may be told to wait

    for my $i (1 .. $n) {
        my $shopper = Shopper->new($port, %headers);
        my $socket = $shopper->request('GET', "$uri?slow=1", Wait => 0);

        my ($first) = IO::Select->new($hold, $socket)->can_read(3 * $patience)
            or die "request $i of $n: neither the shop nor the shopper hears of it\n";

        $first == $hold
            or die "request $i of $n did not come to the shop, but was answered "
                . $shopper->answer($socket)->status . "\n";

        push @asked, $socket;
        push @come, accepted($hold);
    }

    return (@asked, @come);
}

my %tests = (
    'minimal.conf' => sub {
        my ($port) = @_;

        my @in = fill($port, '/checkout', 16);
        my $late = Shopper->new($port);
        my $page = $late->get('/checkout');

        is($page->status, 503, 'the seventeenth waits');
        ok($late->ticket, 'with a place in line');
        is(Shopper->new($port)->get('/')->status, 200, 'the shop is open to all');
    },

    'many-shops.conf' => sub {
        my ($port) = @_;

        my @in = fill($port, '/checkout', 16, Host => 'shoes.example.com');

        is(Shopper->new($port, Host => 'shoes.example.com')->get('/checkout')->status, 503, 'shoes are full');
        is(Shopper->new($port, Host => 'www.bags.example.com')->get('/checkout')->status, 200, 'bags are not');

        my @other = fill($port, '/checkout', 16, Host => 'made-up-1');

        is(Shopper->new($port, Host => 'made-up-2')->get('/checkout')->status, 503,
            'a host that is made up has no line of its own');
    },

    'control.conf' => sub {
        my ($port, $dir, $text) = @_;

        my ($operator) = $text =~ /listen\s+127\.0\.0\.1:(\d+) default_server/;
        my $named = sub { Shopper->new($operator, Host => $_[0]) };

        is(Shopper->new($port)->get('/checkout')->status, 200, 'a shopper is let in');
        is($named->("127.0.0.1:$operator")->get('/status')->status, 200, 'figures');
        is($named->('localhost')->request('POST', '/control', 'Content-Type' => 'application/json',
            Body => '{"command":"pause"}')->status, 200, 'an order');
        is(Shopper->new($port)->get('/checkout')->status, 503, 'is obeyed');
        is(eval { $named->('other.example')->get('/status')->status } // 'nothing', 'nothing', 'by another name there is nothing');
    },

    'sales.conf' => sub {
        my ($port) = @_;

        my @in = fill($port, '/checkout/bags', 4);
        my $shopper = Shopper->new($port);

        is($shopper->get('/checkout/bags')->status, 503, 'waits for a bag');
        is($shopper->get('/checkout/shoes')->status, 200, 'and buys shoes');
        is(join(' ', sort keys %{ $shopper->{jar} }), 'flash_throttle_bags flash_throttle_shoes', 'two places');
    },

    'limits.conf' => sub {
        my ($port) = @_;

        my $shopper = Shopper->new($port);
        my @status = map { $shopper->get('/checkout')->status } 1 .. 30;

        is($status[0], 200, 'admitted');
        cmp_ok(scalar(grep { $_ == 429 } @status), '>=', 5, 'one pass does not do everything');
        is(Shopper->new($port)->get('/checkout')->status, 200, 'another is not bounded by that');
    },

    'cdn.conf' => sub {
        my ($port, $dir) = @_;

        my $shopper = Shopper->new($port, 'X-Forwarded-For' => '203.0.113.7', 'User-Agent' => 'phone');
        my $page = $shopper->get('/checkout');

        like($page->body, qr/ip=203\.0\.113\.7 /, 'the shop learns who it is');
        like($page->header('Set-Cookie'), qr/; Secure/, 'the cookie is for TLS');

        my $cookie = join '; ', map { "$_=$shopper->{jar}{$_}" } keys %{ $shopper->{jar} };
        my @in = fill($port, '/checkout', 16, 'User-Agent' => 'crowd');

        is(Shopper->new($port, 'User-Agent' => 'thief')->get('/checkout', Cookie => $cookie)->status, 503,
            'a pass that was taken is no good elsewhere');
        is($shopper->get('/checkout', 'X-Forwarded-For' => '203.0.113.8')->status, 200,
            'a phone may change its address');

        $page = Shopper->new($port)->get('/checkout', Via => '1.1 cdn', 'Accept-Encoding' => 'gzip');

        is($page->header('Cache-Control'), 'no-store', 'nothing is cached');
        is($page->header('Content-Encoding'), 'gzip', 'the CDN gets the page compressed');
    },

    'api.conf' => sub {
        my ($port) = @_;

        my @in = fill($port, '/v1/orders', 16);
        my $answer = Shopper->new($port, Accept => 'application/json')->get('/v1/orders');

        is($answer->status, 429, 'one more is told to wait');
        cmp_ok($answer->header('Retry-After'), '>=', 1, 'for so long');

        my $json = $answer->json;

        is($json->{status}, 'queued', 'JSON');
        @in = ();

        my $until = time + 3 * $patience;
        my $ticket = $json->{ticket};

        while (time < $until && $json->{status} eq 'queued') {
            sleep $json->{retry_ms} / 1000;
            $json = Shopper->new($port)->poll('/v1/orders', 'Flash-Throttle-Ticket' => $ticket)->json;
            $ticket = $json->{ticket};
        }

        is($json->{status}, 'admitted', 'its turn comes, without a cookie');
        is(Shopper->new($port)->get('/v1/orders', 'Flash-Throttle-Ticket' => $ticket)->status, 200,
            'and the pass lets it in');
    },

    'php.conf' => sub {
        my ($port, $dir) = @_;

        $hold = IO::Socket::UNIX->new(Local => "$dir/php-fpm.sock", Listen => 64)
            or die "php-fpm.sock: $!\n";
        chmod 0777, "$dir/php-fpm.sock";

        my $shopper = Shopper->new($port);
        my $ask = sub {
            my $socket = $shopper->request('GET', $_[0], Wait => 0);
            my $params = serve_fastcgi($hold);

            return ($shopper->answer($socket), $params);
        };

        my ($answer, $params) = $ask->('/checkout/cart?a=b');

        is($answer->status, 200, 'admitted');
        like($answer->header('Set-Cookie'), qr/^flash_throttle_sale=/, 'with a pass');
        is("$params->{SCRIPT_NAME} $params->{REQUEST_URI}", '/index.php /checkout/cart?a=b', 'PHP knows what was asked for');
        is($params->{QUERY_STRING}, 'a=b', 'and the query');

        my $left = Shopper->new($port)->request('GET', '/checkout', Wait => 0);
        my $at_work = accepted($hold);
        close $left;

        my @in = fill($port, '/checkout', 15);

        is(Shopper->new($port)->get('/checkout')->status, 503, 'the seventeenth waits, though one has left: PHP is still at it');
        is(Shopper->new($port)->get($_)->status, 404, "$_ is no way around") for '/index.php/checkout', '/index.php?a=b';
        ($answer) = $ask->('/shoes');
        is($answer->status, 200, 'the shop is open to all');
    },

    'bypass.conf' => sub {
        my ($port, $dir, $text) = @_;

        my @in = fill($port, '/checkout', 16);
        my ($token) = $text =~ /"(change-me-\w+)"/;

        is(Shopper->new($port)->get('/checkout')->status, 503, 'a shopper waits');
        is(Shopper->new($port)->get('/checkout', Cookie => "staff=$token")->status, 200, 'staff do not');
        is(Shopper->new($port)->get('/checkout', Cookie => 'staff=guessed')->status, 503, 'with the right token');
        is(Shopper->new($port)->request('POST', '/checkout/callback', Body => 'paid')->status, 200,
            'nor the payment provider');
    },
);

my @recipes = sort glob 'conf/*.conf';

cmp_ok(scalar @recipes, '>=', 10, 'there are recipes');
ok(-e "conf/$_", "$_ is there") for sort keys %tests;

for my $recipe (@recipes) {
    my $name = basename($recipe);

    subtest $name => sub {
        my $dir = tempdir('recipe.XXXXXX', DIR => 'build', CLEANUP => 1);
        $dir = abs_path($dir);

        my $text = read_file($recipe);

        # its ports, in the order of their numbers

        my %seen;
        my @ports = sort grep { !$seen{$_}++ } $text =~ /127\.0\.0\.1:(\d+)/g;
        my %port;

        $port{$_} = 0 for @ports;
        @port{@ports} = free_ports(scalar @ports);

        my ($listen) = $text =~ /listen\s+127\.0\.0\.1:(\d+)/ or die "$name: listens nowhere\n";
        my %listens = map { $_ => 1 } $text =~ /listen\s+127\.0\.0\.1:(\d+)/g;

        $text =~ s/127\.0\.0\.1:(\d+)/127.0.0.1:$port{$1}/g;
        $text =~ s{unix:(?:/tmp|/run/php)/}{unix:$dir/}g;

        write_file("$dir/recipe.conf", ($module ? "load_module $module;\n" : '') . $text);

        # the shop behind it answers at once, unless asked to be slow

        $hold = IO::Socket::UNIX->new(Local => "$dir/hold.sock", Listen => 64) or die "hold.sock: $!\n";
        chmod 0777, $dir, "$dir/hold.sock";

        # where only root may enter, the workers are to find that socket, too

        my $user = $> == 0 ? 'user root;' : '';
        my $servers = join '', map { "        listen 127.0.0.1:$port{$_};\n" } grep { !$listens{$_} } @ports;

        write_file("$dir/shop.conf", <<"EOF_SHOP");
pid shop.pid;
error_log shop.log;
events {}
http {
    access_log off;
    server {
$servers
        location / {
            if (\$arg_slow) {
                proxy_pass http://unix:$dir/hold.sock;
                break;
            }
            return 200 "ip=\$http_x_real_ip host=\$host\\n";
        }
    }
}
EOF_SHOP

        my $output = `'$nginx' -t -p '$dir/' -c '$dir/recipe.conf' -e error.log 2>&1`;
        is($?, 0, 'nginx -t takes it') or diag($output);

        my $shop = start($dir, 'shop.conf', $user);
        my $edge = start($dir, 'recipe.conf', $user);

        ok(wait_for_port($port{$listen}), 'it starts') or diag(logs_of($dir));

        for my $port (grep { !$listens{$_} } @ports) {
            ok(wait_for_port($port{$port}), 'so does the shop');
        }

        if ($tests{$name}) {
            $tests{$name}->($port{$listen}, $dir, $text);
        } else {
            is(Shopper->new($port{$listen})->get('/checkout')->status, 200, 'a shopper is let in');
        }

        unlike(logs_of($dir), qr/\[(?:alert|emerg)\]/, 'no alert');

        stop($edge);
        stop($shop);
    };
}

done_testing;
