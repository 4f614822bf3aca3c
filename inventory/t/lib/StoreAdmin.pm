package StoreAdmin;

# Orders to a checkout on its admin socket.

use strict;
use warnings;

use Carp qw( croak );
use CheckoutServer qw( read_response wait_until );
use Exporter qw( import );
use IO::Socket::UNIX ();
use JSON::PP qw( decode_json );

our @EXPORT_OK = qw( answer_to compared look order send_order settled );


sub _write {
    my ($path, $head, $body) = @_;

    my $socket = IO::Socket::UNIX->new(Peer => $path)
        or croak "connect $path: $!";
    my $text = join("\r\n", $head, 'Host: checkout',
                    'Content-Length: ' . length($body), '', $body);
    syswrite($socket, $text) == length($text) or croak "write: $!";

    return $socket;
}


sub answer_to {
    my ($socket) = @_;

    my $response = read_response($socket) or croak 'no answer came';
    $response->{json} = decode_json($response->{content});

    return $response;
}


sub _send {
    return answer_to(_write(@_));
}


# An order whose answer is read later, with answer_to().
sub send_order {
    my ($path, $body) = @_;

    return _write($path, 'POST /admin/store HTTP/1.1', $body);
}


# POST /admin/store with "truth=second" or the like; the response has {json}.
sub order {
    my ($path, $body) = @_;

    return _send($path, 'POST /admin/store HTTP/1.1', $body);
}


# The same, as often as it takes: a machine that has much to do may need more
# than one go until the stores are at rest.
sub settled {
    my ($path, $body) = @_;

    return wait_until {
        my $response = order($path, $body);
        $response->{status} != 503 && $response;
    } "\"$body\" to be carried out";
}


# The two stores at rest, compared.
sub compared {
    my ($path) = @_;

    return settled($path, 'check=1')->{json}{shadow};
}


# What the store has to tell.
sub look {
    my ($path) = @_;

    return _send($path, 'GET /admin/store HTTP/1.1', '')->{json}{shadow};
}


1;
