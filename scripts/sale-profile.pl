#!/usr/bin/env perl
#
# Converts a profile of k6/profiles.json for the other programs.
#
# usage: scripts/sale-profile.pl names
#        scripts/sale-profile.pl stock|shoppers|stages|sim PROFILE
#
#   stock     units on sale
#   shoppers  number of shoppers: the integral of the rate
#   stages    for flash-crowd --stages: SECONDS:FROM-TO,...
#   sim       for flash-sim --profile: a file of lines "seconds from to"

use strict;
use warnings;

use FindBin;
use JSON::PP;

my %ANSWERS = (

    stock    => sub { $_[0]{stock} },
    shoppers => sub { area(pieces($_[0])) },
    stages   => sub { join ',', map { "$_->[0]:$_->[1]-$_->[2]" } pieces($_[0]) },
    sim      => sub { join "\n", map { "@$_" } pieces($_[0]) },
);


sub profiles {
    my $name = "$FindBin::Bin/../k6/profiles.json";

    open my $file, '<', $name or die "$name: $!\n";
    local $/;

    return decode_json(<$file>);
}


# The rate of a scenario at a time: the limit from the left or right of a step.
sub rate_at {
    my ($part, $time, $side) = @_;
    my $begin = $part->{start_s};
    my ($first, @stages) = @{ $part->{stages} };
    my $from = $first->[1];

    return 0 if $time < $begin || $time == $begin && $side eq 'left';

    for my $stage (@stages) {
        my ($length, $to) = @$stage;

        if ($time < $begin + $length || $time == $begin + $length && $side eq 'left') {
            return $from + ($to - $from) * ($time - $begin) / $length;
        }

        ($begin, $from) = ($begin + $length, $to);
    }

    return 0;
}


# The sum of a profile's scenarios, as consecutive [seconds, from, to].
sub pieces {
    my ($profile) = @_;
    my @parts = values %{ $profile->{scenarios} };
    my %moments = (0 => 1);

    for my $part (@parts) {
        my $time = $part->{start_s};
        $moments{$time} = 1;
        $moments{ $time += $_->[0] } = 1 for @{ $part->{stages} };
    }

    my @moments = sort { $a <=> $b } keys %moments;
    my @pieces;

    for my $i (1 .. $#moments) {
        my ($from, $to) = (0, 0);

        $from += rate_at($_, $moments[$i - 1], 'right') for @parts;
        $to += rate_at($_, $moments[$i], 'left') for @parts;
        push @pieces, [$moments[$i] - $moments[$i - 1], $from, $to];
    }

    return @pieces;
}


sub area {
    my $area = 0;

    $area += $_->[0] * ($_->[1] + $_->[2]) / 2 for @_;

    return $area;
}


my ($what, $name) = @ARGV;
my $profiles = profiles();

if (@ARGV == 1 && $what eq 'names') {
    print join(' ', sort keys %$profiles), "\n";
    exit 0;
}

die "usage: sale-profile.pl names | stock|shoppers|stages|sim PROFILE\n"
    unless @ARGV == 2 && $ANSWERS{$what};

die "unknown profile \"$name\", must be one of: @{[sort keys %$profiles]}\n"
    unless $profiles->{$name};

print $ANSWERS{$what}->($profiles->{$name}), "\n";
