# A crypto library that fails: no cookie is sent that nobody has signed, and no
# ticket gets a place in the shuffle of an opening by default.

use lib 't/lib';
use File::Temp qw( tempdir );
use Test::More;

BEGIN {
    # the sanitizer's library must be the first one
    plan(skip_all => 'a library is preloaded') if $ENV{SANITIZE};

    my $dir = tempdir(CLEANUP => 1);

    open my $c, '>', "$dir/fail.c" or die "$dir/fail.c: $!";
    print $c <<'EOF_C';
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

static pid_t  loaded;

__attribute__((constructor)) static void
load(void)
{
    loaded = getpid();
}

/* fails in workers, and not for the library's own calls */
int
EVP_MD_CTX_copy_ex(void *out, const void *in)
{
    int      (*copy)(void *, const void *);
    Dl_info    caller;

    if (getpid() != loaded
        && (dladdr(__builtin_return_address(0), &caller) == 0
            || strstr(caller.dli_fname, "/libcrypto") == NULL))
    {
        return 0;
    }

    *(void **) &copy = dlsym(RTLD_NEXT, "EVP_MD_CTX_copy_ex");

    return copy(out, in);
}
EOF_C
    close $c;

    my $cc = $ENV{CC} || 'cc';
    system("$cc -shared -fPIC -o $dir/fail.so $dir/fail.c -ldl") == 0
        or plan(skip_all => "$cc does not make a shared library");

    $ENV{LD_PRELOAD} = "$dir/fail.so";
}

use Test::Nginx::Socket 'no_plan';
use Sale;

no_root_location();
run_tests();

__DATA__

=== TEST 1: a pass, a ticket and a shuffle
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/m burst=1;
    flash_throttle_zone $server_name zone=later:1m rate=1r/m burst=1;
--- config
    location / {
        flash_throttle zone=sale;
        proxy_pass http://upstream;
    }
    location /later {
        flash_throttle zone=later;
        flash_throttle_opens 2099-01-01T00:00:00Z;
        proxy_pass http://upstream;
    }
    location /throttle {
        flash_throttle_status;
    }
--- shop
    for my $what (qw( pass ticket )) {
        my $response = shopper->get('/checkout');

        is($response->status, 500, "no $what");
        is($response->header('Set-Cookie'), undef, 'no cookie');
    }

    like(log_line('error.log', 'ft_ticket_sign'), qr/\[crit\] .*ft_ticket_sign\(\) failed/, 'logged');
    wait_until('the end of the first request', sub { status_of('sale', 'localhost')->{inflight} == 0 });

    my $response = shopper->get('/later');

    is($response->status, 500, 'no place in the shuffle');
    is($response->header('Set-Cookie'), undef, 'no cookie');
    like(log_line('error.log', 'ft_ticket_shuffle'), qr/\[crit\] .*ft_ticket_shuffle\(\) failed/, 'logged');
