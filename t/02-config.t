# Configurations that "nginx -t" must refuse, and the message it must print.

use strict;
use warnings;

use lib 't/lib';
use Cwd qw(abs_path);
use File::Temp ();
use Files qw(write_file);
use Test::More;

# A case has a name and a message, a string or a pattern.  Its directives stand
# in http{} ("http"), in server{} ("server") or in location / ("location").
# "zone" replaces the zone of $default.  DIR is the directory of the files
# "secret" and "a.html", with the contents "secret" and "page".
my @cases = (
    {   name => 'zone without a name',
        zone => 'flash_throttle_zone $server_name rate=1r/s;',
        message => '"flash_throttle_zone" must have "zone" parameter, as in "zone=sale:1m"',
    },

    {   name => 'zone without a size',
        zone => 'flash_throttle_zone $server_name zone=sale rate=1r/s;',
        message => 'invalid zone "zone=sale" in "flash_throttle_zone" directive, it must be "zone=name:size"',
    },

    {   name => 'zone size that is not a size',
        zone => 'flash_throttle_zone $server_name zone=sale:big rate=1r/s;',
        message => 'invalid zone size "zone=sale:big" in "flash_throttle_zone" directive, it must be "zone=name:size", as in "zone=sale:1m"',
    },

    {   name => 'zone too small for one key',
        zone => 'flash_throttle_zone $server_name zone=sale:32k rate=1r/s;',
        message => 'zone "zone=sale:32k" in "flash_throttle_zone" directive is too small, one key takes ',
    },

    {   name => 'zone without a limit',
        zone => 'flash_throttle_zone $server_name zone=sale:1m;',
        message => '"flash_throttle_zone" must have "rate", "inflight" or "sessions" parameter, as in "rate=30r/s"',
    },

    {   name => 'rate of 0',
        zone => 'flash_throttle_zone $server_name zone=sale:1m rate=0r/s;',
        message => 'invalid rate "rate=0r/s" in "flash_throttle_zone" directive, it must be "rate=Nr/s" or "rate=Nr/m", at most 1000000 a second',
    },

    {   name => 'rate without a unit',
        zone => 'flash_throttle_zone $server_name zone=sale:1m rate=5;',
        message => 'invalid rate "rate=5" in "flash_throttle_zone" directive, it must be "rate=Nr/s" or "rate=Nr/m"',
    },

    {   name => 'rate above the maximum',
        zone => 'flash_throttle_zone $server_name zone=sale:1m rate=1000001r/s;',
        message => 'invalid rate "rate=1000001r/s" in "flash_throttle_zone" directive, it must be "rate=Nr/s" or "rate=Nr/m", at most 1000000 a second',
    },

    {   name => 'period of 0',
        zone => 'flash_throttle_zone $server_name zone=sale:1m rate=1r/s period=0;',
        message => 'invalid period "period=0" in "flash_throttle_zone" directive, it must be a time from 100ms to 1h, as in "period=5s"',
    },

    {   name => 'burst of 0',
        zone => 'flash_throttle_zone $server_name zone=sale:1m rate=1r/s burst=0;',
        message => 'invalid burst "burst=0" in "flash_throttle_zone" directive, it must be a number from 1 to 1000000',
    },

    {   name => 'inflight of 0',
        zone => 'flash_throttle_zone $server_name zone=sale:1m rate=1r/s inflight=0;',
        message => 'invalid inflight "inflight=0" in "flash_throttle_zone" directive, it must be a number from 1 to 1000000',
    },

    {   name => 'unknown parameter of a zone',
        zone => 'flash_throttle_zone $server_name zone=sale:1m rate=1r/s speed=1;',
        message => 'invalid parameter "speed=1" in "flash_throttle_zone" directive, it must be "zone=", "rate=", "period=", "burst=", "inflight=" or "sessions="',
    },

    {   name => 'two zones with one name',
        http => 'flash_throttle_zone $host zone=sale:1m rate=1r/s;',
        message => 'flash_throttle_zone "sale" is already bound to key "$server_name"',
    },

    {   name => 'zone name used by another module',
        zone => q{
            limit_req_zone $server_name zone=sale:1m rate=1r/s;
            flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
        },
        message => 'the shared memory zone "sale" is already declared for a different use',
    },

    {   name => 'flash_throttle without a zone',
        location => 'flash_throttle policy=fair;',
        message => '"flash_throttle" must have "zone" parameter, the name of a "flash_throttle_zone", or be "off"',
    },

    {   name => 'flash_throttle with an unknown zone',
        location => 'flash_throttle zone=other;',
        message => 'unknown zone "other" in "flash_throttle" directive in ',
    },

    {   name => 'unknown policy',
        location => 'flash_throttle zone=sale policy=best;',
        message => 'invalid policy "policy=best" in "flash_throttle" directive, it must be "fair", "lottery", "proportional" or "reject"',
    },

    {   name => 'hold above the maximum',
        location => 'flash_throttle zone=sale hold=2m;',
        message => 'invalid hold "hold=2m" in "flash_throttle" directive, it must be a time up to 1m, as in "hold=2s", or 0',
    },

    {   name => 'max_wait that is not a time',
        location => 'flash_throttle zone=sale max_wait=soon;',
        message => 'invalid max_wait "max_wait=soon" in "flash_throttle" directive, it must be a time up to 1d, as in "max_wait=10m", or 0',
    },

    {   name => 'unknown parameter of flash_throttle',
        location => 'flash_throttle zone=sale nodelay;',
        message => 'invalid parameter "nodelay" in "flash_throttle" directive, it must be "zone=", "policy=", "hold=", "max_wait=", or "off" alone',
    },

    {   name => 'flash_throttle off with a zone',
        location => 'flash_throttle off zone=sale;',
        message => 'invalid parameter "off" in "flash_throttle" directive, it must be "zone=", "policy=", "hold=", "max_wait=", or "off" alone',
    },

    {   name => 'flash_throttle twice in a location',
        location => q{
            flash_throttle zone=sale;
            flash_throttle zone=sale;
        },
        message => '"flash_throttle" directive is duplicate',
    },

    {   name => 'invalid cookie name',
        location => 'flash_throttle_cookie "a b";',
        message => 'invalid name "a b" in "flash_throttle_cookie" directive, it must be letters, digits, "_", "-" and "."',
    },

    {   name => 'zone name that is not a valid cookie name',
        zone => 'flash_throttle_zone $server_name "zone=big sale:1m" rate=1r/s;',
        location => 'flash_throttle "zone=big sale";',
        message => 'invalid cookie name "flash_throttle_big sale" of the zone "big sale", "flash_throttle_cookie" must set another',
    },

    {   name => 'cookie attribute that the module sets itself',
        location => 'flash_throttle_cookie place Max-Age=60;',
        message => 'invalid attribute "Max-Age=60" in "flash_throttle_cookie" directive, it must be "Path", "Domain", "SameSite", "Secure", "HttpOnly" or "Partitioned" as in a Set-Cookie header, without variables',
    },

    {   name => 'invalid SameSite',
        location => 'flash_throttle_cookie place "Path=/; SameSite=No";',
        message => 'invalid attribute "SameSite=No" in "flash_throttle_cookie" directive',
    },

    {   name => 'invalid Path',
        location => 'flash_throttle_cookie place Path=shop;',
        message => 'invalid attribute "Path=shop" in "flash_throttle_cookie" directive',
    },

    {   name => 'cookie prefix __Secure- without Secure',
        location => 'flash_throttle_cookie __Secure-place;',
        message => 'invalid name "__Secure-place" in "flash_throttle_cookie" directive, browsers require "Secure" with this prefix',
    },

    {   name => 'cookie prefix __Host- with a path',
        location => 'flash_throttle_cookie __Host-place "Secure; Path=/shop";',
        message => 'invalid name "__Host-place" in "flash_throttle_cookie" directive, browsers require "Path=/" and no "Domain" with this prefix',
    },

    {   name => 'flash_throttle_cookie twice in a location',
        location => q{
            flash_throttle_cookie a;
            flash_throttle_cookie b;
        },
        message => '"flash_throttle_cookie" directive is duplicate',
    },

    {   name => 'session of 0',
        location => 'flash_throttle_session 0;',
        message => 'invalid time "0" in "flash_throttle_session" directive, it must be from 1s to 1d, as in "10m"',
    },

    {   name => 'session above the maximum',
        location => 'flash_throttle_session 25h;',
        message => 'invalid time "25h" in "flash_throttle_session" directive, it must be from 1s to 1d, as in "10m"',
    },

    {   name => 'queue page that does not exist',
        location => 'flash_throttle_queue_page no-such-page.html;',
        message => 'no-such-page.html" failed (2: No such file or directory)',
    },

    {   name => 'queue page that is a directory',
        location => 'flash_throttle_queue_page /;',
        message => 'invalid page "/" in "flash_throttle_queue_page" directive, it must be a file of 1 byte to 1m',
    },

    {   name => 'queue status without a body',
        location => 'flash_throttle_queue_status 204;',
        message => 'invalid code "204" in "flash_throttle_queue_status" directive, it must be one that browsers show a page for, such as 200, 429 or 503',
    },

    {   name => 'queue status that redirects',
        location => 'flash_throttle_queue_status 302;',
        message => 'invalid code "302" in "flash_throttle_queue_status" directive, it must be from 200 to 299, or from 400 to 599',
    },

    {   name => 'queue status that is not a number',
        location => 'flash_throttle_queue_status busy;',
        message => '"flash_throttle_queue_status" directive invalid number',
    },

    {   name => 'poll interval below the minimum',
        location => 'flash_throttle_poll min=10ms;',
        message => 'invalid time "min=10ms" in "flash_throttle_poll" directive, it must be from 100ms to 55s',
    },

    {   name => 'poll interval above the maximum',
        location => 'flash_throttle_poll max=1m;',
        message => 'invalid time "max=1m" in "flash_throttle_poll" directive, it must be from 100ms to 55s',
    },

    {   name => 'poll minimum above the maximum',
        location => 'flash_throttle_poll min=20s;',
        message => 'invalid bounds in "flash_throttle_poll" directive, "min" is 20000ms and must not exceed "max", 15000ms',
    },

    {   name => 'unknown parameter of flash_throttle_poll',
        location => 'flash_throttle_poll every=1s;',
        message => 'invalid parameter "every=1s" in "flash_throttle_poll" directive, it must be "min=time" or "max=time"',
    },

    {   name => 'dry run neither on nor off',
        location => 'flash_throttle_dry_run yes;',
        message => 'invalid value "yes" in "flash_throttle_dry_run" directive, it must be "on" or "off"',
    },

    {   name => 'unknown log level',
        location => 'flash_throttle_log_level loud;',
        message => 'invalid value "loud"',
    },

    {   name => 'status with an argument',
        location => 'flash_throttle_status json;',
        message => 'invalid number of arguments in "flash_throttle_status" directive',
    },

    {   name => 'secret file that does not exist',
        http => 'flash_throttle_secret_file no-such-secret;',
        message => '/no-such-secret" failed (2: No such file or directory)',
    },

    {   name => 'secret too short',
        http => 'flash_throttle_secret_file DIR/secret;',
        secret => "tiny\n",
        message => 'secret of 4 bytes in DIR/secret:1, it must be at least 16',
    },

    {   name => 'secret file without a secret',
        http => 'flash_throttle_secret_file DIR/secret;',
        secret => "# nothing but a comment\n",
        message => 'no secret in file "DIR/secret"',
    },

    {   name => 'too many secrets',
        http => 'flash_throttle_secret_file DIR/secret;',
        secret => "secret number 1 of nine\nsecret number 2 of nine\nsecret number 3 of nine\nsecret number 4 of nine\nsecret number 5 of nine\nsecret number 6 of nine\nsecret number 7 of nine\nsecret number 8 of nine\nsecret number 9 of nine\n",
        message => 'too many secrets in DIR/secret:9, it must be at most 8',
    },

    {   name => 'parameter of a zone twice',
        http => 'flash_throttle_zone $server_name zone=other:1m rate=1r/s rate=2r/s;',
        message => 'duplicate parameter "rate=2r/s" in "flash_throttle_zone" directive, "rate=1r/s" was specified earlier',
    },

    {   name => 'parameter of flash_throttle twice',
        location => 'flash_throttle zone=sale zone=other;',
        message => 'duplicate parameter "zone=other" in "flash_throttle" directive, "zone=sale" was specified earlier',
    },

    {   name => 'poll minimum twice',
        location => 'flash_throttle_poll min=1s min=2s;',
        message => 'duplicate parameter "min=2s" in "flash_throttle_poll" directive, "min=1s" was specified earlier',
    },

    {   name => 'queue status that browsers retry at once',
        location => 'flash_throttle_queue_status 425;',
        message => 'invalid code "425" in "flash_throttle_queue_status" directive, it must be one that browsers show a page for',
    },

    {   name => 'variable in a cookie attribute',
        location => 'flash_throttle_cookie place Domain=$host;',
        message => 'invalid attribute "Domain=$host" in "flash_throttle_cookie" directive',
    },

    {   name => 'SameSite=None without Secure',
        location => 'flash_throttle_cookie place SameSite=None;',
        message => 'invalid attributes in "flash_throttle_cookie" directive, browsers require "Secure" with "SameSite=None" and "Partitioned"',
    },

    {   name => 'Partitioned without Secure',
        location => 'flash_throttle_cookie place Partitioned;',
        message => 'invalid attributes in "flash_throttle_cookie" directive, browsers require "Secure"',
    },

    {   name => 'secret with a control character',
        http => 'flash_throttle_secret_file DIR/secret;',
        secret => "# zeroes\n" . "\0" x 40 . "\n",
        message => 'control character in secret in DIR/secret:2',
    },

    {   name => 'secret file with comments after a byte order mark and after spaces',
        http => 'flash_throttle_secret_file DIR/secret;',
        secret => "\xef\xbb\xbf# this is a comment, not a secret\n \t # and so is this one\n",
        message => 'no secret in file "DIR/secret"',
    },

    {   name => 'key that is always empty',
        zone => 'flash_throttle_zone "" zone=sale:1m rate=1r/s;',
        message => 'invalid key "" in "flash_throttle_zone" directive, it must be text or variables, as in "$server_name"',
    },

    {   name => 'queue page with variables, without ".html"',
        server => 'flash_throttle_queue_page pages/$host;',
        message => 'with variables it must end with ".html"',
    },

    {   name => 'queue page with variables that match no file',
        server => 'flash_throttle_queue_page pages/$host/${arg_x}y.html;',
        message => qr{no file matches "DIR/conf/pages/\*/\*y\.html"},
    },

    {   name => 'queue page with an unknown variable',
        server => 'flash_throttle_queue_page DIR/$nonesuch.html;',
        page => "a\n",
        message => 'unknown "nonesuch" variable',
    },

    {   name => 'flash_throttle_queue_page twice in a server',
        server => q{
            flash_throttle_queue_page DIR/$host.html;
            flash_throttle_queue_page DIR/a.html;
        },
        page => "a\n",
        message => '"flash_throttle_queue_page" directive is duplicate',
    },

    {   name => 'opening time without an offset',
        location => 'flash_throttle_opens 2026-11-27T12:00:00;',
        message => 'invalid time "2026-11-27T12:00:00" in "flash_throttle_opens" directive, it must be as in RFC 3339 with an offset, such as "2026-11-27T12:00:00Z" or "2026-11-27T12:00:00.5+01:00", or "off"',
    },

    {   name => 'opening time on a day that does not exist',
        http => 'flash_throttle_opens 2026-02-29T12:00:00Z;',
        message => 'invalid time "2026-02-29T12:00:00Z" in "flash_throttle_opens" directive',
    },

    {   name => 'opening time that is not a time',
        server => 'flash_throttle_opens tomorrow;',
        message => 'invalid time "tomorrow" in "flash_throttle_opens" directive',
    },

    {   name => 'flash_throttle_opens twice in a location',
        location => q{
            flash_throttle_opens 2026-11-27T12:00:00Z;
            flash_throttle_opens off;
        },
        message => '"flash_throttle_opens" directive is duplicate',
    },

    {   name => 'opening time with a space',
        location => 'flash_throttle_opens 2026-11-27 12:00:00Z;',
        message => 'invalid number of arguments in "flash_throttle_opens" directive',
    },

    {   name => 'feedback neither on nor off',
        location => 'flash_throttle_feedback yes;',
        message => 'invalid value "yes" in "flash_throttle_feedback" directive, it must be "on" or "off"',
    },

    {   name => 'flash_throttle_control twice in a location',
        location => q{
            flash_throttle_control;
            flash_throttle_control;
        },
        message => '"flash_throttle_control" directive is duplicate',
    },

    {   name => 'control with an argument',
        location => 'flash_throttle_control on;',
        message => 'invalid number of arguments in "flash_throttle_control" directive',
    },

    {   name => 'adapt without a target',
        http => 'flash_throttle_adapt min=1r/s;',
        message => '"flash_throttle_adapt" must have "target" parameter, as in "target=500ms"',
    },

    {   name => 'adapt target below the minimum',
        http => 'flash_throttle_adapt target=5ms;',
        message => 'invalid time "target=5ms" in "flash_throttle_adapt" directive, it must be from 10ms to 60s, as in "target=500ms"',
    },

    {   name => 'adapt minimum that is not a rate',
        http => 'flash_throttle_adapt target=1s min=fast;',
        message => 'invalid rate "min=fast" in "flash_throttle_adapt" directive, it must be "min=Nr/s" or "min=Nr/m", at most 1000000 a second',
    },

    {   name => 'adapt maximum of 0',
        http => 'flash_throttle_adapt target=1s max=0r/s;',
        message => 'invalid rate "max=0r/s" in "flash_throttle_adapt" directive, it must be "max=Nr/s" or "max=Nr/m", at most 1000000 a second',
    },

    {   name => 'adapt minimum above the maximum',
        http => 'flash_throttle_adapt target=1s min=9r/s max=3r/s;',
        message => 'invalid bounds in "flash_throttle_adapt" directive, "min" must not exceed "max", it is 1r/s where it is not set',
    },

    {   name => 'unknown parameter of flash_throttle_adapt',
        http => 'flash_throttle_adapt target=1s speed=3;',
        message => 'invalid parameter "speed=3" in "flash_throttle_adapt" directive, it must be "target=time", "min=rate", "max=rate" or "off"',
    },

    {   name => 'different adapt parameters for one zone',
        zone => 'flash_throttle_zone $server_name zone=sale:1m inflight=50;',
        server => q{
            location / {
                flash_throttle zone=sale;
                flash_throttle_adapt target=1s;
                empty_gif;
            }
            location /other {
                flash_throttle zone=sale;
                flash_throttle_adapt target=2s;
                empty_gif;
            }
        },
        message => qr{zone "sale" has different "flash_throttle_adapt" in \S+/nginx.conf:(\d+) and in \S+/nginx.conf:(?!\1\b)\d+},
    },

    {   name => 'two holds in one zone',
        server => q{
            location /a {
                flash_throttle zone=sale hold=30s;
            }
            location /b {
                flash_throttle zone=sale hold=2500ms;
            }
        },
        message => qr{zone "sale" has "hold=30s" in \S+/nginx.conf:(\d+) and "hold=2500ms" in \S+/nginx.conf:(?!\1\b)\d+},
    },

    {   name => 'a hold and the default',
        server => q{
            location /a {
                flash_throttle zone=sale;
            }
            location /b {
                flash_throttle zone=sale hold=30s;
            }
        },
        message => qr{zone "sale" has "hold=2s" in \S+/nginx.conf:(\d+) and "hold=30s" in \S+/nginx.conf:(?!\1\b)\d+},
    },

    {   name => 'two policies in one zone',
        server => q{
            location /a {
                flash_throttle zone=sale policy=lottery;
            }
            location /b {
                flash_throttle zone=sale policy=proportional;
            }
        },
        message => qr{zone "sale" has "policy=lottery" in \S+/nginx.conf:(\d+) and "policy=proportional" in \S+/nginx.conf:(?!\1\b)\d+},
    },

    {   name => 'max_wait in one of two locations',
        server => q{
            location /a {
                flash_throttle zone=sale max_wait=10m;
            }
            location /b {
                flash_throttle zone=sale;
            }
        },
        message => qr{zone "sale" has "max_wait=600s" in \S+/nginx.conf:(\d+) and "max_wait=0s" in \S+/nginx.conf:(?!\1\b)\d+},
    },

    {   name => 'two poll minimums in one zone',
        server => q{
            location /a {
                flash_throttle zone=sale;
                flash_throttle_poll min=1s;
            }
            location /b {
                flash_throttle zone=sale;
            }
        },
        message => qr{zone "sale" has "flash_throttle_poll min=1s" in \S+/nginx.conf:(\d+) and "flash_throttle_poll min=300ms" in \S+/nginx.conf:(?!\1\b)\d+},
    },

    {   name => 'two poll maximums in one zone',
        server => q{
            location /a {
                flash_throttle zone=sale;
                flash_throttle_poll max=20s;
            }
            location /b {
                flash_throttle zone=sale;
                flash_throttle_poll max=30s;
            }
        },
        message => qr{zone "sale" has "flash_throttle_poll max=20s" in \S+/nginx.conf:(\d+) and "flash_throttle_poll max=30s" in \S+/nginx.conf:(?!\1\b)\d+},
    },

    {   name => 'two sessions in one zone',
        server => q{
            location /a {
                flash_throttle zone=sale;
                flash_throttle_session 5m;
            }
            location /b {
                flash_throttle zone=sale;
            }
        },
        message => qr{zone "sale" has "flash_throttle_session 300s" in \S+/nginx.conf:(\d+) and "flash_throttle_session 600s" in \S+/nginx.conf:(?!\1\b)\d+},
    },

    {   name => 'two openings in one zone',
        server => q{
            location /a {
                flash_throttle zone=sale;
                flash_throttle_opens 2026-11-27T12:00:00Z;
            }
            location /b {
                flash_throttle zone=sale;
                flash_throttle_opens 2026-11-27T12:00:00.5Z;
            }
        },
        message => qr{zone "sale" has "flash_throttle_opens 2026-11-27T12:00:00.000Z" in \S+/nginx.conf:(\d+) and "flash_throttle_opens 2026-11-27T12:00:00.500Z" in \S+/nginx.conf:(?!\1\b)\d+},
    },

    {   name => 'session of a server and another of a location',
        server => q{
            flash_throttle zone=sale;
            flash_throttle_session 5m;
            location / {
                flash_throttle_session 10m;
            }
        },
        message => qr{zone "sale" has "flash_throttle_session 300s" in \S+/nginx.conf:(\d+) and "flash_throttle_session 600s" in \S+/nginx.conf:(?!\1\b)\d+},
    },

    {   name => 'status and control in one location',
        location => q{
            flash_throttle_status;
            flash_throttle_control;
        },
        message => '"flash_throttle_control" directive is duplicate, "flash_throttle_status" directive was specified earlier',
    },

    {   name => 'control and status in one location',
        location => q{
            flash_throttle_control;
            flash_throttle_status;
        },
        message => '"flash_throttle_status" directive is duplicate, "flash_throttle_control" directive was specified earlier',
    },

    {   name => 'flash_throttle_status twice in a location',
        location => q{
            flash_throttle_status;
            flash_throttle_status;
        },
        message => '"flash_throttle_status" directive is duplicate in ',
    },

    {   name => 'sessions of 0',
        zone => 'flash_throttle_zone $server_name zone=sale:1m sessions=0;',
        message => 'invalid sessions "sessions=0" in "flash_throttle_zone" directive, it must be a number from 1 to 1000000',
    },

    {   name => 'sessions that is not a number',
        zone => 'flash_throttle_zone $server_name zone=sale:1m sessions=many;',
        message => 'invalid sessions "sessions=many" in "flash_throttle_zone" directive, it must be a number from 1 to 1000000',
    },
);

my $nginx = abs_path($ENV{TEST_NGINX_BINARY} // 'build/nginx');
my $modules = join '', map { "load_module $_;\n" } split ' ', $ENV{TEST_NGINX_LOAD_MODULES} // '';
my $default = 'flash_throttle_zone $server_name zone=sale:1m rate=1r/s;';


# check(case): the exit status of "nginx -t" and its output.
sub check {
    my ($case) = @_;

    my $dir = File::Temp->newdir('config.XXXXXX', TMPDIR => 1);
    my ($zone, $http, $server, $location)
        = map { ($_ // '') =~ s{\bDIR/}{$dir/}gr } $case->{zone} // $default, @$case{qw(http server location)};

    mkdir "$dir/$_" or die "mkdir $dir/$_: $!" for qw(conf logs);
    write_file("$dir/secret", $case->{secret}) if defined $case->{secret};
    write_file("$dir/a.html", $case->{page}) if defined $case->{page};

    $server .= " location / { $location }" unless $server =~ /location/;

    write_file("$dir/conf/nginx.conf", <<"EOF_CONF");
${modules}pid $dir/nginx.pid;
error_log stderr;
events { }
http {
    access_log off;
    $zone
    $http
    server {
        listen unix:$dir/socket;
        server_name localhost;
        $server
    }
}
EOF_CONF

    my $text = `$nginx -e stderr -t -p $dir/ -c conf/nginx.conf 2>&1`;

    return ($? >> 8, $text =~ s{\Q$dir\E/}{DIR/}gr);
}


my ($status, $text) = check({ http => 'flash_throttle_secret_file DIR/secret;', location => 'flash_throttle zone=sale;',
                              secret => "a secret for tests, and for nothing else\n" });
is($status, 0, 'a correct configuration is accepted') or diag($text);

for my $case (@cases) {
    my ($name, $message) = @$case{qw(name message)};
    my $pattern = ref $message ? $message : qr/\Q$message\E/;

    ($status, $text) = check($case);

    is($status, 1, "$name: refused");
    like($text, qr/\[emerg\] .*$pattern/, "$name: message");
    unlike($text, qr/\[alert\]/, "$name: no alert");
}

done_testing();
