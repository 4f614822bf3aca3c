package Bench::Measure;

# Sends requests and measures the server's CPU time.

use strict;
use warnings;

use Exporter 'import';
use Bench::Edge qw(cpu_ns);

our @EXPORT_OK = qw(load h2load cost median spread);

# A browser's headers without compression, so that all answers are equal.
my @browser = (
    'User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, '
    . 'like Gecko) Chrome/142.0.0.0 Safari/537.36',
    'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,'
    . 'image/webp,image/apng,*/*;q=0.8',
    'Accept-Language: nl-NL,nl;q=0.9,en;q=0.8',
);


# load(PIN, %OPTIONS): the output of build/bench/load as a hash.

sub load {
    my ($pin, %with) = @_;
    my @command = (@$pin, 'build/bench/load', '-p', $with{port},
                   '-c', $with{connections} // 32, '-n', $with{requests},
                   '-u', $with{path});

    push @command, '-H', $_ for @browser, @{ $with{headers} // [] };

    for my $option (qw(cookie in out from keys rate method body)) {
        my %letter = (cookie => 'C', in => 'i', out => 'o', from => 'f',
                      keys => 'k', rate => 'r', method => 'm', body => 'd');
        push @command, "-$letter{$option}", $with{$option}
            if defined $with{$option};
    }

    push @command, '-w' if $with{keep};

    my ($text, $status) = run(@command);
    die "$with{path}: $text" if $status;

    my %answer = (status => {});

    for (split /\n/, $text) {
        if (/^status (\d+) (\d+)$/)  { $answer{status}{$1} = $2 }
        elsif (/^(\w+) ([\d.]+)$/)   { $answer{$1} = $2 }
    }

    return \%answer;
}


# h2load(PIN, %OPTIONS): the same over HTTP/2 or TLS, with equal requests.

sub h2load {
    my ($pin, %with) = @_;
    my @command = (@$pin, 'h2load', '-t', 1, '-c', $with{connections} // 32,
                   '-m', 1, '-n', $with{requests});

    push @command, '--h1' if $with{client} eq 'tls-h1';
    push @command, '-H', $_ for @browser, @{ $with{headers} // [] };
    push @command, '-H', "Cookie: $with{cookie}=$with{ticket}" if $with{ticket};
    push @command, ($with{client} eq 'h2c' ? 'http' : 'https')
                   . "://127.0.0.1:$with{port}$with{path}";

    my ($text, $status) = run(@command);
    die "$with{path}: $text" if $status;

    my ($done) = $text =~ /^requests: .*?(\d+) done, /m;
    my ($s2, $s4, $s5)
        = $text =~ /^status codes: (\d+) 2xx, \d+ 3xx, (\d+) 4xx, (\d+) 5xx/m;

    # h2load counts status classes only
    return { requests => $done,
             status   => { map { $_->[0] => $_->[1] }
                           grep { $_->[1] } [200, $s2], [400, $s4], [503, $s5] } };
}


sub run {
    my @command = @_;

    open my $pipe, '-|', @command or die "cannot run $command[0]: $!\n";
    my $text = do { local $/; <$pipe> } // '';
    close $pipe;

    return ($text, $?);
}


# cost(SERVER, PIN, %CASE): CPU time of a request in ns.

sub cost {
    my ($server, $pin, %with) = @_;
    my $client = $with{client} // 'h1';
    my $port = $server->{port} + ($client eq 'h1' ? 0 : $client eq 'h2c' ? 1 : 2);

    my $before = cpu_ns($server);
    my $answer = $client eq 'h1' ? load($pin, %with, port => $port)
                                 : h2load($pin, %with, port => $port);
    my $spent = cpu_ns($server) - $before;

    if (defined $with{expect}) {
        my $right = $answer->{status}{ $with{expect} } // 0;

        die "$server->{name} $with{path}: $right of $answer->{requests} answers "
            . "are $with{expect}: "
            . join(', ', map { "$_: $answer->{status}{$_}" }
                         sort keys %{ $answer->{status} }) . "\n"
            if $right < 0.99 * $answer->{requests};
    }

    return $spent / $answer->{requests};
}


sub median {
    my @sorted = sort { $a <=> $b } @_;

    return @sorted % 2 ? $sorted[$#sorted / 2]
                       : ($sorted[@sorted / 2 - 1] + $sorted[@sorted / 2]) / 2;
}


sub spread {
    my @sorted = sort { $a <=> $b } @_;

    return ($sorted[0], $sorted[-1]);
}


1;
