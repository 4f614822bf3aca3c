# 200 shoppers, most of them in the first second, and a limit of 20 a second:
# policy=fair admits them in the order of their first attempts, policy=lottery in
# any order.  The edge's log is compared: on a busy machine the shoppers' clocks
# include the time that their own requests waited for a processor.

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
                           throttle => "policy=$policy", log => 1);

    my $run = figures('--url', $edge->url, '--stages=1:150-150,9:6-6', '--shoppers=200',
                      '--patience=90', '--deadline',
                      '--stats-url', "http://127.0.0.1:$checkout->{port}/stats");
    my $figures = $run->{figures};

    is($run->{status}, 0, "$policy: nothing oversold, nobody charged late");
    is($figures->{shoppers}, 200, "$policy: all shoppers came");
    is($figures->{admitted}, 200, "$policy: all of them reached the checkout");
    is($figures->{orders} + $figures->{declined}, 200,
       "$policy: all orders were answered");

    my $order = $edge->report;

    note(sprintf '%s: overtaken %.1f %%, tau %.3f, worst inversion %.2f s',
         $policy, $order->{overtaken} * 100,
         @$order{qw(kendall_tau worst_inversion_s)});

    return $order;
}


my $fair = sale('fair');
my $lottery = sale('lottery');

# a poll that is late on a busy machine is overtaken
cmp_ok($fair->{overtaken}, '<=', 0.05, 'fair: at most 5 % are overtaken');
cmp_ok($fair->{kendall_tau}, '>', 0.95, 'fair: in order');
cmp_ok($lottery->{overtaken}, '>', 0.5, 'lottery: most are overtaken');

done_testing();
