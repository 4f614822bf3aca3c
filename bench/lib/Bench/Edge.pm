package Bench::Edge;

# Starts and stops the compared servers.  All use the same nginx binary, each
# with only the modules it needs.

use strict;
use warnings;

use Cwd qw(getcwd);
use Exporter 'import';
use File::Path qw(make_path);
use IO::Socket::INET;
use JSON::PP;
use POSIX qw(WNOHANG);
use Time::HiRes qw(sleep time);

our @EXPORT_OK = qw(start_edge stop_edge start_program stop_all cpu_ns pids_of
                    resident_kb $SECRET);

our $SECRET = 'a secret for the benchmark alone';

my $deb = 'build/bench/debian';
my $modules = getcwd() . "/$deb/usr/lib/nginx/modules";
my $our_so = getcwd() . '/build/bench/ngx_http_flash_throttle_module.so';

# BENCH_NGINX: a binary with the module built in, without the other servers
my $nginx = $ENV{BENCH_NGINX} || "$deb/usr/sbin/nginx";

# command prefix for nginx, which then runs as a single process
our $UNDER;

my %started;


# A page of 1,500 bytes, and the JSON of a poll.

sub page {
    my $head = '<!doctype html><html lang="en"><title>Waiting room</title><p>';
    my $tail = "</p></html>\n";

    return $head . 'w' x (1500 - length($head) - length($tail)) . $tail;
}

sub json {
    my ($status) = @_;
    my $ticket = 'T' x 64;

    return qq({"status":"$status","position":1234,"wait_ms":1234567,)
           . qq("retry_ms":48123,"first_attempt_ms":1796040060000,)
           . qq("ticket":"$ticket"});
}


# The module's response headers for plain nginx, of the same length.

sub headers {
    my ($zone, %with) = @_;
    my $ticket = 'T' x 64;
    my $age = $with{pass} ? 600 : 86400;

    my $text = qq(add_header  Cache-Control "no-store" always;\n);
    $text .= qq(add_header  Retry-After "49" always;\n) unless $with{pass};
    $text .= qq(add_header  Refresh "49" always;\n) if $with{page};
    $text .= qq(add_header  Vary "Accept, Cookie" always;\n) if $with{pass};
    $text .= qq(add_header  Set-Cookie "flash_throttle_$zone=$ticket; Path=/; )
             . qq(HttpOnly; SameSite=Lax; Max-Age=$age" always;\n);

    return $text;
}


my $proxy = <<'EOF_PROXY';
            proxy_pass          http://shop;
            proxy_http_version  1.1;
            proxy_set_header    Connection "";
EOF_PROXY


# With min equal to max every poll is on time: it updates the census and gets a
# new ticket.

my $on_time = "            flash_throttle_poll  min=55s max=55s;\n$proxy";


sub locations {
    my ($name, $ports) = @_;
    my ($page, $queued, $admitted) = (page(), json('queued'), json('admitted'));

    if ($name eq 'plain') {
        return ('', '', <<"EOF_PLAIN" . <<"EOF_LIMIT" . <<"EOF_REST");
        charset  utf-8;
        default_type  text/html;

        location = /bare {
            return  503 '$page';
        }

        location = /page {
            @{[ headers('first', page => 1) ]}
            return  503 '$page';
        }

        location = /queued {
            default_type  application/json;
            @{[ headers('early') ]}
            return  503 '$queued';
        }

        location = /admitted {
            default_type  application/json;
            @{[ headers('called', pass => 1) ]}
            return  200 '$admitted';
        }
EOF_PLAIN

        location = /limit {
            limit_req         zone=limit;
            limit_req_status  503;
            limit_req_log_level  info;
            error_page        503 \@page;
            proxy_pass        http://shop;
        }

        location \@page {
            return  503 '$page';
        }
EOF_LIMIT

        location = /pass {
$proxy
        }

        location = /status {
            stub_status;
        }
EOF_REST
    }

    if ($name eq 'lua' || $name eq 'redis') {
        my $init = <<"EOF_INIT";
    lua_package_path    "@{[ getcwd() ]}/bench/conf/?.lua;@{[ getcwd() ]}/$deb/usr/share/lua/5.1/?.lua;;";
    lua_shared_dict     throttle 10m;
    init_by_lua_block   { require("throttle").init("$SECRET", "@{[ getcwd() ]}/build/bench/run/$name/page.html") }
EOF_INIT
        my $load = "load_module  $modules/ndk_http_module.so;\n"
                   . "load_module  $modules/ngx_http_lua_module.so;\n";

        return ($load, $init, <<"EOF_LUA");

        location = /early {
            access_by_lua_block  { require("throttle").check("early", 0) }
$proxy
        }

        location = /called {
            access_by_lua_block  { require("throttle").check("called", 1e9) }
$proxy
        }

        location = /redis {
            access_by_lua_block  { require("throttle").redis($ports->{redis}) }
$proxy
        }
EOF_LUA
    }

    if ($name eq 'njs') {
        return ("load_module  $modules/ngx_http_js_module.so;\n",
                "    js_path    \"@{[ getcwd() ]}/bench/conf\";\n"
                . "    js_import  throttle from throttle.js;\n"
                . "    js_preload_object  page from page.json;\n", <<"EOF_NJS");

        location = /early {
            set         \$threshold 0;
            js_content  throttle.check;
        }

        location = /called {
            set         \$threshold 1000000000000000;
            js_content  throttle.check;
        }

        location \@upstream {
$proxy
        }
EOF_NJS
    }

    my $zones = <<'EOF_ZONES';
    flash_throttle_zone  $server_name zone=first:1m rate=1r/m;
    flash_throttle_zone  $server_name zone=early:1m rate=1r/m;
    flash_throttle_zone  $server_name zone=on_time:1m rate=1r/m;
    flash_throttle_zone  $server_name zone=called:1m rate=1000000r/s;
    flash_throttle_zone  $server_name zone=pass:1m rate=1000000r/s;
    flash_throttle_queue_page  page.html;
    flash_throttle_secret_file  secret;
EOF_ZONES

    my $text = <<"EOF_FT";

        flash_throttle_poll  max=55s;

        location = /first {
            flash_throttle  zone=first hold=0;
$proxy
        }

        location = /early {
            flash_throttle  zone=early hold=0;
$proxy
        }

        location = /on_time {
            flash_throttle  zone=on_time hold=0;
$on_time
        }

        location = /called {
            flash_throttle  zone=called;
$proxy
        }

        location = /pass {
            flash_throttle  zone=pass;
$proxy
        }

        location = /status {
            flash_throttle_status;
        }
EOF_FT

    if ($name eq 'waiting') {
        $zones .= "    flash_throttle_zone  \$server_name zone=ten:1m rate=1r/m;\n"
                  . "    flash_throttle_zone  \$server_name zone=million:1m rate=1r/m;\n";
        $text .= <<"EOF_WAITING";

        location = /ten {
            flash_throttle  zone=ten hold=0;
$on_time
        }

        location = /million {
            flash_throttle  zone=million hold=0;
$on_time
        }
EOF_WAITING
    }

    if ($name eq 'keys') {
        my ($bytes) = `build/bench/decisions` =~ /^bytes_of_a_key (\d+)/m;
        my $mb = int($ports->{keys} * ($bytes + 1024) / 1_048_576) + 3;

        $zones .= "    flash_throttle_zone  \$arg_k zone=keys:${mb}m rate=1r/m;\n";
        $text .= <<"EOF_KEYS";

        location = /one {
            flash_throttle  zone=first hold=0;
$proxy
        }

        location = /many {
            flash_throttle  zone=keys;
$proxy
        }
EOF_KEYS
    }

    return ($ENV{BENCH_NGINX} ? '' : "load_module  $our_so;\n", $zones, $text);
}


sub write_file {
    my ($name, $text) = @_;

    open my $file, '>', $name or die "cannot write $name: $!\n";
    print {$file} $text;
    close $file or die "cannot write $name: $!\n";
}


# The start of nginx.conf, up to the common directives of http.

sub http_head {
    my ($workers) = @_;
    my $temp = join '', map { "    ${_}_temp_path  temp/$_;\n" }
                        qw(client_body proxy fastcgi uwsgi scgi);

    return <<"EOF_HEAD";
worker_processes  $workers;
pid               logs/nginx.pid;
error_log         logs/error.log warn;
worker_rlimit_nofile  8192;

events {
    worker_connections  4096;
}

http {
$temp
    access_log          off;
    keepalive_requests  1000000000;
EOF_HEAD
}


# start_edge(NAME, { port, shop, ... }, workers => n): listens on port, with
# HTTP/2 on port + 1, with TLS on port + 2.

sub start_edge {
    my ($name, $ports, %with) = @_;
    my $dir = "build/bench/run/$name";
    my $workers = $with{workers} // 1;

    make_path("$dir/logs", "$dir/temp");

    my ($load, $http, $server) = locations($name =~ s/\d+$//r, $ports);

    write_file("$dir/page.html", page());
    write_file("$dir/page.json", encode_json({ html => page() }));
    write_file("$dir/secret", "$SECRET\n");
    my $tls = make_certificate();

    write_file("$dir/nginx.conf", <<"EOF_CONF");
$load
@{[ http_head($workers) ]}    keepalive_timeout   600s;

    limit_req_zone  \$server_name zone=limit:1m rate=1r/m;

    upstream shop {
        server     127.0.0.1:$ports->{shop};
        keepalive  64;
        keepalive_requests  1000000000;
    }

$http
    server {
        listen       127.0.0.1:$ports->{port};
        listen       127.0.0.1:@{[ $ports->{port} + 1 ]} http2;
        listen       127.0.0.1:@{[ $ports->{port} + 2 ]} ssl http2;
        server_name  shop;

        ssl_certificate      $tls/cert.pem;
        ssl_certificate_key  $tls/key.pem;

        location = /ready {
            return  204;
        }

$server
    }
}
EOF_CONF

    return run_nginx($name, $dir, $ports->{port}, $with{cores});
}


# The upstream, on the client's core and not measured.

sub start_shop {
    my ($port, $cores) = @_;
    my $dir = 'build/bench/run/shop';

    make_path("$dir/logs", "$dir/temp");

    my $body = 'checkout ' x 100;

    write_file("$dir/nginx.conf", <<"EOF_SHOP");
@{[ http_head(1) ]}
    server {
        listen  127.0.0.1:$port;

        location / {
            return  200 '$body';
        }
    }
}
EOF_SHOP

    return run_nginx('shop', $dir, $port, $cores);
}


sub run_nginx {
    my ($name, $dir, $port, $cores) = @_;
    my @pin = $UNDER ? @$UNDER : defined $cores ? ('taskset', '-c', $cores) : ();
    my $single = $UNDER ? ' master_process off;' : '';

    unlink "$dir/logs/error.log";

    my $edge = start_program($name, $port, {
        LD_LIBRARY_PATH => getcwd() . "/$deb/usr/lib/x86_64-linux-gnu:"
                           . getcwd() . "/$deb/lib/x86_64-linux-gnu",
    }, @pin, getcwd() . "/$nginx", '-p', getcwd() . "/$dir/",
       '-c', 'nginx.conf', '-g', "daemon off; user root;$single", '-e',
       'logs/error.log');

    $edge->{dir} = $dir;

    return $edge;
}


# start_program(NAME, PORT, { environment }, COMMAND...): returns when the
# program listens on the port.

sub start_program {
    my ($name, $port, $environment, @command) = @_;
    my $log = "build/bench/run/$name.log";

    make_path('build/bench/run');

    my $pid = fork // die "cannot fork: $!\n";

    if ($pid == 0) {
        $ENV{$_} = $environment->{$_} for keys %$environment;
        open STDIN, '<', '/dev/null';
        open STDOUT, '>', $log;
        open STDERR, '>&', \*STDOUT;
        exec @command or die "cannot run $command[0]: $!\n";
    }

    my $program = { name => $name, pid => $pid, port => $port };
    $started{$pid} = $program;

    for (1 .. 600) {
        if (IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port)) {
            return $program;
        }

        if (waitpid($pid, 1) > 0) {
            delete $started{$pid};
            die "$name exited; see $log and build/bench/run/$name/logs\n";
        }

        sleep 0.1;
    }

    die "no connection to $name on port $port within 60 s; see $log\n";
}


sub stop_edge {
    my ($program) = @_;
    my $tries = 0;

    return unless delete $started{$program->{pid}};

    # nginx without a master can miss a signal just before epoll_wait()

    do {
        kill 'TERM', $program->{pid};
        select undef, undef, undef, 0.1 if $tries++;
    } until waitpid($program->{pid}, WNOHANG) != 0;
}


sub stop_all {
    stop_edge($_) for values %started;
}

END {
    my $status = $?;
    stop_all();
    $? = $status;
}


# nginx's workers, or the program itself.

sub pids_of {
    my ($program) = @_;
    my $pid = $program->{pid};

    open my $file, '<', "/proc/$pid/task/$pid/children" or return ($pid);
    my @children = split ' ', <$file> // '';

    return @children ? @children : ($pid);
}


# CPU time of the program in ns, as accounted by the scheduler.

sub cpu_ns {
    my ($program) = @_;
    my $sum = 0;

    for my $pid (pids_of($program)) {
        open my $file, '<', "/proc/$pid/schedstat"
            or die "cannot read /proc/$pid/schedstat of $program->{name}: $!\n";
        $sum += (split ' ', <$file>)[0];
    }

    return $sum;
}


sub resident_kb {
    my ($program) = @_;
    my $sum = 0;

    for my $pid (pids_of($program)) {
        open my $file, '<', "/proc/$pid/status" or next;

        while (my $line = <$file>) {
            $sum += $1 if $line =~ /^VmRSS:\s+(\d+)/;
        }
    }

    return $sum;
}


sub make_certificate {
    my $dir = getcwd() . '/build/bench/tls';

    return $dir if -f "$dir/cert.pem";

    make_path($dir);
    system('openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt',
           'ec_paramgen_curve:P-256', '-nodes', '-days', '3650', '-subj',
           '/CN=shop', '-keyout', "$dir/key.pem", '-out', "$dir/cert.pem",
           '-batch') == 0 or die "openssl req failed\n";

    return $dir;
}


1;
