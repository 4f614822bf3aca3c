# Debian's Prometheus scrapes a sale across a reload of nginx: its values equal
# the stats, and the dashboard and alerts in docs/ work.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib", "$FindBin::Bin/../lib", "$FindBin::Bin/../../tools/t/lib",
    "$FindBin::Bin/../../upstream-demo/t/lib";
use CheckoutServer qw(wait_until);
use Cwd qw(getcwd);
use Edge;
use Files qw(read_file write_file);
use FlashCrowd qw(figures);
use HTTP::Tiny;
use JSON::PP qw(decode_json);
use Metrics;
use Test::More;

my ($prometheus, $promtool) = map { Metrics::program($_) } qw(prometheus promtool);

plan skip_all => 'Prometheus not found (scripts/install-deps.sh test)'
    if !$prometheus || !$promtool;


# the rules alone

is(Metrics::piped('', $promtool, 'check', 'rules', 'docs/alerts.yml') =~ /SUCCESS: \d+ rules found/ ? 1 : 0, 1,
   'promtool check rules');

my @alerts = read_file('docs/alerts.yml') =~ /alert: (\w+)/g;


# a sale

my $checkout = CheckoutServer->start('--stock=500', '--payment-slots=8');
my $edge = Edge->start(checkout => $checkout, zone => 'inflight=4', throttle => '');

chomp(my $port = `scripts/free-port.pl`);
my $dir = "$edge->{dir}/prometheus";
my $root = getcwd();

mkdir $dir or die "$dir: $!\n";
write_file("$dir/prometheus.yml", <<"EOF");
global:
  scrape_interval: 1s
  evaluation_interval: 1s
rule_files:
  - $root/docs/alerts.yml
scrape_configs:
  - job_name: flash_throttle
    metrics_path: /status
    static_configs:
      - targets: ["127.0.0.1:$edge->{port}"]
EOF

my $pid = fork() // die "fork: $!\n";

if ($pid == 0) {
    open STDOUT, '>', "$dir/output" and open STDERR, '>&', \*STDOUT
        and exec $prometheus, "--config.file=$dir/prometheus.yml", "--storage.tsdb.path=$dir/data",
                 "--web.listen-address=127.0.0.1:$port", '--log.level=warn';
    POSIX::_exit(127);
}

END {
    if ($pid) {
        local $?;
        kill TERM => $pid;
        waitpid $pid, 0;
    }
}

wait_until { HTTP::Tiny->new->get("http://127.0.0.1:$port/-/ready")->{success} } 'Prometheus to be ready';

my $run = figures('--url', $edge->url, '--stages=2:20-20', '--patience=60', '--poll');

is($run->{status}, 0, 'a sale of 40 shoppers');

# the last requests may still be in flight
wait_until { my $s = $edge->status; $s->{first_attempts} && $s->{inflight} == 0 && $s->{waiting} == 0 } 'the end of the sale';

my $status = $edge->status;

cmp_ok($status->{queued}, '>', 0, 'some shoppers waited');

for (['first_attempts', 'flash_throttle_first_attempts_total'],
     ['admitted', 'flash_throttle_admitted_total'],
     ['admitted', 'flash_throttle_wait_seconds_count'],
     ['queued', 'flash_throttle_queued_total'],
     ['passed', 'flash_throttle_passed_total'],
     ['done', 'flash_throttle_done_total'])
{
    my ($field, $metric) = @$_;

    is(settled($metric, $status->{$field}), $status->{$field}, "$metric equals $field");
}

is(value('up{job="flash_throttle"}'), 1, 'the scrape succeeds');
is(value('count(flash_throttle_build_info)'), 1, 'one edge');


# counters across a reload

$edge->reload;
HTTP::Tiny->new->get($edge->url) for 1 .. 3;

is(settled('flash_throttle_first_attempts_total', $status->{first_attempts} + 3),
   $status->{first_attempts} + 3, 'counters continue after a reload');
is(value('resets(flash_throttle_admitted_total[10m])'), 0, 'no counter was reset');


# the queries of docs/grafana.json

my $grafana = decode_json(read_file('docs/grafana.json'));
my %there = map { $_ => 1 } @{ ask('label/__name__/values') };
my %asked;

for my $panel (@{ $grafana->{panels} }) {
    for my $expr (map { $_->{expr} } @{ $panel->{targets} }) {
        $asked{$_} = 1 for $expr =~ /\b(flash_throttle_\w+)/g;

        $expr =~ s/\$__rate_interval/1m/g;
        $expr =~ s/\$(?:instance|zone|key)/.*/g;

        my $answer = query($expr);

        is($answer->{status}, 'success', "$panel->{title}: valid query")
            or diag("$expr: $answer->{error}");
        ok(@{ $answer->{data}{result} } > 0, "$panel->{title}: has a result")
            or diag($expr) unless $expr =~ / [>=]=? ?\d/;
    }
}

for my $expr (read_file('docs/alerts.yml') =~ /^ +expr:(.*?)^ +for:/msg) {
    $asked{$_} = 1 for $expr =~ /\b(flash_throttle_\w+)/g;
}

is(join(' ', grep { !$there{$_} } sort keys %asked), '', 'all metrics in the documents exist');

my @rules = map { @{ $_->{rules} } } @{ ask('rules')->{groups} };

is(scalar(grep { $_->{health} eq 'ok' } @rules), scalar @alerts, 'all rules of docs/alerts.yml are evaluated');
is(join(' ', map { $_->{name} } grep { $_->{state} eq 'firing' } @rules), '', 'no alert fires in a normal sale');

done_testing();


sub api {
    my ($path, %query) = @_;
    my $http = HTTP::Tiny->new;
    my $response = $http->get("http://127.0.0.1:$port/api/v1/$path?" . $http->www_form_urlencode(\%query));

    return decode_json($response->{content});
}

sub ask { return api(@_)->{data} }

sub query { return api('query', query => $_[0]) }

# The value of an expression with one result.
sub value {
    my ($expr) = @_;
    my $result = query($expr)->{data}{result};

    return @$result ? $result->[0]{value}[1] : undef;
}

# Waits for the expected value; returns the last one.
sub settled {
    my ($expr, $expected) = @_;
    my $value;

    eval { wait_until { $value = value($expr); defined $value && $value == $expected } $expr };

    return $value;
}
