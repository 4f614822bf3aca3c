#!/usr/bin/perl

# The documents agree with the code: directives, variables, stats fields, make
# targets, links and example configurations.

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
my $reference = read_file('docs/directives.md');

# Documents whose lines, example configurations and anchors are checked.
my @wrapped = qw(README.md docs/directives.md);
my @examples = qw(README.md docs/directives.md);
my @anchored = qw(README.md docs/directives.md);

my $LINES_MAX = 250;        # of README.md
my $LENGTH_MAX = 110;       # characters of a line


# source(PATTERN): the text of the source files of that name.
sub source {
    my ($pattern) = @_;
    my @files = glob "src/*/$pattern";

    die "no source file $pattern\n" if !@files;
    return join '', map { read_file($_) } @files;
}


# anchor(HEADING): the fragment that GitHub gives to a heading.
sub anchor {
    my ($heading) = @_;

    $heading =~ s/[^\w\s-]//g;
    return lc $heading =~ s/\s/-/gr;
}


# Directives and their contexts

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

while ($reference =~ /^### (flash_throttle\w*)\n(.*?)(?=^##)/gms) {
    my ($name, $text) = ($1, $2);

    my ($where) = $text =~ /^\| \*\*Context\*\* \| (.*?) \|$/m;
    $documented{$name} = $where;

    like($text, qr/^\| \*\*Syntax\*\* \| `$name[ ;]/m, "$name: syntax");
    like($text, qr/^\| \*\*Default\*\* \| \S/m, "$name: default");
    ok($text =~ /^```nginx$/m, "$name: example");
}

is_deeply(\%documented, \%directives,
          'docs/directives.md has all directives, with their contexts');

for my $name (sort keys %directives) {
    my $row = qr/^\| \[$name\]\(docs\/directives\.md#$name\) \| \S/m;

    ok($readme =~ $row, "the README's table has $name");
}


# Variables

my @variables = source('ngx_http_flash_throttle_*.c')
                =~ /\{ ngx_string\("(flash_throttle_\w+)"\), NULL,/g;
my @described = $reference =~ /^\| `\$(flash_throttle_\w+)` \|/mg;

is_deeply([ sort @described ], [ sort @variables ],
          'docs/directives.md has all variables');


# Fields of the stats

my $stats = source('ngx_http_flash_throttle_stats*.c');
my %fields = map { $_ => 1 }
             $stats =~ /\\"(\w+)\\":/g,
             $stats =~ /^ +\{ "(\w+)", "\w+", /mg,
             source('ft_history.c') =~ /\] = "(\w+)"/g;
my $status = read_file('docs/status.md');

for my $field (sort keys %fields) {
    like($status, qr/\b$field\b/, "docs/status.md: $field");
}

for my $field ($status =~ /^\| (`.*?`) \|/mg) {
    ok($fields{$_}, "the stats have $_") for $field =~ /`(\w+)`/g;
}


# Example configurations

my $dir = tempdir(CLEANUP => 1);
mkdir "$dir/$_" for qw(logs pages);

write_file("$dir/secret", "0123456789abcdef0123456789abcdef\n");
write_file("$dir/pages/busy.html", "<!DOCTYPE html><title>Busy</title>\n");


# complete(FRAGMENT): the whole nginx.conf around a fragment of any level.
sub complete {
    my ($conf) = @_;

    if ($conf !~ /^events\b/m) {

        if ($conf !~ /^(?:server \{|flash_throttle_(?:zone|secret_file)\b)/m) {
            $conf = "location / {\nflash_throttle zone=sale;\n$conf}\n"
                if $conf !~ /^location /m;

            $conf = "server {\nlisten 80;\nserver_name shop;\n$conf}\n";
        }

        $conf = "flash_throttle_zone \$server_name zone=sale:1m inflight=16;\n"
                . $conf if $conf !~ /^\s*flash_throttle_zone\b/m;

        $conf = "flash_throttle_secret_file $dir/secret;\n$conf"
            if $conf !~ /^\s*flash_throttle_secret_file\b/m;

        $conf = "upstream checkout {\nserver 127.0.0.1:8081;\n}\n$conf";
        $conf = "events {}\nhttp {\n$conf}\n";
    }

    # a dynamic module, a privileged port and the machine's own files
    $conf =~ s/^load_module.*?;\n//m;
    $conf =~ s{\blisten(\s+)80;}{listen$1unix:$dir/socket;}g;
    $conf =~ s{/etc/nginx/flash_throttle\.secret}{$dir/secret}g;

    return "daemon off;\n$conf";
}


for my $document (@examples) {
    my $text = read_file($document);

    while ($text =~ /^```nginx\n(.*?)^```$/gms) {
        my $conf = $1;
        my $line = 1 + (substr($text, 0, $-[1]) =~ tr/\n//);

        write_file("$dir/nginx.conf", complete($conf));

        my $out = qx($nginx -p $dir/ -c $dir/nginx.conf -e stderr -t 2>&1);
        is($?, 0, "$document:$line: nginx -t") or diag($out);
        unlike($out, qr/\[warn\]/, "$document:$line: no warning");
    }
}

ok($readme =~ /^```nginx\nload_module .*?^events \{.*?^http \{/ms,
   'the README has a complete configuration');


# Length of README.md and of the lines

cmp_ok($readme =~ tr/\n//, '<=', $LINES_MAX, "README.md: at most $LINES_MAX lines");

for my $document (@wrapped) {
    my $text = read_file($document);
    my @long;
    my $code = 0;
    my $n = 0;

    # this section of the README is written by bench/report.pl
    my ($generated) = $text =~ /^## What it costs\n(.*?)(?=^## )/ms;
    my %generated = map { $_ => 1 } split /\n/, $generated // '';

    utf8::decode($text);

    for my $line (split /\n/, $text) {
        $n++;
        $code = !$code if $line =~ /^\s*```/;

        next if $code
                || $line =~ /^\||^    /
                || $line =~ /^[\s*]*!?\[[^]]*\]\([^)]*\)[.,]?$/
                || $generated{$line};

        push @long, "line $n: " . length $line if length $line > $LENGTH_MAX;
    }

    is_deeply(\@long, [], "$document: lines of at most $LENGTH_MAX characters");
}


# Make targets, links to files, anchors, and the README's list of documents

my $make = join '', map { read_file($_) } 'Makefile', glob('mk/*.mk');
my %anchored = map { $_ => 1 } @anchored;

for my $document ('README.md', glob('docs/*.md')) {
    my $text = read_file($document);

    for my $target ($text =~ /`make ([a-z][a-z-]*)[ `]/g) {
        like($make, qr/^$target:/m, "$document: make $target exists");
    }

    while ($text =~ /\]\(([^)#:]*)(?:#([^)]*))?\)/g) {
        my ($link, $fragment) = ($1, $2);
        my $path = $link eq '' ? $document : dirname($document) . "/$link";

        ok(-e $path, "$document: $link exists") if $link ne '';

        next if !defined $fragment || !$anchored{$document};

        my @anchors = map { anchor($_) } read_file($path) =~ /^#+ (.*)$/mg;

        ok((grep { $_ eq $fragment } @anchors), "$document: $link#$fragment exists");
    }
}

for my $document (glob('docs/*.md'), 'CHANGELOG.md') {
    ok($readme =~ /\]\(\Q$document\E\)/, "the README links to $document");
}

done_testing();
