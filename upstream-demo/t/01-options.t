# The command line: error messages, --help, defaults.

use strict;
use warnings;

use Test::More;
use CheckoutServer;

my @refused = (
    [ ['--mode=fast'], qr/--mode=fast: must be naive, reserve, queue/ ],
    [ ['--stock=-1'], qr/--stock=-1: must be a whole number from 0 to/ ],
    [ ['--stock=12x'], qr/--stock=12x: must be a whole number/ ],
    [ ['--stock='], qr/--stock=: must be a whole number/ ],
    [ ['--seed=99999999999999999999'], qr/--seed=9+: must be a whole number/ ],
    [ ['--payment-slots=many'], qr/--payment-slots=many: must be a whole/ ],
    [ ['--decline=5'], qr/--decline=5: must be a number from 0 to 1/ ],
    [ ['--decline=nan'], qr/--decline=nan: must be a number/ ],
    [ ['--deadline=maybe'], qr/--deadline=maybe: must be on or off/ ],
    [ ['--store=oracle:shop'], qr/--store=oracle:shop: give sqlite:PATH/ ],
    [ ['--store=sqlite:'], qr/--store=sqlite:: must be sqlite:PATH/ ],
    [ ['--locations=17'], qr/--locations=17: must be a whole number from 1 to 16/ ],
    [ ['--store=mysql:shop'], qr/--store=mysql:shop: "shop" has no value; give mysql:/ ],
    [ ['--store=mysql:user=me'], qr/--store=\S+: socket, host or defaults is missing/ ],
    [ ['--store=mysql:sockt=/x'], qr/--store=\S+: "sockt" is unknown/ ],
    [ ['--store=mysql:socket=/x;pool=0'], qr/--store=\S+: pool=0: give a whole number from 1/ ],
    [ ['--store=mysql:socket=/x;pool=9;low=10'], qr/--store=\S+: low=10 is more than pool=9/ ],
    [ ['--slow-report=25'], qr/--slow-report=25 requires --store=mysql/ ],
    [ ['--hold-ms=10'], qr/--hold-ms=10: must be a whole number from 1000/ ],
    [ ['--listen=localhost:80'], qr/--listen=localhost:80: must be a numeric/ ],
    [ ['--listen=127.0.0.1:70000'], qr/--listen=\S+: must be a numeric/ ],
    [ ['--listen=127.0.0.1'], qr/--listen=127\.0\.0\.1: must be a numeric/ ],
    [ ['--payment-min-ms=9', '--payment-max-ms=8'],
      qr/--payment-min-ms=9 is greater than --payment-max-ms=8$/ ],
    [ ['--max-in-progress=8'],
      qr/--max-in-progress=8 requires --mode=waiting-room, not --mode=reserve/ ],
    [ ['--mode=deadline', '--deadline=off'],
      qr/--deadline=off conflicts with --mode=deadline/ ],
    [ ['--mode'], qr/option --mode requires a value/ ],
    [ ['--colour=red'], qr/unknown option or unexpected value: --colour=red/ ],
    [ ['now'], qr/unexpected argument: now/ ],
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

is($status, 0, '--help succeeds');
is($err, '', '--help prints nothing on stderr');
like($out, qr/^  --$_\b/m, "--help lists --$_")
    for qw( listen mode stock store locations hold-ms slow-report seed payment-slots payment-min-ms
            payment-max-ms decline deadline max-in-progress
            arrival-window-ms client-timeout-ms allow-reset );

# Errors after the command line was parsed: exit status 1.
my $server = CheckoutServer->start();

($status, $out, $err)
    = CheckoutServer->run("--listen=127.0.0.1:$server->{port}");
is($status, 1, 'a port in use');
like($err, qr/listening on 127\.0\.0\.1:$server->{port} failed/,
     'error message');

($status, $out, $err)
    = CheckoutServer->run('--store=sqlite:/nonexistent/shop.db');
is($status, 1, 'a directory that does not exist');
like($err, qr{--store=sqlite:/nonexistent/shop\.db: .*unable to open},
     'error message');

# Defaults that depend on the mode.
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
