package Files;

# Reads and writes whole files.

use strict;
use warnings;

use Exporter qw(import);

our @EXPORT_OK = qw(read_file write_file);


sub read_file {
    my ($path) = @_;

    open my $file, '<', $path or die "cannot read $path: $!";
    local $/;

    return scalar(readline $file) // '';
}


sub write_file {
    my ($path, $text) = @_;

    open my $file, '>', $path or die "cannot write $path: $!";
    print {$file} $text;
    close $file or die "cannot write $path: $!";
}


1;
