package Sale;

# Test::Nginx with shoppers.  A block may have a section
#
#     --- shop
#
# of Perl, which runs while the block's nginx runs and can call the functions
# below.  Such a block gets a location /ready, requested first, and a secret,
# except with a section "--- no_secret".  Its error log must have no alerts.  A
# section "--- startup_warning" holds the start of a [warn] message
# that nginx must log when it starts.  An upstream that answers "checkout" and
# the request's method is at http://upstream, with a log of its own; one that
# answers when told to is at http://till.  $TEST_NGINX_LISTEN_H2 in a server
# listens for HTTP/2 on html/h2.sock, as this version of nginx wants it written.

use strict;
use warnings;

use Exporter 'import';
use IO::Select;
use IO::Socket::UNIX;
use POSIX qw( WNOHANG uname );
use Test::More ();
use Test::Nginx::Socket ();
use Test::Nginx::Util qw( $ServRoot $ServerPort );
use Time::HiRes qw( sleep time );
use Shopper;

# Blocks run in any order, so the variable is needed from the first one.
$ENV{TEST_NGINX_HTML_DIR} ||= Test::Nginx::Util::html_dir();
$ENV{TEST_NGINX_LISTEN_H2} = listen_h2();

our @EXPORT = qw(
    shopper port hits wait_until wait_for_admission log_line error_log
    open_till busy_till serve hold_at_edge h2_request
    nginx_signal reload runs worker_pids status_of write_conf read_conf
    sleep time
);

# Makes the daemons that a test starts children of the test, PR_SET_CHILD_SUBREAPER
# of prctl(2): Test::Nginx reaps them when it waits for their end.  The init of a
# container may reap them late or never.
my %prctl = (x86_64 => 157, aarch64 => 167);
my $call = $prctl{ (uname)[4] };
syscall($call, 36, 1, 0, 0, 0) if $call;

my $upstream = <<'EOF_UPSTREAM';

    log_format  hit  '$request_method $request_uri $http_x_name';

    upstream upstream {
        server  unix:$TEST_NGINX_HTML_DIR/upstream.sock;
    }

    upstream till {
        server  unix:$TEST_NGINX_HTML_DIR/till.sock;
    }

    server {
        listen      unix:$TEST_NGINX_HTML_DIR/upstream.sock;
        access_log  logs/upstream.log hit;
        flash_throttle  off;

        location / {
            return  200 "checkout $request_method\n";
        }

        location /gone {
            return 404;
        }

        location /accel {
            add_header  X-Accel-Redirect /target;
            return      200;
        }

        location /set-cookie {
            add_header  Set-Cookie "a=1";
            return      200 "checkout\n";
        }
    }
EOF_UPSTREAM

# reloads need a master process
Test::Nginx::Util::master_on();

my $secret = 'a secret for tests, and for nothing else';

Test::Nginx::Util::add_block_preprocessor(sub {
    my $block = shift;

    return unless defined $block->shop;

    # nginx prints the warnings on stderr, too
    if (defined $block->startup_warning) {
        chomp(my $warning = $block->startup_warning);

        $block->set_value(suppress_stderr => '');
        $block->set_value(error_log => [ qr/\[warn\] \d+#\d+: \Q$warning\E/ ]);
    }

    $ENV{TEST_NGINX_HTML_DIR} = "$ServRoot/html";

    $block->set_value(http_config => ($block->http_config // '') . $upstream);
    $block->set_value(config => $block->config
        . "\n    location = /ready {\n        empty_gif;\n    }\n");

    unless (defined $block->no_secret) {
        $block->set_value(user_files => ($block->user_files // '') . ">>> secret\n$secret\n");
        $block->set_value(http_config => $block->http_config
            . "    flash_throttle_secret_file $ServRoot/html/secret;\n");
    }

    $block->set_value(request => "GET /ready\n");
    $block->set_value(error_code => "200");

    unless (defined $block->no_error_log) {
        $block->set_value(no_error_log => "[alert]\n[emerg]\nheader already sent\n");
    }
});

Test::Nginx::Socket::add_response_body_check(sub {
    my ($block, undef, undef, undef, $dry_run) = @_;

    my $code = $block->shop;
    return if !defined $code || $dry_run;

    my $done = eval "package main; use strict; use warnings;\n"
        . '#line 1 "' . $block->name . " - shop\"\n$code\n;1";

    Test::More::fail($block->name . " - shop: $@") unless $done;
});


sub secret { $secret }


# "http2 on" exists since 1.25.1, which warns of the parameter of "listen".
sub listen_h2 {
    my $binary = $ENV{TEST_NGINX_BINARY} // 'nginx';
    my ($minor, $patch) = `$binary -v 2>&1` =~ m{nginx/1\.(\d+)\.(\d+)} or die "no version of $binary\n";
    my $listen = "listen unix:$ENV{TEST_NGINX_HTML_DIR}/h2.sock";

    return $minor * 1000 + $patch >= 25_001 ? "$listen; http2 on;" : "$listen http2;";
}


# A new shopper, without an Accept header of its own.
sub shopper { Shopper->new($ServerPort, @_) }

sub port { $ServerPort }


sub lines_of {
    my ($name) = @_;

    open my $in, '<', "$ServRoot/logs/$name" or return;
    return <$in>;
}


# The requests that reached the upstream, as "METHOD URI NAME" with the value of
# X-Name.
sub hits {
    my @lines = lines_of('upstream.log');

    chomp @lines;

    return @lines;
}


# wait_until(name, code): returns the first true value of code.
sub wait_until {
    my ($name, $code) = @_;

    my $until = time + 60;     # a busy machine is slow, not wrong
    my $pause = 0.005;

    while (time < $until) {
        my $value = $code->();

        return $value if $value;

        sleep $pause;
        $pause *= 1.2 if $pause < 0.05;
    }

    die "timed out waiting for $name\n";
}


# Polls as advised until admitted; returns the last response.
sub wait_for_admission {
    my ($shopper, $uri) = @_;

    return wait_until('admission', sub {
        my $response = $shopper->poll($uri);
        my $json = $response->json;

        return $response if $json->{status} eq 'admitted';

        sleep $json->{retry_ms} / 1000;
        return;
    });
}


# The upstream at http://till: a request is in flight until serve().
sub open_till {
    my $name = "$ServRoot/html/till.sock";

    my $till = IO::Socket::UNIX->new(Local => $name, Listen => 100) or die "$name: $!\n";
    chmod 0777, $name or die "$name: $!\n";

    return $till;
}


# serve(till): answers the next request; returns its head.
sub serve {
    my ($till) = @_;

    my $head = '';

    local $SIG{ALRM} = sub { die "no request at the till\n" };
    alarm($ENV{TEST_NGINX_TIMEOUT} // 10);

    my $client = $till->accept or die "the till: $!\n";
    1 while $head !~ /\r\n\r\n/ && sysread $client, $head, 4096, length $head;

    alarm 0;

    print $client "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nsold\n";
    close $client;

    return $head;
}


# hold_at_edge(shopper, uri, name => value ...): repeats the request until it is
# held; returns its connection.  uri can be code that sends the request.
sub hold_at_edge {
    my ($shopper, $uri, @headers) = @_;

    my $send = ref $uri ? $uri : sub { $shopper->request('GET', $uri, Wait => 0, @headers) };
    my $held = sub { status_of('sale', 'localhost')->{held} };
    my $before = $held->();

    return wait_until('a hold', sub {
        my $socket = $send->();
        my $what = wait_until('an answer or a hold', sub {
            return IO::Select->new($socket)->can_read(0.01) ? 'answer' : $held->() > $before ? 'hold' : undef;
        });

        return $socket if $what eq 'hold';

        $shopper->answer($socket);
        sleep 0.05;
        return;
    });
}


# Occupies a zone with inflight=1 by one request; returns the till, the shopper
# and the connection of the request.
sub busy_till {
    my ($uri) = @_;

    my $till = open_till();
    my $shopper = shopper();
    my $socket = $shopper->request('GET', $uri, Wait => 0);

    wait_until('a request in flight', sub { (status_of('sale', 'localhost') // {})->{inflight} });

    return ($till, $shopper, $socket);
}


# h2_request(shopper, uri): sends it with curl over HTTP/2 to html/h2.sock;
# returns curl's output and process id.
sub h2_request {
    my ($shopper, $uri) = @_;

    my @cookies = map { ('-H', "Cookie: $_=$shopper->{jar}{$_}") } sort keys %{ $shopper->{jar} };
    my $pid = open my $out, '-|', 'curl', '-si', '--http2-prior-knowledge',
        '--unix-socket', "$ServRoot/html/h2.sock", @cookies, "http://localhost$uri"
        or die "curl: $!\n";

    return wantarray ? ($out, $pid) : $out;
}


# log_line(name, pattern): waits for the first matching line of logs/NAME.
sub log_line {
    my ($name, $pattern) = @_;

    return wait_until("a line like $pattern in $name", sub {
        my ($line) = grep { /$pattern/ } lines_of($name);

        return $line;
    });
}

sub error_log { join '', lines_of('error.log') }


sub master {
    open my $in, '<', "$ServRoot/logs/nginx.pid" or die "no nginx.pid: $!\n";
    my $pid = <$in> // die "nginx.pid is empty\n";
    chomp $pid;

    return $pid;
}


# Whether a process runs, be it a child of this one or not.
sub runs {
    my ($pid) = @_;

    waitpid $pid, WNOHANG;

    return kill 0, $pid;
}


sub nginx_signal { kill $_[0], master() }


sub worker_pids {
    my $master = master();
    my @workers;

    for my $pid (children($master)) {
        open my $in, '<', "/proc/$pid/cmdline" or next;
        push @workers, $pid if (<$in> // '') =~ /worker process\0*$/;
    }

    return @workers;
}


sub children {
    my ($pid) = @_;

    # a kernel may be built without this file
    open my $in, '<', "/proc/$pid/task/$pid/children"
        or return split ' ', `ps --no-headers -o pid --ppid $pid`;

    return split ' ', <$in> // '';
}


sub write_conf {
    my ($text) = @_;

    open my $out, '>', "$ServRoot/conf/nginx.conf" or die "nginx.conf: $!\n";
    print $out $text;
    close $out;
}

sub read_conf {
    open my $in, '<', "$ServRoot/conf/nginx.conf" or die "nginx.conf: $!\n";
    local $/;

    return scalar <$in>;
}


# reload(old => new ...): edits nginx.conf and reloads it; returns when the old
# workers are shutting down.
sub reload {
    my @edits = @_;

    my $text = read_conf();

    while (my ($old, $new) = splice @edits, 0, 2) {
        $text =~ s/\Q$old\E/$new/ or die "no \"$old\" in nginx.conf\n";
    }

    write_conf($text);

    my %old = map { $_ => 1 } worker_pids();

    nginx_signal('HUP');

    wait_until('a reload', sub {
        my @now = worker_pids();

        return @now && !grep { $old{$_} } @now;
    });
}


# status_of(zone, key): the stats of a key, from the location /throttle.
sub status_of {
    my ($zone, $key) = @_;

    return Shopper->new($ServerPort)->get('/throttle')->json->{zones}{$zone}{keys}{$key};
}


1;
