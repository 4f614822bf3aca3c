# A whole crowd: arrivals, results, output.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use FakeEdge;
use FlashCrowd qw(crowd figures);
use Test::More;

my $confirmed = FakeEdge::json(200, { status => 'confirmed' });


sub statistics {
    return FakeEdge::json(200, { orders => 0, oversold => 0,
        late_charges => 0, declined => 0, in_progress => 0, @_ });
}


subtest 'arrivals follow the integral of the rate, whatever the responses' => sub {
    my $edge = FakeEdge->start(sub { return { %$confirmed, delay => 2 } });
    my $run = figures('--url', $edge->url, '--stages=0.5:0-80,0.5:80-80,0.5:80-0');
    my @requests = $edge->stop;

    is(scalar @requests, 80, '20 + 40 + 20 shoppers');
    is($run->{figures}{shoppers}, 80, 'all counted');

    # the first response is sent after the last arrival
    my $span = $requests[-1]{time} - $requests[0]{time};
    cmp_ok($span, '<', 2, 'arrivals do not wait for responses');

    # the first arrival at 80 t^2 = 1, the last at 1.5 s
    cmp_ok(abs($span - (1.5 - sqrt(1 / 80))), '<', 0.35, 'duration of the stages');

    is(scalar(keys %{{ map { $_->{connection} => 1 } @requests }}), 80,
       'a connection per shopper');
};


subtest '--shoppers scales the stages' => sub {
    my $edge = FakeEdge->start(sub { return $confirmed });
    my $run = figures('--url', $edge->url, '--stages=0.5:1-3', '--shoppers=37');

    is(scalar(() = $edge->stop), 37, 'arrivals');
    is($run->{figures}{orders}, 37, 'orders');
};


subtest 'the seed determines the shoppers' => sub {
    my @without;

    for my $seed (7, 7, 8) {
        my (%number, $n);
        my $edge = FakeEdge->start(sub {
            my ($request) = @_;

            return $confirmed if $request->{headers}{cookie};

            return FakeEdge::json(503, { status => 'queued', retry_ms => 100 },
                                  'Set-Cookie' => 'ticket=' . ++$n . '; Path=/');
        });

        my $run = figures('--url', $edge->url, '--stages=0.2:200-200',
                          '--no-cookie=0.5', '--patience=1', '--seed', $seed);
        $edge->stop;
        push @without, $run->{figures}{gave_up};
    }

    is($without[0], $without[1], 'the same number without a cookie');
    cmp_ok($without[0], '>', 8, 'about half of 40: not fewer');
    cmp_ok($without[0], '<', 32, 'not more');
};


subtest 'results of the checkout, without earlier sales' => sub {
    my $n = 0;
    my $edge = FakeEdge->start(sub {
        my ($request) = @_;

        if ($request->{path} eq '/stats') {
            # a payment in progress after the sale
            return statistics(orders => 100, oversold => 3, late_charges => 5)
                if $n++ == 0;
            return statistics(orders => 111, oversold => 4, late_charges => 7,
                              declined => 1, in_progress => $n < 5 ? 1 : 0);
        }

        return $confirmed;
    });

    my $run = figures('--url', $edge->url, '--stats-url', $edge->url('/stats'),
                      '--stages=0.2:50-50');
    my @fetches = grep { $_->{path} eq '/stats' } $edge->stop;

    is($run->{figures}{orders}, 11, 'orders');
    is($run->{figures}{oversold}, 1, 'oversold');
    is($run->{figures}{late_charges}, 2, 'late charges');
    is($run->{figures}{declined}, 1, 'declined');
    is($run->{status}, 1, 'oversold: exit status 1');
    is(scalar @fetches, 5, 'requests until no payment is in progress');
};


for my $fault (['late_charges', 1], ['oversold', 1], [undef, 0]) {
    my ($name, $status) = @$fault;
    my $n = 0;

    my $edge = FakeEdge->start(sub {
        my ($request) = @_;

        return $confirmed if $request->{path} ne '/stats';
        return statistics() if $n++ == 0;
        return statistics(orders => 2, $name ? ($name => 1) : ());
    });

    my $run = figures('--url', $edge->url, '--stats-url', $edge->url('/stats'),
                      '--stages=0.1:20-20');
    is($run->{status}, $status,
       'exit status, ' . ($name // 'no fault'));
}


subtest 'overtaking' => sub {
    my $n = 0;
    my $edge = FakeEdge->start(sub {
        my ($request) = @_;

        # the first ten are admitted after all others
        return $confirmed if $request->{headers}{cookie} || $n++ >= 10;
        return FakeEdge::json(503, { status => 'queued', retry_ms => 2500 },
                              'Set-Cookie' => 'ticket=1; Path=/');
    });

    my $run = figures('--url', $edge->url, '--stages=2:20-20');

    cmp_ok($run->{figures}{overtaken}, '>=', 10 / 40 - 1e-6, 'at least ten of forty');
    cmp_ok($run->{figures}{overtaken}, '<=', 10 / 40 + 1e-6, 'at most ten');
    cmp_ok($run->{figures}{worst_inversion_s}, '>', 1, 'worst inversion');
    cmp_ok($run->{figures}{kendall_tau}, '<', 0.8, 'order not kept');
};


subtest 'live lines and table' => sub {
    my $edge = FakeEdge->start(sub {
        my ($request) = @_;

        return statistics(orders => 4711) if $request->{path} eq '/stats';

        return FakeEdge::json(200, { zones => {
            sale => { keys => { one => { waiting => 30,
                                         threshold_age_ms => 2500 },
                                two => { waiting => 12,
                                         threshold_age_ms => 300 } } } } })
            if $request->{path} eq '/status';

        return { %$confirmed, delay => 1.5 };
    });

    my $run = crowd('--url', $edge->url, '--live', '--stages=1.2:10-10',
                    '--stats-url', $edge->url('/stats'),
                    '--status-url', $edge->url('/status'));
    my @lines = split /\n/, $run->{out};

    like($lines[0], qr/^ +1 s   arrivals +(9|10)   waiting +42   admitted +0/,
         'from the status of the edge');
    like($lines[0], qr/sold +0   threshold age 2\.5 s$/,
         'from the statistics of the checkout');
    like($lines[1], qr/^ +2 s   arrivals +12 /, 'a line a second');
    like($run->{out}, qr/^  shoppers +12$/m, 'the table');
    like($run->{out}, qr/^  oversold +0$/m, 'oversold');
    like($run->{out}, qr/^  wait spread +(\d|-)/m, 'fairness');
};


subtest 'SIGINT ends the sale, with results' => sub {
    my $edge = FakeEdge->start(sub { return $confirmed });
    pipe(my $reader, my $writer) or die;
    my $pid = fork() // die;

    if ($pid == 0) {
        open STDOUT, '>&', $writer or die;
        exec $ENV{CROWD} // 'build/flash-crowd', '--url', $edge->url,
            '--stages=60:20-20', '--live' or die;
    }

    close $writer;
    my $line = readline $reader;
    like($line, qr/arrivals/, 'started');

    kill INT => $pid;
    local $/;
    my $rest = readline $reader;
    waitpid $pid, 0;

    is($?, 0, 'exit status');
    my ($shoppers) = $rest =~ /^  shoppers +(\d+)$/m;
    my ($orders) = $rest =~ /^  orders +(\d+)$/m;
    cmp_ok($shoppers, '<', 1200, 'not all have arrived');
    cmp_ok($orders, '>=', 10, 'results of those that have');
};

done_testing();
