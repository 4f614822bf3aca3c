#!/usr/bin/env perl
#
# The recorded sales: profiles, and which runs count.

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


# A finished sale of "low": so many shoppers, all confirmed after 250 ms, but
# the last, who gave up.
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


subtest 'a profile in the words of each program' => sub {
    is((run('scripts/sale-profile.pl shoppers peak'))[1], "2560\n", 'shoppers');
    is((run('scripts/sale-profile.pl stages peak'))[1],
       "10:0-64,30:64-64,10:64-0\n", 'stages');
    is((run('scripts/sale-profile.pl sim burst'))[1],
       "20 16 16\n2 16 112\n10 112 112\n3 112 16\n55 16 16\n",
       'scenarios on top of each other are added up');

    my ($status, $out) = run('scripts/sale-profile.pl shoppers boom');
    isnt($status, 0, 'a profile that is not there is refused');
    like($out, qr/no profile "boom"; there are: burst drop low peak/, 'and why');
};


subtest 'a sale that was delivered in full counts' => sub {
    my $dir = sale('crowd', 825);
    my ($status, $out) = run("scripts/sale-record.pl finish $dir 0");
    my $figures = json_of("$dir/figures.json");
    my $run = json_of("$dir/run.json");

    is($status, 0, 'finish') or diag $out;
    is($figures->{shoppers}, 825, 'shoppers');
    is($figures->{confirmed}, 824, 'confirmed');
    is($figures->{gave_up}, 1, 'gave up');
    is($figures->{late_charges}, 1, 'late charges are the server\'s word');
    cmp_ok(abs($figures->{purchase_p50_s} - 0.25), '<', 1e-9, 'time to purchase');
    ok($run->{delivered}, 'delivered');
    is($run->{seed}, 7, 'seed');
    like($run->{code}{sha256}, qr/^[0-9a-f]{64}$/, 'hash of the code');

    is((run("scripts/sale-record.pl current $dir crowd"))[0], 0,
       'it is of the code as it is');
    is((run("scripts/sale-record.pl current $dir k6"))[0], 1,
       'but not of another load generator');
};


subtest 'a sale that was not delivered in full does not' => sub {
    my ($status, $out) =
        run('scripts/sale-record.pl finish ' . sale('crowd', 824) . ' 0');
    is($status, 3, 'one shopper is missing');
    like($out, qr/824 shoppers of 825 came/, 'and it says so');

    is((run('scripts/sale-record.pl finish ' . sale('k6', 824) . ' 0'))[0], 0,
       'k6 does not start the one at the very end');
    is((run('scripts/sale-record.pl finish ' . sale('k6', 823) . ' 99'))[0], 3,
       'but every other');

    my $dir = sale('k6', 824, metrics =>
        { dropped_iterations => { values => { count => 4 } } });
    ($status, $out) = run("scripts/sale-record.pl finish $dir 99");
    is($status, 3, 'dropped iterations');
    like($out, qr/4 shoppers were dropped/, 'and it says so');
    is(json_of("$dir/run.json")->{fault}, '4 shoppers were dropped',
       'the reason is kept');
    ok(!-e "$dir/figures.json", 'there are no figures of it');
};


subtest 'a load generator that failed is no result' => sub {
    my $dir = sale('k6', 824);
    write_file("$dir/load.txt", "no such host\n");
    my ($status, $out) = run("scripts/sale-record.pl finish $dir 107");

    isnt($status, 0, 'refused');
    like($out, qr/failed with status 107:\nno such host/, 'with its last words');
};


subtest 'what cannot be run is refused before anything starts' => sub {
    my %bad = (
        'boom reserve 1'    => qr/no profile "boom"; there are: .*rehearse/,
        'low fast 1'        => qr/no variant "fast"; there are: naive/,
        'low reserve first' => qr/SEED=first: give a whole number/,
        'rehearse naive 1'  => qr/takes k6/,
        'low reserve'       => qr/usage: scripts\/sale.sh/,
    );

    for my $arguments (sort keys %bad) {
        my ($status, $out) = run("LOAD=crowd scripts/sale.sh $arguments");
        is($status, 1, "\"$arguments\"");
        like($out, $bad{$arguments}, 'and why');
    }

    my ($status, $out) = run('LOAD=siege scripts/sale.sh low reserve 1');
    like($out, qr/LOAD=siege: give auto, k6 or crowd/, 'an unknown load generator');
};


done_testing();
