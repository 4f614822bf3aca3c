# What nginx -t refuses, and what it says: directive, value and remedy.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';

no_root_location();
no_shuffle();

$ENV{TEST_NGINX_HTML_DIR} ||= html_dir();

run_tests();

__DATA__

=== TEST 1: a zone without a name
--- http_config
    flash_throttle_zone $server_name rate=1r/s;
--- config
    location / {
        empty_gif;
    }
--- must_die
--- error_log
"flash_throttle_zone" must have "zone" parameter, as in "zone=sale:1m"
--- no_error_log
[alert]



=== TEST 2: a zone without a size
--- http_config
    flash_throttle_zone $server_name zone=sale rate=1r/s;
--- config
    location / {
        empty_gif;
    }
--- must_die
--- error_log
invalid zone "zone=sale" in "flash_throttle_zone" directive, it must be "zone=name:size"
--- no_error_log
[alert]



=== TEST 3: a zone of no size
--- http_config
    flash_throttle_zone $server_name zone=sale:big rate=1r/s;
--- config
    location / {
        empty_gif;
    }
--- must_die
--- error_log
invalid zone size "zone=sale:big" in "flash_throttle_zone" directive, it must be "zone=name:size", as in "zone=sale:1m"
--- no_error_log
[alert]



=== TEST 4: a zone too small for one key
--- http_config
    flash_throttle_zone $server_name zone=sale:32k rate=1r/s;
--- config
    location / {
        empty_gif;
    }
--- must_die
--- error_log
zone "zone=sale:32k" in "flash_throttle_zone" directive is too small, one key takes 
--- no_error_log
[alert]



=== TEST 5: a zone without a bound
--- http_config
    flash_throttle_zone $server_name zone=sale:1m;
--- config
    location / {
        empty_gif;
    }
--- must_die
--- error_log
"flash_throttle_zone" must have "rate", "inflight" or "sessions" parameter, as in "rate=30r/s"
--- no_error_log
[alert]



=== TEST 6: a rate of nothing
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=0r/s;
--- config
    location / {
        empty_gif;
    }
--- must_die
--- error_log
invalid rate "rate=0r/s" in "flash_throttle_zone" directive, it must be "rate=Nr/s" or "rate=Nr/m", at most 1000000 a second
--- no_error_log
[alert]



=== TEST 7: a rate without a unit
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=5;
--- config
    location / {
        empty_gif;
    }
--- must_die
--- error_log
invalid rate "rate=5" in "flash_throttle_zone" directive, it must be "rate=Nr/s" or "rate=Nr/m"
--- no_error_log
[alert]



=== TEST 8: a rate beyond all bounds
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1000001r/s;
--- config
    location / {
        empty_gif;
    }
--- must_die
--- error_log
invalid rate "rate=1000001r/s" in "flash_throttle_zone" directive, it must be "rate=Nr/s" or "rate=Nr/m", at most 1000000 a second
--- no_error_log
[alert]



=== TEST 9: a period of nothing
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s period=0;
--- config
    location / {
        empty_gif;
    }
--- must_die
--- error_log
invalid period "period=0" in "flash_throttle_zone" directive, it must be a time from 100ms to 1h, as in "period=5s"
--- no_error_log
[alert]



=== TEST 10: a burst of nothing
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s burst=0;
--- config
    location / {
        empty_gif;
    }
--- must_die
--- error_log
invalid burst "burst=0" in "flash_throttle_zone" directive, it must be a number from 1 to 1000000
--- no_error_log
[alert]



=== TEST 11: nothing in flight
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s inflight=0;
--- config
    location / {
        empty_gif;
    }
--- must_die
--- error_log
invalid inflight "inflight=0" in "flash_throttle_zone" directive, it must be a number from 1 to 1000000
--- no_error_log
[alert]



=== TEST 12: an unknown parameter of a zone
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s speed=1;
--- config
    location / {
        empty_gif;
    }
--- must_die
--- error_log
invalid parameter "speed=1" in "flash_throttle_zone" directive, it must be "zone=", "rate=", "period=", "burst=", "inflight=" or "sessions="
--- no_error_log
[alert]



=== TEST 13: a zone that is there already
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
    flash_throttle_zone $host zone=sale:1m rate=1r/s;
--- config
    location / {
        empty_gif;
    }
--- must_die
--- error_log
flash_throttle_zone "sale" is already bound to key "$server_name"
--- no_error_log
[alert]



=== TEST 14: a zone of another module
--- http_config
    limit_req_zone $server_name zone=sale:1m rate=1r/s;
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        empty_gif;
    }
--- must_die
--- error_log
the shared memory zone "sale" is already declared for a different use
--- no_error_log
[alert]



=== TEST 15: a throttle without a zone
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle policy=fair;
    }
--- must_die
--- error_log
"flash_throttle" must have "zone" parameter, the name of a "flash_throttle_zone", or be "off"
--- no_error_log
[alert]



=== TEST 16: a throttle of an unknown zone
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle zone=other;
    }
--- must_die
--- error_log
unknown zone "other" in "flash_throttle" directive in 
--- no_error_log
[alert]



=== TEST 17: an unknown policy
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle zone=sale policy=best;
    }
--- must_die
--- error_log
invalid policy "policy=best" in "flash_throttle" directive, it must be "fair", "lottery", "proportional" or "reject"
--- no_error_log
[alert]



=== TEST 18: a hold that is too long
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle zone=sale hold=2m;
    }
--- must_die
--- error_log
invalid hold "hold=2m" in "flash_throttle" directive, it must be a time up to 1m, as in "hold=2s", or 0
--- no_error_log
[alert]



=== TEST 19: a wait that is no time
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle zone=sale max_wait=soon;
    }
--- must_die
--- error_log
invalid max_wait "max_wait=soon" in "flash_throttle" directive, it must be a time up to 1d, as in "max_wait=10m", or 0
--- no_error_log
[alert]



=== TEST 20: an unknown parameter of a throttle
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle zone=sale nodelay;
    }
--- must_die
--- error_log
invalid parameter "nodelay" in "flash_throttle" directive, it must be "zone=", "policy=", "hold=", "max_wait=", or "off" alone
--- no_error_log
[alert]



=== TEST 21: a throttle that is off and on
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle off zone=sale;
    }
--- must_die
--- error_log
invalid parameter "off" in "flash_throttle" directive, it must be "zone=", "policy=", "hold=", "max_wait=", or "off" alone
--- no_error_log
[alert]



=== TEST 22: two throttles
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle zone=sale;
        flash_throttle zone=sale;
    }
--- must_die
--- error_log
"flash_throttle" directive is duplicate
--- no_error_log
[alert]



=== TEST 23: a cookie whose name is none
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle_cookie "a b";
    }
--- must_die
--- error_log
invalid name "a b" in "flash_throttle_cookie" directive, it must be letters, digits, "_", "-" and "."
--- no_error_log
[alert]



=== TEST 24: a zone whose name is no cookie name
--- http_config
    flash_throttle_zone $server_name "zone=big sale:1m" rate=1r/s;
--- config
    location / {
        flash_throttle "zone=big sale";
    }
--- must_die
--- error_log
invalid cookie name "flash_throttle_big sale" of the zone "big sale", "flash_throttle_cookie" must set another
--- no_error_log
[alert]



=== TEST 25: an attribute that the module sets
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle_cookie place Max-Age=60;
    }
--- must_die
--- error_log
invalid attribute "Max-Age=60" in "flash_throttle_cookie" directive, it must be "Path", "Domain", "SameSite", "Secure", "HttpOnly" or "Partitioned" as in a Set-Cookie header, without variables
--- no_error_log
[alert]



=== TEST 26: a SameSite that is none
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle_cookie place "Path=/; SameSite=No";
    }
--- must_die
--- error_log
invalid attribute "SameSite=No" in "flash_throttle_cookie" directive
--- no_error_log
[alert]



=== TEST 27: a Path that is none
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle_cookie place Path=shop;
    }
--- must_die
--- error_log
invalid attribute "Path=shop" in "flash_throttle_cookie" directive
--- no_error_log
[alert]



=== TEST 28: a prefix that browsers check
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle_cookie __Secure-place;
    }
--- must_die
--- error_log
invalid name "__Secure-place" in "flash_throttle_cookie" directive, browsers require "Secure" with this prefix
--- no_error_log
[alert]



=== TEST 29: another prefix that browsers check
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle_cookie __Host-place "Secure; Path=/shop";
    }
--- must_die
--- error_log
invalid name "__Host-place" in "flash_throttle_cookie" directive, browsers require "Path=/" and no "Domain" with this prefix
--- no_error_log
[alert]



=== TEST 30: two cookies
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle_cookie a;
        flash_throttle_cookie b;
    }
--- must_die
--- error_log
"flash_throttle_cookie" directive is duplicate
--- no_error_log
[alert]



=== TEST 31: a session of no time
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle_session 0;
    }
--- must_die
--- error_log
invalid time "0" in "flash_throttle_session" directive, it must be from 1s to 1d, as in "10m"
--- no_error_log
[alert]



=== TEST 32: a session beyond all bounds
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle_session 25h;
    }
--- must_die
--- error_log
invalid time "25h" in "flash_throttle_session" directive, it must be from 1s to 1d, as in "10m"
--- no_error_log
[alert]



=== TEST 33: a page that is not there
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle_queue_page no-such-page.html;
    }
--- must_die
--- error_log
no-such-page.html" failed (2: No such file or directory)
--- no_error_log
[alert]



=== TEST 34: a page that is a folder
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle_queue_page /;
    }
--- must_die
--- error_log
invalid page "/" in "flash_throttle_queue_page" directive, it must be a file of 1 byte to 1m
--- no_error_log
[alert]



=== TEST 35: a code without a body
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle_queue_status 204;
    }
--- must_die
--- error_log
invalid code "204" in "flash_throttle_queue_status" directive, it must be one that browsers show a page for, such as 200, 429 or 503
--- no_error_log
[alert]



=== TEST 36: a code that redirects
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle_queue_status 302;
    }
--- must_die
--- error_log
invalid code "302" in "flash_throttle_queue_status" directive, it must be from 200 to 299, or from 400 to 599
--- no_error_log
[alert]



=== TEST 37: a code that is no number
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle_queue_status busy;
    }
--- must_die
--- error_log
"flash_throttle_queue_status" directive invalid number
--- no_error_log
[alert]



=== TEST 38: polls too often
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle_poll min=10ms;
    }
--- must_die
--- error_log
invalid time "min=10ms" in "flash_throttle_poll" directive, it must be from 100ms to 55s
--- no_error_log
[alert]



=== TEST 39: polls too rarely
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle_poll max=1m;
    }
--- must_die
--- error_log
invalid time "max=1m" in "flash_throttle_poll" directive, it must be from 100ms to 55s
--- no_error_log
[alert]



=== TEST 40: poll bounds upside down
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle_poll min=20s;
    }
--- must_die
--- error_log
invalid bounds in "flash_throttle_poll" directive, "min" is 20000ms and must not exceed "max", 15000ms
--- no_error_log
[alert]



=== TEST 41: an unknown parameter of poll
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle_poll every=1s;
    }
--- must_die
--- error_log
invalid parameter "every=1s" in "flash_throttle_poll" directive, it must be "min=time" or "max=time"
--- no_error_log
[alert]



=== TEST 42: a dry run that is neither on nor off
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle_dry_run yes;
    }
--- must_die
--- error_log
invalid value "yes" in "flash_throttle_dry_run" directive, it must be "on" or "off"
--- no_error_log
[alert]



=== TEST 43: an unknown log level
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle_log_level loud;
    }
--- must_die
--- error_log
invalid value "loud"
--- no_error_log
[alert]



=== TEST 44: a status with an argument
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle_status json;
    }
--- must_die
--- error_log
invalid number of arguments in "flash_throttle_status" directive
--- no_error_log
[alert]



=== TEST 45: a secret file that is not there
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
    flash_throttle_secret_file no-such-secret;
--- config
    location / {
        empty_gif;
    }
--- must_die
--- error_log
/no-such-secret" failed (2: No such file or directory)
--- no_error_log
[alert]



=== TEST 46: a secret that is too short
--- user_files
>>> secret
tiny
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
    flash_throttle_secret_file $TEST_NGINX_HTML_DIR/secret;
--- config
    location / {
        empty_gif;
    }
--- must_die
--- error_log eval
"secret of 4 bytes in $ENV{TEST_NGINX_HTML_DIR}/secret:1, it must be at least 16"
--- no_error_log
[alert]



=== TEST 47: a secret file without a secret
--- user_files
>>> secret
# nothing but a comment
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
    flash_throttle_secret_file $TEST_NGINX_HTML_DIR/secret;
--- config
    location / {
        empty_gif;
    }
--- must_die
--- error_log eval
"no secret in file \"$ENV{TEST_NGINX_HTML_DIR}/secret\""
--- no_error_log
[alert]



=== TEST 48: more secrets than can be kept
--- user_files
>>> secret
secret number 1 of nine
secret number 2 of nine
secret number 3 of nine
secret number 4 of nine
secret number 5 of nine
secret number 6 of nine
secret number 7 of nine
secret number 8 of nine
secret number 9 of nine
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
    flash_throttle_secret_file $TEST_NGINX_HTML_DIR/secret;
--- config
    location / {
        empty_gif;
    }
--- must_die
--- error_log eval
"too many secrets in $ENV{TEST_NGINX_HTML_DIR}/secret:9, it must be at most 8"
--- no_error_log
[alert]



=== TEST 49: a parameter of a zone, twice
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
    flash_throttle_zone $server_name zone=other:1m rate=1r/s rate=2r/s;
--- config
    location / {
        empty_gif;
    }
--- must_die
--- error_log
duplicate parameter "rate=2r/s" in "flash_throttle_zone" directive, "rate=1r/s" was specified earlier
--- no_error_log
[alert]



=== TEST 50: a parameter of a throttle, twice
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle zone=sale zone=other;
    }
--- must_die
--- error_log
duplicate parameter "zone=other" in "flash_throttle" directive, "zone=sale" was specified earlier
--- no_error_log
[alert]



=== TEST 51: a bound of polls, twice
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle_poll min=1s min=2s;
    }
--- must_die
--- error_log
duplicate parameter "min=2s" in "flash_throttle_poll" directive, "min=1s" was specified earlier
--- no_error_log
[alert]



=== TEST 52: a code upon which browsers ask at once
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle_queue_status 425;
    }
--- must_die
--- error_log
invalid code "425" in "flash_throttle_queue_status" directive, it must be one that browsers show a page for
--- no_error_log
[alert]



=== TEST 53: a variable in an attribute
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle_cookie place Domain=$host;
    }
--- must_die
--- error_log
invalid attribute "Domain=$host" in "flash_throttle_cookie" directive
--- no_error_log
[alert]



=== TEST 54: a cookie of other sites that browsers drop
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle_cookie place SameSite=None;
    }
--- must_die
--- error_log
invalid attributes in "flash_throttle_cookie" directive, browsers require "Secure" with "SameSite=None" and "Partitioned"
--- no_error_log
[alert]



=== TEST 55: a cookie of parts that browsers drop
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle_cookie place Partitioned;
    }
--- must_die
--- error_log
invalid attributes in "flash_throttle_cookie" directive, browsers require "Secure"
--- no_error_log
[alert]



=== TEST 56: a secret that is no text
--- user_files eval
">>> secret\n# zeroes\n" . "\0" x 40 . "\n"
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
    flash_throttle_secret_file $TEST_NGINX_HTML_DIR/secret;
--- config
    location / {
        empty_gif;
    }
--- must_die
--- error_log eval
"control character in secret in $ENV{TEST_NGINX_HTML_DIR}/secret:2"
--- no_error_log
[alert]



=== TEST 57: comments behind a byte order mark, and behind spaces
--- user_files eval
">>> secret\n\xef\xbb\xbf# this is a comment, not a secret\n \t # and so is this one\n"
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
    flash_throttle_secret_file $TEST_NGINX_HTML_DIR/secret;
--- config
    location / {
        empty_gif;
    }
--- must_die
--- error_log eval
"no secret in file \"$ENV{TEST_NGINX_HTML_DIR}/secret\""
--- no_error_log
[alert]



=== TEST 58: a key that is always empty
--- http_config
    flash_throttle_zone "" zone=sale:1m rate=1r/s;
--- config
    location / {
        empty_gif;
    }
--- must_die
--- error_log
invalid key "" in "flash_throttle_zone" directive, it must be text or variables, as in "$server_name"
--- no_error_log
[alert]



=== TEST 59: two holds in one zone
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location /a {
        flash_throttle zone=sale hold=30s;
    }
    location /b {
        flash_throttle zone=sale hold=2500ms;
    }
--- must_die
--- error_log eval
qr{\[emerg\] .* zone "sale" has "hold=30s" in \S+/nginx.conf:(\d+) and "hold=2500ms" in \S+/nginx.conf:(?!\1\b)\d+}
--- no_error_log
[alert]



=== TEST 60: a hold and the default
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location /a {
        flash_throttle zone=sale;
    }
    location /b {
        flash_throttle zone=sale hold=30s;
    }
--- must_die
--- error_log eval
qr{\[emerg\] .* zone "sale" has "hold=2s" in \S+/nginx.conf:(\d+) and "hold=30s" in \S+/nginx.conf:(?!\1\b)\d+}
--- no_error_log
[alert]



=== TEST 61: two policies in one zone
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location /a {
        flash_throttle zone=sale policy=lottery;
    }
    location /b {
        flash_throttle zone=sale policy=proportional;
    }
--- must_die
--- error_log eval
qr{\[emerg\] .* zone "sale" has "policy=lottery" in \S+/nginx.conf:(\d+) and "policy=proportional" in \S+/nginx.conf:(?!\1\b)\d+}
--- no_error_log
[alert]



=== TEST 62: two longest waits in one zone
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location /a {
        flash_throttle zone=sale max_wait=10m;
    }
    location /b {
        flash_throttle zone=sale;
    }
--- must_die
--- error_log eval
qr{\[emerg\] .* zone "sale" has "max_wait=600s" in \S+/nginx.conf:(\d+) and "max_wait=0s" in \S+/nginx.conf:(?!\1\b)\d+}
--- no_error_log
[alert]



=== TEST 63: two poll intervals in one zone
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location /a {
        flash_throttle zone=sale;
        flash_throttle_poll min=1s;
    }
    location /b {
        flash_throttle zone=sale;
    }
--- must_die
--- error_log eval
qr{\[emerg\] .* zone "sale" has "flash_throttle_poll min=1s" in \S+/nginx.conf:(\d+) and "flash_throttle_poll min=300ms" in \S+/nginx.conf:(?!\1\b)\d+}
--- no_error_log
[alert]



=== TEST 64: two longest poll intervals in one zone
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location /a {
        flash_throttle zone=sale;
        flash_throttle_poll max=20s;
    }
    location /b {
        flash_throttle zone=sale;
        flash_throttle_poll max=30s;
    }
--- must_die
--- error_log eval
qr{\[emerg\] .* zone "sale" has "flash_throttle_poll max=20s" in \S+/nginx.conf:(\d+) and "flash_throttle_poll max=30s" in \S+/nginx.conf:(?!\1\b)\d+}
--- no_error_log
[alert]



=== TEST 65: two sessions in one zone
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location /a {
        flash_throttle zone=sale;
        flash_throttle_session 5m;
    }
    location /b {
        flash_throttle zone=sale;
    }
--- must_die
--- error_log eval
qr{\[emerg\] .* zone "sale" has "flash_throttle_session 300s" in \S+/nginx.conf:(\d+) and "flash_throttle_session 600s" in \S+/nginx.conf:(?!\1\b)\d+}
--- no_error_log
[alert]



=== TEST 66: two openings of one zone
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location /a {
        flash_throttle zone=sale;
        flash_throttle_opens 2026-11-27T12:00:00Z;
    }
    location /b {
        flash_throttle zone=sale;
        flash_throttle_opens 2026-11-27T12:00:00.5Z;
    }
--- must_die
--- error_log eval
qr{\[emerg\] .* zone "sale" has "flash_throttle_opens 2026-11-27T12:00:00.000Z" in \S+/nginx.conf:(\d+) and "flash_throttle_opens 2026-11-27T12:00:00.500Z" in \S+/nginx.conf:(?!\1\b)\d+}
--- no_error_log
[alert]



=== TEST 67: a value of the server and another of a location
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    flash_throttle zone=sale;
    flash_throttle_session 5m;
    location / {
        flash_throttle_session 10m;
    }
--- must_die
--- error_log eval
qr{\[emerg\] .* zone "sale" has "flash_throttle_session 300s" in \S+/nginx.conf:(\d+) and "flash_throttle_session 600s" in \S+/nginx.conf:(?!\1\b)\d+}
--- no_error_log
[alert]



=== TEST 68: two adaptations in one zone
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location /a {
        flash_throttle zone=sale;
        flash_throttle_adapt target=1s;
    }
    location /b {
        flash_throttle zone=sale;
        flash_throttle_adapt target=2s;
    }
--- must_die
--- error_log eval
qr{\[emerg\] .* zone "sale" has different "flash_throttle_adapt" in \S+/nginx.conf:(\d+) and in \S+/nginx.conf:(?!\1\b)\d+}
--- no_error_log
[alert]



=== TEST 69: stats and control in one location
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle_status;
        flash_throttle_control;
    }
--- must_die
--- error_log
"flash_throttle_control" directive is duplicate, "flash_throttle_status" directive was specified earlier
--- no_error_log
[alert]



=== TEST 70: control and stats in one location
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle_control;
        flash_throttle_status;
    }
--- must_die
--- error_log
"flash_throttle_status" directive is duplicate, "flash_throttle_control" directive was specified earlier
--- no_error_log
[alert]



=== TEST 71: stats twice
--- http_config
    flash_throttle_zone $server_name zone=sale:1m rate=1r/s;
--- config
    location / {
        flash_throttle_status;
        flash_throttle_status;
    }
--- must_die
--- error_log
"flash_throttle_status" directive is duplicate in 
--- no_error_log
[alert]
