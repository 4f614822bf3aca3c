# The rules of docs/alerts.yml on metrics that nginx has exported.  The edge is
# brought into each state that a rule is about and into states without a fault.
# promtool then evaluates the rules on the scraped samples of each state.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib", "$FindBin::Bin/../lib", "$FindBin::Bin/../../tools/t/lib",
    "$FindBin::Bin/../../upstream-demo/t/lib";
use CheckoutServer qw(wait_until);
use Cwd qw(getcwd);
use Edge;
use Files qw(read_file write_file);
use FlashCrowd qw(begin_crowd);
use HTTP::Tiny;
use IO::Socket::INET;
use JSON::PP qw(encode_json);
use List::Util qw(sum);
use Metrics;
use POSIX ();
use Test::More;
use Time::HiRes qw(sleep time);

use constant {
    SAMPLES  => 6,              # of each series
    SPACING  => 0.8,            # seconds between two samples
    DURATION => 900,            # of the series for promtool, in seconds: more than any rule needs
    AT       => 840,            # the time of the test in these series
};

my $promtool = Metrics::program('promtool');

plan skip_all => 'promtool not found (scripts/install-deps.sh test)' if !$promtool;

my $rules = read_file('docs/alerts.yml');
my @alerts = $rules =~ /alert: (\w+)/g;
my %used = map { $_ => 1 } $rules =~ /\b(flash_throttle_\w+)/g;
my %rule = map { parse_rule($_) } split /^ +- alert: /m, $rules =~ s/\A.*?(?=^ +- alert:)//msr;

# an upstream that accepts connections and never responds
my $silent = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 128) or die "listen: $@\n";
my $silent_port = $silent->sockport;

my $http = <<'EOF';

    flash_throttle_zone  $arg_key zone=shops:4m inflight=16;
    flash_throttle_zone  $arg_key zone=passes:1m inflight=16 sessions=20;
    flash_throttle_zone  $arg_key zone=patient:1m inflight=16;
    flash_throttle_zone  $arg_key zone=before:1m inflight=16;
    flash_throttle_zone  $arg_key zone=small:1m inflight=16;

    limit_req_zone       $arg_key zone=pace:1m rate=10r/s;
    proxy_read_timeout   10m;
EOF

my $server = <<'EOF';
location = /shops {
            flash_throttle  zone=shops;
            proxy_pass      http://127.0.0.1:$server_port/upstream/$arg_upstream?key=$arg_key;
        }

        location = /patient {
            flash_throttle       zone=patient;
            flash_throttle_poll  min=12s;
            proxy_pass           http://127.0.0.1:$server_port/upstream/$arg_upstream;
        }

        location = /passes {
            flash_throttle  zone=passes;
            proxy_pass      http://127.0.0.1:$server_port/upstream/fast;
        }

        location = /before {
            flash_throttle        zone=before;
            flash_throttle_opens  2099-01-01T00:00:00Z;
            proxy_pass            http://127.0.0.1:$server_port/upstream/fast;
        }

        location = /small {
            flash_throttle  zone=small;
            proxy_pass      http://127.0.0.1:$server_port/upstream/fast;
        }

        location = /upstream/fast {
            return  200 done;
        }

        location = /upstream/fails {
            return  500;
        }

        location = /upstream/slow {
            limit_req  zone=pace burst=100;
            empty_gif;
        }

        location = /upstream/hangs {
            proxy_pass  http://127.0.0.1:SILENT;
        }
EOF

$server =~ s/SILENT/$silent_port/;

my $edge = Edge->start(checkout => { port => $silent_port }, zone => 'inflight=16', throttle => '',
                       http => $http, server => $server);
my $client = HTTP::Tiny->new;

#
# The states.  Each is a key of its own, so that all exist at the same time.
#
#   zone      the zone, shops by default
#   upstream  fast by default
#   command   of the operator, before the shoppers come
#   crowd     options of flash-crowd
#   each      called before each sample
#   holders   requests that stay in flight until "until" is true
#   until     true when the shoppers have come; $_[0] returns the value of a metric
#   stop      stop the crowd then
#   release   true when the state is reached after that
#   values    of metrics in each sample
#   summary   of the alerts that fire; the others must not.  $_[0] returns the
#             value of a metric at the time of the test, $_[1] the mean of a minute
#
my @states = (
    {
        name    => 'enough capacity',
        key     => 'enough',
        crowd   => ['--stages=600:5-5'],
        until   => sub { $_[0]->('admitted_total') > 5 },
        values  => { queueing => 0 },
        summary => {},
    },
    {
        name     => 'all capacity used, and checkout responds',
        key      => 'used',
        upstream => 'slow',
        crowd    => ['--stages=4:40-40,600:11-11', '--patience=600'],
        until    => sub { $_[0]->('waiting') > 50 },
        values   => { queueing => 1 },
        summary  => {},
    },
    {
        name     => 'all capacity used, and checkout does not respond',
        key      => 'hangs',
        upstream => 'hangs',
        crowd    => ['--stages=4:10-10', '--patience=600'],
        until    => sub { $_[0]->('inflight') == 16 && $_[0]->('waiting') >= 20 },
        values   => { free_capacity => 0, inflight => 16, queueing => 1 },
        summary  => {
            FlashThrottleNoAdmissions =>
                sub { 'hangs: ' . $_[0]->('waiting') . ' shoppers wait, no admission for a minute' },
        },
    },
    {
        name    => 'admissions paused by the operator',
        key     => 'paused',
        command => { command => 'pause' },
        crowd   => ['--stages=2:10-10', '--patience=600'],
        until   => sub { $_[0]->('waiting') >= 20 && $_[0]->('wait_estimate_seconds') >= 7200 },
        values  => { free_capacity => 0, inflight => 0, paused => 1 },
        summary => {
            FlashThrottleNoAdmissions =>
                sub { 'paused: ' . $_[0]->('waiting') . ' shoppers wait, no admission for a minute' },
        },
    },
    {
        name    => 'all passes in use',
        key     => 'sessions',
        zone    => 'passes',
        crowd   => ['--stages=4:10-10', '--patience=600'],
        until   => sub { $_[0]->('sessions') == 20 && $_[0]->('waiting') >= 20 },
        values  => { free_capacity => 0, inflight => 0 },
        summary => {
            FlashThrottleNoAdmissions =>
                sub { 'sessions: ' . $_[0]->('waiting') . ' shoppers wait, no admission for a minute' },
        },
    },
    {
        # clients that keep no cookie: each request is a first attempt
        name    => 'no request in flight, and no new shopper returns',
        key     => 'unused',
        holders => 16,
        crowd   => ['--stages=600:10-10', '--patience=3', '--no-cookie=1'],
        until   => sub { $_[0]->('fresh') > 30 },
        release => sub { $_[0]->('inflight') == 0 },
        values  => { free_capacity => 16, inflight => 0, polls_total => 0, queueing => 1 },
        summary => {
            FlashThrottleCapacityUnused => sub { 'unused: shoppers wait while the limits allow 16 admissions' },
        },
    },
    {
        name     => 'all requests fail at the upstream',
        key      => 'fails',
        upstream => 'fails',
        crowd    => ['--stages=600:5-5'],
        until    => sub { $_[0]->('errors_total') > 5 },
        summary  => {
            FlashThrottleUpstreamErrors => sub { 'fails: 100% of the requests to checkout fail' },
        },
    },
    {
        name    => 'one request in 60 fails',
        key     => 'few-errors',
        each    => sub { get('few-errors', 'fast', 12), $_[0] == 2 && get('few-errors', 'fails', 1) },
        until   => sub { 1 },
        summary => {},
    },
    {
        name    => 'all requests fail, but there are few',
        key     => 'quiet',
        each    => sub { $_[0] == 2 && get('quiet', 'fails', 1) },
        until   => sub { get('quiet', 'fails', 1); $_[0]->('errors_total') > 0 },
        summary => {},
    },
    {
        name    => 'a long wait',
        key     => 'long',
        command => { command => 'rate', rate => '20r/m' },
        crowd   => ['--stages=4:110-110', '--patience=600'],
        until   => sub { $_[0]->('waiting') > 400 && $_[0]->('wait_estimate_seconds') > 900 },
        summary => {
            FlashThrottleLongWait => sub {
                my $seconds = $_[1]->('wait_estimate_seconds');
                sprintf 'long: a new shopper waits %dm %ds', $seconds / 60, $seconds % 60;
            },
        },
    },
    {
        name    => 'more shoppers leave than are admitted',
        key     => 'leave',
        command => { command => 'rate', rate => '5r/s' },
        crowd   => ['--stages=600:40-40', '--patience=3'],
        until   => sub {
            $_[0]->('waiting') > 60
                && $_[0]->('expired_total') + $_[0]->('no_shows_total') > $_[0]->('admitted_total');
        },
        summary => {
            FlashThrottleShoppersLeave => sub { 'leave: more shoppers leave than are admitted' },
        },
    },
    {
        name    => 'the sale is not open, and shoppers leave',
        key     => 'before',
        zone    => 'before',
        crowd   => ['--stages=600:40-40', '--patience=3'],
        until   => sub { $_[0]->('waiting') > 60 && $_[0]->('expired_total') > 60 },
        values  => { queueing => 1, admitted_total => 0 },
        summary => {},
    },
    {
        name    => 'sold out',
        key     => 'sold-out',
        command => { command => 'sold-out' },
        crowd   => ['--stages=600:5-5'],
        until   => sub { $_[0]->('sold_out_total') > 5 },
        summary => {},
    },
    {
        # keys 1 to 9; the edge evicts some of them
        name    => 'more keys than the zone holds',
        key     => '9',
        zone    => 'small',
        until   => sub { get($_, 'fast', 1, 'small') for 1 .. 9; $_[0]->('admitted_total') > 0 },
        summary => {
            FlashThrottleZoneFull => sub { 'zone small is full' },
        },
    },
    {
        # the last state, because it ends when the shoppers expire
        name    => 'no request in flight, and no called shopper returns',
        key     => 'absent',
        zone    => 'patient',
        holders => 16,
        crowd   => ['--stages=10:4-4', '--patience=600'],
        until   => sub { $_[0]->('waiting') >= 30 },
        stop    => 1,
        release => sub { $_[0]->('inflight') == 0 && $_[0]->('held') == 0 },
        values  => { free_capacity => 16, inflight => 0, queueing => 1 },
        summary => {
            FlashThrottleNoAdmissions =>
                sub { 'absent: ' . $_[0]->('waiting') . ' shoppers wait, no admission for a minute' },
            FlashThrottleCapacityUnused => sub { 'absent: shoppers wait while the limits allow 16 admissions' },
        },
    },
);


END {
    local $?;
    stop_crowds();
}


# all states at once

for my $state (@states) {
    my $zone = $state->{zone} //= 'shops';
    my $upstream = $state->{upstream} // 'fast';

    control($state) if $state->{command};

    $state->{sockets} = [ map { hold($state) } 1 .. $state->{holders} // 0 ];
    reach($state, sub { $_[0]->('inflight') == $state->{holders} }) if $state->{holders};

    $state->{pid} = begin_crowd('--method=GET', @{ $state->{crowd} }, '--url',
                                $edge->url("/$zone?key=$state->{key}&upstream=$upstream"))->{pid}
        if $state->{crowd};
}

reach($_, $_->{until}) for @states;

for my $state (grep { $_->{release} } @states) {
    kill STOP => $state->{pid} if $state->{stop};
    $state->{sockets} = [];
    reach($state, $state->{release});
}

my (@scrapes, @times);

for my $n (0 .. SAMPLES - 1) {
    sleep $times[-1] + SPACING - time if @times && $times[-1] + SPACING > time;
    $_->{each} && $_->{each}->($n) for @states;

    push @times, time;
    push @scrapes, scrape();
}

my $spacing_ms = int(($times[-1] - $times[0]) * 1000 / (SAMPLES - 1));

stop_crowds();

for my $state (@states) {
    my $values = $state->{values} // {};

    for my $name (sort keys %$values) {
        my @got = map { reader($_, $state)->($name) + 0 } @scrapes;
        is("@got", join(' ', ($values->{$name}) x SAMPLES), "$state->{name}: $name");
    }

    rules($state, [ map { select_series($_, $state) } @scrapes ]);
}


# the edge is down

$edge->stop;
is(scrape(), undef, 'no scrape of a stopped edge');

my $down = {
    name    => 'the edge is down',
    key     => 'hangs',
    zone    => 'shops',
    summary => { FlashThrottleEdgeDown => sub { 'no edge with flash_throttle responds to Prometheus' } },
};

rules($down, [ map { select_series($_, $down) } @scrapes ], 'down');

my %fired = map { %{ $_->{summary} } } @states, $down;
is(join(' ', grep { !$fired{$_} } @alerts), '', 'each rule has fired');

done_testing();


sub get {
    my ($key, $upstream, $n, $zone) = @_;

    $client->get($edge->url('/' . ($zone // 'shops') . "?key=$key&upstream=$upstream")) for 1 .. $n;
}

# A request that stays in flight until its socket is closed.
sub hold {
    my ($state) = @_;
    my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $edge->{port}) or die "connect: $@\n";

    syswrite $socket, "GET /$state->{zone}?key=$state->{key}&upstream=hangs HTTP/1.0\r\n\r\n";

    return $socket;
}

sub control {
    my ($state) = @_;

    my $response = $client->post($edge->url('/control'), {
        headers => { 'Content-Type' => 'application/json' },
        content => encode_json({ %{ $state->{command} }, zone => $state->{zone}, key => $state->{key},
                                 new => JSON::PP::true }),
    });

    die "control: $response->{status} $response->{content}" if !$response->{success};
}

# Waits for a condition on the metrics of a state.
sub reach {
    my ($state, $condition) = @_;
    my $metrics;

    eval { wait_until { sleep 0.1; $metrics = scrape(); $condition->(reader($metrics, $state)) } $state->{name} }
        and return;

    die $@, map { "$_->{name} $_->{value}\n" }
        grep { ($_->{labels}{key} // '') eq $state->{key} && !exists $_->{labels}{le} } @{ $metrics->{samples} };
}

sub stop_crowds {
    for my $pid (grep { defined } map { delete $_->{pid} } @states) {
        kill TERM => $pid;
        kill CONT => $pid;
        waitpid $pid, 0;
    }
}

# The metrics; undef if the edge does not respond.
sub scrape {
    my $response = HTTP::Tiny->new->get($edge->url('/status?format=prometheus'));

    return $response->{success} ? Metrics->new($response->{content}) : undef;
}

sub reader {
    my ($metrics, $state) = @_;

    return sub { $metrics->value("flash_throttle_$_[0]", zone => $state->{zone}, key => $state->{key}) // 0 };
}

# The name of a rule, its severity and its annotations except the summary.
sub parse_rule {
    my ($text) = @_;
    my ($name) = $text =~ /\A(\w+)/ or return;
    my ($severity) = $text =~ /severity: (\w+)/;
    my ($description) = $text =~ /description: (?:>-)?\s*(.*?)\s*\z/s;

    return $name => {
        severity    => $severity,
        annotations => { defined $description ? (description => $description =~ s/\s+/ /gr) : () },
    };
}

# The samples of a state that the rules use, { series => value }, with the labels
# that Prometheus adds.  A state of the small zone has all its keys.
sub select_series {
    my ($metrics, $state) = @_;
    my %series;

    for my $sample (@{ $metrics->{samples} }) {
        my %labels = (%{ $sample->{labels} }, job => 'flash_throttle', instance => "127.0.0.1:$edge->{port}");

        next if !$used{ $sample->{name} };
        next if defined $labels{zone} && $labels{zone} ne $state->{zone};
        next if defined $labels{key} && $labels{key} ne $state->{key} && $state->{zone} ne 'small';

        my $labels = join ',', map { qq($_="$labels{$_}") } sort keys %labels;
        $series{"$sample->{name}\{$labels}"} = $sample->{value};
    }

    return \%series;
}

# The samples, repeated until DURATION.  A counter continues at its measured rate.
sub continued {
    my ($series, @values) = @_;
    my $growth = $series =~ /^\w+_total\{/ ? $values[-1] - $values[0] : 0;

    return map { $values[ $_ % $#values ] + int($_ / $#values) * $growth } 0 .. DURATION * 1000 / $spacing_ms;
}

# The labels of an alert, besides its severity.
sub labels {
    my ($alert, $state) = @_;
    my %labels = (zone => $state->{zone}, instance => "127.0.0.1:$edge->{port}");

    return $alert eq 'FlashThrottleEdgeDown' ? ()
        : $alert eq 'FlashThrottleZoneFull' ? %labels
        : (%labels, key => $state->{key}, job => 'flash_throttle');
}

# Tests that the alerts of a state, and no others, fire on the scraped series.
# $down: after the last sample the scrapes fail.
sub rules {
    my ($state, $scraped, $down) = @_;
    my $summary = $state->{summary};

    # the samples that a rule sees at the time of the test, and in the minute before
    my $at = int(AT * 1000 / $spacing_ms);
    my $from = POSIX::ceil((AT - 60) * 1000 / $spacing_ms);

    my $last = sub { reader($scrapes[ $at % (SAMPLES - 1) ], $state)->($_[0]) };
    my $mean = sub {
        my ($metric) = @_;

        return sum(map { reader($scrapes[ $_ % (SAMPLES - 1) ], $state)->($metric) } $from .. $at) / ($at - $from + 1);
    };

    my @input = map {
        my $series = $_;
        my @values = map { $_->{$series} } @$scraped;

        { series => $series, values => join ' ', $down ? (@values, 'stale') : continued($series, @values) };
    } sort keys %{ $scraped->[0] };

    my @expected = map {
        my $alert = $_;
        my $expect = $summary->{$alert};

        {
            eval_time  => AT . 's',
            alertname  => $alert,
            exp_alerts => [ map { {
                exp_labels      => { severity => $rule{$alert}{severity}, labels($alert, $state) },
                exp_annotations => { summary => $expect->($last, $mean),
                                     %{ $rule{$alert}{annotations} } },
            } } grep { defined } $expect ],
        };
    } @alerts;

    # no other alert has fired at any time
    my $fired = {
        eval_time   => AT . 's',
        expr        => 'count by (alertname) (max_over_time(ALERTS{alertstate="firing"}[' . DURATION . 's]))',
        exp_samples => [ map { { labels => qq({alertname="$_"}), value => 1 } } sort keys %$summary ],
    };

    write_file("$edge->{dir}/alerts.test.yml", JSON::PP->new->canonical->pretty->encode({
        rule_files          => [ getcwd() . '/docs/alerts.yml' ],
        evaluation_interval => '10s',
        tests               => [ {
            interval         => "${spacing_ms}ms",
            input_series     => \@input,
            alert_rule_test  => \@expected,
            promql_expr_test => [ $fired ],
        } ],
    }));

    my $output = Metrics::piped('', $promtool, 'test', 'rules', "$edge->{dir}/alerts.test.yml");

    like($output, qr/SUCCESS\s*\z/, "$state->{name}: " . (join(' ', sort keys %$summary) || 'no alert')) or diag($output);
}
