# Compares the instruction counts with the recorded ones, and checks that a
# higher count fails.

use strict;
use warnings;

use File::Temp qw(tempdir);
use JSON::PP;
use Test::More;

my $dir = tempdir(CLEANUP => 1);

plan skip_all => 'valgrind not found'
    if system('command -v valgrind > /dev/null') != 0;

plan skip_all => 'build with sanitizers'
    if ($ENV{SANITIZE} // 0) == 1;

my $text = `bench/instructions.pl 2>&1`;
is($?, 0, 'no count is more than 5 % above the recorded one') or diag($text);
diag($text);

SKIP: {
    skip 'recorded with another compiler', 2 if $text =~ /not compared/;

    open my $file, '<', 'bench/instructions.json' or die;
    my $recorded = decode_json(do { local $/; <$file> });

    # as if the count had grown by 10 %
    $recorded->{instructions}{pass} = int($recorded->{instructions}{pass} / 1.1);

    open $file, '>', "$dir/recorded.json" or die;
    print {$file} encode_json($recorded);
    close $file;

    $text = `INSTRUCTIONS=$dir/recorded.json bench/instructions.pl pass 2>&1`;
    isnt($?, 0, 'a count 10 % above fails');
    like($text, qr/1 more than 5 % above/, '... with a message');
}

done_testing();
