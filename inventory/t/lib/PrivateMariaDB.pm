package PrivateMariaDB;

# A MariaDB server for one test, with its own directory and socket.

use strict;
use warnings;

use Carp qw( croak );
use File::Temp ();
use Scalar::Util qw( weaken );

my %running;


sub start {
    my ($class, @options) = @_;

    my $self = bless { dir => File::Temp->newdir('ft-XXXXXX', TMPDIR => 1),
                       options => \@options, owner => $$ }, $class;
    $self->up();
    weaken($running{$self} = $self);

    return $self;
}


sub _run {
    my ($self, $action, @options) = @_;

    system('scripts/mariadb.sh', $action, "$self->{dir}/db", @options) == 0
        or croak "scripts/mariadb.sh $action failed";
}


sub up {
    my ($self) = @_;

    $self->_run('start', @{$self->{options}});
}


# With SIGKILL.
sub killed {
    my ($self) = @_;

    $self->_run('kill');
}


sub signal {
    my ($self, $name) = @_;

    open(my $in, '<', $self->file('pid')) or croak "pid: $!";
    chomp(my $pid = <$in>);
    kill($name, $pid) or croak "kill: $!";

    return;
}


sub file {
    my ($self, $name) = @_;

    return "$self->{dir}/db/$name";
}


# The value of --store, with further options.
sub store {
    my ($self, @options) = @_;

    return join(';', 'mysql:socket=' . $self->file('socket'), 'user=root',
                'database=flash_throttle', @options);
}


# Returns the rows of a query, each as an array reference.
sub ask {
    my ($self, $query) = @_;

    open(my $out, '-|', 'mariadb', '--no-defaults', '--batch',
         '--skip-column-names', '--user=root',
         '--socket=' . $self->file('socket'), 'flash_throttle', '-e', $query)
        or croak "mariadb: $!";
    my @rows = map { chomp; [ split(/\t/) ] } <$out>;
    close($out) or croak "mariadb: $query";

    return @rows;
}


sub DESTROY {
    my ($self) = @_;

    delete $running{$self};
    return if $self->{owner} != $$ || $self->{ended}++;
    local ($?, $!, $@);
    eval { $self->signal('CONT') };
    system('scripts/mariadb.sh', 'stop', "$self->{dir}/db");
}


# File::Temp would remove the directory before the server is stopped.
END {
    $_->DESTROY() for grep { defined } values %running;
}


1;
