# A sale that its operator steers with flashctl, and that sells out while many
# wait: the checkout says so, and everyone hears it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib", "$FindBin::Bin/../../tools/t/lib",
    "$FindBin::Bin/../../upstream-demo/t/lib";
use CheckoutServer qw(wait_until);
use Edge;
use FlashCrowd qw(begin_crowd end_crowd);
use JSON::PP qw(decode_json);
use Test::More;

my $flashctl = ($ENV{BUILD} // 'build') . '/flashctl';

my $checkout = CheckoutServer->start('--stock=60', '--payment-slots=8', '--payment-min-ms=50', '--payment-max-ms=100', '--decline=0');
my $edge = Edge->start(checkout => $checkout, zone => 'rate=10r/s inflight=16',
                       throttle => 'policy=fair; flash_throttle_feedback on');

# flashctl(argument ...): its exit status and what it printed, of both kinds
sub flashctl {
    my @arguments = @_;

    my $pid = open(my $out, '-|') // die "fork: $!";

    if ($pid == 0) {
        open STDERR, '>&', \*STDOUT;
        exec $flashctl, '--url', $edge->url(''), @arguments;
        exit 127;
    }

    local $/;
    my $text = readline($out) // '';
    close $out;

    return ($? >> 8, $text);
}

sub says {
    my ($arguments, $status, $pattern, $name) = @_;
    my ($is, $text) = flashctl(@$arguments);

    is($is, $status, "$name: exit status") or diag($text);
    like($text, $pattern, $name);
}

says(['status'], 0, qr/^nobody has come yet$/, 'before the sale');
says(['hold'], 1, qr{/control: name a "key" of zone "sale", there is none}, 'an order for nobody');
says(['hold', '--key=sale', '--new'], 0, qr/^sale sale: hold, rate 10\.000\/s, 0 waiting, 0 at the upstream$/, 'hold beforehand');

my $crowd = begin_crowd('--json', '--url', $edge->url, '--poll',
    '--stages=2:100-100', '--patience=60',
    '--stats-url', "http://127.0.0.1:$checkout->{port}/stats");

wait_until { ($edge->status->{waiting} // 0) == 200 } 'all shoppers in line';
is($checkout->stats->{orders}, 0, 'nobody was let in');

says(['status'], 0, qr/^sale  sale  \[HOLD\]\n  waiting +[12]\d\d .*\n  wait +unknown /, 'status');
says(['status', '--json'], 0, qr/"hold": true/, 'as JSON');
says(['rate', '5r/s'], 0, qr/^sale sale: hold, rate 5\.000\/s, [12]\d\d waiting/, 'a rate');

$edge->reload;

my ($status, $text) = flashctl('watch', '--count=2', '--interval=0.2');
is($status, 0, 'watch');
like($text, qr/^\d\d:\d\d:\d\d sale sale waiting=[12]\d\d held=0 inflight=0 admitted=0 wait_ms=\d{7,} hold\n/, 'a line for each look');
like($text, qr/\n\S+ sale sale .* come\/s=0\.0 admitted\/s=0\.0 hold\n$/, 'with what came meanwhile');

says(['resume', '--zone=sale'], 0, qr/^sale sale: no hold, rate 5\.000\/s/, 'resume');
wait_until { $checkout->stats->{orders} > 3 } 'the first orders';

says(['reset'], 0, qr/^sale sale: no hold, rate 10\.000\/s/, 'reset');
says(['rate', '30r/s', '-z', 'sale', '-k', 'sale'], 0, qr/^sale sale: no hold, rate 30\.000\/s/, 'faster');

my $run = end_crowd($crowd);
my $figures = $run->{figures};

# the last ones are sold, and all the others know it
is($figures->{orders}, 60, 'all units were bought');
is($figures->{sold_out}, 140, 'all others were told that there are none');
is($figures->{gave_up}, 0, 'nobody waits for what is gone');
is($run->{status}, 0, 'nothing oversold, nobody charged late');
is($checkout->stats->{orders}, 60, 'by the word of the checkout');

my $after = $edge->status;
ok($after->{sold_out}, 'the edge knows');
is($after->{waiting}, 0, 'nobody waits');
cmp_ok($after->{admitted}, '<=', 60 + 16, 'hardly anybody was let in in vain');
is($edge->logged(qr/the upstream says "sold-out"/), 1, 'logged once');
is($edge->logged(qr/\[notice\].*flash_throttle_control: "\w+/), 5, 'and each order');

says(['status'], 0, qr/\[SOLD OUT\]/, 'so does flashctl');
says(['sold-out'], 0, qr/^sale sale: sold out,/, 'the operator, too');
says(['open'], 0, qr/^sale sale: opened,/, 'open');
ok(!$edge->status->{sold_out}, 'open again');

# what goes wrong

says(['rate', '50'], 1, qr/invalid rate "50"/, 'a bad rate');
says(['hold', '--zone=sail'], 1, qr/uses a zone "sail", there is "sale"/, 'no such zone');
says(['status', '--zone=sail'], 1, qr/there is no zone sail/, 'to look at, either');
says(['status', '--key=x'], 1, qr/nobody has asked for the key x yet/, 'no such key');
says(['stop'], 2, qr/no such command: "stop"/, 'no such command');
says([], 2, qr/what\? status, watch, rate/, 'no command');
says(['rate'], 2, qr/which rate\?/, 'no rate');
says(['hold', 'now'], 2, qr/"hold" takes no "now"/, 'too many words');
says(['status', '--interval=0'], 2, qr/invalid --interval "0", it must be 0\.1 to 3600/, 'a bad interval');
says(['status', '--url=shop.example'], 2, qr/must begin with http/, 'a bad URL');
says(['status', '--url', $edge->url('/nowhere')], 3, qr/404: there is no flash_throttle_status; --url says/, 'a wrong URL');
says(['hold', '--url', $edge->url('/nowhere')], 3, qr/404: there is no flash_throttle_control; --url says/, 'to order at, either');
says(['hold', '--url', $edge->url('/closed')], 1, qr/403: not from here/, 'kept out');
says(['status', '--url', "http://127.0.0.1:$checkout->{port}"], 3, qr/flash_throttle_status/, 'another server');
says(['status', '--url', 'http://127.0.0.1:1'], 3, qr/is nginx there\?/, 'nobody there');
says(['status', '--unix', "$edge->{dir}/none.sock"], 3, qr/none\.sock: .*is nginx there\?/, 'no such socket');
says(['status', '--unix', "$edge->{dir}/edge.sock"], 0, qr/^sale  sale/, 'through a socket');

# the live view, where there is a terminal: it draws itself over, and q ends it

SKIP: {
    skip 'no script(1)', 2 if system('script --version > /dev/null 2>&1') != 0;

    my $url = $edge->url('');
    my $screen = "$edge->{dir}/screen";

    # q, when the view was drawn twice
    my $view = `touch $screen; (until [ "\$(grep -ao 'q ends' $screen | wc -l)" -ge 2 ]; do sleep 0.1; done; printf q) | timeout 60 script -qfec 'stty rows 24 cols 80; $flashctl --url $url watch --interval=0.2' $screen`;

    is($? >> 8, 0, 'q ends it');
    like($view, qr/\e\[H.*sale  sale  \[\w+\].*\e\[H.*q ends/s, 'it draws itself over');
}

done_testing();
