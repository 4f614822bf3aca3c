package Metrics;

# Parses and validates Prometheus text format 0.0.4 and OpenMetrics 1.0.

use strict;
use warnings;

# new(text): { family => { name => { type, help, labels } },
# samples => [ { name, labels, value } ], faults => [ text ] }.
sub new {
    my ($class, $text) = @_;

    my $self = bless { family => {}, samples => [], faults => [] }, $class;
    my $open = $text =~ /# EOF\n\z/;
    my ($current, %ended, %seen);

    for (split /\n/, $text) {
        next if /^# EOF$/;

        if (/^# HELP (\w+) (.+)$/) {
            $self->fault("duplicate family $1") if $self->{family}{$1};
            $current = $1;
            $self->{family}{$1}{help} = $2;

        } elsif (/^# TYPE (\w+) (gauge|counter|histogram)$/) {
            $self->fault("TYPE of $1 does not follow its HELP") if $1 ne $current;
            $self->{family}{$1}{type} = $2;

        } elsif (/^# UNIT (\w+) (\w+)$/) {
            $self->fault("UNIT $2 is not the suffix of $1") if $1 ne $current || $1 !~ /_$2$/;

        } elsif (/^(\w+)(?:\{(.*)\})? (\d+(?:\.\d+)?)$/) {
            $self->sample($current, $1, $2 // '', $3, $open, \%seen);

        } else {
            $self->fault("neither a comment nor a sample: $_");
        }
    }

    # as in the text format
    if ($open) {
        for my $name (keys %{ $self->{family} }) {
            next unless $self->{family}{$name}{type} eq 'counter';
            $self->{family}{"${name}_total"} = delete $self->{family}{$name};
        }
    }

    return $self;
}


sub fault {
    my ($self, $text) = @_;

    push @{ $self->{faults} }, $text;
}


sub sample {
    my ($self, $family, $name, $text, $value, $open, $seen) = @_;

    my $type = $self->{family}{$family}{type} // 'none';
    my %labels;
    my @names;

    while ($text =~ /\G([a-z]\w*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|\z)/gc) {
        my ($label, $string) = ($1, $2);

        $string =~ s/\\(.)/$1 eq 'n' ? "\n" : $1/ge;
        $self->fault("$name: label is not UTF-8") unless utf8::decode($string);
        $labels{$label} = $string;
        push @names, $label;
    }

    $self->fault("$name: malformed labels {$text}") if (pos($text) // 0) != length $text;
    $self->fault("$name: duplicate sample") if $seen->{"$name\{$text}"}++;

    my $suffix = $type eq 'histogram' ? qr/_(?:bucket|sum|count)/
        : $type eq 'counter' && $open ? qr/_total/ : qr//;

    $self->fault("$name in family $family of type $type") if $name !~ /^\Q$family\E$suffix$/;
    $self->fault("$name: only counters must end with _total")
        if ($name =~ /_total$/) != ($type eq 'counter');

    $self->{family}{$family}{labels} //= [ grep { $_ ne 'le' } @names ];
    push @{ $self->{samples} }, { name => $name, labels => \%labels, value => $value };
}


# value(name, label => value ...): the value of the sample with these labels.
sub value {
    my ($self, $name, %labels) = @_;

    for my $sample (@{ $self->{samples} }) {
        next if $sample->{name} ne $name;
        return $sample->{value} unless grep { ($sample->{labels}{$_} // '') ne $labels{$_} } keys %labels;
    }

    return;
}


# program(name): its path in PATH, or where scripts/install-deps.sh unpacks it.
sub program {
    my ($name) = @_;

    for my $dir (split(/:/, $ENV{PATH}), 'build/prometheus/usr/bin') {
        return "$dir/$name" if -x "$dir/$name";
    }

    return;
}


# piped(text, program, argument ...): its output; its status, if not 0.
sub piped {
    my ($text, @command) = @_;

    require File::Temp;

    my $file = File::Temp->new;
    print $file $text;
    close $file;

    my $out = `@command < $file 2>&1`;

    return $out . ($? ? "status $?\n" : '');
}


1;
