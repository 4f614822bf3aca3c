#!/usr/bin/perl

# What the documents say is what the code does: directives, variables, status
# fields, make targets, links, and the configuration at the top of the README.

use strict;
use warnings;

use Cwd qw(getcwd);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use FindBin;
use Test::More;

use lib "$FindBin::Bin/../../t/lib";
use Files qw(read_file write_file);

chdir dirname(__FILE__) . '/../..' or die "cannot chdir: $!";

my $nginx = getcwd() . '/' . ($ENV{TEST_NGINX_BINARY} // 'build/nginx');
my $readme = read_file('README.md');


# directives: names and contexts

my %context = (
    NGX_HTTP_MAIN_CONF => 'http',
    NGX_HTTP_SRV_CONF  => 'server',
    NGX_HTTP_LOC_CONF  => 'location',
);

my %directives;
my $module = read_file('ngx_http_flash_throttle_module.c');

while ($module =~ /\{ ngx_string\("(\w+)"\),\s+(\S+?),/g) {
    my ($name, $flags) = ($1, $2);
    $directives{$name} = join ', ', map { $context{$_} // () } split /\|/, $flags;
}

my %documented;

while ($readme =~ /^### (flash_throttle\w*)\n(.*?)(?=^##)/gms) {
    my ($name, $text) = ($1, $2);

    my ($where) = $text =~ /^\| \*\*Context\*\* \| (.*?) \|$/m;
    $documented{$name} = $where;

    like($text, qr/^\| \*\*Syntax\*\* \| `$name[ ;]/m, "$name has its syntax");
    like($text, qr/^\| \*\*Default\*\* \| \S/m, "$name has its default");
}

is_deeply(\%documented, \%directives, 'the README has all directives');


# variables, and fields of the status page

my @variables = read_file('src/ngx_http_flash_throttle_variables.c')
                =~ /\{ ngx_string\("(flash_throttle_\w+)"\)/g;
my @told = $readme =~ /^\| `\$(flash_throttle_\w+)` \|/mg;

is_deeply([ sort @told ], [ sort @variables ], 'the README has all variables');

my %fields = map { $_ => 1 }
             read_file('src/ngx_http_flash_throttle_status.c')
             =~ /\\"(\w+)\\":/g,
             read_file('src/ngx_http_flash_throttle_figures.c')
             =~ /^ +\{ "(\w+)", "\w+", /mg,
             read_file('src/ft_history.c') =~ /\] = "(\w+)"/g;
my $status = read_file('docs/status.md');

for my $field (sort keys %fields) {
    like($status, qr/\b$field\b/, "docs/status.md explains $field");
}

for my $field ($status =~ /^\| (`.*?`) \|/mg) {
    ok($fields{$_}, "the status page has $_") for $field =~ /`(\w+)`/g;
}


# the configuration at the top of the README, as it stands but for paths

my ($conf) = $readme =~ /^## In your nginx\.conf\n\n```nginx\n(.*?)```/ms;
ok($conf, 'the README has a configuration');

my $dir = tempdir(CLEANUP => 1);
mkdir "$dir/logs";

write_file("$dir/secret", "0123456789abcdef0123456789abcdef\n");
$conf =~ s/^load_module.*?;\n//m;
$conf =~ s{/etc/nginx/flash_throttle\.secret}{$dir/secret};
write_file("$dir/nginx.conf", "daemon off;\n$conf");

my $out = qx($nginx -p $dir/ -c $dir/nginx.conf -e stderr -t 2>&1);
is($?, 0, 'it passes nginx -t') or diag($out);


# make targets, and links to files

my $make = join '', map { read_file($_) } 'Makefile', glob('mk/*.mk');

for my $document ('README.md', glob('docs/*.md')) {
    my $text = read_file($document);

    for my $target ($text =~ /`make ([a-z][a-z-]*)[ `]/g) {
        like($make, qr/^$target:/m, "$document: make $target exists");
    }

    for my $link ($text =~ /\]\(([^)#:]+)(?:#[^)]*)?\)/g) {
        my $path = dirname($document) . "/$link";
        ok(-e $path, "$document: $link is there");
    }
}

done_testing();
