# Shared by report.pl and report-plots.pl: the recorded runs, the simulator's
# results for them, and the figures that the playbook published.
# Loaded with "require"; changes to the project's root.

package Report;

use strict;
use warnings;

use Digest::SHA;
use FindBin;
use JSON::PP;
use List::Util qw(max);

chdir "$FindBin::Bin/.." or die "$FindBin::Bin/..: $!\n";

# In the order of the report.
our @PEAK = qw(queue deadline waiting-room waiting-room-deadline
               edge-lottery edge-lottery-deadline edge-fair edge-fair-deadline);

our %TITLES = (
    'naive'                 => 'naive',
    'reserve'               => 'reserve',
    'queue'                 => 'queue',
    'deadline'              => 'deadline',
    'waiting-room'          => 'waiting room',
    'waiting-room-deadline' => 'waiting room + deadline',
    'edge-lottery'          => 'edge lottery',
    'edge-lottery-deadline' => 'edge lottery + deadline',
    'edge-fair'             => 'edge fair',
    'edge-fair-deadline'    => 'edge fair + deadline',
);

# Name, label, format, and the factor for printing.
our @FIGURES = (
    [ 'confirmed',         'saw a confirmation',               '%.0f' ],
    [ 'left',              'gave up, or saw a timeout',        '%.0f' ],
    [ 'refused',           'refused at the deadline',          '%.0f' ],
    [ 'declined',          'saw a decline',                    '%.0f' ],
    [ 'late_charges',      'charged after leaving',            '%.0f' ],
    [ 'purchase_p50_s',    'time to purchase, median, s',      '%.2f' ],
    [ 'checkout_p95_s',    'successful checkout request, p95, s', '%.2f' ],
    [ 'in_progress_max',   'most in progress at once',         '%.0f' ],
    [ 'polls_per_shopper', 'requests per shopper',               '%.1f' ],
    [ 'wait_spread_s',     'wait spread, s',                   '%.2f' ],
    [ 'overtaken',         'overtaken, %',                     '%.1f', 100 ],
    [ 'kendall_tau',       q{Kendall's tau},                   '%.4f' ],
    [ 'worst_inversion_s', 'worst inversion, s',               '%.2f' ],
);

# Published with the playbook, [minimum, maximum] of three runs each.
our %PLAYBOOK = (
    'drop-naive'   => { oversold => [ 41, 47 ], orders => [ 541, 547 ] },
    'drop-reserve' => { oversold => [ 0, 0 ], orders => [ 500, 500 ] },
    'low-naive'    => { oversold => [ 8, 8 ], orders => [ 508, 508 ] },
    'low-reserve'  => { oversold => [ 0, 0 ], orders => [ 500, 500 ] },

    'peak-queue' => {
        confirmed       => [ 1028, 1071 ],
        left            => [ 1437, 1481 ],
        refused         => [ 0, 0 ],
        declined        => [ 50, 61 ],
        late_charges    => [ 1375, 1408 ],
        purchase_p50_s  => [ 6.4, 6.7 ],
        checkout_p95_s  => [ 14.2, 14.3 ],
        in_progress_max => [ 1122, 1142 ],
    },

    'peak-deadline' => {
        confirmed       => [ 1794, 1834 ],
        left            => [ 0, 0 ],
        refused         => [ 636, 670 ],
        declined        => [ 89, 96 ],
        late_charges    => [ 0, 0 ],
        purchase_p50_s  => [ 12.5, 13.1 ],
        checkout_p95_s  => [ 14.9, 14.9 ],
        in_progress_max => [ 948, 949 ],
    },

    'peak-waiting-room' => {
        confirmed       => [ 1603, 1642 ],
        left            => [ 840, 865 ],
        refused         => [ 0, 0 ],
        declined        => [ 77, 91 ],
        late_charges    => [ 10, 14 ],
        purchase_p50_s  => [ 4.3, 5.0 ],
        checkout_p95_s  => [ 0.387, 0.395 ],
        in_progress_max => [ 8, 8 ],
    },
);


sub slurp {
    my ($name) = @_;

    open my $file, '<', $name or die "$name: $!\n";
    local $/;

    return scalar <$file>;
}


# "run", "figures" and "dir" of each valid run, by PROFILE-VARIANT and seed.
sub recorded {
    my %runs;

    for my $name (sort glob 'results/*/figures.json') {
        my ($dir) = $name =~ m{(.*)/};
        my $run = decode_json(slurp("$dir/run.json"));
        my $figures = decode_json(slurp($name));

        # A shopper whose patience ends during a held request sees a timeout,
        # otherwise it gives up: which of the two happens is chance.
        $figures->{left} = $figures->{gave_up} + $figures->{timed_out};

        $runs{"$run->{profile}-$run->{variant}"}{ $run->{seed} } =
            { dir => $dir, run => $run, figures => $figures };
    }

    die "no recorded runs in results/, run \"make experiments\"\n"
        unless %runs;

    return \%runs;
}


# The settings of conf/sale.conf as options of flash-sim.
sub edge_options {
    my $conf = slurp('conf/sale.conf');
    my ($zone) = $conf =~ /^\s*(flash_throttle_zone\s[^;]*);/m;
    my ($rules) = $conf =~ /^\s*(flash_throttle\s[^;]*);/m;
    my ($workers) = $conf =~ /^\s*worker_processes\s+(\d+)/m;

    die "conf/sale.conf: no flash_throttle_zone or flash_throttle directive\n"
        unless $zone && $rules;

    # rate 0: only inflight= limits admissions
    my %options = (rate => 0, workers => $workers // 1);

    $options{rate} = $1 if $zone =~ /\srate=(\d+)r\/s/;
    $options{burst} = $zone =~ /\sburst=(\d+)/ ? $1 : max(1, int($options{rate} / 4));
    $options{inflight} = $1 if $zone =~ /\sinflight=(\d+)/;
    $options{hold} = $1 if $rules =~ /\shold=(\d+)s/;

    return map { "--$_=$options{$_}" } sort keys %options;
}


sub profile_option {
    my ($profile) = @_;

    return $profile if $profile =~ /^(drop|low|peak)$/;

    my $name = "build/report/$profile.profile";

    open my $file, '>', $name or die "$name: $!\n";
    print $file `scripts/sale-profile.pl sim $profile`;
    close $file or die "$name: $!\n";

    return $name;
}


# The simulator's results for a variant: { figure => { mean, p5, p95 } }.
# Cached in build/report until the simulator or conf/sale.conf changes.
sub simulated {
    my ($profile, $variant) = @_;
    my ($plain) = $variant =~ /^(.+?)(?:-deadline)?$/;
    my @command = ('build/flash-sim', '--json', '--runs=400', '--seed=1',
                   "--variant=$plain");

    push @command, '--deadline=' . ($variant eq $plain ? 'off' : 'on')
        unless $variant eq 'deadline';
    push @command, edge_options() if $variant =~ /^edge-/;

    mkdir 'build/report';
    push @command, '--profile=' . profile_option($profile);

    my $sha = Digest::SHA->new(256);
    my $key = $sha->add("@command")->addfile('build/flash-sim')->hexdigest;
    my $kept = "build/report/$profile-$variant-" . substr($key, 0, 12) . '.json';

    if (!-s $kept) {
        print "simulating $profile, $variant\n";
        system("@command > $kept.new") == 0 or die "@command failed\n";
        rename "$kept.new", $kept or die "$kept: $!\n";
    }

    my $figures = decode_json(slurp($kept));

    $figures->{left}{$_} = $figures->{gave_up}{$_} + $figures->{timed_out}{$_}
        for qw(mean p5 p95);

    return $figures;
}


1;
