# A single shopper of flash-crowd and each kind of response.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use FakeEdge;
use File::Temp;
use FlashCrowd qw(figures);
use Test::More;
use Time::HiRes qw(time);

my @one = ('--stages=0.01:100-100');

my $confirmed = FakeEdge::json(200, { status => 'confirmed' });


sub queued {
    my ($retry_ms, @headers) = @_;

    return FakeEdge::json(503, { status => 'queued', retry_ms => $retry_ms,
        position => 3, wait_ms => 900, first_attempt_ms => int(time * 1000) },
        'Retry-After' => 1, @headers);
}


# Runs one shopper against a list of responses; the last one is repeated.
sub one {
    my ($responses, @arguments) = @_;

    my $edge = FakeEdge->start(sub {
        return @$responses > 1 ? shift @$responses : $responses->[0];
    });

    my $run = figures(@one, '--url', $edge->url, @arguments);

    return ($run, $edge->stop);
}


sub gap {
    my ($first, $second) = @_;

    return $second->{time} - $first->{time};
}


subtest 'repeats the request as advised, with the cookie' => sub {
    my ($run, @requests) = one([
        queued(250, 'Set-Cookie' => 'flash_throttle_sale=one; Path=/; HttpOnly'),
        queued(250, 'Set-Cookie' => 'flash_throttle_sale=two; Path=/; HttpOnly'),
        $confirmed,
    ]);

    is(scalar @requests, 3, 'three requests');
    is("@{[map { $_->{method} } @requests]}", 'POST POST POST', 'all POST');
    is($requests[0]{body}, '{"quantity":1}', 'an order for one');
    is($requests[0]{headers}{accept}, 'application/json', 'accepts JSON');
    is($requests[0]{headers}{'content-type'}, 'application/json', 'sends JSON');
    ok(!exists $requests[0]{headers}{cookie}, 'first without a cookie');
    is($requests[1]{headers}{cookie}, 'flash_throttle_sale=one', 'then with the ticket');
    is($requests[2]{headers}{cookie}, 'flash_throttle_sale=two', 'then with the new one');
    ok(!exists $requests[0]{headers}{'flash-throttle-poll'}, 'no poll');
    ok(!exists $requests[0]{headers}{'flash-deadline-ms'}, 'no deadline');
    cmp_ok(gap(@requests[0, 1]), '>=', 0.25, 'not before retry_ms');
    cmp_ok(gap(@requests[0, 1]), '<', 1, 'retry_ms, not Retry-After');

    is($run->{status}, 0, 'an order: exit status 0');
    is($run->{figures}{orders}, 1, 'one order');
    is($run->{figures}{admitted}, 1, 'one admitted');
    is($run->{figures}{polls_per_shopper}, 3, 'three polls');
    cmp_ok($run->{figures}{wait_p50_s}, '>=', 0.5, 'the wait');
    is($run->{figures}{oversold}, undef, 'unknown without --stats-url');
};


subtest 'Retry-After without JSON' => sub {
    my ($run, @requests) = one([
        { status => 503, headers => ['Retry-After' => 1], body => 'later' },
        $confirmed,
    ]);

    cmp_ok(gap(@requests[0, 1]), '>=', 0.5, 'a second, at least half of it');
    cmp_ok(gap(@requests[0, 1]), '<', 5, 'not much more');
    is($run->{figures}{orders}, 1, 'one order');
};


subtest 'any HTTP status of the queue' => sub {
    my ($run, @requests) = one([
        { %{ queued(20) }, status => 200 },
        { %{ queued(20) }, status => 202 },
        { %{ queued(20) }, status => 429 },
        $confirmed,
    ]);

    is(scalar @requests, 4, 'waits');
    is($run->{figures}{orders}, 1, 'one order');
};


subtest 'polls, then orders' => sub {
    my ($run, @requests) = one([
        queued(50, 'Set-Cookie' => 'flash_throttle_sale=ticket; Path=/'),
        FakeEdge::json(200, { status => 'admitted' },
                       'Set-Cookie' => 'flash_throttle_sale=pass; Path=/'),
        { %{$confirmed}, delay => 0.3 },
    ], '--poll', '--deadline', '--patience=9');

    is("@{[map { $_->{method} } @requests]}", 'GET GET POST', 'polls are GET');
    is($requests[0]{headers}{'flash-throttle-poll'}, 1, 'marked as a poll');
    is($requests[1]{headers}{'flash-throttle-poll'}, 1, 'again');
    ok(!exists $requests[2]{headers}{'flash-throttle-poll'}, 'the order is not');
    is($requests[2]{headers}{cookie}, 'flash_throttle_sale=pass', 'the pass');

    my $left = $requests[2]{headers}{'flash-deadline-ms'} / 1000
               - $requests[0]{time};
    cmp_ok(abs($left - 9), '<', 0.5, 'the deadline is the end of patience');

    is($run->{figures}{polls_per_shopper}, 2, 'two polls');
    cmp_ok($run->{figures}{wait_p50_s}, '<', 0.3,
           'the wait ends with the admission, not with the order');
};


subtest 'polls again after a refused pass' => sub {
    my ($run, @requests) = one([
        FakeEdge::json(200, { status => 'admitted' }),
        queued(20),
        FakeEdge::json(200, { status => 'admitted' }),
        $confirmed,
    ], '--poll');

    is("@{[map { $_->{method} } @requests]}", 'GET POST GET POST', 'again');
    is($run->{figures}{admitted}, 1, 'one admission');
};


subtest 'no cookie' => sub {
    my ($run, @requests) = one([
        queued(20, 'Set-Cookie' => 'flash_throttle_sale=ticket; Path=/'),
        $confirmed,
    ], '--no-cookie=1');

    ok(!exists $requests[1]{headers}{cookie}, 'no cookie');
};


subtest 'gives up if the next attempt would be too late' => sub {
    my $start = time;
    my ($run, @requests) = one([ queued(400) ], '--patience=1');

    is(scalar @requests, 3, 'requests while there is time');
    is($run->{figures}{gave_up}, 1, 'gave up');
    is($run->{figures}{admitted}, 0, 'was not admitted');
    is($run->{status}, 1, 'no order: exit status 1');
};


subtest 'gives up during a request' => sub {
    my ($run, @requests) = one([ { %{$confirmed}, delay => 60 } ],
                               '--patience=0.5');

    is($run->{figures}{gave_up}, 1, 'gave up');
    is($run->{figures}{unanswered}, 0, 'not a failure');
    cmp_ok($run->{figures}{longest_request_s}, '>=', 0.5, 'the whole patience');
    cmp_ok($run->{figures}{longest_request_s}, '<', 5, 'not longer');
};


subtest 'vanishes' => sub {
    my ($run, @requests) = one([ queued(100) ], '--patience=1', '--vanish=1');

    is($run->{figures}{vanished}, 1, 'vanished');
    is($run->{figures}{gave_up}, 0, 'did not give up');
};


my %ends = (
    declined => FakeEdge::json(402, { status => 'declined' }),
    sold_out => FakeEdge::json(409, { status => 'sold_out' }),
    too_late => FakeEdge::json(504, { status => 'too_late' }),
    failed   => { status => 502, body => 'Bad Gateway' },
);

for my $end (sort keys %ends) {
    subtest $end => sub {
        my ($run, @requests) = one([ $ends{$end} ]);

        is($run->{figures}{$end}, 1, 'counted');
        is(scalar @requests, 1, 'not repeated');
        is($run->{figures}{orders}, 0, 'no order');
    };
}


subtest 'an order without a response is not repeated' => sub {
    # libcurl would repeat a request that fails on a reused connection
    my ($run, @requests) = one([ queued(20), { close => 1 } ]);

    is(scalar @requests, 2, 'not repeated');
    isnt($requests[0]{connection}, $requests[1]{connection},
         'a new connection');
    is($run->{figures}{failed}, 1, 'failed');
    is($run->{figures}{unanswered}, 1, 'no response');
    like($run->{err}, qr/requests failed, the first one: (.*empty|Server returned nothing)/i,
         'the error');
};


subtest 'a poll without a response is repeated' => sub {
    my ($run, @requests) = one([
        { close => 1 },
        FakeEdge::json(200, { status => 'admitted' }),
        $confirmed,
    ], '--poll');

    is($run->{figures}{orders}, 1, 'one order');
    cmp_ok(gap(@requests[0, 1]), '>=', 1, 'after a second');
};


subtest 'first_attempt_ms is clamped' => sub {
    my $early = queued(300);
    $early->{body} =~ s/"first_attempt_ms":\d+/"first_attempt_ms":1000/;

    my ($run) = one([ $early, $confirmed ]);
    cmp_ok($run->{figures}{wait_p50_s}, '<', 5, 'a slow clock');

    my $ahead = queued(300);
    $ahead->{body} =~ s/"first_attempt_ms":\d+/"first_attempt_ms":9999999999999/;

    ($run) = one([ $ahead, $confirmed ]);
    cmp_ok($run->{figures}{wait_p50_s}, '>=', 0.3, 'a fast clock');
};


subtest '--trace' => sub {
    my $trace = File::Temp->new;
    my ($run, @requests) = one([ queued(300), $confirmed ], '--trace', $trace);

    my $line = readline $trace;
    my (undef, $first, $last, $end) = split /\t/, $line;

    like($line, qr/^1(\t\d{13}){3}\tconfirmed\t2\t200\n$/,
         'number, three times, outcome, requests, status');
    cmp_ok(abs($first / 1000 - $requests[0]{time}), '<', 0.5, 'first attempt');
    cmp_ok($last - $first, '>=', 300, 'last request');
    cmp_ok($end, '>=', $last, 'end');
    is(scalar readline $trace, undef, 'one line');
};

done_testing();
