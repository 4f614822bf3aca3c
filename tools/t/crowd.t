# A crowd as a whole: who comes when, what it costs, how it is told.

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


subtest 'arrivals follow the integral of the rate, whatever the answers' => sub {
    my $edge = FakeEdge->start(sub { return { %$confirmed, delay => 2 } });
    my $run = figures('--url', $edge->url, '--stages=0.5:0-80,0.5:80-80,0.5:80-0');
    my @requests = $edge->stop;

    is(scalar @requests, 80, '20 + 40 + 20 shoppers');
    is($run->{figures}{shoppers}, 80, 'all of them counted');

    # nobody is answered before the last has come
    my $span = $requests[-1]{time} - $requests[0]{time};
    cmp_ok($span, '<', 2, 'nobody waits for an answer to come');

    # the first when 80 t^2 = 1, the last at 1.5 s
    cmp_ok(abs($span - (1.5 - sqrt(1 / 80))), '<', 0.35, 'the stages last');

    is(scalar(keys %{{ map { $_->{connection} => 1 } @requests }}), 80,
       'each on a connection of its own');
};


subtest '--shoppers scales the stages' => sub {
    my $edge = FakeEdge->start(sub { return $confirmed });
    my $run = figures('--url', $edge->url, '--stages=0.5:1-3', '--shoppers=37');

    is(scalar(() = $edge->stop), 37, 'so many come');
    is($run->{figures}{orders}, 37, 'and buy');
};


subtest 'the same seed, the same shoppers' => sub {
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

    is($without[0], $without[1], 'as many without a cookie');
    cmp_ok($without[0], '>', 8, 'about half of the 40');
    cmp_ok($without[0], '<', 32, 'and not more');
};


subtest 'what was sold is the checkout\'s word, less what was sold before' => sub {
    my $n = 0;
    my $edge = FakeEdge->start(sub {
        my ($request) = @_;

        if ($request->{path} eq '/stats') {
            # a payment goes on for a while after the sale
            return statistics(orders => 100, oversold => 3, late_charges => 5)
                if $n++ == 0;
            return statistics(orders => 111, oversold => 4, late_charges => 7,
                              declined => 1, in_progress => $n < 5 ? 1 : 0);
        }

        return $confirmed;
    });

    my $run = figures('--url', $edge->url, '--stats-url', $edge->url('/stats'),
                      '--stages=0.2:50-50');
    my @asked = grep { $_->{path} eq '/stats' } $edge->stop;

    is($run->{figures}{orders}, 11, 'orders');
    is($run->{figures}{oversold}, 1, 'oversold');
    is($run->{figures}{late_charges}, 2, 'late charges');
    is($run->{figures}{declined}, 1, 'declined');
    is($run->{status}, 1, 'oversold: exit status 1');
    is(scalar @asked, 5, 'asks until nothing is in progress');
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
       'exit status with ' . ($name // 'nothing') . ' wrong');
}


subtest 'overtaking is seen' => sub {
    my $n = 0;
    my $edge = FakeEdge->start(sub {
        my ($request) = @_;

        # the first ten are let in after all the others
        return $confirmed if $request->{headers}{cookie} || $n++ >= 10;
        return FakeEdge::json(503, { status => 'queued', retry_ms => 2500 },
                              'Set-Cookie' => 'ticket=1; Path=/');
    });

    my $run = figures('--url', $edge->url, '--stages=2:20-20');

    cmp_ok($run->{figures}{overtaken}, '>=', 10 / 40 - 1e-6, 'ten of forty');
    cmp_ok($run->{figures}{overtaken}, '<=', 10 / 40 + 1e-6, 'and no more');
    cmp_ok($run->{figures}{worst_inversion_s}, '>', 1, 'by over a second');
    cmp_ok($run->{figures}{kendall_tau}, '<', 0.8, 'order is not kept');
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
         'the edge\'s word on who waits');
    like($lines[0], qr/sold +0   threshold's age 2\.5 s$/,
         'the checkout\'s on what is sold');
    like($lines[1], qr/^ +2 s   arrivals +12 /, 'a line a second');
    like($run->{out}, qr/^  shoppers +12$/m, 'then the table');
    like($run->{out}, qr/^  oversold +0$/m, 'with what was oversold');
    like($run->{out}, qr/^  wait spread +(\d|-)/m, 'and how fair it was');
};


subtest 'Ctrl-C ends the sale early, with its figures' => sub {
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
    like($line, qr/arrivals/, 'under way');

    kill INT => $pid;
    local $/;
    my $rest = readline $reader;
    waitpid $pid, 0;

    is($?, 0, 'ends by itself');
    my ($shoppers) = $rest =~ /^  shoppers +(\d+)$/m;
    my ($orders) = $rest =~ /^  orders +(\d+)$/m;
    cmp_ok($shoppers, '<', 1200, 'not all have come');
    cmp_ok($orders, '>=', 10, 'those who have are in the figures');
};

done_testing();
