# flashctl against a fake server: requests, output, exit statuses.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use FakeEdge;
use JSON::PP qw(decode_json);
use Test::More;

$ENV{TZ} = 'UTC';

my $program = $ENV{FLASHCTL} // 'build/flashctl';

my %state = (
    waiting => 182, called => 12, held => 16, inflight => 9, admitted => 1204,
    first_attempts => 1415, rejected => 2, sold_out_total => 3, left => 10,
    no_shows => 2, expired => 1, wait_ms => 5700, threshold_age_ms => 5230,
    rate_now_milli => 50000, rate_override_milli => 50000,
    queueing => JSON::PP::true,
);

my $time_ms = 1795780800000;
my $admitted = $state{admitted};


# status(field => value, ...): one zone with one key
sub status {
    return FakeEdge::json(200, { time_ms => $time_ms, zones => { sale => {
        inflight_max => 16, rate_milli => 20000, keys => { shop => { %state, @_ } } } } });
}


# run(\&answer, argument ...): exit status, output, requests
sub run {
    my ($answer, @arguments) = @_;

    my $edge = FakeEdge->start($answer);
    my $pid = open(my $out, '-|') // die "fork: $!";

    if ($pid == 0) {
        open STDERR, '>&', \*STDOUT;
        exec $program, '--url', $edge->url('/'), @arguments;
        exit 127;
    }

    my $text = join '', readline $out;
    close $out;

    return ($? >> 8, $text, $edge->stop);
}


my ($code, $text, @requests) = run(sub { status() }, 'status');

is($code, 0, 'status');
is($requests[0]{path}, '/status', 'its location');
is($text, <<'END', 'its output');
sale  shop  [queueing]
  waiting        182    called 12, held 16
  wait           5.7 s  threshold age 5.2 s
  upstream         9    of 16
  rate          50.0/s  set by the operator, configured 20.0/s
  admitted      1204
  rejected         2    sold out 3, first attempts 1415, left 13
END

for my $case (
    [ 'paused', qr/^sale  shop  \[PAUSED\]\n.*\n  wait       unknown /, paused => JSON::PP::true ],
    [ 'sold out', qr/^sale  shop  \[SOLD OUT\]\n.*\n  wait          none$/m, sold_out => JSON::PP::true ],
    [ 'closed', qr/^sale  shop  \[closed, opens 2026-11-27T12:00:00\+0000\]\n.*\n  wait          none$/m, opens_ms => $time_ms ],
    [ 'open', qr/^sale  shop  \[open\]/, queueing => JSON::PP::false ],
    [ 'rate of the upstream', qr/^  rate          50\.0\/s  set by the upstream, configured 20/m,
      rate_override_milli => 0, rate_upstream_milli => 50000 ],
    [ 'no rate', qr/^  rate          none\n/m, rate_override_milli => 0, rate_now_milli => 0 ],
) {
    my ($name, $expected, @fields) = @$case;

    like((run(sub { status(@fields) }, 'status'))[1], $expected, $name);
}

is((run(sub { FakeEdge::json(200, { zones => { sale => { keys => {} } } }) }, 'status'))[1],
   "no keys: no requests yet\n", 'a zone without keys');

($code, $text) = run(sub { status() }, 'status', '--json');
is(decode_json($text)->{zones}{sale}{keys}{shop}{no_shows}, 2, 'status as JSON');

# a key with bytes that JSON or a terminal would interpret
my $binary = FakeEdge::json(200, {});
$binary->{body} = '{"zones":{"sale":{"keys":{"\u0000\u007f\u00e9x":{}}}}}';
like((run(sub { $binary }, 'status'))[1], qr/^sale  \?\?\?+x  \[open\]/, 'a binary key');
like((run(sub { $binary }, 'status', '--json'))[1], qr/"\\u0000\x7f\\u00E9x"/, 'as JSON');

# each sample 0.5 s and 10 admissions after the last
($code, $text) = run(sub { $time_ms += 500; $admitted += 10; status(admitted => $admitted, paused => JSON::PP::true) },
                     'watch', '--count=2', '--interval=0.1');
is($code, 0, 'watch');
like($text, qr/^\d\d:\d\d:\d\d sale shop waiting=182 held=16 inflight=9 admitted=1214 wait_ms=5700 paused\n/,
     'a line per sample');
like($text, qr/ first_attempts\/s=0\.0 admitted\/s=20\.0 paused\n$/, 'with rates from the second sample on');

# commands
my $answer = sub {
    return FakeEdge::json(200, { zone => 'sale', key => 'shop', state => { %state, paused => JSON::PP::true } });
};

($code, $text, @requests) = run($answer, 'pause', '--zone=sale', "--key=caf\xe9", '--new');
is($code, 0, 'pause');
is($requests[0]{method} . $requests[0]{path}, 'POST/control', 'its request');
is_deeply(decode_json($requests[0]{body}),
          { command => 'pause', zone => 'sale', key => "caf\xe9", new => JSON::PP::true }, 'its JSON');
is($text, "sale shop: paused, rate 50.000/s, 182 waiting, 9 at the upstream\n", 'the state');

($code, $text, @requests) = run($answer, 'rate', '50r/s');
is_deeply(decode_json($requests[0]{body}), { command => 'rate', rate => '50r/s' }, 'rate');

# errors
for my $case (
    [ 'no command', 2, qr/missing command/ ],
    [ 'an unknown command', 2, qr/unknown command "hold"/, 'hold' ],
    [ 'no rate', 2, qr/missing argument of "rate"/, 'rate' ],
    [ 'a surplus argument', 2, qr/unexpected argument "now" after "pause"/, 'pause', 'now' ],
    [ 'interval', 2, qr/invalid value "0" for --interval: expected a number from 0\.1 to 3600/, 'watch', '--interval=0' ],
    [ 'count', 2, qr/invalid value "0" for --count: expected an integer from 1 /, 'watch', '--count=0' ],
    [ 'URL', 2, qr/invalid value "shop" for --url: expected a URL/, 'status', '--url=shop' ],
    [ 'zone', 1, qr/^flashctl: zone "sail" not found$/, 'status', '--zone=sail' ],
    [ 'key', 1, qr/^flashctl: key "x" not found$/, 'status', '--key=x' ],
    [ 'no server', 3, qr{^flashctl: http://127\.0\.0\.1:1/status: \w+.* connect}, 'status', '--url=http://127.0.0.1:1/' ],
    [ 'no socket', 3, qr{^flashctl: /none/sock: http://[^ ]+/status: \w}, 'status', '--unix=/none/sock' ],
) {
    my ($name, $expected, $message, @arguments) = @$case;

    ($code, $text) = run(sub { status() }, @arguments);
    is($code, $expected, "$name: exit status");
    like($text, $message, "$name: message");
}

for my $case (
    [ 'an error', 1, qr{/control: invalid rate "50"$}, FakeEdge::json(400, { error => 'invalid rate "50"' }) ],
    [ 'access', 1, qr{/control: access denied \(HTTP status 403\)$}, { status => 403, body => 'no' } ],
    [ 'another server', 3, qr{/control: not a flash_throttle_control response \(HTTP status 404\)$}, { status => 404 } ],
) {
    my ($name, $expected, $message, $reply) = @$case;

    ($code, $text) = run(sub { $reply }, 'resume');
    is($code, $expected, "$name: exit status");
    like($text, $message, "$name: message");
}

done_testing();
