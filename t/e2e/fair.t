# 200 shoppers, a wall of them and a tail, when 20 a second may buy: in order of
# first attempt with policy=fair, in any order with policy=lottery.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib", "$FindBin::Bin/../../tools/t/lib",
    "$FindBin::Bin/../../upstream-demo/t/lib";
use CheckoutServer;
use Edge;
use FlashCrowd qw(figures);
use Test::More;


sub sale {
    my ($policy) = @_;

    my $checkout = CheckoutServer->start('--stock=500', '--payment-slots=8');
    my $edge = Edge->start(checkout => $checkout, zone => 'rate=20r/s',
                           throttle => "policy=$policy");

    my $run = figures('--url', $edge->url, '--stages=1:150-150,9:6-6', '--shoppers=200',
                      '--patience=90', '--deadline',
                      '--stats-url', "http://127.0.0.1:$checkout->{port}/stats");
    my $figures = $run->{figures};

    is($run->{status}, 0, "$policy: nothing oversold, nobody charged late");
    is($figures->{shoppers}, 200, "$policy: all shoppers came");
    is($figures->{admitted}, 200, "$policy: all of them got to the checkout");
    is($figures->{orders} + $figures->{declined}, 200,
       "$policy: and to the end of it");

    diag(sprintf '%-8s overtaken %5.1f %%, wait spread %5.2f s, tau %.3f, '
         . 'worst inversion %5.2f s, %4.1f polls a shopper', "$policy:",
         $figures->{overtaken} * 100, $figures->{wait_spread_s},
         $figures->{kendall_tau}, $figures->{worst_inversion_s},
         $figures->{polls_per_shopper});

    return $figures;
}


my $fair = sale('fair');
my $lottery = sale('lottery');

cmp_ok($fair->{overtaken}, '<=', 0.02, 'fair: at most 2 % are overtaken');
cmp_ok($fair->{kendall_tau}, '>', 0.95, 'fair: order is kept');
cmp_ok($lottery->{overtaken}, '>', 0.5, 'lottery: most are overtaken');

done_testing();
