# Commands to two stores while one of them hangs.

use strict;
use warnings;

use File::Temp qw( tempdir );
use IO::Select ();
use Test::More;
use CheckoutServer qw( post_text read_all read_response wait_until );
use PrivateMariaDB ();
use StoreAdmin qw( command compared read_answer send_command settled );

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


# A command in progress that cannot end while a store hangs.
sub blocked_command {
    my ($body) = @_;

    return wait_until {
        my $socket = send_command($admin, $body);

        # the server may have read the second command first
        command($admin, 'mend=1')->{status} == 409
            && !IO::Select->new($socket)->can_read(0) && $socket;
    } 'the command to start';
}


subtest 'the shadow hangs during a count' => sub {
    my $server = start(sqlite(), $db->store('shop=1'));
    is($server->buy()->{status}, 200, 'an order');
    compared($admin);

    $db->signal('STOP');
    my $check = blocked_command('check=1');

    my $response = command($admin, 'kill=1');
    is($response->{status}, 200, 'the kill switch is accepted');
    is($response->{json}{shadow}{truth}, 'first',
       'the first store is the truth');

    $response = read_answer($check);
    is($response->{status}, 503, 'the command before it ends');
    like($response->{json}{why}, qr/kill switch/, 'with the reason');
    is($server->buy()->{status}, 200, 'the sale continues');

    $db->signal('CONT');
    is(compared($admin)->{drift}{levels}, 0, 'the shadow catches up');

    $db->signal('STOP');
    $check = blocked_command('check=1');
    my $buying = $server->send_raw(post_text(''));
    is(read_answer($check)->{status}, 503, 'the command times out');
    is((read_all($buying))[0]{status}, 200, 'the sale continues');

    $db->signal('CONT');
    is(compared($admin)->{drift}{levels}, 0, 'no drift');
    is($server->stats()->{stock_sold}, 3, 'three units are sold');
};

subtest 'the checkout ends during a command' => sub {
    my $server = start($db->store('shop=2'), sqlite());
    is(command($admin, 'truth=second')->{status}, 200, 'switch');

    $db->signal('STOP');
    is($server->buy()->{status}, 200, 'an order');
    my $kill = blocked_command('kill=1');

    $server->signal('TERM');
    ok(!defined(read_response($kill)), 'no response');
    $db->signal('CONT');

    my ($status, $last) = $server->ended();
    is($status, 0, 'exit status');
    is($last->{stock_sold}, 1, 'one unit is sold');
};

subtest 'two stores that have sold different numbers' => sub {
    my ($first, $second) = (sqlite(), sqlite());
    my $server = CheckoutServer->start("--store=$second", @fast, '--stock=50');
    is($server->buy()->{status}, 200, 'an order in the second store');
    $server->stop();

    $server = start($first, $second);
    like($server->errors(), qr/not sold the same: \Q$first\E 0, \Q$second\E 1/,
         'logged at the start');
    is(settled($admin, 'truth=second')->{status}, 409, 'the switch is refused');
    $server->stop();

    $server = start($second, sqlite());
    like($server->errors(), qr/have not sold the same/, 'in both directions');
    $server->stop();

    $server = start(sqlite(), sqlite());
    unlike($server->errors(), qr/have not sold/, 'not if they are equal');
};

done_testing();
