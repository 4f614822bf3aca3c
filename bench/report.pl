#!/usr/bin/env perl
#
# Formats the results of "make bench".
#
# usage: bench/report.pl --merge COMPARE AROUND RESULTS   merge the result files
#        bench/report.pl --print RESULTS                  print the tables as text
#        bench/report.pl --document RESULTS               print docs/performance.md
#        bench/report.pl --readme RESULTS                 print the README section
#        bench/report.pl --write                          write both and the plot
#                                                         from bench/results.json

use strict;
use warnings;

use File::Basename qw(dirname);
use JSON::PP;

chdir dirname(__FILE__) . '/..' or die "cannot chdir: $!\n";

my $recorded = 'bench/results.json';
my $document = 'docs/performance.md';
my $readme = 'README.md';
my $plot = 'docs/img/bench.svg';

my %titles = (
    first        => 'first attempt',
    early        => 'page reloaded early',
    early_json   => 'early poll',
    on_time_json => 'poll on time, not called yet',
    called       => 'poll that is admitted',
    pass         => 'valid pass, proxied',
    status       => 'stats',
    h2_first     => 'HTTP/2, first attempt',
    h2_again     => 'HTTP/2, the same ticket again',
    h2_pass      => 'HTTP/2, valid pass',
    h2_status    => 'HTTP/2, stats',
    tls_first    => 'TLS, first attempt',
    two_first    => '2 workers, first attempt',
    two_early    => '2 workers, page reloaded early',
    two_pass     => '2 workers, valid pass',
    waiting      => 'poll, by number waiting',
    keys         => 'first attempt, by number of keys',
);

my @others = ('limit_req', 'Lua', 'njs', 'Redis');
my @rows = qw(first early early_json on_time_json called pass status h2_first h2_again
              h2_pass h2_status tls_first two_first two_early two_pass);


sub read_json {
    my ($name) = @_;

    open my $file, '<', $name or die "cannot read $name: $!\n";
    return decode_json(do { local $/; <$file> });
}


sub write_file {
    my ($name, $text) = @_;

    open my $file, '>', $name or die "cannot write $name: $!\n";
    print {$file} $text;
    close $file or die "cannot write $name: $!\n";
}


sub machine {
    my ($cpu) = `lscpu` =~ /^Model name:\s*(.*)/m;
    my ($flags) = `lscpu` =~ /^Flags:\s*(.*)/m;
    chomp(my $cores = `nproc`);
    chomp(my $kernel = `uname -r`);
    chomp(my $cc = `gcc -dumpfullversion`);
    my ($debian) = `cat /etc/os-release` =~ /^PRETTY_NAME="(.*?)"/m;
    my ($openssl) = `openssl version` =~ /^OpenSSL (\S+)/;
    my ($load) = `uptime` =~ /load average: ([\d.]+)/;

    return { cpu => $cpu, cores => 0 + $cores, kernel => $kernel, gcc => $cc,
             debian => $debian, openssl => $openssl,
             sha_ni => $flags =~ /\bsha_ni\b/ ? JSON::PP::true : JSON::PP::false,
             load_at_the_end => 0 + $load };
}


sub merge {
    my ($compare, $around, $results) = @_;

    my %all = (%{ read_json($compare) }, around => read_json($around),
               machine => machine());

    write_file($results, JSON::PP->new->pretty->canonical->encode(\%all));
}


# A row of the comparison, or undef.

sub found {
    my ($all, $row, $name) = @_;

    my ($found) = grep { $_->{row} eq $row && $_->{name} eq $name }
                  @{ $all->{rows} };

    return $found;
}


sub print_all {
    my ($all) = @_;

    printf "%-32s %-18s %9s  %s\n", 'request', 'server', 'us of CPU',
           'ratio to the first of the row (lowest, highest round)';

    for my $row (@rows, 'waiting', 'keys') {
        for my $r (grep { $_->{row} eq $row } @{ $all->{rows} }) {
            printf "%-32s %-18s %9.2f  %.3f (%.3f to %.3f)\n", $titles{$row},
                   @$r{qw(name us ratio ratio_low ratio_high)};
        }
    }

    my $around = $all->{around};

    printf "%-32s %d ns\n", "core: $_", $around->{decisions}{$_}
        for grep { !/bytes/ } sort keys %{ $around->{decisions} };
    printf "checkout, %-22s %d orders/s, %.1f us of CPU\n", $_,
           @{ $around->{$_} }{qw(a_second us)}
        for grep { $around->{$_} } qw(sqlite mariadb);
    printf "flash-report                     %d MB/s\n",
           $around->{report}{mb_a_second};
    printf "flash-sim, %d runs              %.1f s\n",
           @{ $around->{simulator} }{qw(runs seconds)};
}


sub thousands {
    my ($n) = @_;

    1 while $n =~ s/^(\d+)(\d{3})/$1,$2/;

    return $n;
}


sub us    { return defined $_[0] ? sprintf('%.1f', $_[0]{us}) : '' }
sub times_of { return defined $_[0] ? sprintf('%.2f', $_[0]{ratio}) : '' }


# Targets: [name, limit, value, unit].

sub targets {
    my ($all) = @_;
    my $ratio = sub { my $r = found($all, @_); $r ? $r->{ratio} : undef };
    my $to_lua = sub {
        my ($ours, $lua) = (found($all, $_[0], 'flash_throttle'), found($all, $_[0], 'Lua'));
        return $ours && $lua ? $ours->{us} / $lua->{us} : undef;
    };
    my $d = $all->{around}{decisions};

    return (
        [ 'first attempt / `return 503`', 1.06,
          $ratio->('first', 'flash_throttle'), 'times' ],
        [ 'first attempt over HTTP/2 / `return 503`', 1.06,
          $ratio->('h2_first', 'flash_throttle'), 'times' ],
        [ 'first attempt over TLS / `return 503`', 1.06,
          $ratio->('tls_first', 'flash_throttle'), 'times' ],
        [ 'page reloaded early / `return 503`', 1.06,
          $ratio->('early', 'flash_throttle'), 'times' ],
        [ 'early poll / `return 503`', 1.06,
          $ratio->('early_json', 'flash_throttle'), 'times' ],
        [ 'poll on time, not called yet / `return 503`', 1.06,
          $ratio->('on_time_json', 'flash_throttle'), 'times' ],
        [ 'valid pass, proxied / `proxy_pass` without the module', 1.02,
          $ratio->('pass', 'flash_throttle'), 'times' ],
        [ 'first attempt / the design in Lua', 0.5, $to_lua->('first'), 'times' ],
        [ 'page reloaded early / the design in Lua', 0.5, $to_lua->('early'),
          'times' ],
        [ 'poll with 1,000,000 waiting / with 10 waiting', 1.05,
          $ratio->('waiting', '1,000,000'), 'times' ],
        [ 'tick of the controller with 1,000,000 waiting', 20,
          $d->{tick_at_a_million} / 1000, 'us' ],
    );
}


sub document {
    my ($all) = @_;
    my $m = $all->{machine};
    my $around = $all->{around};
    my $d = $around->{decisions};
    my $text = '';

    my $reached = '';

    for (targets($all)) {
        my ($name, $limit, $value, $unit) = @$_;
        next unless defined $value;
        $reached .= sprintf "| %s | %s%s | %s%s | %s |\n", $name, $limit,
                    $unit eq 'us' ? ' us' : '',
                    sprintf($unit eq 'us' ? '%.1f' : '%.3f', $value),
                    $unit eq 'us' ? ' us' : '', $value <= $limit ? 'yes' : 'no';
    }

    my ($table, $others) = ('', '');

    for my $row (@rows) {
        my $base = (grep { $_->{row} eq $row && $_->{name} eq $_->{against} }
                    @{ $all->{rows} })[0] or next;
        my $ours = found($all, $row, 'flash_throttle');

        $table .= sprintf "| %s | %s %.1f | **%.1f** | **%.2f** | %.2f to %.2f |\n",
                  $titles{$row}, "`$base->{name}`", $base->{us}, $ours->{us},
                  @$ours{qw(ratio ratio_low ratio_high)};

        $others .= sprintf "| %s | **%.1f** (%.2f) | %s |\n", $titles{$row},
                   @$ours{qw(us ratio)}, join ' | ', map {
                       my $r = found($all, $row, $_);
                       $r ? sprintf('%.1f (%.2f)', @$r{qw(us ratio)}) : ''
                   } @others
            if grep { found($all, $row, $_) } @others;
    }

    my ($ten, $million, $one, $many)
        = (found($all, 'waiting', '10'), found($all, 'waiting', '1,000,000'),
           found($all, 'keys', '1'), found($all, 'keys', '10,000'));
    my $bare = found($all, 'first', 'return 503, bare');
    my $stores = join '', map {
        my $s = $around->{$_};
        $s ? sprintf("| `POST /checkout`, %s | %s orders/s, %.1f us of its CPU each |\n",
                     { sqlite => 'SQLite', mariadb => 'MariaDB' }->{$_},
                     thousands($s->{a_second}), $s->{us}) : ()
    } qw(sqlite mariadb);

    # other load changes every result
    my $busy = $m->{load_at_the_end} > 4
        ? "**The machine was busy (load average $m->{load_at_the_end} at the end): the values are rough.**\n\n" : '';

    my $sha = $m->{sha_ni} ? 'with' : 'without';
    my $requests = thousands($all->{requests});

    $text = <<"EOF_DOCUMENT";
# Performance

This page tells you what a request costs with flash_throttle, compared with nginx alone and with other
solutions, and how the cost grows. To repeat the measurement:

```sh
make bench             # 20 minutes; installs, builds, measures, and writes this page
make bench QUICK=1     # 3 minutes
```

The data are in [bench/results.json](../bench/results.json).

| | |
| --- | --- |
| machine | $m->{cores} cores of an $m->{cpu} ($sha SHA-NI) |
| system | $m->{debian}, Linux $m->{kernel}, OpenSSL $m->{openssl} |

$busy## Requirements

Values are ratios of CPU time, except the last.

| what | at most | measured | reached |
| --- | --- | --- | --- |
$reached
The cost of a first attempt in addition to `return 503`:

| part | share of `return 503` |
| --- | --- |
| signing the ticket: 60 ns of SHA-256 twice, and its code missing in the CPU cache | 4.5 % |
| writing the response | 4 % |
| the decision | 1.5 % |
| finding the key and its state | 1 % |

* 1.06 therefore covers a signature and the response only.
* A first attempt cannot cost half of the design in Lua, because `return 503` alone costs more than that.
* A poll on time consists of (by `perf`): kernel 57 %, nginx 27 %, the module 8 %, the C library 6 %, SHA-256
  2 %. No function of the module takes more than 0.6 %.

| optimization | gain |
| --- | --- |
| an early poll changes nothing | 2 to 3 % |
| functions hidden from other modules | 2 % |
| a key that is a single variable needs no script | at most 1 % |
| tickets hashed and encoded as numbers | 0.5 % |
| not used: link-time optimization | none beyond hidden functions |
| not used: separate cache lines for counters of all workers | none in eight pairs of runs with two workers |
| not used: a client that never sleeps | smaller spread, same ratios |

## Comparison

Microseconds of nginx's CPU time for a request. *Ratio* is to nginx alone; *rounds* is the lowest and the
highest round.

| request | nginx alone | flash_throttle | ratio | rounds |
| --- | --- | --- | --- | --- |
$table
Other solutions, with the ratio to nginx alone in parentheses:

| request | flash_throttle | `limit_req` | Lua | njs | Redis |
| --- | --- | --- | --- | --- | --- |
$others
![CPU time for a request, of flash_throttle and other solutions](img/bench.svg)

| name | what it does |
| --- | --- |
| nginx alone | `return 503` with the same body and, by `add_header`, the same head (@{[ us($bare) ]} us without) |
| for passes, for stats | `proxy_pass`; `stub_status`, which has four values |
| `limit_req` | refuses, and an `error_page` sends the page |
| Lua | the published design: HMAC-SHA1 cookie, bucket and threshold in a shared dictionary |
| njs | the same without the dictionary, which Debian's njs 0.7.9 lacks |
| Redis | asks Redis once for each request, over kept connections (Lua, `INCR`) |

* The [Lua](../bench/conf/throttle.lua) and [njs](../bench/conf/throttle.js) versions count no shoppers, so
  they report no place and no wait.
* The CPU time of Redis itself is not included.

## Method

[bench/compare.pl](../bench/compare.pl) measures:

* Debian's nginx 1.22.1 for all, with only the modules that are needed; one worker on one core, the client on
  the other. With 2 workers, they share both cores with the client.
* Kept connections, a browser's headers without compression, and the same page of 1,500 bytes.
* CPU time from the scheduler (`/proc/PID/schedstat`).
* $all->{rounds} rounds with new processes; in each, $all->{slices} turns, in which each server gets $requests requests in random order. A
  ratio is computed within a turn. The result is the median of the turns, then of the rounds.
* A new ticket for each poll ([load.c](../bench/load.c)). An early poll changes nothing; a poll on time
  updates the census and gets a new ticket. Over HTTP/2, h2load sends the same ticket each time.

## Growth

| what | cost |
| --- | --- |
| poll with 10 waiting, with 1,000,000 waiting (8,000 polls/s) | @{[ us($ten) ]} us, @{[ us($million) ]} us: ratio @{[ times_of($million) ]} |
| first attempt with 1 key, with @{[ thousands($all->{keys}) ]} keys | @{[ us($one) ]} us, @{[ us($many) ]} us: ratio @{[ times_of($many) ]} |
| memory of a key, for any number of waiting shoppers | @{[ thousands($d->{bytes_of_a_key}) ]} bytes |

@{[ $many ? 'With many keys, each request uses a state that is not in the CPU cache.' : '' ]}

## The core

Nanoseconds for a decision without nginx: find the key, verify the ticket, decide, sign. A poll on time needs
two HMACs, an early poll needs one.

| decision | ns |
| --- | --- |
| first attempt | $d->{first_attempt} |
| early poll | $d->{poll_early} |
| poll on time, 10 waiting | $d->{poll_on_time} |
| poll on time, 1,000,000 waiting | $d->{poll_on_time_at_a_million} |
| poll that is admitted | $d->{poll_called} |
| valid pass | $d->{pass} |
| tick of the controller (10 per second), 10 waiting | $d->{tick} |
| the same, 1,000,000 waiting | $d->{tick_at_a_million} |

`make test-bench` counts the instructions of each decision and of whole requests with callgrind. It fails if
one has grown by more than 5 % over [bench/instructions.json](../bench/instructions.json), which
`make bench-record` updates.

## Other programs

| what | result |
| --- | --- |
$stores| @{[ thousands($around->{held}{held}) ]} requests in payments of 100 to 400 ms | @{[ thousands($around->{held}{a_second}) ]} orders/s, @{[ sprintf '%.0f', 100 * $around->{held}{cpu_share} ]} % of a core, @{[ sprintf '%.1f', $around->{held}{kb} / 1024 ]} MB (@{[ sprintf '%.1f', $around->{held}{empty_kb} / 1024 ]} MB idle) |
| `flash-report` on a log of @{[ sprintf '%.1f', $around->{report}{bytes} / 1e9 ]} GB | $around->{report}{mb_a_second} MB/s |
| `flash-sim`, 2,559 shoppers, $around->{simulator}{runs} runs, one core | $around->{simulator}{seconds} s |

Payments take no time in the `POST /checkout` rows: they measure the store's round trips of one thread.
EOF_DOCUMENT

    return $text;
}


# The README section "What it costs", without its heading.

sub readme {
    my ($all) = @_;
    my $m = $all->{machine};
    my $table = '';

    for my $row (qw(first early called pass)) {
        my ($base) = grep { $_->{row} eq $row && $_->{name} eq $_->{against} }
                     @{ $all->{rows} };
        my $ours = found($all, $row, 'flash_throttle');

        $table .= sprintf "| %s | %.1f | **%.1f** (x %.2f) | %s |\n", $titles{$row},
                  $base->{us}, $ours->{us}, $ours->{ratio},
                  join ' | ', map { us(found($all, $row, $_)) } @others;
    }

    return <<"EOF_README";
Microseconds of nginx's CPU time per request. The ratio is to nginx alone: `return` with the same response, or
`proxy_pass` for a pass. The other columns are nginx's `limit_req`, the published design in Lua and in njs,
and a waiting room in Redis. Measured with `make bench` on 1 core of $m->{cores} of an $m->{cpu},
$m->{debian}, nginx 1.22.1, with a page of 1,500 bytes.
[docs/performance.md](docs/performance.md) adds HTTP/2, TLS, two workers, 1,000,000 waiting and 10,000 keys.

| request | `return` | flash_throttle | `limit_req` | Lua | njs | Redis |
| --- | --- | --- | --- | --- | --- | --- |
$table
![CPU time for a request, of flash_throttle and other solutions](docs/img/bench.svg)
EOF_README
}


sub write_readme {
    my ($all) = @_;

    open my $file, '<', $readme or die "cannot read $readme: $!\n";
    my $text = do { local $/; <$file> };

    $text =~ s/(?<=^## What it costs\n\n).*?(?=\n## )/readme($all)/ems
        or die "no heading \"## What it costs\" in $readme\n";
    write_file($readme, $text);
}


sub draw {
    my ($all) = @_;
    my @bars = grep { found($all, 'first', $_) } 'return 503', 'flash_throttle',
               @others;
    my $data = join '', map {
        my $early = found($all, 'early', $_);
        sprintf "\"%s\" %.2f %.2f\n", s/_/\\\\_/gr, found($all, 'first', $_)->{us},
                $early ? $early->{us} : 0
    } @bars;

    open my $pipe, '|-', 'gnuplot' or die "gnuplot: $!\n";
    print {$pipe} <<"EOF_PLOT";
set terminal svg size 900,360 font 'sans-serif,13' background 'white'
set output '$plot'
set border 3 linecolor '#666666'
set tics nomirror textcolor '#222222'
set grid ytics linecolor '#dddddd' linetype 1
set style data histograms
set style histogram clustered gap 1
set style fill solid border -1
set boxwidth 0.9
set yrange [0:*]
set ylabel 'CPU time of a request, us'
set key top left
\$data << EOD
$data
EOD
plot \$data using 2:xtic(1) title 'first attempt' linecolor '#0072b2', \\
     '' using 3 title 'page reloaded early' linecolor '#d55e00'
EOF_PLOT
    close $pipe or die "gnuplot failed\n";
}


my $what = shift // '';

if ($what eq '--merge' && @ARGV == 3) {
    merge(@ARGV);
} elsif ($what eq '--print' && @ARGV == 1) {
    print_all(read_json($ARGV[0]));
} elsif ($what eq '--document' && @ARGV == 1) {
    print document(read_json($ARGV[0]));
} elsif ($what eq '--readme' && @ARGV == 1) {
    print readme(read_json($ARGV[0]));
} elsif ($what eq '--write' && @ARGV == 0) {
    my $all = read_json($recorded);

    write_file($document, document($all));
    write_readme($all);
    draw($all);
} else {
    die "usage: bench/report.pl --merge COMPARE AROUND RESULTS | "
        . "--print RESULTS | --document RESULTS | --readme RESULTS | --write\n";
}
