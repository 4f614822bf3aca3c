
#include "crowd_options.h"
#include "option.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>


#define CROWD_OPTIONS_SHOPPERS_MAX    1000000
#define CROWD_OPTIONS_PATIENCE_MAX_S  86400.0
#define CROWD_OPTIONS_STAGES          "2:0-40,6:40-40,2:40-0"


enum {
    CROWD_OPTIONS_URL = 256,
    CROWD_OPTIONS_STAGE_LIST,
    CROWD_OPTIONS_SHOPPERS,
    CROWD_OPTIONS_PATIENCE,
    CROWD_OPTIONS_METHOD,
    CROWD_OPTIONS_POLL,
    CROWD_OPTIONS_DEADLINE,
    CROWD_OPTIONS_NO_COOKIE,
    CROWD_OPTIONS_VANISH,
    CROWD_OPTIONS_STATUS_URL,
    CROWD_OPTIONS_STATS_URL,
    CROWD_OPTIONS_SEED,
    CROWD_OPTIONS_TRACE,
    CROWD_OPTIONS_LIVE,
    CROWD_OPTIONS_JSON
};


static const struct argp_option  crowd_options_list[] = {
    { "url", CROWD_OPTIONS_URL, "URL", 0, "URL of the checkout (required)",
      0 },
    { "stages", CROWD_OPTIONS_STAGE_LIST, "LIST", 0, "arrival rates in "
      "shoppers a second as SECONDS:FROM-TO,... [" CROWD_OPTIONS_STAGES "]",
      0 },
    { "shoppers", CROWD_OPTIONS_SHOPPERS, "N", 0, "scale the rates of the "
      "stages to N shoppers", 0 },
    { "patience", CROWD_OPTIONS_PATIENCE, "S|S-S", 0, "seconds from first "
      "attempt to leaving, uniform in a range [15]", 0 },
    { "method", CROWD_OPTIONS_METHOD, "POST|GET", 0, "POST orders one unit, "
      "GET requests the page [POST]", 0 },
    { "poll", CROWD_OPTIONS_POLL, NULL, 0, "poll as the queue page does, then "
      "send the order with the pass; the default repeats the order", 0 },
    { "deadline", CROWD_OPTIONS_DEADLINE, NULL, 0, "send the time of leaving "
      "in Flash-Deadline-Ms", 0 },
    { "no-cookie", CROWD_OPTIONS_NO_COOKIE, "SHARE", 0, "share of shoppers, 0 "
      "to 1, without cookies [0]", 0 },
    { "vanish", CROWD_OPTIONS_VANISH, "SHARE", 0, "share of shoppers, 0 to 1, "
      "that leave before their patience ends [0]", 0 },
    { "status-url", CROWD_OPTIONS_STATUS_URL, "URL", 0, "flash_throttle_status "
      "of the edge, for --live", 0 },
    { "stats-url", CROWD_OPTIONS_STATS_URL, "URL", 0, "statistics of the "
      "checkout: orders, oversold, late charges", 0 },
    { "seed", CROWD_OPTIONS_SEED, "N", 0, "seed of patience, cookies and "
      "vanishing [1]", 0 },
    { "trace", CROWD_OPTIONS_TRACE, "FILE", 0, "write a line per shopper: "
      "number; first attempt, last request and end (Unix time in ms); "
      "outcome; requests; last HTTP status", 0 },
    { "live", CROWD_OPTIONS_LIVE, NULL, 0, "print a line a second", 0 },
    { "json", CROWD_OPTIONS_JSON, NULL, 0, "print the results as JSON, and "
      "live lines on standard error", 0 },
    { NULL, 0, NULL, 0, NULL, 0 }
};


static FILE *
crowd_options_file(struct argp_state *state, const char *name)
{
    FILE  *file;

    file = fopen(name, "w");
    if (file == NULL) {
        argp_failure(state, 2, 0, "open() \"%s\" failed (%d: %s)", name, errno,
                     strerror(errno));
    }

    return file;
}


static void
crowd_options_stages(struct argp_state *state, crowd_arrivals_t *arrivals,
    const char *text)
{
    const char  *error;

    error = crowd_arrivals_parse(arrivals, text);
    if (error != NULL) {
        argp_error(state, "invalid value \"%s\" for --stages: %s", text,
                   error);
    }
}


static void
crowd_options_patience(struct argp_state *state, crowd_options_t *options,
    const char *text)
{
    char        *end;
    const char  *p;

    p = text;
    options->patience_min_s = strtod(p, &end);
    options->patience_max_s = options->patience_min_s;

    if (end != p && *end == '-') {
        p = end + 1;
        options->patience_max_s = strtod(p, &end);
    }

    if (end == p || *end != '\0' || !(options->patience_min_s > 0)
        || !(options->patience_max_s >= options->patience_min_s)
        || options->patience_max_s > CROWD_OPTIONS_PATIENCE_MAX_S)
    {
        argp_error(state, "invalid value \"%s\" for --patience: expected"
                   " seconds above 0, at most %g, or a range of them", text,
                   CROWD_OPTIONS_PATIENCE_MAX_S);
    }
}


static bool
crowd_options_is_get(struct argp_state *state, const char *text)
{
    if (strcmp(text, "POST") != 0 && strcmp(text, "GET") != 0) {
        argp_error(state, "invalid value \"%s\" for --method: expected POST or"
                   " GET", text);
    }

    return *text == 'G';
}


static void
crowd_options_finish(crowd_options_t *options, struct argp_state *state)
{
    if (options->url == NULL) {
        argp_error(state, "missing --url");
    }

    if (options->shoppers != 0) {
        crowd_arrivals_scale(&options->arrivals, (double) options->shoppers);
        return;
    }

    options->shoppers = (uint64_t) (crowd_arrivals_total(&options->arrivals)
                                    + 1e-6);

    if (options->shoppers > CROWD_OPTIONS_SHOPPERS_MAX) {
        argp_error(state, "%llu shoppers in --stages: expected at most %d",
                   (unsigned long long) options->shoppers,
                   CROWD_OPTIONS_SHOPPERS_MAX);
    }
}


static error_t
crowd_options_set(int key, char *text, struct argp_state *state)
{
    crowd_options_t  *options;

    options = state->input;

    switch (key) {

    case CROWD_OPTIONS_URL:
        options->url = option_url(state, "url", text);
        return 0;

    case CROWD_OPTIONS_STAGE_LIST:
        crowd_options_stages(state, &options->arrivals, text);
        return 0;

    case CROWD_OPTIONS_SHOPPERS:
        options->shoppers = option_integer(state, "shoppers", text, 1,
                                           CROWD_OPTIONS_SHOPPERS_MAX);
        return 0;

    case CROWD_OPTIONS_PATIENCE:
        crowd_options_patience(state, options, text);
        return 0;

    case CROWD_OPTIONS_METHOD:
        options->get = crowd_options_is_get(state, text);
        return 0;

    case CROWD_OPTIONS_POLL:
        options->poll = true;
        return 0;

    case CROWD_OPTIONS_DEADLINE:
        options->deadline = true;
        return 0;

    case CROWD_OPTIONS_NO_COOKIE:
        options->no_cookie = option_number(state, "no-cookie", text, 0, 1);
        return 0;

    case CROWD_OPTIONS_VANISH:
        options->vanish = option_number(state, "vanish", text, 0, 1);
        return 0;

    case CROWD_OPTIONS_STATUS_URL:
        options->status_url = option_url(state, "status-url", text);
        return 0;

    case CROWD_OPTIONS_STATS_URL:
        options->stats_url = option_url(state, "stats-url", text);
        return 0;

    case CROWD_OPTIONS_SEED:
        options->seed = option_integer(state, "seed", text, 0, UINT64_MAX);
        return 0;

    case CROWD_OPTIONS_TRACE:
        options->trace = crowd_options_file(state, text);
        return 0;

    case CROWD_OPTIONS_LIVE:
        options->live = true;
        return 0;

    case CROWD_OPTIONS_JSON:
        options->json = true;
        return 0;

    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument \"%s\"", text);
        return 0;

    case ARGP_KEY_END:
        crowd_options_finish(options, state);
        return 0;
    }

    return ARGP_ERR_UNKNOWN;
}


void
crowd_options_parse(crowd_options_t *options, int argc, char **argv)
{
    static const struct argp  argp = {
        .options = crowd_options_list,
        .parser = crowd_options_set,
        .args_doc = "--url=URL",
        .doc = "Sends a crowd of shoppers, each with its own cookies, to a "
               "checkout, and reports the results of the sale."
               "\vExit status: 0 if there were orders, none of them oversold "
               "or charged late; 1 if not; 2 on error."
    };

    memset(options, 0, sizeof(*options));
    options->patience_min_s = 15;
    options->patience_max_s = 15;
    options->seed = 1;
    (void) crowd_arrivals_parse(&options->arrivals, CROWD_OPTIONS_STAGES);

    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, options);
}
