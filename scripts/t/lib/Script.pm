package Script;

# Shared by the tests of the build: runs a script with a chosen PATH, and makes a
# folder of stand-ins for the programs that it calls.

use strict;
use warnings;

use Cwd 'abs_path';
use Exporter 'import';
use File::Basename 'dirname';
use File::Temp 'tempdir';

our @EXPORT_OK = qw/ root run tool_dir write_tool /;

my $root = abs_path(dirname(abs_path(__FILE__)) . '/../../..');


sub root {
    return $root;
}


# run({ NAME => value }, command, arguments): (exit status, what was printed)
sub run {
    my ($env, @command) = @_;

    local %ENV = (%ENV, %$env);
    delete @ENV{qw/ MAKEFLAGS MFLAGS MAKELEVEL /};

    my $pid = open my $out, '-|' // die "cannot fork: $!";
    if ($pid == 0) {
        open STDIN, '<', '/dev/null' or die;
        open STDERR, '>&', \*STDOUT or die;
        exec @command or die "cannot run $command[0]: $!";
    }

    my $text = do { local $/; <$out> } // '';
    close $out;

    return ($? >> 8, $text);
}


# tool_dir(name, ...): a folder that holds links to these programs alone, to be
# a whole PATH
sub tool_dir {
    my (@names) = @_;
    my $dir = tempdir(CLEANUP => 1);

    for my $name (@names) {
        my ($path) = grep { -x } map { "$_/$name" } split /:/, $ENV{PATH};

        symlink $path // die("no $name here"), "$dir/$name" or die;
    }

    return $dir;
}


# write_tool(dir, name, text of a shell script)
sub write_tool {
    my ($dir, $name, $text) = @_;

    open my $file, '>', "$dir/$name" or die "$dir/$name: $!";
    print $file "#!/bin/sh\n$text";
    close $file;
    chmod 0755, "$dir/$name";

    return;
}


1;
