#!/usr/bin/env perl
#
# The results of "make bench" as people read them.
#
# usage: bench/report.pl --merge COMPARE AROUND RESULTS   puts them together
#        bench/report.pl --print RESULTS                  the tables, as text
#        bench/report.pl --document RESULTS               docs/performance.md, on
#                                                         stdout
#        bench/report.pl --readme RESULTS                 the README's part of it
#        bench/report.pl --write                          both, and their plot, of
#                                                         what is recorded

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
    first      => 'a first attempt',
    early      => 'before its time, the page reloaded',
    early_json => 'before its time, a poll',
    due_json   => 'in its time, a poll, not called yet',
    called     => 'a poll that is let in',
    pass       => 'with a pass, on to the shop',
    status     => 'the status page',
    h2_first   => 'HTTP/2, a first attempt',
    h2_again   => 'HTTP/2, the same ticket again',
    h2_pass    => 'HTTP/2, with a pass',
    h2_status  => 'HTTP/2, the status page',
    tls_first  => 'TLS, a first attempt',
    two_first  => '2 workers, a first attempt',
    two_early  => '2 workers, before its time',
    two_pass   => '2 workers, with a pass',
    waiting    => 'a poll, of so many who wait',
    keys       => 'a first attempt, so many keys',
);

my @columns = ('return 503', 'return 503, bare', 'limit_req', 'flash_throttle',
               'Lua', 'njs', 'Redis');
my @rows = qw(first early early_json due_json called pass status h2_first h2_again h2_pass
              h2_status tls_first two_first two_early two_pass);


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
           'times the first of its kind (lowest, highest round)';

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


# What was to be reached: [what, the most it may be, what it is, unit].

sub targets {
    my ($all) = @_;
    my $ratio = sub { my $r = found($all, @_); $r ? $r->{ratio} : undef };
    my $to_lua = sub {
        my ($ours, $lua) = (found($all, $_[0], 'flash_throttle'), found($all, $_[0], 'Lua'));
        return $ours && $lua ? $ours->{us} / $lua->{us} : undef;
    };
    my $d = $all->{around}{decisions};

    return (
        [ 'a first attempt, of `return 503` with the same head and body', 1.06,
          $ratio->('first', 'flash_throttle'), 'times' ],
        [ 'a first attempt over HTTP/2, of the same', 1.06,
          $ratio->('h2_first', 'flash_throttle'), 'times' ],
        [ 'a first attempt over TLS, of the same', 1.06,
          $ratio->('tls_first', 'flash_throttle'), 'times' ],
        [ 'the page reloaded before its time, of the same', 1.06,
          $ratio->('early', 'flash_throttle'), 'times' ],
        [ 'a poll before its time, of the same', 1.06,
          $ratio->('early_json', 'flash_throttle'), 'times' ],
        [ 'a poll in its time, not called yet, of the same', 1.06,
          $ratio->('due_json', 'flash_throttle'), 'times' ],
        [ 'a pass through the proxy, of the proxy without the module', 1.02,
          $ratio->('pass', 'flash_throttle'), 'times' ],
        [ 'a first attempt, of the design in Lua', 0.5, $to_lua->('first'), 'times' ],
        [ 'the page reloaded before its time, of the design in Lua', 0.5,
          $to_lua->('early'), 'times' ],
        [ 'a poll while a million wait, of one while ten wait', 1.05,
          $ratio->('waiting', '1,000,000'), 'times' ],
        [ 'the tick of the controller while a million wait', 20,
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
        my ($what, $most, $is, $unit) = @$_;
        next unless defined $is;
        $reached .= sprintf "| %s | %s%s | %s%s | %s |\n", $what, $most,
                    $unit eq 'us' ? ' us' : '',
                    sprintf($unit eq 'us' ? '%.1f' : '%.3f', $is),
                    $unit eq 'us' ? ' us' : '', $is <= $most ? 'yes' : 'no';
    }

    my $table = '';

    for my $row (@rows) {
        my $base = (grep { $_->{row} eq $row && $_->{name} eq $_->{against} }
                    @{ $all->{rows} })[0] or next;
        my $ours = found($all, $row, 'flash_throttle');

        $table .= sprintf "| %s | %s %.1f | **%.1f** | **%.2f** (%.2f to %.2f) | %s |\n",
                  $titles{$row}, "`$base->{name}`", $base->{us}, $ours->{us},
                  @$ours{qw(ratio ratio_low ratio_high)},
                  join ' | ', map { my $r = found($all, $row, $_);
                                    $r ? sprintf('%.1f (%.2f)', @$r{qw(us ratio)}) : '' }
                              'limit_req', 'Lua', 'njs', 'Redis';
    }

    my ($ten, $million, $one, $many)
        = (found($all, 'waiting', '10'), found($all, 'waiting', '1,000,000'),
           found($all, 'keys', '1'), found($all, 'keys', '10,000'));
    my $bare = found($all, 'first', 'return 503, bare');
    my $stores = join '', map {
        my $s = $around->{$_};
        $s ? sprintf("| `POST /checkout`, %s | %s orders/s, %.1f us of the checkout's CPU each |\n",
                     { sqlite => 'SQLite', mariadb => 'MariaDB' }->{$_},
                     thousands($s->{a_second}), $s->{us}) : ()
    } qw(sqlite mariadb);

    # a sale that runs beside it moves every figure
    my $busy = $m->{load_at_the_end} > 4
        ? "**The machine was at work on other things besides (load average $m->{load_at_the_end} at the end): "
          . "these figures are rough, and the rounds far apart.**\n\n" : '';

    my $sha = $m->{sha_ni} ? 'with' : 'without';
    my $requests = thousands($all->{requests});

    $text = <<"EOF_DOCUMENT";
# What it costs

Measured beside its peers, all in one run, taking turns: `make bench` (20 minutes; `make bench QUICK=1` takes 3) installs, builds and measures, and writes this page from
[bench/results.json](../bench/results.json). Machine: $m->{cores} cores of an $m->{cpu} ($sha SHA-NI), $m->{debian}, Linux $m->{kernel}, OpenSSL $m->{openssl}.

$busy## What was to be reached

| what | at most | is | reached |
| --- | --- | --- | --- |
$reached
What a poll in its time is made of, by `perf`: 57 % the kernel (read, write, wait), 27 % nginx, 6 % the C library, 8 % the module, 2 % SHA-256 (two HMACs). No function of the module has more than 0.6 %.
Leaving parts out of a first attempt, it costs 4.5 % of `return 503` to sign the ticket, which is 60 ns of SHA-256 twice and the code for it that no cache has at hand, 1.5 % to decide, 1 % to find the key and its
state, and 4 % to write the answer. So 1.06 leaves no more than a signature and the answer; and a first attempt can never take half of what the design in Lua does, as `return 503` alone takes more.

Tried, with a gain: a poll before its time changes nothing (2 to 3 %); functions hidden from other modules (2 %); the key, mostly a variable, without nginx's script engine (1 % or less); tickets hashed and encoded as numbers (0.5 %).
Tried and left out: the whole module optimised at link time (nothing beyond hiding); words that every worker writes to kept a cache line apart from those that all read (in eight pairs of runs with two workers no
difference beyond their spread); a client that never sleeps (a narrower spread, the same ratios).

## Beside its peers

Microseconds of CPU for a request, and, in brackets, times the first column. For flash_throttle also the lowest and the highest round.

| request | nginx alone | flash_throttle | times (rounds) | `limit_req` | Lua | njs | Redis |
| --- | --- | --- | --- | --- | --- | --- | --- |
$table
![CPU for a request, of flash_throttle and its peers](img/bench.svg)

How: Debian's nginx 1.22.1 for all of them, each server with only what it needs loaded, one worker on one core, the client on the other, connections kept alive, a browser's
headers but for compression, the same 1,500-byte page. CPU is the scheduler's own account of the worker (`/proc/PID/schedstat`). $all->{rounds} rounds, each with
new processes, and $all->{slices} turns in each, in which everyone of a row has $requests requests, in random order; a ratio is taken within a turn, and the median of the turns, then of
the rounds, is told. [bench/compare.pl](../bench/compare.pl)

* **nginx alone** is `return 503` with the same body, and by `add_header ... always` the same head, so that the work is compared, not the bytes@{[ $bare ? sprintf(' (%.1f us with the body alone)', $bare->{us}) : '' ]}.
  For passes it is `proxy_pass`, for the status page `stub_status`, which has four numbers.
* **limit_req** refuses, and an `error_page` gives the page.
* **Lua** is the published design: a cookie signed with HMAC-SHA1, bucket and threshold in a shared dictionary ([throttle.lua](../bench/conf/throttle.lua)). It counts nobody, so it knows no place and no wait.
* **njs** is the same ([throttle.js](../bench/conf/throttle.js)), but for the dictionary, which Debian's njs 0.7.9 does not have.
* **Redis** is a waiting room that asks Redis once for each request (Lua, `INCR`, connections kept): nginx's CPU alone, Redis' own comes on top.
* Each poll of flash_throttle has a ticket of its own ([load.c](../bench/load.c) keeps them): before its time nothing is changed by it, in its time it moves its shopper's count and gets another ticket. Over HTTP/2 the client
  (h2load) sends one and the same.
* 2 workers share the two cores with the client.

## How it grows

| | |
| --- | --- |
| a poll while 10 wait, while 1,000,000 wait (8,000 polls/s) | @{[ us($ten) ]} us, @{[ us($million) ]} us: @{[ times_of($million) ]} times |
| a first attempt with 1 key, with @{[ thousands($all->{keys}) ]} keys | @{[ us($one) ]} us, @{[ us($many) ]} us: @{[ times_of($many) ]} times |
| memory of a key, however many wait | @{[ thousands($d->{bytes_of_a_key}) ]} bytes |

@{[ $many ? 'With many keys in turn each request meets a key whose state the processor has not at hand: that is the difference.' : '' ]}

## The core

Nanoseconds for the whole decision without nginx: key found, ticket verified, decided, signed (two HMACs for a poll in its time, one before it).

| decision | ns |
| --- | --- |
| first attempt | $d->{first_attempt} |
| poll before its time | $d->{poll_early} |
| poll in its time, 10 wait | $d->{poll_in_time} |
| poll in its time, 1,000,000 wait | $d->{poll_in_time_of_a_million} |
| poll that is let in | $d->{poll_called} |
| pass | $d->{pass} |
| the controller's tick, ten times a second, 10 wait | $d->{tick} |
| the same, 1,000,000 wait | $d->{tick_at_a_million} |

`make test-bench` counts the instructions of each, and of whole requests, with callgrind, and fails where one has grown by more than 5 % over
[bench/instructions.json](../bench/instructions.json) (`make bench-record` writes it anew).

## Around it

| | |
| --- | --- |
$stores| @{[ thousands($around->{held}{held}) ]} requests held by payments of 100 to 400 ms | @{[ thousands($around->{held}{a_second}) ]} orders/s, @{[ sprintf '%.0f', 100 * $around->{held}{cpu_share} ]} % of a core, @{[ sprintf '%.1f', $around->{held}{kb} / 1024 ]} MB (@{[ sprintf '%.1f', $around->{held}{empty_kb} / 1024 ]} MB before the first) |
| `flash-report` on a log of @{[ sprintf '%.1f', $around->{report}{bytes} / 1e9 ]} GB | $around->{report}{mb_a_second} MB/s |
| `flash-sim`, 2,559 shoppers, $around->{simulator}{runs} runs, one core | $around->{simulator}{seconds} s |

Payments take no time in the first rows: one thread's round trips to the store are what is measured.
EOF_DOCUMENT

    return $text;
}


# Under its heading, as far as the next.

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
                  join ' | ', map { us(found($all, $row, $_)) }
                              'limit_req', 'Lua', 'njs', 'Redis';
    }

    return <<"EOF_README";
Microseconds of nginx's CPU for a request, all in one run, taking turns: what nginx's own `return` takes for the same head and body (for passes, `proxy_pass`); this
module; nginx's own limit; the published design in Lua and in njs; a waiting room that asks Redis. `make bench` repeats it: 1 core of $m->{cores} of an $m->{cpu},
$m->{debian}, nginx 1.22.1, a page of 1,500 bytes. [docs/performance.md](docs/performance.md) has HTTP/2, TLS, two workers, a million waiting, 10,000 keys.

| request | `return` | flash_throttle | `limit_req` | Lua | njs | Redis |
| --- | --- | --- | --- | --- | --- | --- |
$table
![CPU for a request, of flash_throttle and its peers](docs/img/bench.svg)
EOF_README
}


sub write_readme {
    my ($all) = @_;

    open my $file, '<', $readme or die "cannot read $readme: $!\n";
    my $text = do { local $/; <$file> };

    $text =~ s/(?<=^## What it costs\n\n).*?(?=\n## )/readme($all)/ems
        or die "$readme has no heading \"What it costs\"\n";
    write_file($readme, $text);
}


sub draw {
    my ($all) = @_;
    my @bars = grep { found($all, 'first', $_) } 'return 503', 'flash_throttle',
               'limit_req', 'Lua', 'njs', 'Redis';
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
set ylabel 'microseconds of CPU for a request'
set key top left
\$data << EOD
$data
EOD
plot \$data using 2:xtic(1) title 'first attempt' linecolor '#0072b2', \\
     '' using 3 title 'before its time' linecolor '#d55e00'
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
