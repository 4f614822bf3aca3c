package Edge;

# Starts and controls nginx with two workers and the throttle in front of a
# checkout, and reads its stats and its log.

use strict;
use warnings;

use Carp qw(croak);
use CheckoutServer qw(wait_until);
use File::Temp ();
use FindBin;
use HTTP::Tiny ();
use JSON::PP qw(decode_json);
use POSIX qw(WNOHANG);
use Scalar::Util qw(weaken);
use Time::HiRes qw(sleep);

# nginx does not free its memory at exit
$ENV{ASAN_OPTIONS} //= 'detect_leaks=0';
$ENV{UBSAN_OPTIONS} //= 'print_stacktrace=1';

my $failures = 0;
my %running;


# Edge->start(checkout => CheckoutServer, zone => text, throttle => text,
#             listen => text, http => text, server => text, location => text,
#             log => 1)
#
# zone and throttle: parameters of flash_throttle_zone and flash_throttle;
# listen: those of listen, besides the backlog; http, server and location:
# directives of these contexts, location of /checkout;
# log: the access log of docs/log.md, in log_file().
sub start {
    my ($class, %options) = @_;

    chomp(my $port = `scripts/free-port.pl`);
    croak 'no free port' if !$port;

    # readable by workers that are not root
    my $dir = File::Temp->newdir('e2e.XXXXXX',
                                 DIR => $ENV{BUILD} // 'build');
    chmod 0755, $dir;

    my $self = bless { dir => $dir, port => $port, %options }, $class;

    $self->_write('secret', 'the secret of a sale under test: ' . rand() . "\n");
    $self->_write('nginx.conf', $self->_configuration);
    $self->run;

    weaken($running{$self} = $self);

    return $self;
}


sub _write {
    my ($self, $name, $text) = @_;

    open my $out, '>', "$self->{dir}/$name" or croak "$name: $!";
    print {$out} $text;
    close $out or croak "$name: $!";
}


sub _configuration {
    my ($self) = @_;
    my ($listen, $http, $server, $location) = map { $self->{$_} // '' } qw(listen http server location);

    if ($self->{log}) {
        open my $in, '<', "$FindBin::Bin/../../docs/log.md" or croak "docs/log.md: $!";
        my ($format) = join('', readline $in) =~ /(log_format flash_throttle\n.*?;)/s
            or croak 'no log_format in docs/log.md';

        $http .= "\n    $format";
        $location .= "\n            access_log  flash.log flash_throttle;";
    }

    return <<"EOF_CONF";
worker_processes  2;
pid               nginx.pid;
error_log         error.log info;

# time for the requests in flight at a reload
worker_shutdown_timeout  20s;

events {
    worker_connections  4096;
}

http {
    access_log                    off;
    client_body_temp_path         body;
    proxy_temp_path               proxy;
    fastcgi_temp_path             fastcgi;
    uwsgi_temp_path               uwsgi;
    scgi_temp_path                scgi;

    flash_throttle_zone           sale zone=sale:1m $self->{zone};
    flash_throttle_secret_file    secret;
    $http

    server {
        listen  127.0.0.1:$self->{port} backlog=4096 $listen;
        listen  unix:$self->{dir}/edge.sock;

        location /checkout {
            flash_throttle      zone=sale $self->{throttle};
            proxy_pass          http://127.0.0.1:$self->{checkout}{port};
            proxy_read_timeout  90s;
            $location
        }

        location = /status {
            flash_throttle_status;
        }

        location = /control {
            flash_throttle_control;
        }

        location /closed {
            deny  all;
        }

        $server
    }
}
EOF_CONF
}


sub url {
    my ($self, $path) = @_;

    return "http://127.0.0.1:$self->{port}" . ($path // '/checkout');
}


sub run {
    my ($self) = @_;
    my $nginx = $ENV{TEST_NGINX_BINARY} // 'build/nginx';

    $self->{pid} = fork() // croak "fork: $!";

    if ($self->{pid} == 0) {
        open STDOUT, '>>', "$self->{dir}/output" and open STDERR, '>&', \*STDOUT
            and exec $nginx, '-p', "$self->{dir}/", '-c', 'nginx.conf',
                     '-e', 'error.log', '-g', 'daemon off;';
        POSIX::_exit(127);
    }

    wait_until {
        croak "nginx exited: " . $self->log if !$self->alive;
        HTTP::Tiny->new->get($self->url('/status'))->{success};
    } 'nginx to answer';
}


sub alive {
    my ($self) = @_;

    return $self->{pid} && waitpid($self->{pid}, WNOHANG) == 0;
}


sub stop {
    my ($self) = @_;

    kill QUIT => $self->{pid};
    waitpid $self->{pid}, 0;
    $self->{pid} = 0;
}


sub log {
    my ($self) = @_;
    my $text = '';

    for my $name (qw(output error.log)) {
        open my $in, '<', "$self->{dir}/$name" or next;
        local $/;
        $text .= readline($in) // '';
    }

    return $text;
}


sub logged {
    my ($self, $pattern) = @_;

    return scalar(() = $self->log =~ /$pattern/g);
}


sub log_file {
    my ($self) = @_;

    return "$self->{dir}/flash.log";
}


# The times of the admissions in the access log, by the edge's clock, in order:
# [ admission, first attempt ] of each ticket.
sub admissions {
    my ($self) = @_;
    my (%seen, @list);

    open my $in, '<', $self->log_file or croak $self->log_file . ": $!";

    while (<$in>) {
        my %pair = /(\w+)=(\S*)/g;
        next if ($pair{status} // '') ne 'ADMITTED' || $seen{ $pair{id} }++;
        push @list, [ $pair{first} + $pair{waited}, $pair{first} ];
    }

    return sort { $a->[0] <=> $b->[0] } @list;
}


# The most admissions in any window of this number of seconds.  This does not depend on
# the speed of the machine, as the arrivals at the checkout do.
sub most_admitted {
    my ($self, $seconds) = @_;
    my @times = map { $_->[0] } $self->admissions;
    my ($begin, $most) = (0, 0);

    for my $end (0 .. $#times) {
        $begin++ while $times[$end] - $times[$begin] >= $seconds - 0.0005;
        $most = $end - $begin + 1 if $end - $begin + 1 > $most;
    }

    return $most;
}


# The figures of flash-report for the access log: overtaken, kendall_tau,
# worst_inversion_s and more.
sub report {
    my ($self) = @_;
    my $program = ($ENV{BUILD} // 'build') . '/flash-report';

    return decode_json(scalar qx($program --json @{[ $self->log_file ]}));
}


# The process ids of the workers that take requests, not of those that a
# reload has told to end.
sub workers {
    my ($self) = @_;
    my @workers;

    for my $stat (glob '/proc/[0-9]*/stat') {
        open my $in, '<', $stat or next;
        my ($pid, $state, $parent) = (readline($in) // '') =~ /^(\d+) .*\) (\S) (\d+)/
            or next;
        next if $parent != $self->{pid} || $state eq 'Z';

        open my $line, '<', "/proc/$pid/cmdline" or next;
        push @workers, $pid if (readline($line) // '') =~ /worker process\0*$/;
    }

    return @workers;
}


# Reloads; returns when the new workers run.
sub reload {
    my ($self) = @_;
    my %before = map { $_ => 1 } $self->workers;

    kill HUP => $self->{pid};

    wait_until {
        my @now = $self->workers;
        @now == 2 && !grep { $before{$_} } @now;
    } 'the workers of the new configuration';
}


# Kills a worker; returns when a new one runs.
sub kill_worker {
    my ($self) = @_;
    my ($worker) = $self->workers;

    kill KILL => $worker;

    wait_until {
        my @now = $self->workers;
        @now == 2 && !grep { $_ == $worker } @now;
    } 'a worker in place of the killed one';
}


# The stats of the zone's only key; an empty hash before its first request.
sub status {
    my ($self) = @_;

    my $response = HTTP::Tiny->new->get($self->url('/status'));
    croak "status: $response->{status}" if !$response->{success};

    return decode_json($response->{content})->{zones}{sale}{keys}{sale} // {};
}


sub DESTROY {
    my ($self) = @_;
    local ($?, $!, $@);

    delete $running{$self} or return;
    $self->stop if $self->{pid};

    # errors of nginx fail every test
    if ($self->log =~ /(AddressSanitizer|runtime error|\[alert\](?!.*exited on signal 9| .*was locked by)|\[emerg\]).*/) {
        $failures++;
        warn "# nginx reported: $&\n";
    }
}


# Edges in global variables are destroyed before the exit status is set.
END {
    $_->DESTROY for grep { defined } values %running;
    $? = 1 if $failures && !$?;
}


1;
