package FlashCrowd;

# Runs flash-crowd and reads its output.

use strict;
use warnings;

use Exporter 'import';
use File::Temp;
use JSON::PP qw(decode_json);
use POSIX ();

our @EXPORT_OK = qw(begin_crowd end_crowd crowd figures);


# Starts a crowd, to be passed to end_crowd().
sub begin_crowd {
    my (@arguments) = @_;

    my $crowd = { out => File::Temp->new, err => File::Temp->new };

    $crowd->{pid} = fork() // die "fork: $!";
    return $crowd if $crowd->{pid};

    open(STDOUT, '>&', $crowd->{out}) and open(STDERR, '>&', $crowd->{err})
        and exec $ENV{CROWD} // 'build/flash-crowd', @arguments;

    POSIX::_exit(127);
}


# Waits for its end: {status, out, err, figures}; figures is decoded from out.
sub end_crowd {
    my ($crowd) = @_;

    waitpid $crowd->{pid}, 0;

    my $run = { status => $? & 127 ? 'signal ' . ($? & 127) : $? >> 8 };

    local $/;
    for my $name (qw(out err)) {
        seek $crowd->{$name}, 0, 0;
        $run->{$name} = readline($crowd->{$name}) // '';
    }

    $run->{figures} = eval { decode_json($run->{out}) } // {};

    return $run;
}


sub crowd {
    return end_crowd(begin_crowd(@_));
}


# Runs a crowd with --json.
sub figures {
    return crowd('--json', @_);
}


1;
