package PrivateRedis;

# A Redis server for one test, in a temporary directory.

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


# Starts the server; it is empty.
sub up {
    my ($self) = @_;

    system($script, 'start', $self->{dir}) == 0 or croak 'Redis did not start';

    return $self;
}


sub down {
    my ($self) = @_;

    system($script, 'stop', $self->{dir}) == 0 or croak 'Redis did not stop';

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


# Runs redis-cli; returns its output.
sub cli {
    my ($self, @args) = @_;

    open(my $out, '-|', 'redis-cli', '-s', $self->socket(), @args)
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


# File::Temp would remove the directory, and the pid file, before the stop.
END {
    $_->DESTROY() for grep { defined } values %running;
}


1;
