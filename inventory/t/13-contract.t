# The contract of every store, with SQLite in memory and in a file.

use strict;
use warnings;

use File::Temp qw( tempdir );
use Test::More;

my $contract = $ENV{CHECKOUT_CONTRACT} || 'build/stores/contract';
my $dir = tempdir(CLEANUP => 1);

for my $store ('sqlite::memory:', "sqlite:$dir/contract.db") {
    my @lines = qx($contract $store 2>&1);

    is($?, 0, "$store: exit status");
    is_deeply([ grep { !/^(?:ok|1\.\.)/ } @lines ], [], "$store: no failures");
    cmp_ok(scalar(grep { /^ok/ } @lines), '>', 50, "$store: number of checks");
}

done_testing();
