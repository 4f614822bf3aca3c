#!/usr/bin/env perl
#
# Draws the plots of docs/experiments.md with gnuplot: reads results/, writes
# docs/img/.
#
# usage: scripts/report-plots.pl

use strict;
use warnings;

use FindBin;
use List::Util qw(sum0);

BEGIN { require "$FindBin::Bin/report-lib.pl" }

my $IMG = 'docs/img';
my $DATA = 'build/report';

# Two variants that differ only in the order of admission.
my %LINES = (
    lottery => 'peak-edge-lottery-deadline',
    fair    => 'peak-edge-fair-deadline',
);

# Distinguishable with colour blindness, and in greyscale.
my %COLOURS = (lottery => '#d55e00', fair => '#0072b2', tick => '#222222');

my $STYLE = <<"EOF";
set terminal svg size 900,430 font 'sans-serif,13' background 'white'
set border 3 linecolor '#666666'
set tics nomirror textcolor '#222222'
set grid linecolor '#dddddd' linetype 1
EOF

my $runs = Report::recorded();


sub write_rows {
    my ($name, @rows) = @_;

    open my $file, '>', "$DATA/$name" or die "$DATA/$name: $!\n";
    print $file join("\t", @$_), "\n" for @rows;
    close $file or die "$DATA/$name: $!\n";
}


sub gnuplot {
    my ($name, $script) = @_;

    open my $pipe, '|-', 'gnuplot' or die "gnuplot: $!\n";
    print $pipe $STYLE, "set output '$IMG/$name.svg'\n", $script;
    close $pipe or die "gnuplot failed on $name\n";

    print "wrote $IMG/$name.svg\n";
}


# [first attempt, wait] in seconds of each admitted shopper of the first seed.
sub admissions {
    my ($name) = @_;
    my ($seed) = sort { $a <=> $b } keys %{ $runs->{$name} // {} };

    return unless defined $seed;

    my $text = Report::slurp("$runs->{$name}{$seed}{dir}/admissions.tsv");

    return map { [ split /\t/ ] } split /\n/, $text;
}


sub quantile {
    my ($q, @values) = @_;

    @values = sort { $a <=> $b } @values;

    return $values[ int($q * $#values + 0.5) ];
}


# [second, p5, median, p95] of the waits, by the second of the first attempt.
sub waits {
    my %seconds;

    push @{ $seconds{ int $_->[0] } }, $_->[1] for @_;

    return map { my $second = $_;
                 [ $second, map { quantile($_, @{ $seconds{$second} }) } 0.05, 0.5, 0.95 ] }
           grep { @{ $seconds{$_} } >= 5 } sort { $a <=> $b } keys %seconds;
}


sub mean {
    my ($name, $figure) = @_;
    my @values = map { $_->{figures}{$figure} } values %{ $runs->{$name} };

    return sum0(@values) / @values;
}


sub plot_admissions {
    gnuplot('admissions', <<"EOF");
set multiplot layout 1,2
set xlabel 'first attempt, s'
set xrange [0:52]
set yrange [0:66]
set key off
set title 'lottery: by chance'
set ylabel 'admitted, s'
plot '$DATA/lottery.tsv' using 1:(\$1+\$2) with dots lw 4 lc rgb '$COLOURS{lottery}'
set title 'fair: first come, first served'
plot '$DATA/fair.tsv' using 1:(\$1+\$2) with dots lw 4 lc rgb '$COLOURS{fair}'
unset multiplot
EOF
}


sub plot_waits {
    gnuplot('waits', <<"EOF");
set xlabel 'second of the first attempt'
set ylabel 'wait of admitted shoppers, s'
set xrange [0:52]
set yrange [0:16]
set key outside top center horizontal
set style fill transparent solid 0.25 noborder
plot '$DATA/lottery-waits.tsv' using 1:2:4 with filledcurves lc rgb '$COLOURS{lottery}' title 'lottery: 5 to 95 %', \\
     '' using 1:3 with lines lw 2 lc rgb '$COLOURS{lottery}' title 'median', \\
     '$DATA/fair-waits.tsv' using 1:2:4 with filledcurves lc rgb '$COLOURS{fair}' title 'fair: 5 to 95 %', \\
     '' using 1:3 with lines lw 2 lc rgb '$COLOURS{fair}' title 'median'
EOF
}


sub orders {
    my @rows;

    for my $variant (grep { $runs->{"peak-$_"} } @Report::PEAK) {
        my $simulated = Report::simulated('peak', $variant);

        push @rows, [ "\"$Report::TITLES{$variant}\"",
            (map { mean("peak-$variant", $_) } qw(confirmed late_charges)),
            (map { $simulated->{$_}{mean} } qw(confirmed late_charges)) ];
    }

    return @rows;
}


sub plot_orders {
    gnuplot('orders', <<"EOF");
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.85 noborder
set boxwidth 0.9
set ylabel 'shoppers of 2,560'
set yrange [0:2000]
set xrange [-0.6:]
set xtics rotate by -20 scale 0
set rmargin 10
set key outside top center horizontal
plot '$DATA/orders.tsv' using 2:xtic(1) lc rgb '$COLOURS{fair}' title 'confirmed', \\
     '' using 3 lc rgb '$COLOURS{lottery}' title 'charged after leaving', \\
     '' using (\$0-0.167):4 with points pt 2 ps 0.9 lw 2 lc rgb '$COLOURS{tick}' title 'simulated, mean', \\
     '' using (\$0+0.167):5 with points pt 2 ps 0.9 lw 2 lc rgb '$COLOURS{tick}' notitle
EOF
}


mkdir $_ for 'build', $DATA, $IMG;

for my $line (sort keys %LINES) {
    my @admissions = admissions($LINES{$line})
        or die "no run of $LINES{$line} in results/, run \"make experiments\"\n";

    write_rows("$line.tsv", @admissions);
    write_rows("$line-waits.tsv", waits(@admissions));
}

write_rows('orders.tsv', orders());

plot_admissions();
plot_waits();
plot_orders();
