# Runs the unit tests of window.c and histogram.c, see measures.c.

use strict;
use warnings;

my $program = $ENV{CHECKOUT_MEASURES} || 'build/upstream-demo/measures';

exec($program) or die "cannot run $program: $!";
