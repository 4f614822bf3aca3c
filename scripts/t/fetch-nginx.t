# Where nginx's source comes from, and that nothing but the pinned bytes pass.

use strict;
use warnings;

use Test::More;

use File::Temp 'tempdir';
use FindBin;
use lib "$FindBin::Bin/lib";
use Script qw/ root run tool_dir write_tool /;

my @tools = qw/ bash cat chmod curl cut dirname flock grep head id mkdir mv rm
                sed sha256sum tail tar gzip touch env awk mktemp /;
my $path = tool_dir(@tools);        # no apt in it


# A clone's scripts in a folder of their own, so that build/ is theirs.
sub clone {
    my $dir = tempdir(CLEANUP => 1);

    system('cp', '-r', root() . '/scripts', $dir) == 0 or die;
    return $dir;
}


sub fetch {
    my ($clone, $site) = @_;

    return run({ PATH => $path, NGINX_SITE => $site },
               "$clone/scripts/fetch-nginx.sh");
}


my $clone = clone();
my ($status, $text) = fetch($clone, 'file:///nowhere');
isnt($status, 0, 'no source answers: an error');
like($text, qr/no nginx source could be downloaded/, '... with a message');
like($text, qr/1\.26\.3, site: curl/, '... the error of the site');
like($text, qr/1\.26\.3, apt: apt-get not found/, '... the error of apt');
like($text, qr/NGINX_SRC/, '... and the alternative');

my $site = tempdir(CLEANUP => 1);
system("echo forged > $site/nginx-1.26.3.tar.gz") == 0 or die;
($status, $text) = fetch($clone, "file://$site");
isnt($status, 0, 'an archive with another SHA-256 is refused');
like($text, qr/the SHA-256 is [0-9a-f]{64}, not 69ee2b23[0-9a-f]{56}/,
     '... with both sums');
ok(!-e "$clone/build/nginx-src", '... and nothing is unpacked');
ok(!glob("$clone/build/download/*.tar.gz*"), '... nor kept');

SKIP: {
    my ($archive) = grep { -f } glob(root() . '/build/download/nginx-*.tar.gz');
    skip 'nginx was not fetched here (NGINX_SRC is set)', 6 if !$archive;

    my ($version) = $archive =~ /nginx-([\d.]+)\.tar/;

    system('cp', $archive, $site) == 0 or die;
    ($status, $text) = fetch($clone, "file://$site");
    is($status, 0, 'the pinned archive passes') or diag($text);
    like($text, qr/nginx \Q$version\E: fetched \(site\), SHA-256 checked/,
         '... and is told of');
    ok(-x "$clone/build/nginx-src/configure", '... and unpacked');

    ($status, $text) = fetch($clone, 'file:///nowhere');
    is("$status $text", '0 ', 'once there, no place is asked');

    my $other = clone();
    system("mkdir -p $other/build/download && cp $archive $other/build/download")
        == 0 or die;
    ($status, $text) = fetch($other, 'file:///nowhere');
    is("$status $text", '0 ', 'an archive put there by hand will do');

    system("echo >> $other/build/download/nginx-$version.tar.gz;"
           . " rm -r $other/build/nginx-src") == 0 or die;
    ($status) = fetch($other, 'file:///nowhere');
    isnt($status, 0, '... but not when it was altered');
}

done_testing();
