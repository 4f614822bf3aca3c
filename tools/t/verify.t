# flash-verify: correct logs, manipulated logs, invalid arguments.

use strict;
use warnings;

use Digest::SHA qw(hmac_sha256 sha256_hex);
use File::Temp;
use JSON::PP qw(decode_json);
use Test::More;

my $verify = $ENV{VERIFY} // 'build/flash-verify';
my $secret = 'the secret of the shuffle, of a test';
my $opens = 1795780800;                     # 2026-11-27T12:00:00Z
my $dir = File::Temp->newdir;


sub spew {
    my ($name, $text) = @_;

    open my $out, '>', "$dir/$name" or die "$name: $!";
    print {$out} $text;
    close $out or die "$name: $!";

    return "$dir/$name";
}

# verify(argument ...): exit status, output, errors
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
    my @texts = map { seek $_, 0, 0; local $/; readline($_) // '' } $out, $err;

    return ($status, @texts);
}

sub shuffle_key {
    my ($id, $zone, $key, $opens_ms) = @_;

    return unpack 'H16', hmac_sha256('flash_throttle draw' . pack('Q>', $opens_ms) . pack('H16', $id)
        . pack('n n', length $zone, length $key) . $zone . $key, $secret);
}

sub line {
    my ($time, $id, $status, $first, $waited) = @_;

    return sprintf "time=%.3f id=%s status=%s first=%.3f waited=%s position= wait= host=shop\n",
        $time, $id, $status, $first, $waited // '-';
}


# A correct sale: a pre-queue of 100, ten admissions a second, a poll a second
# per shopper; 20 shoppers arrive after the opening.
my @ids = map { unpack 'H16', hmac_sha256($_, 'ids') } 1 .. 120;

my %first = map { $ids[$_] => $_ < 100 ? $opens - 60 + $_ / 2 : $opens + 1 + $_ / 100 } 0 .. 119;
my %shuffle_key = map { $_ => shuffle_key($_, 'sale', 'shop.example', $opens * 1000) } @ids[0 .. 99];
my @order = ((sort { $shuffle_key{$a} cmp $shuffle_key{$b} } @ids[0 .. 99]), @ids[100 .. 119]);

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

        # a request is logged after the response of checkout
        push @lines, [ $at + 0.7, line($at + 0.7, $id, 'ADMITTED', $first{$id}, sprintf '%.3f', $at - $first{$id}) ];
        push @lines, [ $at + 2, line($at + 2, $id, 'PASSED', $first{$id}) ];
    }

    return join '', map { $_->[1] } sort { $a->[0] <=> $b->[0] } @lines;
}

my $file = spew('secret', "# the last one shuffles\nanother secret, that signs\n  $secret \r\n\n");
my @about = ('--secret', $file, '--zone', 'sale', '--key', 'shop.example', '--opens', '2026-11-27T13:00:00+01:00');

my ($status, $out, $err) = verify('--secret', $file);
is($status, 0, 'without a log');
is($out, sha256_hex($secret) . "\n", 'SHA-256 of the last secret');

my $log = spew('log', "GET /favicon.ico 404\n" . sale(@order) . "time=1 status=ADMITTED\n");
($status, $out, $err) = verify(@about, '--json', $log);
my $json = decode_json($out);

is($status, 0, 'a correct log') or diag $err;
is($err, '', 'no errors');
ok($json->{kept}, 'order kept');
is($json->{secret_sha256}, sha256_hex($secret), 'SHA-256 of the secret');
is($json->{prequeue}, 100, 'the pre-queue');
is($json->{checked}, 100, 'all checked');
is($json->{later}, 20, 'later shoppers');
is($json->{broken}, 1, 'an incomplete line');
is($json->{$_}, 0, $_) for qw( early inversions worst_inversion_places passed_over );
is($json->{kendall_tau}, 1, "Kendall's tau");

($status, $out) = verify(@about, $log);
like($out, qr/^admitted from the pre-queue\s+100$/m, 'as a table');
like($out, qr/^admitted in the shuffled order/m, 'the verdict');

($status, $out) = verify(@about, '--list', $log);
is(join(' ', map { (split /\t/)[1] } split /\n/, $out), join(' ', @order[0 .. 99]), '--list is in order');

($status, $out) = verify(@about, '--key', 'another.example', $log);
is($status, 1, 'another key');
like($out, qr/^NOT admitted.*\nThe orders are unrelated: check .*--opens\.$/m, 'unrelated orders');

# an inversion of two neighbours is within the slack
my @near = @order;
@near[40, 41] = @near[41, 40];
($status, $out) = verify(@about, '--json', spew('near', sale(@near)));
$json = decode_json($out);
is($status, 0, 'two neighbours exchanged');
is($json->{inversions}, 1, 'one inversion');
is($json->{worst_inversion_places}, 1, 'of one place');
is($json->{worst_inversion_s}, 0.1, 'of 0.1 s');

# the admissions of two shoppers exchanged
my @swapped = @order;
@swapped[2, 90] = @swapped[90, 2];
($status, $out) = verify(@about, '--json', spew('swapped', sale(@swapped)));
$json = decode_json($out);
is($status, 1, 'two admissions exchanged');
unlike((verify(@about, "$dir/swapped"))[1], qr/unrelated/, 'the orders are related');
ok(!$json->{kept}, 'order not kept');
cmp_ok($json->{passed_over}, '>', 30, 'many shoppers passed over');
cmp_ok($json->{worst_inversion_places}, '>=', 88, 'a large inversion');

# an id near the head replaced by one with a place near the end
my ($last_id) = grep { shuffle_key($_, 'sale', 'shop.example', $opens * 1000) gt 'c' } map { sprintf '%016x', $_ } 1 .. 100;
my $head = $order[5];
(my $forged = sale(@order)) =~ s/$head/$last_id/g;
is((verify(@about, spew('forged', $forged)))[0], 1, 'an id replaced');

# a shopper who arrived after the opening, admitted first
my $late = $order[110];
(my $favour = sale($late, grep { $_ ne $late } @order))
    =~ s/(id=$late status=ADMITTED first=)\S+ waited=\S+/sprintf '%s%.3f waited=0.000', $1, $opens + 0.2/e;
is((verify(@about, spew('favour', $favour)))[0], 1, 'a later shopper admitted first');

# admissions before the opening
(my $early = sale(@order)) =~ s/(status=ADMITTED first=)(\S+) waited=\S+/sprintf '%s%s waited=%.3f', $1, $2, $opens - 0.5 - $2/e;
is((verify(@about, spew('early', $early)))[0], 1, 'admissions before the opening');

# another secret, zone, key or time gives another order
my $other = spew('other', "some other secret of a test\n");
my @changed = (
    [ secret => '--secret', $other ], [ zone => '--zone', 'other' ], [ key => '--key', 'other.example' ],
    [ time => '--opens', '2026-11-27T12:00:00.001Z' ],
);
is((verify(@about, @$_[1, 2], $log))[0], 1, "another $_->[0]") for @changed;

# --only
(my $two = sale(@order) . sale(reverse @order)) =~ s/host=shop$/host=other/mg;
spew('two', sale(@order) . $two);
is((verify(@about, '--only', 'host=shop', "$dir/two"))[0], 0, '--only');

# opened by the operator 30 s early: earlier first attempts form the pre-queue
{
    my $opened_early = '';
    my $opened = $opens - 30;

    for my $i (0 .. 99) {
        my $at = $opened + 0.1 + $i / 10;
        my $first = $first{ $order[$i] };
        next if $first >= $opened;
        $opened_early .= line($at, $order[$i], 'ADMITTED', $first, sprintf '%.3f', $at - $first);
    }

    $opened_early .= line($opens - 10, $order[110], 'ADMITTED', $opens - 20, '10.000');
    spew('opened-early', $opened_early);
    is((verify(@about, "$dir/opened-early"))[0], 1, 'opened early, without --opened');
    ($status, $out) = verify(@about, '--opened', '2026-11-27T11:59:30Z', '--json', "$dir/opened-early");
    $json = decode_json($out);
    is($status, 0, 'with --opened');
    is($json->{later}, 1, 'first attempts after that are later');
}

# invalid arguments and files
my @refused = (
    [ 'no secret', qr/missing --secret/, '--zone', 'sale' ],
    [ 'no key', qr/LOG requires --zone, --key and --opens/, '--secret', $file, '--zone', 'sale', $log ],
    [ 'time', qr/invalid value "noon" for --opens: expected a time/, @about, '--opens', 'noon', $log ],
    [ 'slack', qr/invalid value "long" for --slack: expected a number from 0 to 86400/, @about, '--slack', 'long', $log ],
    [ 'pair', qr/invalid value "shop" for --only: expected NAME=VALUE/, @about, '--only', 'shop', $log ],
    [ 'opened late', qr/--opened is later than --opens/, @about, '--opened', '2026-11-27T12:00:01Z', $log ],
    [ 'two logs', qr/unexpected argument "[^"]+" after "[^"]+"/, @about, $log, $log ],
    [ 'no log', qr{open\(\) "[^"]*/none" failed \(2: No such file}, @about, "$dir/none" ],
    [ 'an empty log', qr/no admissions from the pre-queue in "/, @about, spew('empty', '') ],
    [ 'an empty secret file', qr/no secret in "/, '--secret', spew('nothing', "# none\n") ],
    [ 'a directory', qr/read\(\) "\." failed \(21: Is a directory\)$/m, '--secret', '.' ],
    [ 'a short secret', qr/secret of 5 bytes in "[^"]+", line 2: expected 16 to 65536/, '--secret', spew('short', "\nshort\n") ],
);

for (@refused) {
    my ($name, $message, @arguments) = @$_;

    ($status, $out, $err) = verify(@arguments);
    is($status, 2, "$name: exit status");
    like($err, $message, "$name: message");
}

done_testing();
