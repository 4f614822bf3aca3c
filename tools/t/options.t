# flash-crowd's command line: a bad value is named, with what to give instead.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use FlashCrowd qw(crowd);
use Test::More;

my $url = '--url=http://127.0.0.1:9/';

my @refused = (
    [[], qr/give --url/],
    [['--url=ftp://x'], qr/--url=ftp:\/\/x: give an address that begins with http/],
    [[$url, '--shoppers=0'], qr/--shoppers=0: give a whole number from 1/],
    [[$url, '--shoppers=-1'], qr/--shoppers=-1: give a whole number/],
    [[$url, '--shoppers=1e3'], qr/--shoppers=1e3: give a whole number/],
    [[$url, '--stages=2:0'], qr/--stages=2:0: give up to 32 stages as/],
    [[$url, '--stages=2:0-10,'], qr/--stages=2:0-10,: give up to 32 stages/],
    [[$url, '--stages=2:0--1'], qr/give up to 32 stages/],
    [[$url, '--stages=nan:1-1'], qr/give up to 32 stages/],
    [[$url, '--stages=' . join(',', ('1:1-1') x 33)], qr/give up to 32 stages/],
    [[$url, '--stages=1:0-1'], qr/not one shopper comes/],
    [[$url, '--stages=1000:9999-9999'], qr/1000000 are the most/],
    [[$url, '--patience=0'], qr/--patience=0: give seconds above 0/],
    [[$url, '--patience=9-5'], qr/--patience=9-5: give seconds/],
    [[$url, '--patience=5-'], qr/--patience=5-: give seconds/],
    [[$url, '--method=PUT'], qr/--method=PUT: give POST or GET/],
    [[$url, '--no-cookie=1.5'], qr/--no-cookie=1.5: give a share from 0 to 1/],
    [[$url, '--vanish=half'], qr/--vanish=half: give a share/],
    [[$url, '--seed=x'], qr/--seed=x: give a whole number/],
    [[$url, '--stats-url=here'], qr/--stats-url=here: give an address/],
    [[$url, 'more'], qr/"more" is no option/],
    [[$url, '--colour'], qr/flash-crowd --help/],
);

for my $case (@refused) {
    my ($arguments, $says) = @$case;
    my $name = "@$arguments" || 'no option';
    $name = substr($name, 0, 60) . '...' if length $name > 60;

    my $run = crowd(@$arguments);

    is($run->{status}, 2, "$name: refused");
    like($run->{err}, $says, "$name: says why");
}

my $help = crowd('--help');

is($help->{status}, 0, '--help');
like($help->{out}, qr/--stages LIST.*--vanish SHARE.*Exit status/s,
     '--help lists the options');

my $run = crowd($url, '--stats-url=http://127.0.0.1:9/stats');

is($run->{status}, 2, 'a checkout that cannot be asked: no sale');
like($run->{err}, qr{http://127.0.0.1:9/stats: Couldn't connect},
     'says which, and why');

done_testing();
