package FlashCrowd;

# Runs flash-crowd and reads what it says.

use strict;
use warnings;

use Exporter 'import';
use File::Temp;
use JSON::PP qw(decode_json);

our @EXPORT_OK = qw(crowd figures);


# crowd(arguments): {status, out, err}
sub crowd {
    my (@arguments) = @_;

    my $out = File::Temp->new;
    my $err = File::Temp->new;
    my $pid = fork() // die "fork: $!";

    if ($pid == 0) {
        open STDOUT, '>&', $out or die "$!";
        open STDERR, '>&', $err or die "$!";
        exec $ENV{CROWD} // 'build/flash-crowd', @arguments
            or die "cannot run flash-crowd: $!";
    }

    waitpid $pid, 0;
    my $status = $? & 127 ? "signal " . ($? & 127) : $? >> 8;

    local $/;
    seek $_, 0, 0 for $out, $err;

    return { status => $status, out => scalar readline($out),
             err => scalar readline($err) };
}


# figures(arguments): crowd() with its JSON as {figures}
sub figures {
    my (@arguments) = @_;

    my $run = crowd('--json', @arguments);
    $run->{figures} = eval { decode_json($run->{out}) } // {};

    return $run;
}


1;
