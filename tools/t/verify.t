# flash-verify: an honest log, one that was tampered with, and what it refuses.

use strict;
use warnings;

use Digest::SHA qw(hmac_sha256 sha256_hex);
use File::Temp;
use JSON::PP qw(decode_json);
use Test::More;

my $verify = $ENV{VERIFY} // 'build/flash-verify';
my $secret = 'the secret that draws, of a test';
my $opens = 1795780800;                     # 2026-11-27T12:00:00Z
my $dir = File::Temp->newdir;


sub spew {
    my ($name, $text) = @_;

    open my $out, '>', "$dir/$name" or die "$name: $!";
    print {$out} $text;
    close $out or die "$name: $!";

    return "$dir/$name";
}

# verify(argument ...): its status, and what it says
sub verify {
    my @arguments = @_;

    my ($out, $err) = (File::Temp->new, File::Temp->new);
    my $pid = fork() // die "fork: $!";

    if ($pid == 0) {
        open STDOUT, '>&', $out and open STDERR, '>&', $err and exec $verify, @arguments;
        exit 127;
    }

    waitpid $pid, 0;

    my $status = $? & 127 ? 'signal ' . ($? & 127) : $? >> 8;
    my @said = map { seek $_, 0, 0; local $/; readline($_) // '' } $out, $err;

    return ($status, @said);
}

sub lot {
    my ($id, $zone, $key, $opens_ms) = @_;

    return unpack 'H16', hmac_sha256('flash_throttle draw' . pack('Q>', $opens_ms) . pack('H16', $id)
        . pack('n n', length $zone, length $key) . $zone . $key, $secret);
}

sub line {
    my ($time, $id, $status, $first, $waited) = @_;

    return sprintf "time=%.3f id=%s status=%s first=%.3f waited=%s position= wait= host=shop\n",
        $time, $id, $status, $first, $waited // '-';
}


# A sale as it should be: 100 in the pre-queue, ten a second let in, each asks
# every second until then; 20 who come later.
my @ids = map { unpack 'H16', hmac_sha256($_, 'ids') } 1 .. 120;

my %first = map { $ids[$_] => $_ < 100 ? $opens - 60 + $_ / 2 : $opens + 1 + $_ / 100 } 0 .. 119;
my %lot = map { $_ => lot($_, 'sale', 'shop.example', $opens * 1000) } @ids[0 .. 99];
my @order = ((sort { $lot{$a} cmp $lot{$b} } @ids[0 .. 99]), @ids[100 .. 119]);

sub sale {
    my @order = @_;

    my @lines;

    for my $i (0 .. $#order) {
        my $id = $order[$i];
        my $at = $opens + 0.1 + $i / 10;

        push @lines, [ $opens - 1, line($opens - 1, $id, 'CLOSED', $first{$id}) ] if $first{$id} < $opens;

        for (my $t = $opens + 0.05 + ($i % 7) / 10; $t < $at; $t++) {
            push @lines, [ $t, line($t, $id, 'QUEUED', $first{$id}) ] if $t >= $first{$id};
        }

        # the log has it when checkout has answered
        push @lines, [ $at + 0.7, line($at + 0.7, $id, 'ADMITTED', $first{$id}, sprintf '%.3f', $at - $first{$id}) ];
        push @lines, [ $at + 2, line($at + 2, $id, 'PASSED', $first{$id}) ];
    }

    return join '', map { $_->[1] } sort { $a->[0] <=> $b->[0] } @lines;
}

my $file = spew('secret', "# drawn by the last\nanother secret, that signs\n  $secret \r\n\n");
my @about = ('--secret', $file, '--zone', 'sale', '--key', 'shop.example', '--opens', '2026-11-27T13:00:00+01:00');

my ($status, $out, $err) = verify('--secret', $file);
is($status, 0, 'without a log');
is($out, sha256_hex($secret) . "\n", 'the commitment to the last secret');

my $log = spew('log', "GET /favicon.ico 404\n" . sale(@order) . "time=1 status=ADMITTED\n");
($status, $out, $err) = verify(@about, '--json', $log);
my $json = decode_json($out);

is($status, 0, 'an honest log') or diag $err;
is($err, '', 'nothing to complain about');
ok($json->{kept}, 'in order');
is($json->{secret_sha256}, sha256_hex($secret), 'the secret named');
is($json->{prequeue}, 100, 'the pre-queue');
is($json->{checked}, 100, 'all checked');
is($json->{later}, 20, 'later ones');
is($json->{broken}, 1, 'a line that tells too little');
is($json->{$_}, 0, $_) for qw( early inversions worst_inversion_places passed_over );
is($json->{kendall_tau}, 1, "Kendall's tau");

($status, $out) = verify(@about, $log);
like($out, qr/^checked: of these admitted\s+100$/m, 'as a table');
like($out, qr/^admitted in the order that was drawn/m, 'and a sentence');

($status, $out) = verify(@about, '--list', $log);
is(join(' ', map { (split /\t/)[1] } split /\n/, $out), join(' ', @order[0 .. 99]), 'the list is the order');

($status, $out) = verify(@about, '--key', 'another.example', $log);
is($status, 1, 'the places of another key');
like($out, qr/^NOT admitted.*\n.*--key\nand --opens those that nginx had\?$/m, 'and what may be wrong with them');

# two neighbours: an inversion of one place, and nobody is wronged
my @near = @order;
@near[40, 41] = @near[41, 40];
($status, $out) = verify(@about, '--json', spew('near', sale(@near)));
$json = decode_json($out);
is($status, 0, 'two neighbours: in order');
is($json->{inversions}, 1, 'an inversion');
is($json->{worst_inversion_places}, 1, 'by a place');
is($json->{worst_inversion_s}, 0.1, 'and a tenth of a second');

# the times of two shoppers exchanged
my @swapped = @order;
@swapped[2, 90] = @swapped[90, 2];
($status, $out) = verify(@about, '--json', spew('swapped', sale(@swapped)));
$json = decode_json($out);
is($status, 1, 'two times exchanged: found');
unlike((verify(@about, "$dir/swapped"))[1], qr/--opens/, 'which is not put down to another draw');
ok(!$json->{kept}, 'not in order');
cmp_ok($json->{passed_over}, '>', 30, 'many were passed over');
cmp_ok($json->{worst_inversion_places}, '>=', 88, 'by that many places');

# somebody's id in place of another's, whose place is far behind
my ($friend) = grep { lot($_, 'sale', 'shop.example', $opens * 1000) gt 'c' } map { sprintf '%016x', $_ } 1 .. 100;
my $head = $order[5];
(my $forged = sale(@order)) =~ s/$head/$friend/g;
is((verify(@about, spew('forged', $forged)))[0], 1, 'another id in place of one at the head');

# one who came later, let in first
my $late = $order[110];
(my $favour = sale($late, grep { $_ ne $late } @order))
    =~ s/(id=$late status=ADMITTED first=)\S+ waited=\S+/sprintf '%s%.3f waited=0.000', $1, $opens + 0.2/e;
is((verify(@about, spew('favour', $favour)))[0], 1, 'one who came later, let in first');

# before the opening
(my $early = sale(@order)) =~ s/(status=ADMITTED first=)(\S+) waited=\S+/sprintf '%s%s waited=%.3f', $1, $2, $opens - 0.5 - $2/e;
is((verify(@about, spew('early', $early)))[0], 1, 'one let in before the opening');

# another secret, zone, key or time draws another order
my $other = spew('other', "some other secret of a test\n");
my @changed = (
    [ secret => '--secret', $other ], [ zone => '--zone', 'other' ], [ key => '--key', 'other.example' ],
    [ time => '--opens', '2026-11-27T12:00:00.001Z' ],
);
is((verify(@about, @$_[1, 2], $log))[0], 1, "another $_->[0]") for @changed;

# the pairs of one shop only
(my $two = sale(@order) . sale(reverse @order)) =~ s/host=shop$/host=other/mg;
spew('two', sale(@order) . $two);
is((verify(@about, '--only', 'host=shop', "$dir/two"))[0], 0, 'the lines of one shop');

# opened by hand half a minute before: who came until then was in the pre-queue
{
    my $by_hand = '';
    my $opened = $opens - 30;

    for my $i (0 .. 99) {
        my $at = $opened + 0.1 + $i / 10;
        my $first = $first{ $order[$i] };
        next if $first >= $opened;
        $by_hand .= line($at, $order[$i], 'ADMITTED', $first, sprintf '%.3f', $at - $first);
    }

    $by_hand .= line($opens - 10, $order[110], 'ADMITTED', $opens - 20, '10.000');
    spew('by-hand', $by_hand);
    is((verify(@about, "$dir/by-hand"))[0], 1, 'opened before: too early');
    ($status, $out) = verify(@about, '--opened', '2026-11-27T11:59:30Z', '--json', "$dir/by-hand");
    $json = decode_json($out);
    is($status, 0, 'unless it was by hand');
    is($json->{later}, 1, 'who came after that is a later one');
}

# what is refused
my @refused = (
    [ 'no secret', qr/--secret is needed/, '--zone', 'sale' ],
    [ 'no key', qr/--zone, --key and --opens are needed/, '--secret', $file, '--zone', 'sale', $log ],
    [ 'no time', qr/--opens takes a time such as .*not "noon"/s, @about, '--opens', 'noon', $log ],
    [ 'slack', qr/--slack takes seconds, 0 to 86400, not "long"/, @about, '--slack', 'long', $log ],
    [ 'pair', qr/--only takes a pair/, @about, '--only', 'shop', $log ],
    [ 'opened late', qr/--opened is for/, @about, '--opened', '2026-11-27T12:00:01Z', $log ],
    [ 'two logs', qr/one log/, @about, $log, $log ],
    [ 'no log', qr/none: No such file/, @about, "$dir/none" ],
    [ 'an empty log', qr/nobody of the pre-queue was admitted/, @about, spew('empty', '') ],
    [ 'no secret in it', qr/has no secret/, '--secret', spew('nothing', "# none\n") ],
    [ 'a directory', qr/: Is a directory$/m, '--secret', '.' ],
    [ 'a short one', qr/has a line that is no secret/, '--secret', spew('short', "short\n") ],
);

for (@refused) {
    my ($name, $words, @arguments) = @$_;

    ($status, $out, $err) = verify(@arguments);
    is($status, 2, "$name: refused");
    like($err, $words, "$name: says why");
}

done_testing();
