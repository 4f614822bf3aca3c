# Instructions, beside those recorded: that is the check of CI.  And that it
# fails where it should.

use strict;
use warnings;

use File::Temp qw(tempdir);
use JSON::PP;
use Test::More;

my $dir = tempdir(CLEANUP => 1);

plan skip_all => 'valgrind is not there'
    if system('command -v valgrind > /dev/null') != 0;

plan skip_all => 'a build with sanitizers is not what is counted'
    if ($ENV{SANITIZE} // 0) == 1;

my $text = `bench/instructions.pl 2>&1`;
is($?, 0, 'none takes 5 % more than recorded') or diag($text);
diag($text);

SKIP: {
    skip 'recorded with another compiler', 2 if $text =~ /nothing to compare/;

    open my $file, '<', 'bench/instructions.json' or die;
    my $recorded = decode_json(do { local $/; <$file> });

    # an algorithm that is 10 % worse than this one was
    $recorded->{instructions}{pass} = int($recorded->{instructions}{pass} / 1.1);

    open $file, '>', "$dir/recorded.json" or die;
    print {$file} encode_json($recorded);
    close $file;

    $text = `INSTRUCTIONS=$dir/recorded.json bench/instructions.pl pass 2>&1`;
    isnt($?, 0, 'one that takes 10 % more is a failure');
    like($text, qr/1 of them more than 5 % above/, '... and it says so');
}

done_testing();
