
#include "options.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ft_adapt.h"
#include "ft_config.h"


#define FT_SIM_UNSET  -1.0


enum {
    FT_OPT_PROFILE = 256,
    FT_OPT_VARIANT,
    FT_OPT_DEADLINE,
    FT_OPT_RUNS,
    FT_OPT_SEED,
    FT_OPT_PATIENCE,
    FT_OPT_SLOTS,
    FT_OPT_STOCK,
    FT_OPT_RATE,
    FT_OPT_BURST,
    FT_OPT_INFLIGHT,
    FT_OPT_SESSIONS,
    FT_OPT_SESSION,
    FT_OPT_OVER,
    FT_OPT_ADAPT,
    FT_OPT_ADAPT_BY,
    FT_OPT_POLL_MIN,
    FT_OPT_POLL_MAX,
    FT_OPT_HOLD,
    FT_OPT_NO_SHOW,
    FT_OPT_OPENS,
    FT_OPT_POLLS,
    FT_OPT_SCALE,
    FT_OPT_WORKERS,
    FT_OPT_CLOCK_SKEW,
    FT_OPT_JSON,
    FT_OPT_TRACE,
    FT_OPT_REQUIRE,
    FT_OPT_TITLE
};


/* before the scale; FT_SIM_UNSET: not on the command line */
typedef struct {
    ft_options_t      *options;
    int                deadline;
    double             slots;
    double             stock;
    double             rate;
    double             burst;
    double             inflight;
    double             sessions;
} ft_given_t;


static const char  *ft_variant_names[] = {
    [FT_NAIVE] = "naive",
    [FT_RESERVE] = "reserve",
    [FT_QUEUE] = "queue",
    [FT_DEADLINE] = "deadline",
    [FT_WAITING_ROOM] = "waiting-room",
    [FT_EDGE_LOTTERY] = "edge-lottery",
    [FT_EDGE_PROPORTIONAL] = "edge-proportional",
    [FT_EDGE_FAIR] = "edge-fair",
    [FT_IDEAL] = "ideal"
};


static const struct argp_option  ft_option_list[] = {
    { NULL, 0, NULL, 0, "Sale:", 1 },
    { "profile", FT_OPT_PROFILE, "NAME", 0,
      "drop, low, peak, or a file (default peak)", 0 },
    { "scale", FT_OPT_SCALE, "X", 0,
      "multiply shoppers, stock, slots, rate, burst, inflight and sessions "
      "by X (default 1)", 0 },
    { "patience", FT_OPT_PATIENCE, "S", 0,
      "patience of a shopper in seconds: 15 (default), 5-25, exp:600, or a "
      "mixture such as 0.7*exp:600,0.3*3600", 0 },
    { "no-show", FT_OPT_NO_SHOW, "SHARE", 0,
      "share of the shoppers who leave after 1 to 5 polls (default 0)", 0 },
    { "opens", FT_OPT_OPENS, "S", 0,
      "open the sale after S seconds; earlier shoppers wait in the pre-queue, "
      "and their patience starts at the opening (default 0: open)", 0 },
    { "polls", FT_OPT_POLLS, "S", 0,
      "seconds between polls, in the form of --patience (default: as advised)",
      0 },
    { "stock", FT_OPT_STOCK, "N", 0,
      "units in stock (default 500 for drop and low, otherwise unlimited)", 0 },
    { "slots", FT_OPT_SLOTS, "N", 0,
      "concurrent payments (default 8, for naive and reserve 0: unlimited)",
      0 },

    { NULL, 0, NULL, 0, "Throttle:", 2 },
    { "variant", FT_OPT_VARIANT, "NAME", 0,
      "naive, reserve, queue, deadline, waiting-room, edge-lottery, "
      "edge-proportional, edge-fair (default) or ideal", 0 },
    { "deadline", FT_OPT_DEADLINE, "on|off", 0,
      "start no payment that cannot end before the shopper leaves (default "
      "off for naive, reserve, queue and waiting-room, otherwise on)", 0 },
    { "rate", FT_OPT_RATE, "R", 0,
      "admissions per second (default 0: unlimited)", 0 },
    { "burst", FT_OPT_BURST, "N", 0,
      "burst of the rate, in admissions (default 8)", 0 },
    { "inflight", FT_OPT_INFLIGHT, "N", 0,
      "maximum of concurrent requests at checkout (default twice the slots; "
      "0: unlimited)", 0 },
    { "sessions", FT_OPT_SESSIONS, "N", 0,
      "maximum of valid passes (default 0: unlimited)", 0 },
    { "session", FT_OPT_SESSION, "S", 0,
      "lifetime of a pass in seconds (default 600)", 0 },
    { "over", FT_OPT_OVER, "SHARE", 0,
      "share of the passes that are spent when checkout answers (default 0)",
      0 },
    { "adapt", FT_OPT_ADAPT, "S", 0,
      "adapt admissions to a response time of checkout of S seconds (default: "
      "off)", 0 },
    { "adapt-by", FT_OPT_ADAPT_BY, "window|aimd", 0,
      "adapt by the core's window (default), or the rate by additive increase "
      "and multiplicative decrease", 0 },
    { "poll-min", FT_OPT_POLL_MIN, "S", 0,
      "minimum of the advised retry interval (default 0.3)", 0 },
    { "poll-max", FT_OPT_POLL_MAX, "S", 0,
      "maximum of the advised retry interval (default 15)", 0 },
    { "hold", FT_OPT_HOLD, "S", 0,
      "maximum time to hold a called request (default 2; 0: off)", 0 },
    { "workers", FT_OPT_WORKERS, "N", 0, "worker processes (default 1)", 0 },
    { "clock-skew", FT_OPT_CLOCK_SKEW, "S", 0,
      "clock difference of the first and the last worker (default 0)", 0 },

    { NULL, 0, NULL, 0, "Output:", 3 },
    { "runs", FT_OPT_RUNS, "N", 0, "number of runs (default 400)", 0 },
    { "seed", FT_OPT_SEED, "N", 0, "random seed (default 1)", 0 },
    { "json", FT_OPT_JSON, NULL, 0, "print JSON instead of a table", 0 },
    { "trace", FT_OPT_TRACE, "FILE", 0, "write one line per shopper", 0 },
    { "require", FT_OPT_REQUIRE, "X", 0,
      "require a mean, such as 'confirmed>=1800', 'idle<=0.005' or "
      "'oversold=42.5+-1'; repeatable; print only these figures and exit with "
      "1 if a requirement is not met", 0 },
    { "title", FT_OPT_TITLE, "TEXT", 0, "first column of --require", 0 },
    { NULL, 0, NULL, 0, NULL, 0 }
};


const char *
ft_options_variant_name(ft_variant_t variant)
{
    return ft_variant_names[variant];
}


static void __attribute__((format(printf, 4, 5)))
ft_option_invalid(struct argp_state *state, const char *name, const char *text,
    const char *expected, ...)
{
    char     buffer[256];
    va_list  args;

    va_start(args, expected);
    vsnprintf(buffer, sizeof(buffer), expected, args);
    va_end(args);

    argp_error(state, "invalid value \"%s\" for --%s: expected %s", text, name,
               buffer);
}


static double
ft_option_number(struct argp_state *state, const char *name, const char *text,
    double min, double max)
{
    char    *end;
    double   value;

    value = strtod(text, &end);

    if (end == text || *end != '\0' || !(value >= min) || value > max) {
        ft_option_invalid(state, name, text,
                          "a number from %.12g to %.12g", min, max);
    }

    return value;
}


static double
ft_option_integer(struct argp_state *state, const char *name, const char *text,
    double min, double max)
{
    double  value;

    value = ft_option_number(state, name, text, min, max);

    if (value != floor(value)) {
        ft_option_invalid(state, name, text, "an integer");
    }

    return value;
}


static uint32_t
ft_option_ms(struct argp_state *state, const char *name, const char *text,
    double min, double max)
{
    return (uint32_t) lround(ft_option_number(state, name, text, min, max)
                             * 1000);
}


static ft_variant_t
ft_option_variant(struct argp_state *state, const char *text)
{
    size_t  i, n;

    n = sizeof(ft_variant_names) / sizeof(ft_variant_names[0]);

    for (i = 0; i < n; i++) {
        if (strcmp(text, ft_variant_names[i]) == 0) {
            return (ft_variant_t) i;
        }
    }

    ft_option_invalid(state, "variant", text,
                      "naive, reserve, queue, deadline, waiting-room, "
                      "edge-lottery, edge-proportional, edge-fair or ideal");

    return FT_EDGE_FAIR;
}


static int
ft_option_switch(struct argp_state *state, const char *name, const char *text)
{
    if (strcmp(text, "on") != 0 && strcmp(text, "off") != 0) {
        ft_option_invalid(state, name, text, "on or off");
    }

    return strcmp(text, "on") == 0;
}


static error_t
ft_option_sale(int key, char *text, struct argp_state *state)
{
    ft_given_t    *given;
    ft_options_t  *options;

    given = state->input;
    options = given->options;

    switch (key) {

    case FT_OPT_PROFILE:
        options->profile_name = text;
        return 0;

    case FT_OPT_SCALE:
        options->scale = ft_option_number(state, "scale", text, 0.01, 1000);
        return 0;

    case FT_OPT_PATIENCE:
        if (!ft_patience_parse(&options->patience, text)) {
            ft_option_invalid(state, "patience", text,
                              "seconds such as 15, 5-25 or exp:600, or a "
                              "mixture such as 0.7*exp:600,0.3*3600 with "
                              "weights that add up to 1");
        }

        options->patience_name = text;
        return 0;

    case FT_OPT_NO_SHOW:
        options->no_show = ft_option_number(state, "no-show", text, 0, 1);
        return 0;

    case FT_OPT_OPENS:
        options->opens_ms = ft_option_ms(state, "opens", text, 0, 864000);
        return 0;

    case FT_OPT_POLLS:
        if (!ft_patience_parse(&options->polls, text)) {
            ft_option_invalid(state, "polls", text,
                              "seconds in a form of --patience, such as "
                              "0.3-1");
        }

        return 0;

    case FT_OPT_STOCK:
        given->stock = ft_option_integer(state, "stock", text, 0, 1e9);
        return 0;

    case FT_OPT_SLOTS:
        given->slots = ft_option_integer(state, "slots", text, 0, 1e6);
        return 0;
    }

    return ARGP_ERR_UNKNOWN;
}


static error_t
ft_option_edge(int key, char *text, struct argp_state *state)
{
    ft_given_t    *given;
    ft_options_t  *options;

    given = state->input;
    options = given->options;

    switch (key) {

    case FT_OPT_VARIANT:
        options->variant = ft_option_variant(state, text);
        return 0;

    case FT_OPT_DEADLINE:
        given->deadline = ft_option_switch(state, "deadline", text);
        return 0;

    case FT_OPT_RATE:
        given->rate = ft_option_number(state, "rate", text, 0, 1e6);
        return 0;

    case FT_OPT_BURST:
        given->burst = ft_option_integer(state, "burst", text, 1, 1e6);
        return 0;

    case FT_OPT_INFLIGHT:
        given->inflight = ft_option_integer(state, "inflight", text, 0, 1e6);
        return 0;

    case FT_OPT_SESSIONS:
        given->sessions = ft_option_integer(state, "sessions", text, 0, 1e6);
        return 0;

    case FT_OPT_SESSION:
        options->session_ms = ft_option_ms(state, "session", text, 1, 86400);
        return 0;

    case FT_OPT_OVER:
        options->spent_share = ft_option_number(state, "over", text, 0, 1);
        return 0;

    case FT_OPT_ADAPT:
        options->adapt_ms = ft_option_ms(state, "adapt", text,
                                         FT_ADAPT_TARGET_MIN_MS / 1e3,
                                         FT_ADAPT_TARGET_MAX_MS / 1e3);
        return 0;

    case FT_OPT_ADAPT_BY:
        if (strcmp(text, "window") != 0 && strcmp(text, "aimd") != 0) {
            ft_option_invalid(state, "adapt-by", text, "window or aimd");
        }

        options->aimd = (strcmp(text, "aimd") == 0);
        return 0;

    case FT_OPT_POLL_MIN:
        options->poll_min_ms = ft_option_ms(state, "poll-min", text, 0.1,
                                            FT_POLL_MAX_LIMIT_MS / 1e3);
        return 0;

    case FT_OPT_POLL_MAX:
        options->poll_max_ms = ft_option_ms(state, "poll-max", text, 0.1,
                                            FT_POLL_MAX_LIMIT_MS / 1e3);
        return 0;

    case FT_OPT_HOLD:
        options->hold_ms = ft_option_ms(state, "hold", text, 0, 60);
        return 0;

    case FT_OPT_WORKERS:
        options->workers = (uint32_t) ft_option_integer(state, "workers", text,
                                                        1, FT_SIM_WORKERS_MAX);
        return 0;

    case FT_OPT_CLOCK_SKEW:
        options->clock_skew_ms = ft_option_ms(state, "clock-skew", text, 0, 60);
        return 0;
    }

    return ARGP_ERR_UNKNOWN;
}


static error_t
ft_option_output(int key, char *text, struct argp_state *state)
{
    ft_options_t  *options;

    options = ((ft_given_t *) state->input)->options;

    switch (key) {

    case FT_OPT_RUNS:
        options->runs = (uint32_t) ft_option_integer(state, "runs", text, 1,
                                                     1e6);
        return 0;

    case FT_OPT_SEED:
        options->seed = (uint64_t) ft_option_integer(state, "seed", text, 0,
                                                     0x1p53);
        return 0;

    case FT_OPT_JSON:
        options->json = true;
        return 0;

    case FT_OPT_TRACE:
        options->trace = text;
        return 0;

    case FT_OPT_REQUIRE:
        if (!ft_require_add(&options->requires, text)) {
            ft_option_invalid(state, "require", text,
                              "FIGURE>=X, FIGURE<=X or FIGURE=X+-Y with a "
                              "figure of --json, at most %d times",
                              FT_REQUIRES_MAX);
        }

        return 0;

    case FT_OPT_TITLE:
        options->title = text;
        return 0;
    }

    return ARGP_ERR_UNKNOWN;
}


static void
ft_options_resolve(ft_given_t *given, struct argp_state *state)
{
    char          *error;
    bool           playbook;
    ft_options_t  *options;

    options = given->options;

    if (!ft_profile_read(&options->profile, options->profile_name,
                         options->scale, &error))
    {
        argp_failure(state, 2, 0, "%s",
                     error != NULL ? error : "out of memory");
    }

    if (given->slots == FT_SIM_UNSET) {
        given->slots = options->variant <= FT_RESERVE ? 0 : 8;
    }

    if (given->inflight == FT_SIM_UNSET) {
        given->inflight = 2 * given->slots;
    }

    if (given->stock == FT_SIM_UNSET && options->profile.stock >= 0) {
        given->stock = (double) options->profile.stock;
    }

    options->slots = (uint32_t) ft_options_scaled(options, given->slots);
    options->inflight = (uint32_t) ft_options_scaled(options, given->inflight);
    options->sessions = (uint32_t) ft_options_scaled(options, given->sessions);
    options->burst = (uint32_t) fmax(1, ft_options_scaled(options,
                                                          given->burst));
    options->rate_milli = (uint32_t) (ft_options_scaled(options, given->rate)
                                      * 1000);
    options->stock = given->stock == FT_SIM_UNSET
                     ? -1 : (int64_t) ft_options_scaled(options, given->stock);

    playbook = options->variant <= FT_WAITING_ROOM
               && options->variant != FT_DEADLINE;
    options->deadline = given->deadline == -1 ? !playbook : given->deadline;
}


static void
ft_options_check(const ft_options_t *options, struct argp_state *state)
{
    bool  edge;

    edge = ft_options_is_edge(options);

    if (options->poll_min_ms > options->poll_max_ms) {
        argp_error(state, "--poll-min must not exceed --poll-max");
    }

    if (options->no_show > 0 && !edge && options->variant != FT_WAITING_ROOM) {
        argp_error(state, "--no-show requires --variant waiting-room or an "
                   "edge variant");
    }

    if (options->opens_ms && !edge) {
        argp_error(state, "--opens requires an edge variant");
    }

    if (options->polls.n && options->variant != FT_EDGE_FAIR
        && options->variant != FT_EDGE_PROPORTIONAL)
    {
        argp_error(state, "--polls requires --variant edge-fair or "
                   "edge-proportional");
    }

    if (options->slots == 0 && options->variant == FT_WAITING_ROOM) {
        argp_error(state, "--variant waiting-room requires at least 1 in "
                   "--slots");
    }

    if (options->rate_milli == 0 && edge && options->inflight == 0
        && options->sessions == 0 && options->adapt_ms == 0)
    {
        argp_error(state, "the edge requires --slots, --inflight, --rate, "
                   "--sessions or --adapt");
    }

    if (options->rate_milli == 0 && options->slots == 0
        && options->variant == FT_IDEAL)
    {
        argp_error(state, "--variant ideal requires --slots or --rate");
    }
}


static error_t
ft_option_parse(int key, char *text, struct argp_state *state)
{
    error_t      rc;
    ft_given_t  *given;

    given = state->input;

    if (key == ARGP_KEY_ARG) {
        argp_error(state, "unexpected argument \"%s\"", text);
    }

    if (key == ARGP_KEY_END) {
        ft_options_resolve(given, state);
        ft_options_check(given->options, state);
        return 0;
    }

    rc = ft_option_sale(key, text, state);

    if (rc == ARGP_ERR_UNKNOWN) {
        rc = ft_option_edge(key, text, state);
    }

    if (rc == ARGP_ERR_UNKNOWN) {
        rc = ft_option_output(key, text, state);
    }

    return rc;
}


void
ft_options_read(ft_options_t *options, int argc, char **argv)
{
    ft_given_t  given;

    static const struct argp  argp = {
        .options = ft_option_list,
        .parser = ft_option_parse,
        .doc = "Simulates flash sales with the throttle's core.\v"
               "Prints the mean of each figure over the runs, and the 5th and "
               "the 95th percentile."
    };

    *options = (ft_options_t) {
        .profile_name = "peak",
        .patience_name = "15",
        .title = "",
        .variant = FT_EDGE_FAIR,
        .runs = 400,
        .seed = 1,
        .scale = 1,
        .poll_min_ms = FT_POLL_MIN_DEFAULT_MS,
        .poll_max_ms = FT_POLL_MAX_DEFAULT_MS,
        .hold_ms = FT_HOLD_DEFAULT_MS,
        .session_ms = 600000,
        .workers = 1
    };

    ft_patience_parse(&options->patience, options->patience_name);

    given = (ft_given_t) {
        .options = options,
        .deadline = -1,
        .slots = FT_SIM_UNSET,
        .stock = FT_SIM_UNSET,
        .rate = 0,
        .burst = 8,
        .inflight = FT_SIM_UNSET
    };

    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, &given);
}


void
ft_options_free(ft_options_t *options)
{
    ft_profile_free(&options->profile);
}
