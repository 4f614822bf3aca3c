#!/usr/bin/env perl
#
# Prints the admissions in an nginx access log of a sale: a line for each
# admitted shopper, with the time of the first attempt in seconds since the
# earliest of them, and the wait in seconds, separated by a tab.
#
# usage: scripts/sale-admissions.pl ACCESS_LOG

use strict;
use warnings;

use List::Util qw(min);

die "usage: sale-admissions.pl ACCESS_LOG\n" unless @ARGV == 1;

my ($log) = @ARGV;
my @admitted;

open my $file, '<', $log or die "$log: $!\n";

while (<$file>) {
    push @admitted, [ $1, $2 ] if /\sstatus=ADMITTED\sfirst=(\S+)\swaited=(\S+)/;
}

close $file or die "$log: $!\n";

my $start = min(map { $_->[0] } @admitted);

printf "%.3f\t%s\n", $_->[0] - $start, $_->[1] for @admitted;
