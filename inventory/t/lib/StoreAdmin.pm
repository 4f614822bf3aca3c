package StoreAdmin;

# Commands to a checkout on its admin socket.

use strict;
use warnings;

use Carp qw( croak );
use CheckoutServer qw( read_response wait_until );
use Exporter qw( import );
use IO::Socket::UNIX ();
use JSON::PP qw( decode_json );

our @EXPORT_OK = qw( command compared read_answer send_command settled state );


sub _write {
    my ($path, $head, $body) = @_;

    my $socket = IO::Socket::UNIX->new(Peer => $path)
        or croak "connect $path: $!";
    my $text = join("\r\n", $head, 'Host: checkout',
                    'Content-Length: ' . length($body), '', $body);
    syswrite($socket, $text) == length($text) or croak "write: $!";

    return $socket;
}


sub read_answer {
    my ($socket) = @_;

    my $response = read_response($socket) or croak 'no response';
    $response->{json} = decode_json($response->{content});

    return $response;
}


sub _send {
    return read_answer(_write(@_));
}


# Sends a command; read_answer() reads its response.
sub send_command {
    my ($path, $body) = @_;

    return _write($path, 'POST /admin/store HTTP/1.1', $body);
}


# POST /admin/store with "truth=second" or another command; the response has
# {json}.
sub command {
    my ($path, $body) = @_;

    return _send($path, 'POST /admin/store HTTP/1.1', $body);
}


# Repeats a command while it times out: on a busy machine the stores may have
# calls in progress for long.
sub settled {
    my ($path, $body) = @_;

    return wait_until {
        my $response = command($path, $body);
        $response->{status} != 503 && $response;
    } "\"$body\"";
}


# Compares the two stores and returns the stats of the shadow.
sub compared {
    my ($path) = @_;

    return settled($path, 'check=1')->{json}{shadow};
}


# Returns the stats of the shadow.
sub state {
    my ($path) = @_;

    return _send($path, 'GET /admin/store HTTP/1.1', '')->{json}{shadow};
}


1;
