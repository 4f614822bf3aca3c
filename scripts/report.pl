#!/usr/bin/env perl
#
# Updates docs/experiments.md from results/ and the simulator: replaces the
# blocks between "<!-- report: NAME -->" and "<!-- end -->", then runs
# scripts/report-plots.pl.
#
# usage: scripts/report.pl

use strict;
use warnings;

use FindBin;
use JSON::PP;
use List::Util qw(sum min max uniq);

BEGIN { require "$FindBin::Bin/report-lib.pl" }

my $DOC = 'docs/experiments.md';

# Share of the runs expected outside a 90 % range.
my $BY_CHANCE = 0.10;

my %BLOCKS = (
    setup    => \&block_setup,
    drop     => \&block_drop,
    variants => \&block_variants,
    fair     => \&block_fair,
    wanted   => \&block_wanted,
    outside  => \&block_outside,
);

my $runs = Report::recorded();


sub seeds {
    my ($name) = @_;

    my @seeds = sort { $a <=> $b } keys %{ $runs->{$name} // {} };

    return @seeds;
}


sub values_of {
    my ($name, $figure) = @_;

    return grep { defined }
           map { $runs->{$name}{$_}{figures}{$figure} } seeds($name);
}


sub mean {
    return @_ ? sum(@_) / @_ : undef;
}


sub show {
    my ($value, $format, $scale) = @_;

    return '' unless defined $value;

    return sprintf $format, $value * ($scale // 1);
}


sub range {
    my ($least, $most, $format, $scale) = @_;

    return '' unless defined $least;

    my ($from, $to) = (show($least, $format, $scale), show($most, $format, $scale));

    return $from eq $to ? $from : "$from to $to";
}


sub table {
    my ($head, @rows) = @_;

    return join "\n", map { '| ' . join(' | ', @$_) . ' |' }
        $head, [ '---', ('---:') x $#$head ], @rows;
}


# Whether the value, as printed, is outside the simulated range.
sub outside {
    my ($value, $expected, $format, $scale) = @_;

    return 0 unless defined $value && defined $expected && defined $expected->{p5};

    my ($shown, $p5, $p95) = map { show($_, $format, $scale) }
        $value, $expected->{p5}, $expected->{p95};

    return $shown < $p5 || $shown > $p95;
}


# Calls back with (name, seed, row of @FIGURES, value, expected) for every
# figure that was measured and simulated.
sub each_figure {
    my ($callback) = @_;

    for my $name (sort keys %$runs) {
        my ($profile, $variant) = $name =~ /^([a-z]+)-(.+)$/;
        my $expected = Report::simulated($profile, $variant);
        my @figures = $profile eq 'peak' || $profile eq 'burst' ? @Report::FIGURES
            : ([ 'oversold', 'oversold', '%.0f' ], [ 'confirmed', 'orders', '%.0f' ]);

        for my $seed (seeds($name)) {
            my $figures = $runs->{$name}{$seed}{figures};

            $callback->($name, $seed, $_, $figures->{ $_->[0] }, $expected->{ $_->[0] })
                for grep { defined $figures->{ $_->[0] }
                           && defined $expected->{ $_->[0] }{p5} } @figures;
        }
    }
}


sub all_runs {
    return map { values %$_ } values %$runs;
}


sub discarded {
    my @lines;

    for my $name (sort glob 'results/discarded/*/run.json') {
        my $run = decode_json(Report::slurp($name));
        my ($dir) = $name =~ m{discarded/(.*)/};

        push @lines, "* `$dir`: $run->{fault}";
    }

    return @lines ? ('Discarded and repeated:', '', @lines)
                  : ('No run was discarded.');
}


my %LOADS = (
    k6    => 'k6',
    crowd => q{the project's own `build/flash-crowd` (`LOAD=crowd`)},
);

sub block_setup {
    my @all = map { $_->{run} } all_runs();
    my $machine = $all[0]{machine};
    my @days = sort { $a cmp $b } uniq map { substr $_->{started}, 0, 10 } @all;
    my @busy = map { $_->{busy} * 100 } @all;

    return join "\n",
        '* ' . @all . ' runs, ' . join(' to ', uniq @days[0, -1])
            . '; hash of the code: '
            . join(', ', map { '`' . substr($_, 0, 12) . '`' }
                         uniq map { $_->{code}{sha256} } @all),
        "* $machine->{cores} cores ($machine->{cpu}), $machine->{memory_mb} MB,"
            . " $machine->{os}, $machine->{kernel};\n"
            . '  shared by shoppers, nginx and checkout; '
            . range(min(@busy), max(@busy), '%.0f') . ' % busy during a run',
        '* load generator: '
            . join(' and ', map { $LOADS{$_} } uniq map { $_->{load} } @all)
            . ': ' . join(', ', uniq map { $_->{versions}{load} } @all),
        '* ' . join(', ', uniq grep { $_ } map { $_->{versions}{nginx} } @all)
            . '; ' . join(', ', uniq map { $_->{versions}{compiler} } @all),
        '', discarded();
}


sub block_drop {
    my @rows;

    for my $name (qw(drop-naive drop-reserve low-naive low-reserve)) {
        my ($profile, $variant) = split /-/, $name;
        my $expected = Report::simulated($profile, $variant)->{oversold};

        for my $seed (seeds($name)) {
            my $figures = $runs->{$name}{$seed}{figures};

            push @rows, [
                "$profile, seed $seed", $variant, $figures->{orders},
                outside($figures->{oversold}, $expected, '%.0f')
                    ? "**$figures->{oversold}**" : $figures->{oversold},
                show($expected->{mean}, '%.1f') . ' ('
                    . range($expected->{p5}, $expected->{p95}, '%.0f') . ')',
                range(@{ $Report::PLAYBOOK{$name}{oversold} }, '%.0f'),
                show($figures->{request_p95_s}, '%.3f s'),
            ];
        }
    }

    return table([ 'run', 'checkout', 'orders', 'oversold', 'simulated',
                   'playbook', 'request, p95' ], @rows);
}


sub variant_table {
    my ($name) = @_;
    my ($profile, $variant) = $name =~ /^([a-z]+)-(.+)$/;
    my $expected = Report::simulated($profile, $variant);
    my $playbook = $Report::PLAYBOOK{$name};
    my @seeds = seeds($name);
    my @rows;

    for my $row (@Report::FIGURES) {
        my ($figure, $label, $format, $scale) = @$row;
        my @cells;

        next unless values_of($name, $figure);

        for my $seed (@seeds) {
            my $value = $runs->{$name}{$seed}{figures}{$figure};
            my $text = show($value, $format, $scale);

            push @cells, outside($value, $expected->{$figure}, $format, $scale)
                ? "**$text**" : $text;
        }

        my $simulated = $expected->{$figure};

        push @rows, [ $label, @cells,
            range($simulated->{p5}, $simulated->{p95}, $format, $scale),
            $playbook ? range(@{ $playbook->{$figure} // [ undef, undef ] }, $format, $scale)
                      : () ];
    }

    return table([ $Report::TITLES{$variant}, (map { "seed $_" } @seeds),
                   'simulated', $playbook ? 'playbook' : () ], @rows);
}


sub block_variants {
    return join "\n\n",
        map { variant_table("peak-$_") } grep { seeds("peak-$_") } @Report::PEAK;
}


sub block_fair {
    my @columns = grep { $_->[0] =~ /^(confirmed|late_charges|purchase_p50_s
        |polls_per_shopper|wait_spread_s|overtaken|kendall_tau
        |worst_inversion_s)$/x } @Report::FIGURES;
    my @rows;

    for my $variant (grep { /^(waiting|edge)/ && seeds("peak-$_") } @Report::PEAK) {
        push @rows, [ $Report::TITLES{$variant},
            map { show(mean(values_of("peak-$variant", $_->[0])), @$_[2, 3]) } @columns ];
    }

    return table([ 'mean of the seeds', map { $_->[1] } @columns ], @rows);
}


sub verdict {
    my ($what, $got, $bound, $kept) = @_;

    return [ $what, $got, $bound, $kept ? 'yes' : '**no**' ];
}


sub block_wanted {
    my ($fair, $simple) = ('peak-edge-fair-deadline', 'peak-waiting-room');

    return 'Not all of these runs are recorded.' unless seeds($fair) && seeds($simple);

    my %mean = map { my $figure = $_;
        ($figure => [ map { mean(values_of($_, $figure)) } $fair, $simple ]) }
        qw(confirmed late_charges overtaken wait_spread_s polls_per_shopper);
    my $more = $mean{confirmed}[0] / $mean{confirmed}[1] - 1;
    my $polls = $mean{polls_per_shopper}[0] / $mean{polls_per_shopper}[1];
    my $late = max(values_of($fair, 'late_charges'));

    return table(
        [ 'edge fair + deadline, compared with waiting room', 'measured', 'target', 'reached' ],
        verdict('confirmed', sprintf('%+.1f %%', $more * 100), '+8 % or more', $more >= 0.08),
        verdict('charged after leaving, worst run', $late, '0', $late == 0),
        verdict('overtaken',
                sprintf('%.2f %% against %.0f %%', map { $_ * 100 } @{ $mean{overtaken} }),
                'at most 1 %', $mean{overtaken}[0] <= 0.01),
        verdict('wait spread',
                sprintf('%.2f s against %.1f s', @{ $mean{wait_spread_s} }),
                'at most 0.8 s', $mean{wait_spread_s}[0] <= 0.8),
        verdict('requests per shopper',
                sprintf('%.1f against %.1f', @{ $mean{polls_per_shopper} }),
                'at most half', $polls <= 0.5));
}


sub block_outside {
    my ($all, @outside) = (0);

    each_figure(sub {
        my ($name, $seed, $row, $value, $expected) = @_;
        my ($figure, $label, $format, $scale) = @$row;

        $all++;
        push @outside, sprintf('* `%s-%s`, %s: %s; simulated %s', $name, $seed, $label,
            show($value, $format, $scale),
            range($expected->{p5}, $expected->{p95}, $format, $scale))
            if outside($value, $expected, $format, $scale);
    });

    return join "\n",
        sprintf('%d of %d figures are outside the range of 90 %% of the simulated'
                . ' runs; about %.0f are expected by chance.',
                scalar @outside, $all, $BY_CHANCE * $all),
        '', @outside;
}


my $text = Report::slurp($DOC);

$text =~ s{(<!-- report: ([a-z]+) -->\n).*?(<!-- end -->)}{
    my ($open, $name, $close) = ($1, $2, $3);
    my $block = $BLOCKS{$name}
        or die "$DOC: no block \"$name\"; there are: @{[sort keys %BLOCKS]}\n";

    $open . $block->() . "\n" . $close
}gse;

open my $file, '>', "$DOC.new" or die "$DOC.new: $!\n";
print $file $text;
close $file or die "$DOC.new: $!\n";
rename "$DOC.new", $DOC or die "$DOC: $!\n";

print "wrote $DOC\n";
system("$FindBin::Bin/report-plots.pl") == 0 or die "report-plots.pl failed\n";
