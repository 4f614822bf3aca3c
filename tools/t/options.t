# The command line of flash-crowd: errors name the option and the value.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use FlashCrowd qw(crowd);
use Test::More;

my $url = '--url=http://127.0.0.1:9/';

my @refused = (
    [[], qr/missing --url/],
    [['--url=ftp://x'], qr{invalid value "ftp://x" for --url: expected a URL that begins with http}],
    [[$url, '--shoppers=0'], qr/invalid value "0" for --shoppers: expected an integer from 1 to 1000000/],
    [[$url, '--shoppers=-1'], qr/invalid value "-1" for --shoppers/],
    [[$url, '--shoppers=1e3'], qr/invalid value "1e3" for --shoppers/],
    [[$url, '--stages=2:0'], qr/invalid value "2:0" for --stages: expected SECONDS:FROM-TO,/],
    [[$url, '--stages=2:0-10,'], qr/"2:0-10," for --stages: expected SECONDS/],
    [[$url, '--stages=2:0-10;2:10-0'], qr/for --stages: expected SECONDS/],
    [[$url, '--stages='], qr/"" for --stages: expected SECONDS/],
    [[$url, '--stages=2:0--1'], qr/for --stages: expected SECONDS/],
    [[$url, '--stages=nan:1-1'], qr/for --stages: expected SECONDS/],
    [[$url, '--stages=' . join(',', ('1:1-1') x 33)], qr/for --stages: more than 32 stages/],
    [[$url, '--stages=1:0-1'], qr/for --stages: no shoppers in these stages/],
    [[$url, '--stages=1000:9999-9999'], qr/9999000 shoppers in --stages: expected at most 1000000/],
    [[$url, '--patience=0'], qr/"0" for --patience: expected seconds above 0/],
    [[$url, '--patience=9-5'], qr/"9-5" for --patience: expected seconds/],
    [[$url, '--patience=5-'], qr/"5-" for --patience: expected seconds/],
    [[$url, '--method=PUT'], qr/"PUT" for --method: expected POST or GET/],
    [[$url, '--no-cookie=1.5'], qr/"1.5" for --no-cookie: expected a number from 0 to 1/],
    [[$url, '--vanish=half'], qr/"half" for --vanish: expected a number/],
    [[$url, '--seed=x'], qr/"x" for --seed: expected an integer/],
    [[$url, '--stats-url=here'], qr/"here" for --stats-url: expected a URL/],
    [[$url, '--trace=/none/trace'], qr{open\(\) "/none/trace" failed \(2: No such file}],
    [[$url, 'more'], qr/unexpected argument "more"/],
    [[$url, '--colour'], qr/flash-crowd --help/],
);

for my $case (@refused) {
    my ($arguments, $message) = @$case;
    my $name = "@$arguments" || 'no option';
    $name = substr($name, 0, 60) . '...' if length $name > 60;

    my $run = crowd(@$arguments);

    is($run->{status}, 2, "$name: exit status");
    like($run->{err}, $message, "$name: message");
}

my $help = crowd('--help');

is($help->{status}, 0, '--help');
like($help->{out}, qr/--stages=LIST.*--vanish=SHARE.*Exit status/s,
     '--help lists the options');

my $run = crowd($url, '--stats-url=http://127.0.0.1:9/stats');

is($run->{status}, 2, 'a checkout without a response');
like($run->{err}, qr{http://127.0.0.1:9/stats: Couldn't connect},
     'its URL and the error');

done_testing();
