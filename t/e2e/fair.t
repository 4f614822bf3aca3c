# 200 shoppers, most of them in the first second, at 20 admissions per second: in
# order of first attempts with policy=fair, not with policy=lottery.

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

    is($run->{status}, 0, "$policy: no oversale, no late charge");
    is($figures->{shoppers}, 200, "$policy: shoppers");
    is($figures->{admitted}, 200, "$policy: admitted");
    is($figures->{orders} + $figures->{declined}, 200,
       "$policy: orders and declined payments");

    diag(sprintf '%-8s overtaken %5.1f %%, wait spread %5.2f s, tau %.3f, '
         . 'worst inversion %5.2f s, %4.1f polls per shopper', "$policy:",
         $figures->{overtaken} * 100, $figures->{wait_spread_s},
         $figures->{kendall_tau}, $figures->{worst_inversion_s},
         $figures->{polls_per_shopper});

    return $figures;
}


my $fair = sale('fair');
my $lottery = sale('lottery');

cmp_ok($fair->{overtaken}, '<=', 0.02, 'fair: at most 2 % are overtaken');
cmp_ok($fair->{kendall_tau}, '>', 0.95, 'fair: in order');
cmp_ok($lottery->{overtaken}, '>', 0.5, 'lottery: most are overtaken');

done_testing();
