#!/usr/bin/perl

# Checks the layout of src/: a public function is named for its file and
# declared in the header of that file; includes have no circle, and run from
# src/nginx to src/core to src/wire only.
#
# usage: scripts/layout.pl [FOLDER ...]      (default: src/wire src/core src/nginx)
#
# Prints a line for each fault, and exits with 1 if there is one.

use strict;
use warnings;

my @folders = @ARGV ? @ARGV : qw(src/wire src/core src/nginx);
my %rank = map { $folders[$_] => $_ } 0 .. $#folders;

my (%folder, %header, %includes, @faults);


sub text_of {
    my ($path) = @_;

    open my $fh, '<', $path or die "cannot read $path: $!\n";
    local $/;
    my $text = <$fh>;
    close $fh;

    # comments say nothing, except by their lines
    $text =~ s{/\*.*?\*/}{my $c = $&; $c =~ tr/\n//cd; $c}gse;

    return $text;
}


sub line_of {
    my ($text, $at) = @_;

    return 1 + (substr($text, 0, $at) =~ tr/\n//);
}


sub is_named_for {
    my ($function, $file) = @_;

    return $function eq $file || index($function, $file . '_') == 0;
}


for my $dir (@folders) {
    for my $path (glob "$dir/*.[ch]") {
        my ($file) = $path =~ m{([^/]+)\.[ch]$};

        $folder{$file} = $dir;
        $header{$file} = text_of($path) if $path =~ /\.h$/;
    }
}

for my $file (sort keys %folder) {
    for my $path (grep { -e } map { "$folder{$file}/$file.$_" } qw(h c)) {
        my $text = text_of($path);

        while ($text =~ /^#include "(\w+)\.h"$/mg) {
            my $other = $1;

            next if $other eq $file || !exists $folder{$other};
            $includes{$file}{$other} = "$path:" . line_of($text, $-[0]);

            push @faults, "$includes{$file}{$other}: $folder{$file} must not"
                          . " include $folder{$other}/$other.h"
                if $rank{$folder{$other}} > $rank{$folder{$file}};
        }

        # the type on one line, the name at the beginning of the next
        while ($text =~ /^([a-z_][\w *]*)\n(\w+)\([^;{]*\)\n\{/mg) {
            my ($type, $function, $at) = ($1, $2, $-[2]);

            next if $type =~ /^static/ && $path =~ /\.c$/;
            my $place = "$path:" . line_of($text, $at);

            push @faults, "$place: $function() is not named for $file"
                unless is_named_for($function, $file);

            push @faults, "$place: $function() is not declared in $file.h"
                unless ($header{$file} // '') =~ /\b$function\(/;
        }
    }
}


# a circle of includes, from a file back to itself
my (%done, @way);

sub visit {
    my ($file) = @_;

    my ($at) = grep { $way[$_] eq $file } 0 .. $#way;

    if (defined $at) {
        push @faults, 'circle: ' . join(' -> ', @way[$at .. $#way], $file);
        return;
    }

    return if $done{$file}++;

    push @way, $file;
    visit($_) for sort keys %{ $includes{$file} // {} };
    pop @way;
}

visit($_) for sort keys %folder;

print "$_\n" for @faults;
exit(@faults ? 1 : 0);
