package Ticket;

# Signs tickets of any age and content, independently of the module.  The layout
# is described in src/wire/ft_ticket.c.

use strict;
use warnings;

use Digest::SHA 'hmac_sha256';
use MIME::Base64 'encode_base64url';

my %kinds = (wait => 1, pass => 2);


# sign(secret => ..., zone => ..., key => ..., bind => '', kind => 'wait',
#      first_ms => ..., seen_ms => first_ms, due_ms => seen_ms + 1 s): the text
sub sign {
    my (%t) = @_;

    $t{bind} //= '';
    $t{seen_ms} //= $t{first_ms};
    $t{due_ms} //= $t{seen_ms} + 1000;

    my $key_id = substr hmac_sha256('flash_throttle key id', $t{secret}), 0, 1;
    my $body = pack('C', 1 << 4 | $kinds{ $t{kind} // 'wait' }) . $key_id
        . substr(pack('Q>', $t{first_ms}), 2)
        . pack('N N N Q> C x3', $t{seen_ms} - $t{first_ms}, $t{due_ms} - $t{seen_ms},
               $t{epoch} // 0, $t{id} // 1, $t{place} // 7);
    my $message = $body . pack('n n', length $t{zone}, length $t{key}) . $t{zone} . $t{key} . $t{bind};

    return encode_base64url($body . substr hmac_sha256($message, $t{secret}), 0, 16);
}


1;
