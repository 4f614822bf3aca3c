#!/usr/bin/env perl
#
# The recorded sales: profiles, and which runs are valid.

use strict;
use warnings;

use File::Copy qw(copy);
use File::Temp qw(tempdir);
use FindBin;
use JSON::PP;
use Test::More;

use lib "$FindBin::Bin/../../t/lib";
use Files qw(write_file);

chdir "$FindBin::Bin/../.." or die "$!\n";

my $SERVER = '{"orders":2,"oversold":0,"late_charges":1,"in_progress_max":3}';


sub run {
    my $out = `{ @_ ; } 2>&1`;

    return ($? >> 8, $out);
}


# A finished sale of "low" with the given number of shoppers: the last one gave
# up, all others were confirmed after 250 ms.
sub sale {
    my ($load, $shoppers, %summary) = @_;
    my $dir = tempdir(CLEANUP => 1);
    my $lines = '';

    $lines .= join("\t", $_, $_ * 1000, $_ * 1000, $_ * 1000 + 250,
                   $_ < $shoppers ? 'confirmed' : 'gave_up', 1, 200) . "\n"
        for 1 .. $shoppers;

    write_file("$dir/shoppers.tsv", "a warning of the load generator\n$lines");
    write_file("$dir/server-stats.json", $SERVER);
    write_file("$dir/summary.json", encode_json(\%summary));
    run("scripts/sale-record.pl start $dir low reserve 7 $load 'one 1.0'");

    return $dir;
}


sub json_of {
    my ($name) = @_;

    open my $file, '<', $name or die "$name: $!\n";
    local $/;

    return decode_json(<$file>);
}


subtest 'a profile in the format of each program' => sub {
    is((run('scripts/sale-profile.pl shoppers peak'))[1], "2560\n", 'shoppers');
    is((run('scripts/sale-profile.pl stages peak'))[1],
       "10:0-64,30:64-64,10:64-0\n", 'stages');
    is((run('scripts/sale-profile.pl sim burst'))[1],
       "20 16 16\n2 16 112\n10 112 112\n3 112 16\n55 16 16\n",
       'scenarios on top of each other are added up');

    my ($status, $out) = run('scripts/sale-profile.pl shoppers boom');
    isnt($status, 0, 'an unknown profile is refused');
    like($out, qr/unknown profile "boom", must be one of: burst drop low peak/, 'error message');
};


subtest 'a sale that was delivered in full is valid' => sub {
    my $dir = sale('crowd', 825);
    my ($status, $out) = run("scripts/sale-record.pl finish $dir 0");
    my $figures = json_of("$dir/figures.json");
    my $run = json_of("$dir/run.json");

    is($status, 0, 'finish') or diag $out;
    is($figures->{shoppers}, 825, 'shoppers');
    is($figures->{confirmed}, 824, 'confirmed');
    is($figures->{gave_up}, 1, 'gave up');
    is($figures->{late_charges}, 1, 'late charges, counted by the checkout');
    cmp_ok(abs($figures->{purchase_p50_s} - 0.25), '<', 1e-9, 'time to purchase');
    ok($run->{delivered}, 'delivered');
    is($run->{seed}, 7, 'seed');
    like($run->{code}{sha256}, qr/^[0-9a-f]{64}$/, 'hash of the code');

    is((run("scripts/sale-record.pl current $dir crowd"))[0], 0,
       'recorded with the current code');
    is((run("scripts/sale-record.pl current $dir k6"))[0], 1,
       'not recorded with another load generator');
};


subtest 'a sale that was not delivered in full is invalid' => sub {
    my ($status, $out) =
        run('scripts/sale-record.pl finish ' . sale('crowd', 824) . ' 0');
    is($status, 3, 'one shopper is missing');
    like($out, qr/824 of 825 shoppers were sent/, 'error message');

    is((run('scripts/sale-record.pl finish ' . sale('k6', 824) . ' 0'))[0], 0,
       'k6 does not start the shopper at the end of the schedule');
    is((run('scripts/sale-record.pl finish ' . sale('k6', 823) . ' 99'))[0], 3,
       'k6 starts all other shoppers');

    my $dir = sale('k6', 824, metrics =>
        { dropped_iterations => { values => { count => 4 } } });
    ($status, $out) = run("scripts/sale-record.pl finish $dir 99");
    is($status, 3, 'dropped iterations');
    like($out, qr/4 shoppers were dropped/, 'error message');
    is(json_of("$dir/run.json")->{fault}, '4 shoppers were dropped',
       'the reason is recorded');
    ok(!-e "$dir/figures.json", 'no figures are recorded');
};


subtest 'a load generator that failed gives no result' => sub {
    my $dir = sale('k6', 824);
    write_file("$dir/load.txt", "no such host\n");
    my ($status, $out) = run("scripts/sale-record.pl finish $dir 107");

    isnt($status, 0, 'refused');
    like($out, qr/failed with status 107:\nno such host/, 'with its last output');
};


subtest 'invalid arguments are refused before anything starts' => sub {
    my %bad = (
        'boom reserve 1'    => qr/unknown profile "boom", must be one of: .*rehearse/,
        'low fast 1'        => qr/unknown variant "fast", must be one of: naive/,
        'low reserve first' => qr/SEED=first: must be a whole number/,
        'rehearse naive 1'  => qr/requires k6/,
        'low reserve'       => qr/usage: scripts\/sale.sh/,
    );

    for my $arguments (sort keys %bad) {
        my ($status, $out) = run("LOAD=crowd scripts/sale.sh $arguments");
        is($status, 1, "\"$arguments\"");
        like($out, $bad{$arguments}, 'error message');
    }

    my ($status, $out) = run('LOAD=siege scripts/sale.sh low reserve 1');
    like($out, qr/LOAD=siege: must be auto, k6 or crowd/, 'an unknown load generator');
};


subtest 'the admissions in an access log' => sub {
    my $dir = tempdir(CLEANUP => 1);

    write_file("$dir/access.log", <<'LOG');
time=9.000 id=- status=- first=- waited=- code=200
time=12.000 id=b status=ADMITTED first=10.500 waited=1.500 code=200
time=12.100 id=c status=QUEUED first=10.100 waited=- code=503
time=12.200 id=a status=ADMITTED first=10.000 waited=2.200 code=402
LOG

    is((run("scripts/sale-admissions.pl $dir/access.log"))[1],
       "0.500\t1.500\n0.000\t2.200\n", 'first attempt and wait of each');
    isnt((run("scripts/sale-admissions.pl $dir/none"))[0], 0, 'no log');
};


done_testing();
