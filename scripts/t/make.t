# The makefiles' face: help, and the closing line of all suites.

use strict;
use warnings;

use Test::More;

use FindBin;
use lib "$FindBin::Bin/lib";
use Script qw/ root run tool_dir write_tool /;

my $root = root();

my ($status, $help) = run({}, 'make', '-C', $root, '--no-print-directory', 'help');
is($status, 0, 'make help');

# Every target that is no file is one that a person may want, but for those that
# only serve another.
my @lines = map { my $name = $_; open my $file, '<', $name or die; <$file> }
            "$root/Makefile", glob("$root/mk/*.mk");
my @phony = map { /^\.PHONY:(.*)/ ? split(' ', $1) : () } @lines;
my %serves = map { $_ => 1 }
             map { /^(?!\.PHONY)[^\t#=]*:([^=#]*)/ ? split(' ', $1) : () } @lines;

for my $target (grep { !$serves{$_} } @phony) {
    like($help, qr/^  \Q$target\E  +\S/m, "help tells of $target");
}

like($help, qr/^  $_=/m, "help tells of $_") for qw/ NGINX_SRC SANITIZE /;


# Suites: one that fails is reported, and does not stop the next.
my $dir = tool_dir();
write_tool($dir, 'fake-make', <<'EOF');
echo "ran $2"
[ "$2" != bad ]
EOF

my %env = (MAKE => "$dir/fake-make", SUITE_LOGS => "$dir/logs");
my $script = "$root/scripts/run-suites.sh";

($status, my $text) = run(\%env, $script, 'good', 'bad', 'better');
isnt($status, 0, 'a suite failed: so does the whole');
like($text, qr/ran better/, '... the suites after it ran');
like($text, qr/^  bad +FAILED /m, '... its line says so');
like($text, qr/^suites: 2 passed, 1 failed$/m, '... and so does the last');

($status, $text) = run(\%env, $script, 'good', 'better');
is($status, 0, 'no suite failed: nor does the whole');
like($text, qr/^suites: 2 passed, 0 failed$/m, '... as the last line says');

($status, $text) = run(\%env, $script);
isnt($status, 0, 'no suite at all is no success');

done_testing();
