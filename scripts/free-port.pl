#!/usr/bin/env perl
#
# Prints the first of COUNT adjacent TCP ports that are free on loopback now.
#
# usage: scripts/free-port.pl [COUNT]
#
# FREE_PORTS=LOW-HIGH is the range to look in.  Suites that run at the same time
# get a range each.  The default is below the range from which the kernel picks
# ports for outgoing connections, so that none of those takes the port meanwhile.
# Ports are given out in turn: a port that nobody listens on yet is not given twice.

use strict;
use warnings;

use Fcntl qw( :flock :seek O_CREAT O_NOFOLLOW O_RDWR );
use IO::Socket::INET;

my $count = shift // 1;
my ($low, $high) = ($ENV{FREE_PORTS} // '20000-32000') =~ /^(\d+)-(\d+)$/
    or die "FREE_PORTS=$ENV{FREE_PORTS} must be LOW-HIGH\n";
my $name = sprintf '%s/flash_throttle-ports-%d-%d',
                   $ENV{TMPDIR} // '/tmp', $low, $>;


sub is_free {
    my ($port) = @_;

    return defined IO::Socket::INET->new(
        LocalAddr => '127.0.0.1',
        LocalPort => $port,
        Proto     => 'tcp',
        ReuseAddr => 1,
        Listen    => 1,
    );
}


# the file has the port that follows the last one given out
sysopen my $file, $name, O_CREAT | O_NOFOLLOW | O_RDWR, 0600 or die "open() \"$name\" failed: $!\n";
flock $file, LOCK_EX or die "flock() \"$name\" failed: $!\n";

my ($first) = (<$file> // '') =~ /^(\d+)$/;

$first //= $low + int rand($high - $low);

for (1 .. 1000) {
    $first = $low if $first < $low || $first + $count - 1 > $high;

    my ($used) = grep { !is_free($_) } $first .. $first + $count - 1;

    if (!defined $used) {
        seek $file, 0, SEEK_SET;
        truncate $file, 0;
        print {$file} $first + $count, "\n";
        close $file or die "close() \"$name\" failed: $!\n";

        print "$first\n";
        exit 0;
    }

    $first = $used + 1;
}

die "no $count adjacent free ports between $low and $high on 127.0.0.1\n";
