# Payments: the seed determines durations and declines.

use strict;
use warnings;

use Test::More;
use CheckoutServer qw( read_all post_text );

my @args = qw( --mode=queue --payment-slots=1 --payment-min-ms=2
               --payment-max-ms=10 --decline=0.3 --stock=1000 );

sub payments {
    my (@more) = @_;
    my $server = CheckoutServer->start(@args, @more);

    return [ map {
        my $json = $server->buy()->{json};
        "$json->{status} $json->{payment_ms}";
    } 1 .. 40 ];
}

my $one = payments('--seed=11');

is_deeply(payments('--seed=11'), $one, 'the same seed, the same payments');
isnt(join(',', @{payments('--seed=12')}), join(',', @$one), 'another seed');

my $alike = 0;
my %first = map { $_ => 1 } @$one;
$alike += grep { $first{$_} } @{payments("--seed=$_")} for 12 .. 14;
is($alike, 0, 'adjacent seeds have no payment in common');

my @durations = sort { $a <=> $b } map { (split)[1] } @$one;
cmp_ok($durations[0], '>=', 2, 'no payment is shorter than the minimum');
cmp_ok($durations[-1], '<=', 10, 'no payment is longer than the maximum');
cmp_ok($durations[-1] - $durations[0], '>', 4, 'durations differ');

# Concurrent orders get the same payments.
my $server = CheckoutServer->start(@args, '--seed=11');
my @crowd = read_all(map { $server->send_raw(post_text('')) } 1 .. 40);
my @seen = map {
    my ($status) = $_->{content} =~ /"status":"(\w+)"/;
    my ($ms) = $_->{content} =~ /"payment_ms":([\d.]+)/;
    "$status " . ($ms + 0);
} @crowd;
is_deeply([ sort @seen ], [ sort @$one ], 'concurrent orders get the same payments');

# The seed is fixed, so the counts are the same in every run.
$server = CheckoutServer->start(qw( --mode=queue --payment-slots=0
    --payment-min-ms=100 --payment-max-ms=400 --seed=1 --stock=1000 ));
my @playbook = read_all(map { $server->send_raw(post_text('')) } 1 .. 1000);
my $declined = grep { $_->{status} == 402 } @playbook;
my $sum = 0;
$sum += $_->{content} =~ /"payment_ms":([\d.]+)/ ? $1 : 0 for @playbook;

cmp_ok($declined, '>=', 30, 'at least 3 % are declined');
cmp_ok($declined, '<=', 70, 'at most 7 % are declined');
cmp_ok($sum / 1000, '>=', 240, 'the mean duration is at least 240 ms');
cmp_ok($sum / 1000, '<=', 260, 'the mean duration is at most 260 ms');

is(CheckoutServer->start(qw( --payment-min-ms=30 --payment-max-ms=30
                             --decline=0 ))->buy()->{json}{payment_ms}, 30,
   'a fixed duration');

done_testing();
