# A browser's requests: the page, its polls, the checkout, the order.

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

is(ask(\%first, 'GET', \@browser)->{status}, 200, 'the first shopper is admitted');
is($checkout->stats->{arrivals}, 1, 'one request at the checkout');

my $page = ask(\%second, 'GET', \@browser);

is($page->{status}, 503, 'the second shopper waits');
like($page->{headers}{'content-type'}, qr{^text/html}, 'an HTML page');
like($page->{content}, qr/Flash-Throttle-Poll/, 'with the polling script');
like($page->{headers}{'retry-after'}, qr/^[1-9]\d*$/, 'with Retry-After');
ok($second{cookie}, 'with a ticket');

my $ticket = $second{cookie};
my ($polls, %timestamps) = (0);

wait_until {
    my $poll = decode_json(ask(\%second, 'GET', \@script)->{content});
    $polls++;

    return 1 if $poll->{status} eq 'admitted';

    $timestamps{$poll->{first_attempt_ms}} = 1;
    sleep($poll->{retry_ms} / 1000);

    return 0;
} 'the admission of the second';

cmp_ok($polls, '>', 1, 'several polls');
is(scalar(keys %timestamps), 1, 'one timestamp');
isnt($second{cookie}, $ticket, 'a pass replaces the ticket');
is($checkout->stats->{arrivals}, 1, 'no poll reaches the checkout');

my $form = ask(\%second, 'GET', \@browser);

is($form->{status}, 200, 'the pass admits');
like($form->{content}, qr/<form method="post" action="\/checkout">/,
     'the form');

my $order = ask(\%second, 'POST',
                [@browser, 'Content-Type' => 'application/x-www-form-urlencoded'],
                content => 'quantity=2&email=shopper%40example.com');

is($order->{status}, 200, 'the order');
like($order->{content}, qr/Order <code>/, 'the order number');
is($checkout->stats->{stock_now}, 8, 'two units less in stock');
is($edge->status->{passed}, 2, 'two requests with the pass');

done_testing();
