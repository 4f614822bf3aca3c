# The script that installs what is missing: says what it does, does no more.

use strict;
use warnings;

use Test::More;

use FindBin;
use lib "$FindBin::Bin/lib";
use Script qw/ root run tool_dir write_tool /;

# "make check" says no
delete $ENV{INSTALL_DEPS};

my $script = root() . '/scripts/install-deps.sh';
my @basics = qw/ bash cat dirname env id sort grep sed head awk mktemp rm chmod
                 perl /;


# A machine whose dpkg knows every package but those given, and whose apt
# writes down what it was asked for.
sub machine {
    my (%missing) = map { $_ => 1 } @_;
    my $dir = tool_dir(@basics);
    my $pattern = join '|', keys %missing, 'none-such';

    write_tool($dir, 'dpkg-query', <<"EOF");
for package; do
    case \$package in
    -*|$pattern) ;;
    *) echo "\$package installed" ;;
    esac
done
EOF
    write_tool($dir, 'apt-get', qq{echo "\$*" >> $dir/asked\n});
    write_tool($dir, 'sudo', qq{exec "\$@"\n});

    return $dir;
}


sub asked {
    my ($dir) = @_;

    open my $file, '<', "$dir/asked" or return '';
    local $/;
    return <$file>;
}


my ($status, $text) = run({}, $script, 'build', 'everything');
isnt($status, 0, 'an unknown group is refused');
like($text, qr/unknown group "everything".*build test valgrind matrix k6/,
     '... with its name and the groups there are');

($status, $text) = run({}, $script);
isnt($status, 0, 'no group is refused');
like($text, qr/usage: /, '... with the usage');

my $dir = machine();
($status, $text) = run({ PATH => $dir }, $script, 'build', 'valgrind');
is($status, 0, 'nothing is missing: fine');
is($text, '', '... and not worth a word');
is(asked($dir), '', '... nor a question to apt');

$dir = machine('libjansson-dev', 'make');
($status, $text) = run({ PATH => $dir }, $script, 'build');
is($status, 0, 'two packages are missing: installed');
like($text, qr/^installing with apt: libjansson-dev make$/m, '... it says so');
like(asked($dir), qr/\A[^\n]* update\n[^\n]* install [^\n]* libjansson-dev make\n\z/,
     '... after one update, no package besides');

$dir = tool_dir(@basics);
($status, $text) = run({ PATH => $dir }, $script, 'build');
isnt($status, 0, 'without apt it fails');
like($text, qr/apt-get not found.*libpcre2-dev.*INSTALL_DEPS=no/,
     '... with the required packages')
    or diag($text);

($status, $text) = run({ PATH => $dir, INSTALL_DEPS => 'no' }, $script, 'build');
is($status, 0, 'INSTALL_DEPS=no installs nothing');

done_testing();
