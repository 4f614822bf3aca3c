#!/usr/bin/env perl
#
# Prints recorded sales side by side.
#
# usage: scripts/sale-table.pl DIR...

use strict;
use warnings;

use JSON::PP;

my @ROWS = (
    [ 'shoppers', 'shoppers', '%d' ],
    [ 'saw a confirmation', 'confirmed', '%d' ],
    [ 'saw a decline', 'declined', '%d' ],
    [ 'saw "sold out"', 'sold_out', '%d' ],
    [ 'refused at the deadline', 'refused', '%d' ],
    [ 'gave up waiting', 'gave_up', '%d' ],
    [ 'saw a timeout', 'timed_out', '%d' ],
    [ 'saw an error', 'failed', '%d' ],
    [ 'oversold', 'oversold', '%d' ],
    [ 'charged after leaving', 'late_charges', '%d' ],
    [ 'time to purchase, median', 'purchase_p50_s', '%.2f s' ],
    [ 'checkout request, p95', 'checkout_p95_s', '%.2f s' ],
    [ 'most in progress', 'in_progress_max', '%d' ],
    [ 'requests per shopper', 'polls_per_shopper', '%.1f' ],
    [ 'wait, median', 'wait_p50_s', '%.2f s' ],
    [ 'wait, p95', 'wait_p95_s', '%.2f s' ],
    [ 'wait spread', 'wait_spread_s', '%.2f s' ],
    [ 'overtaken', 'overtaken', '%.1f %%', 100 ],
    [ 'worst inversion', 'worst_inversion_s', '%.2f s' ],
    [ q{Kendall's tau}, 'kendall_tau', '%.4f' ],
);


sub slurp_json {
    my ($name) = @_;

    open my $file, '<', $name or die "$name: $!\n";
    local $/;

    return decode_json(<$file>);
}


die "usage: sale-table.pl DIR...\n" unless @ARGV;

my @runs = map { slurp_json("$_/run.json") } @ARGV;
my @figures = map { slurp_json("$_/figures.json") } @ARGV;

printf '%-26s', "$runs[0]{profile}, seed $runs[0]{seed}";
printf ' %22s', $_->{variant} for @runs;
print "\n\n";

for my $row (@ROWS) {
    my ($label, $name, $format, $scale) = @$row;

    next unless grep { defined $_->{$name} } @figures;

    printf '%-26s', $label;

    for my $figures (@figures) {
        printf ' %22s', defined $figures->{$name}
            ? sprintf($format, $figures->{$name} * ($scale // 1)) : '-';
    }

    print "\n";
}
