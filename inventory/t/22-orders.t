# Orders to a pair of stores of which one hangs, at any moment of the order.

use strict;
use warnings;

use File::Temp qw( tempdir );
use IO::Select ();
use Test::More;
use CheckoutServer qw( post_text read_all read_response wait_until );
use PrivateMariaDB ();
use StoreAdmin qw( answer_to compared order send_order settled );

my $dir = tempdir(CLEANUP => 1);
my $admin = "$dir/admin.sock";
my @fast = qw( --payment-min-ms=0 --payment-max-ms=2 --decline=0 );
my $files = 0;
my $db = PrivateMariaDB->start();


sub start {
    my (@stores) = @_;

    return CheckoutServer->start("--admin=unix:$admin", @fast, '--stock=50',
                                 '--store=shadow:' . join(',', @stores));
}


sub sqlite {
    return "sqlite:$dir/" . ++$files . '.db';
}


# An order that is being carried out, and cannot be as long as a store hangs.
sub stuck {
    my ($body) = @_;

    return wait_until {
        my $socket = send_order($admin, $body);

        # unless this one was the first to be read
        order($admin, 'mend=1')->{status} == 409
            && !IO::Select->new($socket)->can_read(0) && $socket;
    } 'the order to be begun';
}


subtest 'the shadow hangs while it is counted' => sub {
    my $server = start(sqlite(), $db->store('shop=1'));
    is($server->buy()->{status}, 200, 'an order');
    compared($admin);

    $db->signal('STOP');
    my $check = stuck('check=1');

    my $response = order($admin, 'kill=1');
    is($response->{status}, 200, 'the kill switch is never refused');
    is($response->{json}{shadow}{truth}, 'first', 'the first decides');

    $response = answer_to($check);
    is($response->{status}, 503, 'the order before it is');
    like($response->{json}{why}, qr/kill switch/, 'and why');
    is($server->buy()->{status}, 200, 'the sale goes on');

    $db->signal('CONT');
    is(compared($admin)->{drift}{levels}, 0, 'the shadow catches up');

    $db->signal('STOP');
    $check = stuck('check=1');
    my $buying = $server->send_raw(post_text(''));
    is(answer_to($check)->{status}, 503, 'an order alone is given up');
    is((read_all($buying))[0]{status}, 200, 'with the shadow still hanging');

    $db->signal('CONT');
    is(compared($admin)->{drift}{levels}, 0, 'and no drift at rest');
    is($server->stats()->{stock_sold}, 3, 'what was sold');
};

subtest 'the checkout ends with an order under way' => sub {
    my $server = start($db->store('shop=2'), sqlite());
    is(order($admin, 'truth=second')->{status}, 200, 'the second decides');

    $db->signal('STOP');
    is($server->buy()->{status}, 200, 'and the first is to follow');
    my $kill = stuck('kill=1');

    $server->signal('TERM');
    ok(!defined(read_response($kill)), 'nobody is told');
    $db->signal('CONT');

    my ($status, $last) = $server->ended();
    is($status, 0, 'it ends well');
    is($last->{stock_sold}, 1, 'with what was sold');
};

subtest 'a pair of which one has sold more' => sub {
    my ($first, $second) = (sqlite(), sqlite());
    my $server = CheckoutServer->start("--store=$second", @fast, '--stock=50');
    is($server->buy()->{status}, 200, 'an order of one alone');
    $server->stop();

    $server = start($first, $second);
    like($server->errors(), qr/not sold the same: \Q$first\E 0, \Q$second\E 1/,
         'the start says so');
    is(settled($admin, 'truth=second')->{status}, 409, 'there is no switch');
    $server->stop();

    $server = start($second, sqlite());
    like($server->errors(), qr/have not sold the same/, 'either way');
    $server->stop();

    $server = start(sqlite(), sqlite());
    unlike($server->errors(), qr/have not sold/, 'not where they have');
};

done_testing();
