# The short rehearsal: all sources agree on every count, and a difference of one
# is detected.

use strict;
use warnings;

use File::Copy qw(copy);
use File::Temp ();
use FindBin;
use Test::More;

use lib "$FindBin::Bin/../lib";
use Files qw(read_file write_file);

my $build = $ENV{BUILD} // 'build';

# readable by workers that are not root
my $dir = File::Temp->newdir('rehearsal.XXXXXX', DIR => $build);
chmod 0755, $dir;

# nginx does not free its memory at exit
$ENV{ASAN_OPTIONS} //= 'detect_leaks=0';

my ($said, $status) = run("SHORT=1 REHEARSAL_DIR=\$PWD/$dir/sale scripts/rehearsal.sh");

is($status, 0, 'all sources agree') or diag($said);

like($said, qr{^Dashboard: http://127\.0\.0\.1:\d+/throttle$}m, 'the dashboard is named');
# on a slow machine all is sold before the payment provider is fast again
like($said, qr/^ +\+0\.0 s  the sale opens, \d+ in the pre-queue\n.*^ +\+\S+ s  half is sold; .*^ +\+\S+ s  sold out/ms,
    'events in order');
like($said, qr/^first attempts(?: +190){5} +- +190$/m, 'first attempts, from all sources');
like($said, qr/^admitted(?: +(\d+))(?: +\1){6}$/m, 'admitted, from all seven sources');
like($said, qr/^confirmed, pass spent +80 +- +80 +- +80 +80 +80$/m, 'confirmed equals the stock');
like($said, qr/^answers "sold out", edge +\d/m, 'answers "sold out" at the edge');
like($said, qr/^shoppers in the pre-queue.*? ([2-4]\d) +\1$/m, 'many shoppers in the pre-queue');
unlike($said, qr/DIFFERS/, 'nothing differs');

# each compared file with one count changed by one

my ($opens_ms) = read_file("$dir/sale/nginx.conf") =~ /flash_throttle_opens +(\S+);/
    ? do { chomp(my $ms = `date -d $1 +%s%3N`); $ms } : die 'no opening';

my @changes = (
    [ 'status.json', qr/"admitted":(\d+),"queued"/, 'admitted' ],
    [ 'status.json', qr/"first_attempts":\[\d[\d,]*?,([1-9]\d*)/, 'first attempts' ],
    [ 'metrics.txt', qr/^flash_throttle_passed_total\{.*?\} (\d+)/m, 'orders with a pass' ],
    [ 'report.json', qr/"sold_out":(\d+)/, 'answers "sold out", edge' ],
    [ 'stats.json', qr/"declined":(\d+),"sold_out"/, 'payment declined' ],
    [ 'stats.json', qr/"stock_sold":(\d+)/, 'confirmed = units sold' ],
    [ 'order.json', qr/"prequeue":(\d+)/, 'shoppers in the pre-queue' ],
    [ 'crowd.json', qr/"admitted":(\d+)/, 'admitted' ],
);

for my $change (@changes) {
    my ($name, $figure, $row) = @$change;
    my $file = "$dir/sale/$name";

    copy($file, "$file.as-it-was") or die "$file: $!";
    my $text = read_file($file);

    ok($text =~ $figure, "$name has it") or next;
    substr($text, $-[1], $+[1] - $-[1]) = $1 + 1;
    write_file($file, $text);

    ($said, $status) = run("scripts/rehearsal-table.pl compare $dir/sale $opens_ms");
    is($status, 1, "one more in $name is detected");
    like($said, qr/^\Q$row\E.* DIFFERS$/m, "where it is");

    rename "$file.as-it-was", $file or die "$file: $!";
}

my $log = read_file("$dir/sale/access.log");
(my $shorter = $log) =~ s/^.*status=ADMITTED.*\n//m;
write_file("$dir/sale/access.log", $shorter);
($said, $status) = run("scripts/rehearsal-table.pl compare $dir/sale $opens_ms");
is($status, 1, 'a line that is missing in the log is found');
like($said, qr/^admitted.* DIFFERS$/m, 'where it is');

done_testing();


sub run {
    my ($command) = @_;

    my $text = `$command 2>&1`;

    return ($text, $? & 127 ? 'signal ' . ($? & 127) : $? >> 8);
}
