# The benchmark of the store in MySQL or MariaDB, shortened.  Requirements that
# depend on the machine are not checked.

use strict;
use warnings;

use Test::More;
use PrivateMariaDB;

my $bench = $ENV{INVENTORY_BENCH} || 'build/inventory';
my $db = PrivateMariaDB->start();

my %parts = (
    storm => 7,
    locks => 1,
    gaps => 2,
    deadlocks => 3,
    carts => 1,
    pools => 1,
    holders => 1,
);

my $shop = 0;

for my $part (qw( storm locks gaps deadlocks carts pools holders )) {
    my @lines;

    # a busy machine does too little in the first time
    for my $seconds (0.3, 5) {
        $shop += 1000;
        @lines = qx($bench --operations=4000 --seconds=$seconds \\
                        --first-shop=$shop \\
                        @{[ $db->file('') ]} $part 2>&1);
        last if $? == 0;
    }

    my @must = grep { /^(?:ok|NOT OK) / } @lines;

    is($?, 0, "$part: all requirements met") or diag(@lines);
    cmp_ok(scalar(@must), '>=', $parts{$part}, "$part: number of requirements");
}

done_testing();
