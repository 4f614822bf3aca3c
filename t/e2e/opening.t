# An opening with 50 shoppers before and 40 after it.  The pre-queue is admitted
# in its shuffled order, as checked by flash-verify, before the others.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib", "$FindBin::Bin/../../tools/t/lib",
    "$FindBin::Bin/../../upstream-demo/t/lib";
use CheckoutServer;
use Edge;
use FlashCrowd qw(begin_crowd end_crowd);
use JSON::PP qw(decode_json);
use POSIX qw(strftime);
use Test::More;
use Time::HiRes qw(sleep time);

my $opens = int(time) + 9;
my $rfc3339 = strftime('%Y-%m-%dT%H:%M:%SZ', gmtime $opens);

my $checkout = CheckoutServer->start('--stock=500', '--payment-slots=8');
my $edge = Edge->start(checkout => $checkout, zone => 'rate=10r/s burst=2', throttle => 'policy=fair',
                       log => 1, location => "flash_throttle_opens $rfc3339;");

# 50 shoppers arrive in the first two of the five seconds before
sleep $opens - 5 - time if $opens - 5 > time;

my $crowd = begin_crowd('--json', '--url', $edge->url, '--poll', '--deadline', '--stages=2:25-25,4:0-0,2:20-20',
                        '--patience=60', '--stats-url', "http://127.0.0.1:$checkout->{port}/stats");

# the last status that is surely from before the opening
my $before = {};

while (time < $opens - 0.2) {
    my $status = $edge->status;

    $before = $status if time < $opens;
    sleep 0.1;
}

my $run = end_crowd($crowd);

is($run->{status}, 0, 'no oversale, no late charge');
is($run->{figures}{admitted}, 90, 'all shoppers are admitted');

is(scalar(grep { $_->[0] < $opens } $edge->admissions), 0, 'none before the opening');
cmp_ok($before->{waiting}, '>=', 25, 'waiting before the opening');
is($before->{called}, 0, 'none called before the opening');

my @verify = ($ENV{VERIFY} // 'build/flash-verify', '--secret', "$edge->{dir}/secret", '--zone', 'sale',
              '--key', 'sale', '--opens', $rfc3339, '--slack', 1);
my $log = $edge->log_file;

open my $out, '-|', @verify, '--json', $log or die "flash-verify: $!";
my $output = join '', readline $out;
close $out;
my $status = $? >> 8;
my $order = eval { decode_json($output) } // {};

note(sprintf 'pre-queue %d, tau %.3f, worst inversion %d places, %.2f s', @$order{qw(prequeue kendall_tau
     worst_inversion_places worst_inversion_s)});

is($status, 0, 'admitted in the shuffled order') or diag $output;
is($order->{prequeue}, 50, 'shoppers in the pre-queue');
is($order->{checked}, 50, 'admissions checked');
is($order->{later}, 40, 'shoppers after the opening');
cmp_ok($order->{kendall_tau}, '>', 0.7, 'order of admissions');

# nearly all of the pre-queue is admitted before the first later shopper
my @order = $edge->admissions;
my ($late) = grep { $_->[1] >= $opens } @order;
my $inside = grep { $_->[1] < $opens && $_->[0] <= $late->[0] } @order;
cmp_ok($inside, '>=', 45, 'later shoppers are admitted later');

# the same log with the first and the last admission exchanged
my @list = map { [ split /\t/ ] } map { chomp; $_ } `@verify --list $log`;
my ($one, $other) = ($list[0][1], $list[-1][1]);

open my $in, '<', $log or die "$log: $!";
my $text = join '', map { s/id=($one|$other) /'id=' . ($1 eq $one ? $other : $one) . ' '/e if /status=ADMITTED/; $_ } readline $in;
open my $forged, '>', "$edge->{dir}/forged.log" or die "forged.log: $!";
print {$forged} $text;
close $forged;

system "@verify $edge->{dir}/forged.log > $edge->{dir}/verdict";
isnt($? >> 8, 0, 'flash-verify rejects a modified log');

done_testing();
