package PrivateRedis;

# A Redis of the test's own, in a folder that goes with it.

use strict;
use warnings;

use Carp qw( croak );
use File::Temp qw( tempdir );
use Scalar::Util qw( weaken );

my $script = 'scripts/private-redis.sh';
my %running;


sub start {
    my ($class) = @_;
    my $self = bless { dir => tempdir(CLEANUP => 1), owner => $$ }, $class;

    weaken($running{$self} = $self);

    return $self->up();
}


# Begins (again, and empty).
sub up {
    my ($self) = @_;

    system($script, 'start', $self->{dir}) == 0 or croak 'no Redis came up';

    return $self;
}


sub down {
    my ($self) = @_;

    system($script, 'stop', $self->{dir}) == 0 or croak 'Redis does not stop';

    return $self;
}


sub socket {
    my ($self) = @_;

    return "$self->{dir}/redis.sock";
}


sub signal {
    my ($self, $name) = @_;

    open(my $in, '<', "$self->{dir}/redis.pid") or croak "redis.pid: $!";
    chomp(my $pid = <$in>);
    kill($name, $pid) or croak "kill: $!";

    return;
}


# One command of redis-cli; what it prints.
sub cli {
    my ($self, @words) = @_;

    open(my $out, '-|', 'redis-cli', '-s', $self->socket(), @words)
        or croak "redis-cli: $!";
    local $/;

    return (<$out> // '') =~ s/\n+\z//r;
}


sub DESTROY {
    my ($self) = @_;

    delete $running{$self};
    return if $self->{owner} != $$ || $self->{ended}++;
    local ($?, $!, $@);

    eval { $self->signal('CONT') };
    eval { $self->down() };
}


# One that is kept to the end: before its folder goes, and its pid with it.
END {
    $_->DESTROY() for grep { defined } values %running;
}


1;
