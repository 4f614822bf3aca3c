# The measures behind the statistics, against a slow and simple reckoning of
# the same: a program in C, as what it tests has no other way in.

use strict;
use warnings;

my $program = $ENV{CHECKOUT_MEASURES} || 'build/upstream-demo/measures';

exec($program) or die "cannot run $program: $!";
