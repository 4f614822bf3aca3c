package FakeEdge;

# An HTTP server for tests: a function answers the requests, which are logged.

use strict;
use warnings;

use File::Temp;
use IO::Select;
use IO::Socket::INET;
use JSON::PP qw(encode_json decode_json);
use POSIX ();
use Time::HiRes qw(time);


# FakeEdge->start(sub { my ($request) = @_; ...; return \%answer })
#
# The function runs in another process, one call at a time.
# request: {time, connection, method, path, headers => {name => value}, body}
# answer:  {status, headers => [name, value, ...], body, delay => seconds}
#          or {close => 1}: closes the connection without a response
sub start {
    my ($class, $answer) = @_;

    my $listener = IO::Socket::INET->new(
        LocalAddr => '127.0.0.1', Listen => 1024, ReuseAddr => 1)
        or die "cannot listen on 127.0.0.1: $!";

    my $log = File::Temp->new;
    my $pid = fork() // die "fork: $!";

    if ($pid == 0) {
        serve($listener, $log, $answer);
    }

    return bless {
        pid => $pid, port => $listener->sockport, log => $log,
    }, $class;
}


sub url {
    my ($self, $path) = @_;

    return "http://127.0.0.1:$self->{port}" . ($path // '/checkout');
}


# Stops the server and returns all requests, in order.
sub stop {
    my ($self) = @_;

    return if !$self->{pid};

    # a request is logged before its response is sent
    kill TERM => $self->{pid};
    waitpid $self->{pid}, 0;
    $self->{pid} = undef;

    seek $self->{log}, 0, 0;

    return map { decode_json($_) } readline $self->{log};
}


sub DESTROY {
    my ($self) = @_;
    local ($?, $!);

    $self->stop if $self->{pid};
}


sub serve {
    my ($listener, $log, $answer) = @_;

    my $select = IO::Select->new($listener);
    my (%input, %number, @later, $connections);

    # skips the destructors of objects that the parent uses
    $SIG{TERM} = sub { POSIX::_exit(0) };
    $SIG{PIPE} = 'IGNORE';
    $log->autoflush(1);

    while (1) {
        @later = sort { $a->[0] <=> $b->[0] } @later;

        while (@later && $later[0][0] <= time) {
            my (undef, $socket, $text) = @{ shift @later };
            print {$socket} $text;
        }

        my $wait = @later ? $later[0][0] - time : 1;

        for my $socket ($select->can_read($wait > 0 ? $wait : 0)) {

            if ($socket == $listener) {
                my $new = $listener->accept or next;
                $new->autoflush(1);
                $select->add($new);
                $input{$new} = '';
                $number{$new} = ++$connections;
                next;
            }

            my $n = sysread $socket, $input{$socket}, 65536,
                length $input{$socket};

            if (!$n) {
                @later = grep { $_->[1] != $socket } @later;
                $select->remove($socket);
                delete $input{$socket};
                close $socket;
                next;
            }

            my $request = parse(\$input{$socket}) or next;
            $request->{connection} = $number{$socket};
            print {$log} encode_json($request), "\n";

            my $reply = $answer->($request);

            if ($reply->{close}) {
                $select->remove($socket);
                delete $input{$socket};
                close $socket;
                next;
            }

            push @later, [time + ($reply->{delay} // 0), $socket,
                          text($reply)];
        }
    }
}


sub parse {
    my ($input) = @_;

    my $end = index $$input, "\r\n\r\n";
    return if $end < 0;

    my ($line, @headers) = split /\r\n/, substr $$input, 0, $end;
    my ($method, $path) = split / /, $line;
    my %headers = map { my ($name, $value) = split /:\s*/, $_, 2;
                        (lc $name, $value) } @headers;
    my $length = $headers{'content-length'} // 0;

    return if length($$input) < $end + 4 + $length;

    my $body = substr $$input, $end + 4, $length;
    substr $$input, 0, $end + 4 + $length, '';

    return { time => time, method => $method, path => $path,
             headers => \%headers, body => $body };
}


sub text {
    my ($reply) = @_;

    my $body = $reply->{body} // '';
    my @headers = @{ $reply->{headers} // [] };
    my $text = "HTTP/1.1 $reply->{status} X\r\nContent-Length: "
               . length($body) . "\r\n";

    while (my ($name, $value) = splice @headers, 0, 2) {
        $text .= "$name: $value\r\n";
    }

    return "$text\r\n$body";
}


# json(STATUS, \%object, header => value, ...): a response
sub json {
    my ($status, $object, @headers) = @_;

    return { status => $status, body => encode_json($object),
             headers => ['Content-Type' => 'application/json', @headers] };
}


1;
