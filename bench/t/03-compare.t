# A short comparison without the other servers, and its report.

use strict;
use warnings;

use File::Temp qw(tempdir);
use JSON::PP;
use Test::More;

my $dir = tempdir(CLEANUP => 1);

plan skip_all => '2 processors required' if `nproc` < 2;

my %small = (ROUNDS => 1, SLICES => 1, REQUESTS => 400, MILLION => 2000,
             KEYS => 20, SERVERS => 'plain throttle', PARTS => 'compare keys');

# "make bench" installs h2load
$small{WITHOUT} = 'h2 tls' if system('command -v h2load > /dev/null') != 0;

{
    local @ENV{keys %small} = values %small;
    my $progress = `bench/compare.pl $dir/compare.json 2>&1`;
    is($?, 0, 'compare') or diag($progress);
}

open my $file, '<', "$dir/compare.json" or die;
my $all = decode_json(do { local $/; <$file> });
my %row = map { ("$_->{row} $_->{name}" => $_) } @{ $all->{rows} };

for my $row (qw(first early early_json on_time_json called pass status)) {
    my $ours = $row{"$row flash_throttle"};

    cmp_ok($ours->{us}, '>', 0, "$row: CPU time");
    cmp_ok($ours->{ratio}, '>', 0, '... ratio to nginx alone');
    is($row{"$row $ours->{against}"}{ratio}, 1, '... whose own ratio is 1');
}

ok($row{'keys 10,000'}, 'many keys are measured');


# the documents match the recorded results

open $file, '<', 'docs/performance.md' or die;
my $document = do { local $/; <$file> };

is(`bench/report.pl --document bench/results.json`, $document,
   'docs/performance.md matches bench/results.json');

open $file, '<', 'README.md' or die;
my $readme = do { local $/; <$file> };
my $part = `bench/report.pl --readme bench/results.json`;

ok(index($readme, "## What it costs\n\n$part\n## ") >= 0,
   'README.md matches bench/results.json');

done_testing();
