# The command line: what is wrong, where, and what to give instead.

use strict;
use warnings;

use Test::More;
use CheckoutServer;

my @refused = (
    [ ['--mode=fast'], qr/--mode=fast: give one of naive, reserve, queue/ ],
    [ ['--stock=-1'], qr/--stock=-1: give a whole number from 0 to/ ],
    [ ['--stock=12x'], qr/--stock=12x: give a whole number/ ],
    [ ['--stock='], qr/--stock=: give a whole number/ ],
    [ ['--seed=99999999999999999999'], qr/--seed=9+: give a whole number/ ],
    [ ['--payment-slots=many'], qr/--payment-slots=many: give a whole/ ],
    [ ['--decline=5'], qr/--decline=5: give a share from 0 to 1/ ],
    [ ['--decline=nan'], qr/--decline=nan: give a share/ ],
    [ ['--deadline=maybe'], qr/--deadline=maybe: give on or off/ ],
    [ ['--store=oracle:shop'], qr/--store=oracle:shop: give sqlite:PATH/ ],
    [ ['--store=sqlite:'], qr/--store=sqlite:: give sqlite:PATH/ ],
    [ ['--locations=17'], qr/--locations=17: give a whole number from 1 to 16/ ],
    [ ['--store=mysql:shop'], qr/--store=mysql:shop: "shop" has no value; give mysql:/ ],
    [ ['--store=mysql:user=me'], qr/--store=\S+: socket, host or defaults is missing/ ],
    [ ['--store=mysql:sockt=/x'], qr/--store=\S+: "sockt" is unknown/ ],
    [ ['--store=mysql:socket=/x;pool=0'], qr/--store=\S+: pool=0: give a whole number from 1/ ],
    [ ['--store=mysql:socket=/x;pool=9;low=10'], qr/--store=\S+: low=10 is more than pool=9/ ],
    [ ['--slow-report=25'], qr/--slow-report=25: --store=sqlite::memory: has no/ ],
    [ ['--hold-ms=10'], qr/--hold-ms=10: give a whole number from 1000/ ],
    [ ['--listen=localhost:80'], qr/--listen=localhost:80: give a numeric/ ],
    [ ['--listen=127.0.0.1:70000'], qr/--listen=\S+: give a numeric/ ],
    [ ['--listen=127.0.0.1'], qr/--listen=127\.0\.0\.1: give a numeric/ ],
    [ ['--payment-min-ms=9', '--payment-max-ms=8'],
      qr/--payment-min-ms=9 is more than --payment-max-ms=8; lower/ ],
    [ ['--max-in-progress=8'],
      qr/--max-in-progress=8: --mode=reserve .* add --mode=waiting-room/ ],
    [ ['--mode=deadline', '--deadline=off'],
      qr/--deadline=off: .* give --mode=queue/ ],
    [ ['--mode'], qr/--mode: needs a value/ ],
    [ ['--colour=red'], qr/--colour=red: no such option/ ],
    [ ['now'], qr/now: every argument begins with --/ ],
);

for my $case (@refused) {
    my ($args, $message) = @$case;
    my ($status, $out, $err) = CheckoutServer->run(@$args);

    subtest "checkout @$args" => sub {
        is($status, 2, 'exit status');
        is($out, '', 'nothing on stdout');
        like($err, qr/\Acheckout: $message/, 'message');
        unlike($err, qr/\n./, 'one line');
    };
}

my ($status, $out, $err) = CheckoutServer->run('--help');

is($status, 0, '--help ends well');
is($err, '', '--help has nothing on stderr');
like($out, qr/^  --$_\b/m, "--help tells of --$_")
    for qw( listen mode stock store locations hold-ms slow-report seed payment-slots payment-min-ms
            payment-max-ms decline deadline max-in-progress
            arrival-window-ms client-timeout-ms allow-reset );

# An address that is taken, and a store that cannot be made, are no mistake
# on the command line.
my $server = CheckoutServer->start();

($status, $out, $err)
    = CheckoutServer->run("--listen=127.0.0.1:$server->{port}");
is($status, 1, 'a port that is taken');
like($err, qr/--listen=127\.0\.0\.1:$server->{port}: .*port that is free/,
     'says so');

($status, $out, $err)
    = CheckoutServer->run('--store=sqlite:/nonexistent/shop.db');
is($status, 1, 'a folder that is not there');
like($err, qr{--store=sqlite:/nonexistent/shop\.db: .*a folder that exists},
     'says so');

# The defaults that depend on the mode.
my %defaults = (
    'naive' => ['off', 0, 0],
    'reserve' => ['on', 0, 0],
    'queue' => ['off', 8, 0],
    'deadline' => ['on', 8, 0],
    'waiting-room' => ['off', 8, 8],
);

for my $mode (sort keys %defaults) {
    my $config = CheckoutServer->start("--mode=$mode")->stats()->{config};

    is_deeply([ @$config{qw( deadline payment_slots max_in_progress )} ],
              $defaults{$mode}, "defaults of $mode");
}

done_testing();
