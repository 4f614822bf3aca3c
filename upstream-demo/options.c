#include "options.h"
#include "store.h"
#include "fault.h"

#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>
#include <netinet/in.h>


#define CO_DEFAULT_LISTEN        "127.0.0.1:8081"
#define CO_DEFAULT_STORE         "sqlite::memory:"
#define CO_STORE_POOLED          "mysql:"

/* As in the playbook: 32 payments per second at 250 ms each. */
#define CO_DEFAULT_SLOTS         8
#define CO_DEFAULT_IN_PROGRESS   8

/* Not on the command line: the default depends on the mode. */
#define CO_UNSET                 (-1)


typedef struct co_option_s  co_option_t;

typedef int (*co_option_set_pt)(co_options_t *options,
    const co_option_t *option, const char *value);

struct co_option_s {
    const char        *name;
    const char        *argument;                 /* NULL: no argument */
    co_option_set_pt   set;
    size_t             offset;
    int64_t            min;
    int64_t            max;
    const char        *help;
};


static int co_option_set_listen(co_options_t *options,
    const co_option_t *option, const char *value);
static int co_option_set_mode(co_options_t *options,
    const co_option_t *option, const char *value);
static int co_option_set_store(co_options_t *options,
    const co_option_t *option, const char *value);
static int co_option_set_admin(co_options_t *options,
    const co_option_t *option, const char *value);
static int co_option_set_fault(co_options_t *options,
    const co_option_t *option, const char *value);
static int co_option_set_integer(co_options_t *options,
    const co_option_t *option, const char *value);
static int co_option_set_share(co_options_t *options,
    const co_option_t *option, const char *value);
static int co_option_set_switch(co_options_t *options,
    const co_option_t *option, const char *value);
static int co_option_set_flag(co_options_t *options,
    const co_option_t *option, const char *value);


static const char  *co_mode_names[] = {
    "naive", "reserve", "queue", "deadline", "waiting-room"
};


#define CO_INTEGER(field, min, max)                                           \
    co_option_set_integer, offsetof(co_options_t, field), min, max


static const co_option_t  co_option_table[] = {

    { "listen", "ADDRESS:PORT", co_option_set_listen, 0, 0, 0,
      "the address to listen on; port 0: any free port\n"
      "[" CO_DEFAULT_LISTEN "]" },

    { "mode", "MODE", co_option_set_mode, 0, 0, 0,
      "naive, reserve, queue, deadline, waiting-room [reserve]" },

    { "stock", "N", CO_INTEGER(stock, 0, 1000000000),
      "units in a new store [500]" },

    { "store", "SCHEME:PLACE", co_option_set_store, 0, 0, 0,
      "the store of stock and orders: sqlite:PATH, sqlite::memory:,\n"
      "mysql:socket=PATH;user=NAME;database=NAME,\n"
      "redis:SOCKET+LEDGER or shadow:FIRST,SECOND, in quotes; see\n"
      "docs/inventory.md [" CO_DEFAULT_STORE "]" },

    { "locations", "N", CO_INTEGER(locations, 1, CO_LOCATIONS_MAX),
      "number of locations of the stock [1]" },

    { "hold-ms", "N", CO_INTEGER(hold_ms, 1000, 86400000),
      "lifetime of a hold [600000]" },

    { "slow-report", "MS", CO_INTEGER(slow_report_ms, 0, 60000),
      "mysql only, for tests: after each order a report holds a\n"
      "connection for this time [0]" },

    { "seed", "N", CO_INTEGER(seed, 0, INT64_MAX),
      "seed of the durations and declines of payments [1]" },

    { "payment-slots", "N", CO_INTEGER(payment_slots, 0, 1000000),
      "payments at once, 0: no limit [naive, reserve: 0; others: 8]" },

    { "payment-min-ms", "N", CO_INTEGER(payment_min_ms, 0, 600000),
      "shortest payment [100]" },

    { "payment-max-ms", "N", CO_INTEGER(payment_max_ms, 0, 600000),
      "longest payment [400]" },

    { "decline", "SHARE", co_option_set_share, 0, 0, 0,
      "share of payments declined, 0 to 1 [0.05]" },

    { "deadline", "on|off", co_option_set_switch, 0, 0, 0,
      "refuse (504) a payment that could end after the shopper's\n"
      "deadline [reserve, deadline: on; others: off]" },

    { "max-in-progress", "N", CO_INTEGER(max_in_progress, 1, 1000000),
      "waiting-room only: limit on orders in progress; others get\n"
      "503 [8]" },

    { "arrival-window-ms", "N", CO_INTEGER(arrival_window_ms, 1, 3600000),
      "the window for the arrivals_max_in_window statistic [5000]" },

    { "client-timeout-ms", "N", CO_INTEGER(client_timeout_ms, 1, 3600000),
      "maximum time between two reads from a client [75000]" },

    { "allow-reset", NULL, co_option_set_flag, 0, 0, 0,
      "allow POST /reset (restores the stock, deletes orders and\n"
      "statistics) and POST /payments?min-ms=N&max-ms=N (sets the\n"
      "duration of payments)" },

    { "admin", "unix:PATH", co_option_set_admin, 0, 0, 0,
      "a socket for GET and POST /admin/store, which select one of\n"
      "two stores (docs/inventory.md)" },

    { "fault", "FAULT", co_option_set_fault, 0, 0, 0,
      "for tests: lose:SHARE of the writes to a shadow store, or\n"
      "die-after-ledger:N, die-after-redis:N in the Nth claim of a\n"
      "Redis store" },

    { "help", NULL, NULL, 0, 0, 0,
      "print this help" },
};


#define CO_OPTIONS_N  (sizeof(co_option_table) / sizeof(co_option_table[0]))


static int
co_option_bad(const co_option_t *option, const char *value, const char *wanted)
{
    fprintf(stderr, "checkout: --%s=%s: %s\n", option->name, value, wanted);

    return -1;
}


static int
co_option_number(const char *value, int64_t min, int64_t max, int64_t *number)
{
    char     *end;
    int64_t   n;

    errno = 0;
    n = strtoll(value, &end, 10);

    if (end == value || *end != '\0' || errno != 0 || n < min || n > max) {
        return -1;
    }

    *number = n;

    return 0;
}


/*
 * ADDRESS:PORT or [IPV6]:PORT.  evutil_parse_sockaddr_port() does not accept
 * port 0.
 */
static int
co_option_parse_address(co_options_t *options, const char *value)
{
    int                   v6;
    char                  host[INET6_ADDRSTRLEN];
    size_t                len;
    int64_t               port;
    const char           *colon;
    struct sockaddr_in   *in = (struct sockaddr_in *) &options->address;
    struct sockaddr_in6  *in6 = (struct sockaddr_in6 *) &options->address;

    colon = strrchr(value, ':');
    if (colon == NULL || co_option_number(colon + 1, 0, 65535, &port) != 0) {
        return -1;
    }

    v6 = *value == '[';

    if (v6) {
        if (colon[-1] != ']') {
            return -1;
        }

        value++;
        colon--;
    }

    len = (size_t) (colon - value);
    if (len >= sizeof(host)) {
        return -1;
    }

    memcpy(host, value, len);
    host[len] = '\0';

    memset(&options->address, 0, sizeof(options->address));

    if (v6) {
        in6->sin6_family = AF_INET6;
        in6->sin6_port = htons((uint16_t) port);
        options->address_len = sizeof(*in6);

        return inet_pton(AF_INET6, host, &in6->sin6_addr) == 1 ? 0 : -1;
    }

    in->sin_family = AF_INET;
    in->sin_port = htons((uint16_t) port);
    options->address_len = sizeof(*in);

    return inet_pton(AF_INET, host, &in->sin_addr) == 1 ? 0 : -1;
}


static int
co_option_set_listen(co_options_t *options, const co_option_t *option,
    const char *value)
{
    if (co_option_parse_address(options, value) != 0) {
        return co_option_bad(option, value, "must be a numeric address and a"
                             " port, for example 127.0.0.1:8081 or"
                             " [::1]:8081");
    }

    return 0;
}


static int
co_option_set_mode(co_options_t *options, const co_option_t *option,
    const char *value)
{
    size_t  i;

    for (i = 0; i < sizeof(co_mode_names) / sizeof(co_mode_names[0]); i++) {
        if (strcmp(value, co_mode_names[i]) == 0) {
            options->mode = (co_mode_e) i;
            return 0;
        }
    }

    return co_option_bad(option, value, "must be naive, reserve, queue,"
                         " deadline or waiting-room");
}


static int
co_option_set_store(co_options_t *options, const co_option_t *option,
    const char *value)
{
    char  error[CO_STORE_ERROR_LEN];

    if (co_store_check(value, error) != 0) {
        return co_option_bad(option, value, error);
    }

    options->store = value;

    return 0;
}


static int
co_option_set_admin(co_options_t *options, const co_option_t *option,
    const char *value)
{
    if (strncmp(value, "unix:", 5) != 0 || value[5] == '\0') {
        return co_option_bad(option, value, "give unix:PATH");
    }

    options->admin = value + 5;

    return 0;
}


static int
co_option_set_fault(co_options_t *options, const co_option_t *option,
    const char *value)
{
    co_fault_t  fault;

    if (co_fault_read(&fault, value) != 0) {
        return co_option_bad(option, value, CO_FAULT_FORMS);
    }

    options->fault = value;

    return 0;
}


static int
co_option_set_integer(co_options_t *options, const co_option_t *option,
    const char *value)
{
    char  wanted[96];

    if (co_option_number(value, option->min, option->max,
                         (int64_t *) ((char *) options + option->offset))
        != 0)
    {
        snprintf(wanted, sizeof(wanted),
                 "must be a whole number from %lld to %lld",
                 (long long) option->min, (long long) option->max);

        return co_option_bad(option, value, wanted);
    }

    return 0;
}


static int
co_option_set_share(co_options_t *options, const co_option_t *option,
    const char *value)
{
    char    *end;
    double   share;

    share = strtod(value, &end);

    /* refuses NaN too */
    if (end == value || *end != '\0' || !(share >= 0 && share <= 1)) {
        return co_option_bad(option, value, "must be a number from 0 to 1");
    }

    options->decline = share;

    return 0;
}


static int
co_option_set_switch(co_options_t *options, const co_option_t *option,
    const char *value)
{
    if (strcmp(value, "on") == 0) {
        options->deadline = 1;
        return 0;
    }

    if (strcmp(value, "off") == 0) {
        options->deadline = 0;
        return 0;
    }

    return co_option_bad(option, value, "must be on or off");
}


static int
co_option_set_flag(co_options_t *options, const co_option_t *option,
    const char *value)
{
    (void) option;
    (void) value;

    options->allow_reset = 1;

    return 0;
}


static void
co_options_help(void)
{
    char        left[40];
    size_t      i;
    const char *line, *end;

    printf("usage: checkout [OPTION]...\n\n"
           "A checkout service for tests of flash_throttle. It sells one"
           " product; payments take\nsome time and may be declined.\n\n"
           "  GET /, GET /checkout   pages\n"
           "  POST /checkout         places an order\n"
           "  GET /stats             statistics as JSON\n"
           "  GET /healthz           health check\n\n"
           "modes:\n"
           "  naive         check the stock, pay, then take the unit; can"
           " oversell\n"
           "  reserve       hold the unit, pay, then sell or release it\n"
           "  queue         reserve, with payment slots and an unlimited queue"
           " for them\n"
           "  deadline      queue, without payments that could end after the"
           " deadline\n"
           "  waiting-room  queue, with a limit on orders in progress (503"
           " above it)\n\noptions:\n");

    for (i = 0; i < CO_OPTIONS_N; i++) {
        snprintf(left, sizeof(left), "--%s%s%s", co_option_table[i].name,
                 co_option_table[i].argument ? "=" : "",
                 co_option_table[i].argument ? co_option_table[i].argument
                                             : "");

        for (line = co_option_table[i].help; line != NULL; line = end) {
            end = strchr(line, '\n');
            printf("  %-23s %.*s\n", left,
                   end ? (int) (end - line) : (int) strlen(line), line);
            left[0] = '\0';
            end = end ? end + 1 : NULL;
        }
    }

    printf("\nThe first line on stdout is the address. On SIGTERM or SIGINT"
           " the checkout finishes\nand records the running payments, prints"
           " the statistics as the last line on stdout,\nand exits.\n");
}


static void
co_options_defaults(co_options_t *options)
{
    memset(options, 0, sizeof(*options));

    options->mode = CO_MODE_RESERVE;
    options->store = CO_DEFAULT_STORE;
    options->stock = 500;
    options->locations = 1;
    options->hold_ms = 600000;
    options->seed = 1;
    options->payment_slots = CO_UNSET;
    options->payment_min_ms = 100;
    options->payment_max_ms = 400;
    options->decline = 0.05;
    options->deadline = CO_UNSET;
    options->max_in_progress = CO_UNSET;
    options->arrival_window_ms = 5000;
    options->client_timeout_ms = 75000;

    (void) co_option_parse_address(options, CO_DEFAULT_LISTEN);
}


/*
 * Checks combinations and sets the defaults of the mode.  naive, queue and
 * waiting-room demonstrate charges after the shopper has left, so they do not
 * check the deadline by default.
 */
static int
co_options_complete(co_options_t *options)
{
    if (options->payment_min_ms > options->payment_max_ms) {
        fprintf(stderr, "checkout: --payment-min-ms=%lld is greater than"
                " --payment-max-ms=%lld\n",
                (long long) options->payment_min_ms,
                (long long) options->payment_max_ms);
        return -1;
    }

    if (options->slow_report_ms != 0
        && strncmp(options->store, CO_STORE_POOLED, sizeof(CO_STORE_POOLED) - 1)
           != 0)
    {
        fprintf(stderr, "checkout: --slow-report=%lld requires"
                " --store=mysql:..., not --store=%s\n",
                (long long) options->slow_report_ms, options->store);
        return -1;
    }

    if (options->mode != CO_MODE_WAITING_ROOM
        && options->max_in_progress != CO_UNSET)
    {
        fprintf(stderr, "checkout: --max-in-progress=%lld requires"
                " --mode=waiting-room, not --mode=%s\n",
                (long long) options->max_in_progress,
                co_options_mode_name(options->mode));
        return -1;
    }

    if (options->mode == CO_MODE_DEADLINE && options->deadline == 0) {
        fprintf(stderr, "checkout: --deadline=off conflicts with"
                " --mode=deadline\n");
        return -1;
    }

    if (options->payment_slots == CO_UNSET) {
        options->payment_slots = (options->mode == CO_MODE_NAIVE
                                  || options->mode == CO_MODE_RESERVE)
                                 ? 0 : CO_DEFAULT_SLOTS;
    }

    if (options->deadline == CO_UNSET) {
        options->deadline = options->mode == CO_MODE_RESERVE
                            || options->mode == CO_MODE_DEADLINE;
    }

    if (options->max_in_progress == CO_UNSET) {
        options->max_in_progress = options->mode == CO_MODE_WAITING_ROOM
                                   ? CO_DEFAULT_IN_PROGRESS : 0;
    }

    return 0;
}


static co_options_result_e
co_options_refuse(const char *argument, int found)
{
    if (found == ':') {
        fprintf(stderr, "checkout: option %s requires a value\n", argument);

    } else {
        fprintf(stderr, "checkout: unknown option or unexpected value: %s\n",
                argument);
    }

    return CO_OPTIONS_BAD;
}


co_options_result_e
co_options_parse(co_options_t *options, int argc, char **argv)
{
    int                 found, index;
    size_t              i;
    const co_option_t  *option;
    struct option       longopts[CO_OPTIONS_N + 1];

    co_options_defaults(options);
    memset(longopts, 0, sizeof(longopts));

    for (i = 0; i < CO_OPTIONS_N; i++) {
        longopts[i].name = co_option_table[i].name;
        longopts[i].has_arg = co_option_table[i].argument ? required_argument
                                                          : no_argument;
    }

    opterr = 0;

    for ( ;; ) {
        found = getopt_long(argc, argv, ":", longopts, &index);

        if (found == -1) {
            break;
        }

        if (found != 0) {
            return co_options_refuse(argv[optind - 1], found);
        }

        option = &co_option_table[index];

        if (option->set == NULL) {
            co_options_help();
            return CO_OPTIONS_HELP;
        }

        if (option->set(options, option, optarg) != 0) {
            return CO_OPTIONS_BAD;
        }
    }

    if (optind < argc) {
        fprintf(stderr, "checkout: unexpected argument: %s\n", argv[optind]);
        return CO_OPTIONS_BAD;
    }

    return co_options_complete(options) == 0 ? CO_OPTIONS_OK : CO_OPTIONS_BAD;
}


const char *
co_options_mode_name(co_mode_e mode)
{
    return co_mode_names[mode];
}
