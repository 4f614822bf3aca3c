# A comparison in small, without the peers, and its report.

use strict;
use warnings;

use File::Temp qw(tempdir);
use JSON::PP;
use Test::More;

my $dir = tempdir(CLEANUP => 1);

plan skip_all => 'needs two processors' if `nproc` < 2;

my %small = (ROUNDS => 1, SLICES => 1, REQUESTS => 400, MILLION => 2000,
             KEYS => 20, SERVERS => 'plain throttle', PARTS => 'compare keys');

# a client of HTTP/2 is there if "make bench" has installed it
$small{WITHOUT} = 'h2 tls' if system('command -v h2load > /dev/null') != 0;

{
    local @ENV{keys %small} = values %small;
    my $progress = `bench/compare.pl $dir/compare.json 2>&1`;
    is($?, 0, 'compare') or diag($progress);
}

open my $file, '<', "$dir/compare.json" or die;
my $all = decode_json(do { local $/; <$file> });
my %row = map { ("$_->{row} $_->{name}" => $_) } @{ $all->{rows} };

for my $row (qw(first early early_json due_json called pass status)) {
    my $ours = $row{"$row flash_throttle"};

    cmp_ok($ours->{us}, '>', 0, "$row: is measured");
    cmp_ok($ours->{ratio}, '>', 0, '... beside nginx alone');
    is($row{"$row $ours->{against}"}{ratio}, 1, '... which is one');
}

ok($row{'keys 10,000'}, 'many keys are measured');


# what is recorded is what the document says

open $file, '<', 'docs/performance.md' or die;
my $document = do { local $/; <$file> };

is(`bench/report.pl --document bench/results.json`, $document,
   'docs/performance.md is of bench/results.json');

open $file, '<', 'README.md' or die;
my $readme = do { local $/; <$file> };
my $part = `bench/report.pl --readme bench/results.json`;

ok(index($readme, "## What it costs\n\n$part\n## ") >= 0,
   '... and what the README says is, too');

done_testing();
