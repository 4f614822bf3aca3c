package Edge;

# Starts and controls nginx with two workers and the throttle in front of a
# checkout.

use strict;
use warnings;

use Carp qw(croak);
use CheckoutServer qw(wait_until);
use File::Temp ();
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
#             listen => text, http => text, location => text)
#
# zone, throttle and listen: parameters of flash_throttle_zone, flash_throttle
# and listen; http and location: directives.
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
    my ($listen, $http, $location) = map { $self->{$_} // '' } qw(listen http location);

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


# Process ids of the workers, without those that are shutting down.
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
