#!/usr/bin/env perl
#
# Records a sale: run.json (configuration, machine, versions, and whether the
# run is valid) and figures.json (the results, under flash-sim's names).
#
# usage: scripts/sale-record.pl start DIR PROFILE VARIANT SEED LOAD VERSION
#        scripts/sale-record.pl finish DIR LOAD_STATUS
#        scripts/sale-record.pl current DIR LOAD
#
# finish exits with 3 if the schedule was not delivered in full, which makes
# the run invalid.  current exits with 0 if DIR has a valid run of the current
# code with this load generator.

use strict;
use warnings;

use Digest::SHA;
use File::Find;
use FindBin;
use JSON::PP;
use List::Util qw(sum0);
use POSIX qw(strftime uname);
use Time::HiRes qw(time);

chdir "$FindBin::Bin/.." or die "$FindBin::Bin/..: $!\n";

my $json = JSON::PP->new->canonical->pretty->indent_length(1);

# The files that can change the result of a sale.
my @CODE = qw(config ngx_http_flash_throttle_module.c src upstream-demo inventory
              tools k6 conf/sale.conf scripts/sale.sh scripts/sale-profile.pl
              scripts/sale-record.pl);

# The outcomes of a shopper, as in shoppers.tsv.
my @OUTCOMES = qw(confirmed declined sold_out refused gave_up timed_out failed);

my $HERTZ = POSIX::sysconf(&POSIX::_SC_CLK_TCK);


sub slurp {
    my ($name) = @_;

    open my $file, '<', $name or die "$name: $!\n";
    local $/;

    return scalar <$file>;
}


sub write_json {
    my ($name, $value) = @_;

    open my $file, '>', $name or die "$name: $!\n";
    print $file $json->encode($value);
    close $file or die "$name: $!\n";
}


# The first line that a command prints; "" if the command fails.
sub line_of {
    my $line = `{ @_ ; } 2>&1`;

    return '' if $? != 0;

    return (split /\n/, $line)[0] // '';
}


sub code_hash {
    my $sha = Digest::SHA->new(256);
    my @files;

    find({ wanted => sub { push @files, $_ if -f }, no_chdir => 1 },
         grep { -e } @CODE);

    for my $name (sort @files) {
        $sha->add("$name\0", -s $name, "\0");
        $sha->addfile($name);
    }

    return $sha->hexdigest;
}


sub machine {
    my ($cpu) = slurp('/proc/cpuinfo') =~ /^model name\s*:\s*(.*)/m;
    my $cores = () = slurp('/proc/cpuinfo') =~ /^processor\s*:/mg;
    my ($memory) = slurp('/proc/meminfo') =~ /^MemTotal:\s*(\d+)/m;
    my ($os) = slurp('/etc/os-release') =~ /^PRETTY_NAME="?([^"\n]*)/m;
    my @uname = uname();

    return {
        cpu       => $cpu // 'unknown',
        cores     => $cores,
        memory_mb => int($memory / 1024),
        os        => $os,
        kernel    => "$uname[0] $uname[2]",
    };
}


sub load_average {
    return [ map { $_ + 0 } (split ' ', slurp('/proc/loadavg'))[0 .. 2] ];
}


# Busy seconds since the start of the machine, summed over all cores.
sub busy_s {
    my ($user, $nice, $system, undef, undef, $irq, $softirq) =
        slurp('/proc/stat') =~ /^cpu\s+(.*)/m ? split(' ', $1) : ();

    return ($user + $nice + $system + $irq + $softirq) / $HERTZ;
}


sub start {
    my ($dir, $profile, $variant, $seed, $load, $version) = @_;

    write_json("$dir/run.json", {
        profile     => $profile,
        variant     => $variant,
        seed        => $seed + 0,
        load        => $load,
        started     => strftime('%Y-%m-%dT%H:%M:%SZ', gmtime),
        started_s   => time,
        busy_s      => busy_s(),
        load_before => load_average(),
        nice        => getpriority(0, 0),
        machine     => machine(),
        code        => {
            sha256 => code_hash(),
            commit => line_of('git rev-parse HEAD'),
        },
        versions    => {
            load     => $version,
            nginx    => line_of('build/nginx -v'),
            compiler => line_of(($ENV{CC} // 'gcc') . ' --version'),
        },
    });
}


# The lines of shoppers.tsv as hashes; other lines (warnings of k6) are skipped.
sub shoppers {
    my ($dir) = @_;
    my @shoppers;

    open my $file, '<', "$dir/shoppers.tsv" or die "$dir/shoppers.tsv: $!\n";

    while (<$file>) {
        next unless /^(\d+)\t(\d+)\t(\d+)\t(\d+)\t([a-z_]+)\t(\d+)\t(\d+)$/;
        push @shoppers, { number => $1, first => $2, sent => $3, end => $4,
                          outcome => $5, requests => $6 };
    }

    return @shoppers;
}


# Linear interpolation between neighbours, as in flash-sim and flash-report.
sub quantile {
    my ($q, @values) = @_;

    return undef unless @values;

    @values = sort { $a <=> $b } @values;
    my $place = $q * $#values;
    my $below = int $place;
    my $above = $below < $#values ? $below + 1 : $below;

    return $values[$below] + ($place - $below) * ($values[$above] - $values[$below]);
}


# The figures of flash-report, from the log of the edge.  Without an edge, the
# time of the first request that was not refused counts as the admission.
sub fairness {
    my ($dir, @shoppers) = @_;
    my $log = "$dir/access.log";

    if (!-e $log) {
        $log = "$dir/admissions.log";
        open my $file, '>', $log or die "$log: $!\n";

        for my $shopper (grep { $_->{outcome} ne 'gave_up' } @shoppers) {
            printf $file "id=%d status=ADMITTED first=%.3f waited=%.3f\n",
                $shopper->{number}, $shopper->{first} / 1000,
                ($shopper->{sent} - $shopper->{first}) / 1000;
        }

        close $file or die "$log: $!\n";
    }

    my $report = `build/flash-report --json $log`;
    die "build/flash-report failed on $log\n" if $? != 0;
    unlink "$dir/admissions.log";

    return decode_json($report);
}


sub figures {
    my ($run, $dir, @shoppers) = @_;
    my $server = decode_json(slurp("$dir/server-stats.json"));
    my @confirmed = grep { $_->{outcome} eq 'confirmed' } @shoppers;
    my %figures = (shoppers => scalar @shoppers);

    for my $outcome (@OUTCOMES) {
        $figures{$outcome} = grep { $_->{outcome} eq $outcome } @shoppers;
    }

    $figures{$_} = $server->{$_} for qw(orders oversold late_charges in_progress_max);

    my @purchases = map { ($_->{end} - $_->{first}) / 1000 } @confirmed;
    my @requests = map { ($_->{end} - $_->{sent}) / 1000 } @confirmed;

    # all answers, including "sold out"
    $figures{request_p95_s} = quantile(0.95,
        map { ($_->{end} - $_->{sent}) / 1000 }
        grep { $_->{outcome} !~ /^(gave_up|timed_out|failed)$/ } @shoppers);

    $figures{purchase_p50_s} = quantile(0.50, @purchases);
    $figures{purchase_p95_s} = quantile(0.95, @purchases);
    $figures{checkout_p95_s} = quantile(0.95, @requests);
    $figures{polls_per_shopper} = sum0(map { $_->{requests} } @shoppers) / @shoppers;

    if ($run->{variant} =~ /^(edge|waiting-room)/) {
        my $fairness = fairness($dir, @shoppers);

        $figures{$_} = $fairness->{$_}
            for qw(wait_p50_s wait_p95_s wait_spread_s overtaken kendall_tau
                   worst_inversion_s);
    }

    return \%figures;
}


# The reason why the run is invalid; empty if it is valid.  k6 does not start
# the shopper whose time is the end of a scenario.
sub fault {
    my ($run, $dir, $status, @shoppers) = @_;
    my ($dropped, $at_end) = (0, 0);
    my $wanted = `scripts/sale-profile.pl shoppers $run->{profile}`;

    if ($run->{load} eq 'k6') {
        my $summary = decode_json(slurp("$dir/summary.json"));

        $dropped = $summary->{metrics}{dropped_iterations}{values}{count} // 0;
        $at_end = keys %{ decode_json(slurp('k6/profiles.json'))
                              ->{ $run->{profile} }{scenarios} };
    }

    return "$dropped shoppers were dropped" if $dropped > 0;

    return scalar(@shoppers) . ' of ' . ($wanted + 0) . ' shoppers were sent'
        if @shoppers < $wanted - $at_end;

    return;
}


# k6 exits with 99 if a threshold is broken, flash-crowd with 1 if units were
# oversold or charged late: these are results, not failures.
sub require_load_ran {
    my ($run, $dir, $status) = @_;
    my $verdict = $run->{load} eq 'k6' ? 99 : 1;

    return if $status == 0 || $status == $verdict;

    die "the load generator failed with status $status:\n",
        line_of("tail -n 3 $dir/load.txt | tr '\\n' ' '"), "\n";
}


sub finish {
    my ($dir, $status) = @_;
    my $run = decode_json(slurp("$dir/run.json"));
    my $took = time - $run->{started_s};

    require_load_ran($run, $dir, $status);

    $run->{load_after} = load_average();
    $run->{load_status} = $status + 0;
    $run->{seconds} = sprintf("%.1f", $took) + 0;
    $run->{busy} = (busy_s() - delete $run->{busy_s}) / $took / $run->{machine}{cores};
    $run->{busy} = sprintf('%.2f', $run->{busy}) + 0;
    delete $run->{started_s};

    my @shoppers = shoppers($dir);
    my $fault = $run->{profile} eq 'rehearse'
        ? undef : fault($run, $dir, $status, @shoppers);

    $run->{delivered} = $fault ? JSON::PP::false : JSON::PP::true;
    $run->{fault} = $fault if $fault;
    write_json("$dir/run.json", $run);

    if ($fault) {
        print STDERR "invalid run: $fault\n";
        exit 3;
    }

    write_json("$dir/figures.json", figures($run, $dir, @shoppers));
}


sub current {
    my ($dir, $load) = @_;

    exit 1 unless -e "$dir/figures.json";

    my $run = decode_json(slurp("$dir/run.json"));

    exit !($run->{load} eq $load && $run->{code}{sha256} eq code_hash());
}


my %COMMANDS = (
    start   => [ \&start, 6 ],
    finish  => [ \&finish, 2 ],
    current => [ \&current, 2 ],
);

my ($command, @arguments) = @ARGV;
my $known = $COMMANDS{ $command // '' };

die "usage: sale-record.pl start DIR PROFILE VARIANT SEED LOAD VERSION\n",
    "       sale-record.pl finish DIR LOAD_STATUS\n",
    "       sale-record.pl current DIR LOAD\n"
    unless $known && @arguments == $known->[1];

$known->[0]->(@arguments);
