# nginx and the module as they were built.

use strict;
use warnings;

use Test::More;

use File::Temp 'tempdir';
use FindBin;
use lib "$FindBin::Bin/lib";
use Script qw/ root run /;

my $build = root() . '/' . ($ENV{BUILD} || 'build');
my $script = root() . '/scripts/build-nginx.sh';
my $module = 'ngx_http_flash_throttle_module';

# Under ASan: nginx frees nothing on its way out, and each dynamic module has a
# table of the same name.
$ENV{ASAN_OPTIONS} = 'detect_leaks=0,detect_odr_violation=0';

my ($status, $text) = run({}, "$build/nginx", '-V');
is($status, 0, 'nginx runs');
like($text, qr/--with-compat .* --add-module=/, '... with the module built in');
unlike($text, qr/warning/i, '... without a warning');

# The .so in an nginx that differs in nothing but the module.
my $prefix = tempdir(CLEANUP => 1);
mkdir "$prefix/logs" or die;


sub configuration_with {
    my ($load) = @_;

    open my $file, '>', "$prefix/nginx.conf" or die;
    print $file <<"EOF";
$load
events { }
http { server { listen unix:$prefix/socket; location / { flash_throttle off; } } }
EOF
    close $file;

    return run({}, "$build/nginx-plain", '-t', '-p', $prefix, '-c', 'nginx.conf');
}


($status, $text) = configuration_with("load_module $build/$module.so;");
is($status, 0, 'the dynamic module loads') or diag($text);

# what it has for itself alone may have the name of another module's
my @names = sort map { (split)[2] } grep { /ngx_|ft_/ }
            split /\n/, `nm -D --defined-only $build/$module.so`;
is_deeply(\@names, [qw( ngx_module_names ngx_module_order ngx_modules )],
          '... and shows nginx only what it asks for');

($status, $text) = configuration_with('');
like($text, qr/unknown directive "flash_throttle"/,
     '... and without it nginx has no such directive');

# Nothing changed: nothing is made again.
my %before = map { $_ => (stat $_)[9] } "$build/nginx", "$build/$module.so";
for my $kind (qw/ static dynamic /) {
    ($status, $text) = run({}, $script, $kind);
    is("$status $text", '0 ', "$kind is up to date, and quiet about it");
}
is((stat $_)[9], $before{$_}, "$_ is left alone") for sort keys %before;

# Sources that cannot do.
my $empty = tempdir(CLEANUP => 1);
my $scratch = tempdir(CLEANUP => 1);
my %elsewhere = (BUILD => $scratch, NGINX_SRC => $empty);

($status, $text) = run(\%elsewhere, $script, 'dynamic');
isnt($status, 0, 'a directory without nginx source is refused');
like($text, qr/NGINX_SRC=\Q$empty\E is not an nginx source tree: .* not found/,
     '... with its name and the missing files');

system("mkdir -p $empty/src/core && touch $empty/src/core/nginx.h"
       . " && ln -s /bin/true $empty/configure") == 0 or die;

($status, $text) = run(\%elsewhere, $script, 'static');
isnt($status, 0, 'headers are not sufficient for nginx');
like($text, qr/headers only: sufficient for "make module"/,
     '... but are sufficient for the module');

($status, $text) = run(\%elsewhere, $script, 'sideways');
isnt($status, 0, 'an unknown kind is refused');

SKIP: {
    my $source = root() . '/build/nginx-src';
    skip 'nginx was not fetched here (NGINX_SRC is set)', 2 if !-d $source;

    ok(!-e "$source/objs", 'no build writes into the source: no objs');
    ok(!-e "$source/Makefile", '... and no Makefile');
}

done_testing();
