# An operator controls a sale with flashctl; it sells out while shoppers wait, and
# the checkout reports it in its feedback.

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

# flashctl(argument ...): its exit status, and its output and errors
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

sub expect {
    my ($arguments, $status, $pattern, $name) = @_;
    my ($is, $text) = flashctl(@$arguments);

    is($is, $status, "$name: exit status") or diag($text);
    like($text, $pattern, $name);
}

expect(['status'], 0, qr/^no keys: no requests yet$/, 'before the sale');
expect(['pause'], 1, qr{/control: "key" is required in zone "sale", keys: none}, 'a command without a key');
expect(['pause', '--key=sale', '--new'], 0, qr/^sale sale: paused, rate 10\.000\/s, 0 waiting, 0 at the upstream$/, 'pause before the sale');

my $crowd = begin_crowd('--json', '--url', $edge->url, '--poll',
    '--stages=2:100-100', '--patience=60',
    '--stats-url', "http://127.0.0.1:$checkout->{port}/stats");

wait_until { ($edge->status->{waiting} // 0) == 200 } 'all shoppers to wait';
is($checkout->stats->{orders}, 0, 'none is admitted');

expect(['status'], 0, qr/^sale  sale  \[PAUSED\]\n  waiting +[12]\d\d .*\n  wait +unknown /, 'status');
expect(['status', '--json'], 0, qr/"paused": true/, 'status as JSON');
expect(['rate', '5r/s'], 0, qr/^sale sale: paused, rate 5\.000\/s, [12]\d\d waiting/, 'a rate');

$edge->reload;

my ($status, $text) = flashctl('watch', '--count=2', '--interval=0.2');
is($status, 0, 'watch');
like($text, qr/^\d\d:\d\d:\d\d sale sale waiting=[12]\d\d held=0 inflight=0 admitted=0 wait_ms=\d{7,} paused\n/, 'a line per sample');
like($text, qr/\n\S+ sale sale .* first_attempts\/s=0\.0 admitted\/s=0\.0 paused\n$/, 'rates from the second sample on');

expect(['resume', '--zone=sale'], 0, qr/^sale sale: not paused, rate 5\.000\/s/, 'resume');
wait_until { $checkout->stats->{orders} > 3 } 'the first orders';

expect(['reset'], 0, qr/^sale sale: not paused, rate 10\.000\/s/, 'reset');
expect(['rate', '30r/s', '-z', 'sale', '-k', 'sale'], 0, qr/^sale sale: not paused, rate 30\.000\/s/, 'faster');

my $run = end_crowd($crowd);
my $figures = $run->{figures};

# the stock is sold, and the others get "sold out"
is($figures->{orders}, 60, 'all units are sold');
is($figures->{sold_out}, 140, 'all others get "sold out"');
is($figures->{gave_up}, 0, 'none gives up');
is($run->{status}, 0, 'no oversale, no late charge');
is($checkout->stats->{orders}, 60, 'orders at the checkout');

my $after = $edge->status;
ok($after->{sold_out}, 'sold out at the edge');
is($after->{waiting}, 0, 'none waiting');
cmp_ok($after->{admitted}, '<=', 60 + 16, 'few admissions beyond the stock');
is($edge->logged(qr/upstream set "sold-out"/), 1, 'the feedback is logged once');
is($edge->logged(qr/\[notice\].*flash_throttle_control: "\w+/), 5, 'each command is logged');

expect(['status'], 0, qr/\[SOLD OUT\]/, 'status of a sold out sale');
expect(['sold-out'], 0, qr/^sale sale: sold out,/, 'sold-out');
expect(['open'], 0, qr/^sale sale: opened,/, 'open');
ok(!$edge->status->{sold_out}, 'no longer sold out');

# errors

expect(['rate', '50'], 1, qr/invalid rate "50"/, 'a bad rate');
expect(['pause', '--zone=sail'], 1, qr/uses zone "sail", zones in use: "sale"/, 'no such zone');
expect(['status', '--zone=sail'], 1, qr/zone "sail" not found/, 'no such zone in status');
expect(['status', '--key=x'], 1, qr/key "x" not found/, 'no such key');
expect(['stop'], 2, qr/unknown command "stop"/, 'no such command');
expect([], 2, qr/missing command/, 'no command');
expect(['rate'], 2, qr/missing argument of "rate"/, 'no rate');
expect(['pause', 'now'], 2, qr/unexpected argument "now" after "pause"/, 'an unexpected argument');
expect(['status', '--interval=0'], 2, qr/invalid value "0" for --interval: expected a number from 0\.1 to 3600/, 'a bad interval');
expect(['status', '--url=shop.example'], 2, qr/expected a URL that begins with http/, 'a bad URL');
expect(['status', '--url', $edge->url('/nowhere')], 3, qr/not a flash_throttle_status response \(HTTP status 404\)/, 'a wrong URL');
expect(['pause', '--url', $edge->url('/nowhere')], 3, qr/not a flash_throttle_control response \(HTTP status 404\)/, 'a wrong URL of the control location');
expect(['pause', '--url', $edge->url('/closed')], 1, qr/access denied \(HTTP status 403\)/, 'access denied');
expect(['status', '--url', "http://127.0.0.1:$checkout->{port}"], 3, qr/flash_throttle_status/, 'another server');
expect(['status', '--url', 'http://127.0.0.1:1'], 3, qr{http://127\.0\.0\.1:1/status: \w}, 'no server');
expect(['status', '--unix', "$edge->{dir}/none.sock"], 3, qr{none\.sock: http://[^ ]+/status: \w}, 'no such socket');
expect(['status', '--unix', "$edge->{dir}/edge.sock"], 0, qr/^sale  sale/, 'through a socket');

# the live view in a terminal

SKIP: {
    skip 'no script(1)', 2 if system('script --version > /dev/null 2>&1') != 0;

    my $url = $edge->url('');
    my $screen = "$edge->{dir}/screen";

    # q, when the view was drawn twice
    my $view = `touch $screen; (for i in \$(seq 600); do [ "\$(grep -ao 'q quits' $screen | wc -l)" -lt 2 ] || break; sleep 0.1; done; printf q) | timeout 60 script -qfec 'stty rows 24 cols 80; $flashctl --url $url watch --interval=0.2' $screen`;

    is($? >> 8, 0, 'q quits');
    like($view, qr/\e\[H.*sale  sale  \[\w+\].*\e\[H.*q quits/s, 'the view is redrawn');
}

done_testing();
