package CheckoutServer;

# A checkout process under test: start, requests, stop.

use strict;
use warnings;

use Carp qw( croak );
use Exporter qw( import );
use File::Temp ();
use HTTP::Tiny ();
use IO::Poll qw( POLLIN );
use IO::Select ();
use IO::Socket::INET ();
use JSON::PP qw( decode_json );
use POSIX qw( WNOHANG );
use Scalar::Util qw( weaken );
use Socket qw( SOL_SOCKET SO_LINGER IPPROTO_TCP TCP_NODELAY );
use Time::HiRes qw( sleep time );

our @EXPORT_OK = qw( wait_until now_ms read_response read_to_end read_all
                     post_text reset_connection );

# Timeout in seconds, for tests that hang.
use constant TIMEOUT => 60;

$SIG{PIPE} = 'IGNORE';

# Checkouts that exited with an error, for example after a sanitizer report.
my $failures = 0;
my %running;


sub binary {
    return $ENV{CHECKOUT} || 'build/checkout';
}


# Calls $condition until it returns a true value, and returns that value.
sub wait_until(&$) {
    my ($condition, $what) = @_;
    my $end = time() + TIMEOUT;

    while (time() < $end) {
        my $value = $condition->();
        return $value if $value;
        sleep(0.005);
    }

    croak "timeout while waiting for $what";
}


sub now_ms {
    return int(time() * 1000);
}


# Runs the checkout to its end; returns (exit status, stdout, stderr).
sub run {
    my ($class, @args) = @_;
    my ($out, $err) = (File::Temp->new(), File::Temp->new());

    my $pid = _spawn($out, $err, @args);

    wait_until { waitpid($pid, WNOHANG) == $pid } "the end of checkout @args";

    return ($? >> 8, _slurp($out), _slurp($err));
}


# A list as the first argument is a command that runs the checkout.
sub _spawn {
    my ($out, $err, @args) = @_;
    my @before = ref $args[0] ? @{shift @args} : ();

    my $pid = fork();
    croak "fork: $!" if !defined $pid;
    return $pid if $pid;

    open(STDOUT, '>&', $out) and open(STDERR, '>&', $err)
        and exec(@before, binary(), @args);

    POSIX::_exit(127);
}


sub _slurp {
    my ($file) = @_;

    open(my $in, '<', "$file") or croak "$file: $!";
    local $/;

    return scalar(<$in>) // '';
}


sub start {
    my ($class, @args) = @_;
    my @before = ref $args[0] ? (shift @args) : ();
    my $self = bless {
        out => File::Temp->new(),
        err => File::Temp->new(),
        http => HTTP::Tiny->new(timeout => TIMEOUT, max_redirect => 0),
    }, $class;

    $self->{pid} = _spawn($self->{out}, $self->{err}, @before,
                          '--listen=127.0.0.1:0', @args);

    weaken($running{$self} = $self);

    $self->{port} = wait_until {
        croak "checkout @args ended: " . $self->errors() if !$self->alive();
        _slurp($self->{out}) =~ m{^checkout: listening on http://\S+:(\d+)\n}
            ? $1 : 0;
    } "checkout @args to listen";

    return $self;
}


sub alive {
    my ($self) = @_;

    return 0 if !$self->{pid};
    return 1 if waitpid($self->{pid}, WNOHANG) == 0;

    $self->{status} = $?;
    $self->{pid} = 0;

    return 0;
}


sub errors {
    my ($self) = @_;

    return _slurp($self->{err});
}


sub signal {
    my ($self, $name) = @_;

    kill($name, $self->{pid});
}


# Waits for the end; returns (wait status, the final statistics).
sub ended {
    my ($self) = @_;

    wait_until { !$self->alive() } 'the end of the checkout';

    my ($last) = _slurp($self->{out}) =~ /^(\{.*\})\n\z/m;

    return ($self->{status}, $last && decode_json($last));
}


sub stop {
    my ($self) = @_;

    $self->signal('TERM');

    return $self->ended();
}


sub DESTROY {
    my ($self) = @_;

    delete $running{$self};
    return if !$self->{pid};

    local ($?, $!, $@);

    if (!eval { $self->stop(); 1 }) {
        kill('KILL', $self->{pid});
        waitpid($self->{pid}, 0);
        $self->{status} = 'timeout';
    }

    if ($self->{status} ne '0') {
        $failures++;
        warn "# checkout failed ($self->{status}): " . $self->errors();
    }
}


# Stops the remaining checkouts before the exit status is set.
END {
    $_->DESTROY() for grep { defined } values %running;
    $? = 1 if $failures && !$?;
}


# Sends a request; returns the response of HTTP::Tiny, with {json} if parsed.
sub request {
    my ($self, $method, $path, %options) = @_;

    my $response = $self->{http}->request(
        $method, "http://127.0.0.1:$self->{port}$path",
        { headers => $options{headers} || {},
          defined $options{body} ? (content => $options{body}) : () });

    if (($response->{headers}{'content-type'} // '') eq 'application/json'
        && length($response->{content}))
    {
        $response->{json} = decode_json($response->{content});
    }

    return $response;
}


sub buy {
    my ($self, %headers) = @_;

    return $self->request('POST', '/checkout', headers => \%headers);
}


# Sends $n orders, $batch at once; returns the number of confirmed ones.
sub crowd {
    my ($self, $n, $batch) = @_;
    my $confirmed = 0;

    $batch ||= 200;

    while ($n > 0) {
        my @sockets = map { $self->send_raw(post_text('',
                                Connection => 'close')) }
                      1 .. ($n < $batch ? $n : $batch);
        $confirmed += grep { $_ && $_->{status} == 200 } read_all(@sockets);
        $n -= @sockets;
    }

    return $confirmed;
}


sub stats {
    my ($self) = @_;

    return $self->request('GET', '/stats')->{json};
}


# Waits until $name in the statistics is $value.
sub wait_for {
    my ($self, $name, $value) = @_;
    my $stats;

    wait_until {
        $stats = $self->stats();
        $stats->{$name} == $value;
    } "$name to be $value";

    return $stats;
}


sub connect_raw {
    my ($self) = @_;

    my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
                                       PeerPort => $self->{port})
        or croak "connect: $!";
    setsockopt($socket, IPPROTO_TCP, TCP_NODELAY, 1);

    return $socket;
}


# Opens a connection, sends $text, and returns the socket.
sub send_raw {
    my ($self, $text) = @_;

    my $socket = $self->connect_raw();
    syswrite($socket, $text) == length($text) or croak "write: $!";

    return $socket;
}


sub post_text {
    my ($body, %headers) = @_;

    return join("\r\n", 'POST /checkout HTTP/1.1', 'Host: localhost',
                (map { "$_: $headers{$_}" } sort keys %headers),
                'Content-Length: ' . length($body), '', $body);
}


# The CPU time of the checkout, in seconds.
sub cpu {
    my ($self) = @_;

    open(my $in, '<', "/proc/$self->{pid}/stat") or croak "stat: $!";
    my @fields = split(' ', (<$in> =~ s/^.*\) //r));

    return ($fields[11] + $fields[12]) / POSIX::sysconf(POSIX::_SC_CLK_TCK());
}


# Reads one response; $rest keeps the bytes after it.  Returns undef at the end
# of the stream.
sub read_response {
    my ($socket, $rest) = @_;
    my $buffer = $rest ? $$rest : '';

    while (1) {
        if ($buffer =~ /\A(.*?\r\n)\r\n/s) {
            my ($head, $start) = ($1, $+[0]);
            my ($length) = $head =~ /^content-length: *(\d+)/im;

            if (length($buffer) >= $start + ($length // 0)) {
                $$rest = substr($buffer, $start + ($length // 0)) if $rest;
                my ($status) = $head =~ m{\AHTTP/1\.\d (\d+)};
                return { status => $status, head => $head,
                         content => substr($buffer, $start, $length // 0) };
            }
        }

        IO::Select->new($socket)->can_read(TIMEOUT)
            or croak 'timeout while waiting for a response';
        my $n = sysread($socket, $buffer, 65536, length($buffer));
        return undef if !$n;
    }
}


# Reads until the server closes the connection.
sub read_to_end {
    my ($socket) = @_;
    my $buffer = '';

    while (1) {
        IO::Select->new($socket)->can_read(TIMEOUT)
            or croak 'timeout while waiting for the end of the connection';
        my $n = sysread($socket, $buffer, 65536, length($buffer));
        return $buffer if !$n;
    }
}


# Reads one response from each connection; returns them in the order of the
# connections, undef for a closed one.
sub read_all {
    my (@sockets) = @_;
    my (@responses, %index);
    my $poll = IO::Poll->new();

    for my $i (0 .. $#sockets) {
        $index{fileno($sockets[$i])} = $i;
        $poll->mask($sockets[$i] => POLLIN);
    }

    while (%index) {
        $poll->poll(TIMEOUT) > 0
            or croak 'timeout while waiting for a response';

        for my $socket ($poll->handles(POLLIN | IO::Poll::POLLHUP())) {
            $responses[delete $index{fileno($socket)}]
                = read_response($socket);
            $poll->remove($socket);
        }
    }

    return @responses;
}


# Closes a connection with RST instead of FIN.
sub reset_connection {
    my ($socket) = @_;

    setsockopt($socket, SOL_SOCKET, SO_LINGER, pack('ii', 1, 0));
    close($socket);
}


1;
