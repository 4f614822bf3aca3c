# A shopper with a browser: the page, its polls, the checkout, the order.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib", "$FindBin::Bin/../../tools/t/lib",
    "$FindBin::Bin/../../upstream-demo/t/lib";
use CheckoutServer qw(wait_until);
use Edge;
use HTTP::Tiny;
use JSON::PP qw(decode_json);
use Test::More;
use Time::HiRes qw(sleep);

my @browser = (Accept => 'text/html,application/xhtml+xml;q=0.9');
my @script = (Accept => 'application/json', 'Flash-Throttle-Poll' => 1);

my $checkout = CheckoutServer->start('--stock=10', '--decline=0');
my $edge = Edge->start(checkout => $checkout, throttle => 'policy=fair',
                       zone => 'rate=20r/m burst=1');
my $http = HTTP::Tiny->new(max_redirect => 0, timeout => 60);


# A shopper's request, with the cookie that its jar keeps.
sub ask {
    my ($jar, $method, $headers, %options) = @_;
    my %headers = @$headers;

    $headers{Cookie} = $jar->{cookie} if $jar->{cookie};

    my $response = $http->request($method, $edge->url,
                                  { headers => \%headers, %options });
    my $set = $response->{headers}{'set-cookie'};

    for my $line (ref $set ? @$set : $set // ()) {
        ($jar->{cookie}) = $line =~ /^([^;]+)/;
    }

    return $response;
}


my (%first, %second);

is(ask(\%first, 'GET', \@browser)->{status}, 200, 'the first goes through');
is($checkout->stats->{arrivals}, 1, 'to the checkout');

my $page = ask(\%second, 'GET', \@browser);

is($page->{status}, 503, 'the second waits');
like($page->{headers}{'content-type'}, qr{^text/html}, 'on a page');
like($page->{content}, qr/Flash-Throttle-Poll/, 'that polls');
like($page->{headers}{'retry-after'}, qr/^[1-9]\d*$/, 'and is told when');
ok($second{cookie}, 'with a ticket');

my $ticket = $second{cookie};
my ($polls, %stamps) = (0);

wait_until {
    my $poll = decode_json(ask(\%second, 'GET', \@script)->{content});
    $polls++;

    return 1 if $poll->{status} eq 'admitted';

    $stamps{$poll->{first_attempt_ms}} = 1;
    sleep($poll->{retry_ms} / 1000);

    return 0;
} 'the turn of the second';

cmp_ok($polls, '>', 1, 'polls until it is its turn');
is(scalar(keys %stamps), 1, 'and keeps its place');
isnt($second{cookie}, $ticket, 'has a pass now');
is($checkout->stats->{arrivals}, 1, 'no poll went to the checkout');

my $form = ask(\%second, 'GET', \@browser);

is($form->{status}, 200, 'goes to the checkout');
like($form->{content}, qr/<form method="post" action="\/checkout">/,
     'and finds the form');

my $order = ask(\%second, 'POST',
                [@browser, 'Content-Type' => 'application/x-www-form-urlencoded'],
                content => 'quantity=2&email=shopper%40example.com');

is($order->{status}, 200, 'pays');
like($order->{content}, qr/Order <code>/, 'and has the order');
is($checkout->stats->{stock_now}, 8, 'two units are gone');
is($edge->status->{passed}, 2, 'both with the pass');

done_testing();
