#!/usr/bin/perl

# The layout of src/, and that its checker finds what it looks for.

use strict;
use warnings;

use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use FindBin;
use Test::More;

use lib "$FindBin::Bin/../../t/lib";
use Files qw(write_file);

chdir dirname(__FILE__) . '/../..' or die "cannot chdir: $!";

is(qx(scripts/layout.pl), '', 'names, headers and includes of src/');

my $dir = tempdir(CLEANUP => 1);
mkdir "$dir/low";
mkdir "$dir/high";

write_file("$dir/low/a.h", "void a_good(void);\n");
write_file("$dir/low/a.c", <<'END');
#include "a.h"
#include "b.h"


void
a_good(void)
{
}


static void
hidden(void)
{
}


void
stray(void)
{
}
END
write_file("$dir/low/b.h", "#include \"a.h\"\n#include \"c.h\"\n");
write_file("$dir/high/c.h", "/* void c_comment(void) */\n");

is(qx(scripts/layout.pl $dir/low $dir/high), <<"END", 'each fault is found');
$dir/low/a.c:18: stray() is not named for a
$dir/low/a.c:18: stray() is not declared in a.h
$dir/low/b.h:2: $dir/low must not include $dir/high/c.h
circle: a -> b -> a
END

done_testing();
