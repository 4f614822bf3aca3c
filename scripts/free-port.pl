#!/usr/bin/env perl
#
# Prints the first of COUNT adjacent TCP ports that are free on loopback now.
#
# usage: scripts/free-port.pl [COUNT]
#
# FREE_PORTS=LOW-HIGH is the range to look in.  Suites that run at the same time
# get a range each.  The default is below the range from which the kernel picks
# ports for outgoing connections, so that none of those takes the port meanwhile.

use strict;
use warnings;

use IO::Socket::INET;

my $count = shift // 1;
my ($low, $high) = ($ENV{FREE_PORTS} // '20000-32000') =~ /^(\d+)-(\d+)$/
    or die "FREE_PORTS=$ENV{FREE_PORTS} must be LOW-HIGH\n";


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


for (1 .. 1000) {
    my $first = $low + int rand($high - $low - $count + 1);

    next if grep { !is_free($_) } $first .. $first + $count - 1;

    print "$first\n";
    exit 0;
}

die "no $count adjacent free ports between $low and $high on 127.0.0.1\n";
