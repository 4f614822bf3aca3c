# The rehearsal, in its short form: all counters agree, and a counter that is off
# by one is found.

use strict;
use warnings;

use File::Copy qw(copy);
use File::Temp ();
use FindBin;
use Test::More;

use lib "$FindBin::Bin/../lib";
use Files qw(read_file write_file);

my $build = $ENV{BUILD} // 'build';

# as for nginx elsewhere: a worker that has left root's rights reads here, too
my $dir = File::Temp->newdir('rehearsal.XXXXXX', DIR => $build);
chmod 0755, $dir;

# nginx frees nothing on its way out
$ENV{ASAN_OPTIONS} //= 'detect_leaks=0';

my ($said, $status) = run("SHORT=1 REHEARSAL_DIR=\$PWD/$dir/sale scripts/rehearsal.sh");

is($status, 0, 'all agree') or diag($said);

like($said, qr{^Watch it at http://127\.0\.0\.1:\d+/throttle$}m, 'the dashboard is named');
# on a slow machine all is sold before the payment provider is fast again
like($said, qr/^ +\+0\.0 s  the sale opens, \d+ have come\n.*^ +\+\S+ s  half is sold; .*^ +\+\S+ s  sold out/ms,
    'the events in their order');
like($said, qr/^first attempts: shoppers(?: +190){5} +- +190$/m, 'first attempts, by all who count them');
like($said, qr/^let in(?: +(\d+))(?: +\1){6}$/m, 'let in, by all seven');
like($said, qr/^confirmed, and the pass over +80 +- +80 +- +80 +80 +80$/m, 'the stock, and not one more');
like($said, qr/^told "sold out" at the edge +\d/m, 'sold-out answers, if any were left in line');
like($said, qr/^in the pre-queue.*? ([2-4]\d) +\1$/m, 'many were there before the opening');
unlike($said, qr/DIFFERS/, 'nothing differs');

# the files that were compared, with one figure changed by one

my ($opens_ms) = read_file("$dir/sale/nginx.conf") =~ /flash_throttle_opens +(\S+);/
    ? do { chomp(my $ms = `date -d $1 +%s%3N`); $ms } : die 'no opening';

my @changes = (
    [ 'status.json', qr/"admitted":(\d+),"queued"/, 'let in' ],
    [ 'status.json', qr/"first_attempts":\[\d[\d,]*?,([1-9]\d*)/, 'first attempts' ],
    [ 'metrics.txt', qr/^flash_throttle_passed_total\{.*?\} (\d+)/m, 'orders: came' ],
    [ 'report.json', qr/"sold_out":(\d+)/, 'told "sold out" at the edge' ],
    [ 'stats.json', qr/"declined":(\d+),"sold_out"/, 'payment declined' ],
    [ 'stats.json', qr/"stock_sold":(\d+)/, 'confirmed: units sold' ],
    [ 'order.json', qr/"prequeue":(\d+)/, 'in the pre-queue' ],
    [ 'crowd.json', qr/"admitted":(\d+)/, 'let in' ],
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
    is($status, 1, "one more in $name is found");
    like($said, qr/^\Q$row\E.* DIFFERS$/m, "where it is");

    rename "$file.as-it-was", $file or die "$file: $!";
}

my $log = read_file("$dir/sale/access.log");
(my $shorter = $log) =~ s/^.*status=ADMITTED.*\n//m;
write_file("$dir/sale/access.log", $shorter);
($said, $status) = run("scripts/rehearsal-table.pl compare $dir/sale $opens_ms");
is($status, 1, 'a line that is missing in the log is found');
like($said, qr/^let in.* DIFFERS$/m, 'where it is');

done_testing();


# run(command): its output and its exit status.
sub run {
    my ($command) = @_;

    my $text = `$command 2>&1`;

    return ($text, $? & 127 ? 'signal ' . ($? & 127) : $? >> 8);
}
