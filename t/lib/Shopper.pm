package Shopper;

# An HTTP client with a cookie jar.

use strict;
use warnings;

use IO::Socket::INET;
use JSON::PP ();

my $timeout = $ENV{TEST_NGINX_TIMEOUT} // 10;


# new(port, name => value ...): sends these headers with each request.
sub new {
    my ($class, $port, %headers) = @_;

    return bless {
        port    => $port,
        headers => { Host => 'localhost', %headers },
        jar     => {},
    }, $class;
}


sub get  { my ($self, $uri, %headers) = @_; $self->request('GET', $uri, %headers) }
sub head { my ($self, $uri, %headers) = @_; $self->request('HEAD', $uri, %headers) }

# poll(uri): sends the request of the queue page's script.
sub poll {
    my ($self, $uri, %headers) = @_;

    return $self->get($uri, 'Flash-Throttle-Poll' => 1, %headers);
}


# request(method, uri, name => value ...): the response.  An undefined value
# removes a header.  Body is the request body, whose Content-Length may differ;
# Behind is sent after it; with Wait => 0 the socket is returned after sending.
sub request {
    my ($self, $method, $uri, %headers) = @_;

    my $body = delete $headers{Body};
    my $behind = delete $headers{Behind} // '';
    my $wait = delete $headers{Wait} // 1;
    my %all = (%{ $self->{headers} }, Connection => 'close', %headers);

    $all{Cookie} //= join '; ', map { "$_=$self->{jar}{$_}" } sort keys %{ $self->{jar} }
        if %{ $self->{jar} } && !exists $headers{Cookie};
    $all{'Content-Length'} //= length $body if defined $body;

    my $text = "$method $uri HTTP/1.1\r\n"
        . join('', map { "$_: $all{$_}\r\n" } grep { defined $all{$_} } sort keys %all)
        . "\r\n" . ($body // '') . $behind;

    my $socket = connect_to($self->{port});
    print $socket $text;

    return $socket unless $wait;
    return $self->keep(parse(read_all($socket)));
}


# answer(socket): the response to a request with Wait => 0.
sub answer {
    my ($self, $socket) = @_;

    return $self->keep(parse(read_all($socket)));
}


sub keep {
    my ($self, $response) = @_;

    for my $cookie (@{ $response->{headers}{'set-cookie'} // [] }) {
        $self->{jar}{$1} = $2 if $cookie =~ /^([^=;]+)=([^;]*)/;
    }

    return $response;
}


# ticket(name): the ticket or pass in the cookie jar.
sub ticket {
    my ($self, $name) = @_;

    return $self->{jar}{ $name // 'flash_throttle_sale' };
}


sub connect_to {
    my ($port) = @_;

    my $socket = IO::Socket::INET->new(
        PeerAddr => '127.0.0.1',
        PeerPort => $port,
        Timeout  => $timeout,
    ) or die "cannot connect to port $port: $!\n";

    $socket->autoflush(1);

    return $socket;
}


# Reads until the server closes the connection.
sub read_all {
    my ($socket) = @_;

    my $text = '';

    local $SIG{ALRM} = sub { die "no answer within $timeout s, got \"$text\"\n" };
    alarm $timeout;
    1 while sysread $socket, $text, 65536, length $text;
    alarm 0;

    return $text;
}


# raw(port, text): sends text; returns all that the server sends.
sub raw {
    my ($port, $text) = @_;

    my $socket = connect_to($port);
    print $socket $text;

    return read_all($socket);
}


sub parse {
    my ($text) = @_;

    my ($head, $body) = split /\r\n\r\n/, $text, 2;
    my ($status_line, @lines) = split /\r\n/, $head // '';
    my %headers;

    ($status_line // '') =~ m{^HTTP/[\d.]+ (\d{3})} or die "no response in \"$text\"\n";
    my $status = $1;

    for (@lines) {
        my ($name, $value) = split /:\s*/, $_, 2;
        push @{ $headers{ lc $name } }, $value;
    }

    return bless {
        status  => $status,
        head    => $head,
        headers => \%headers,
        body    => $body,
    }, 'Shopper::Response';
}


package Shopper::Response;

sub status { $_[0]{status} }
sub body   { $_[0]{body} }
sub json   { JSON::PP::decode_json($_[0]{body}) }

# header(name): its value; the last of several
sub header {
    my ($self, $name) = @_;

    return ($self->{headers}{ lc $name } // [])->[-1];
}

# headers(name): all values
sub headers { @{ $_[0]{headers}{ lc $_[1] } // [] } }


1;
