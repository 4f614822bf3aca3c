
#include "options.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
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


/* as given, before the scale; FT_SIM_UNSET: not given */
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
    { NULL, 0, NULL, 0, "The sale:", 1 },
    { "profile", FT_OPT_PROFILE, "NAME", 0,
      "drop, low, peak, or a file (default peak)", 0 },
    { "scale", FT_OPT_SCALE, "X", 0,
      "X times the shoppers, stock, slots, rate, burst and the bounds in "
      "flight and on passes", 0 },
    { "patience", FT_OPT_PATIENCE, "S", 0,
      "seconds a shopper keeps trying: 15 (default), 5-25, exp:600, or a "
      "mixture such as 0.7*exp:600,0.3*3600", 0 },
    { "no-show", FT_OPT_NO_SHOW, "SHARE", 0,
      "of the shoppers who vanish without notice after 1 to 5 polls", 0 },
    { "opens", FT_OPT_OPENS, "S", 0,
      "the sale opens then: who comes before waits in a pre-queue, with all "
      "of the patience left (0: it is open)", 0 },
    { "polls", FT_OPT_POLLS, "S", 0,
      "seconds between two polls of a shopper whatever it is told, in the form "
      "of --patience (default: as it is told)", 0 },
    { "stock", FT_OPT_STOCK, "N", 0,
      "units (default 500 for drop and low, otherwise unlimited)", 0 },
    { "slots", FT_OPT_SLOTS, "N", 0,
      "payments at once (default 8; 0, the default of naive and reserve: "
      "any number)", 0 },

    { NULL, 0, NULL, 0, "What stands before it:", 2 },
    { "variant", FT_OPT_VARIANT, "NAME", 0,
      "naive, reserve, queue, deadline, waiting-room, edge-lottery, "
      "edge-proportional, edge-fair (default) or ideal", 0 },
    { "deadline", FT_OPT_DEADLINE, "on|off", 0,
      "start no payment that cannot end before the shopper leaves (default "
      "off for the first five variants but deadline, on for the others)", 0 },
    { "rate", FT_OPT_RATE, "R", 0,
      "admissions a second (default 0: as many as checkout completes, which "
      "the bound in flight tells)", 0 },
    { "burst", FT_OPT_BURST, "N", 0, "admissions at one instant (default 8)",
      0 },
    { "inflight", FT_OPT_INFLIGHT, "N", 0,
      "admitted requests at checkout at once (default twice the slots; "
      "0: any)", 0 },
    { "sessions", FT_OPT_SESSIONS, "N", 0,
      "passes alive at once (default 0: any)", 0 },
    { "session", FT_OPT_SESSION, "S", 0, "the life of a pass (600)", 0 },
    { "over", FT_OPT_OVER, "SHARE", 0,
      "of the passes that are over when checkout has answered (0)", 0 },
    { "adapt", FT_OPT_ADAPT, "S", 0,
      "what is let in follows checkout's answers, which should take so long "
      "(default: it does not)", 0 },
    { "adapt-by", FT_OPT_ADAPT_BY, "window|aimd", 0,
      "as it ships, or the rate by additive increase and multiplicative "
      "decrease", 0 },
    { "poll-min", FT_OPT_POLL_MIN, "S", 0, "least advised retry (0.3)", 0 },
    { "poll-max", FT_OPT_POLL_MAX, "S", 0, "largest advised retry (15)", 0 },
    { "hold", FT_OPT_HOLD, "S", 0,
      "how long a called shopper may be held (2; 0: not)", 0 },
    { "workers", FT_OPT_WORKERS, "N", 0, "worker processes (1)", 0 },
    { "clock-skew", FT_OPT_CLOCK_SKEW, "S", 0,
      "between the clocks of the first worker and the last (0)", 0 },

    { NULL, 0, NULL, 0, "What to print:", 3 },
    { "runs", FT_OPT_RUNS, "N", 0, "(default 400)", 0 },
    { "seed", FT_OPT_SEED, "N", 0, "(default 1)", 0 },
    { "json", FT_OPT_JSON, NULL, 0, "JSON instead of a table", 0 },
    { "trace", FT_OPT_TRACE, "FILE", 0, "write one shopper a line", 0 },
    { "require", FT_OPT_REQUIRE, "X", 0,
      "a bound that a mean must keep, such as 'confirmed>=1800', 'idle<=0.005' "
      "or 'oversold=42.5+-1'; may be repeated; prints only these and exits "
      "with 1 if one is missed", 0 },
    { "title", FT_OPT_TITLE, "TEXT", 0, "names the lines of --require", 0 },
    { NULL, 0, NULL, 0, NULL, 0 }
};


const char *
ft_variant_name(ft_variant_t variant)
{
    return ft_variant_names[variant];
}


static double
ft_option_number(struct argp_state *state, const char *name, const char *text,
    double least, double most)
{
    char    *end;
    double   value;

    value = strtod(text, &end);

    if (end == text || *end != '\0' || !(value >= least) || value > most) {
        argp_error(state, "--%s takes a number from %.12g to %.12g, not \"%s\"",
                   name, least, most, text);
    }

    return value;
}


static double
ft_option_integer(struct argp_state *state, const char *name, const char *text,
    double least, double most)
{
    double  value;

    value = ft_option_number(state, name, text, least, most);

    if (value != floor(value)) {
        argp_error(state, "--%s takes a whole number, not \"%s\"", name, text);
    }

    return value;
}


static uint32_t
ft_option_ms(struct argp_state *state, const char *name, const char *text,
    double least, double most)
{
    return (uint32_t) lround(ft_option_number(state, name, text, least, most)
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

    argp_error(state, "--variant takes naive, reserve, queue, deadline, "
               "waiting-room, edge-lottery, edge-proportional, edge-fair or "
               "ideal, not \"%s\"", text);

    return FT_EDGE_FAIR;
}


static int
ft_option_switch(struct argp_state *state, const char *name, const char *text)
{
    if (strcmp(text, "on") != 0 && strcmp(text, "off") != 0) {
        argp_error(state, "--%s takes on or off, not \"%s\"", name, text);
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
            argp_error(state, "--patience takes seconds as 15, 5-25, exp:600 or "
                       "a mixture as 0.7*exp:600,0.3*3600 (weights add up to "
                       "1), not \"%s\"", text);
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
            argp_error(state, "--polls takes seconds in a form of --patience, "
                       "such as 0.3-1, not \"%s\"", text);
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
        options->over = ft_option_number(state, "over", text, 0, 1);
        return 0;

    case FT_OPT_ADAPT:
        options->adapt_ms = ft_option_ms(state, "adapt", text,
                                         FT_ADAPT_TARGET_MIN_MS / 1e3,
                                         FT_ADAPT_TARGET_MAX_MS / 1e3);
        return 0;

    case FT_OPT_ADAPT_BY:
        if (strcmp(text, "window") != 0 && strcmp(text, "aimd") != 0) {
            argp_error(state, "--adapt-by takes window or aimd, not \"%s\"",
                       text);
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
            argp_error(state, "--require takes up to %d of FIGURE>=X, FIGURE<=X "
                       "or FIGURE=X+-Y, FIGURE being a name that --json "
                       "prints, not \"%s\"", FT_REQUIRES_MAX, text);
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
        argp_failure(state, 2, 0, "%s", error != NULL ? error : "no memory");
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

    options->slots = (uint32_t) ft_scaled(options, given->slots);
    options->inflight = (uint32_t) ft_scaled(options, given->inflight);
    options->sessions = (uint32_t) ft_scaled(options, given->sessions);
    options->burst = (uint32_t) fmax(1, ft_scaled(options, given->burst));
    options->rate_milli = (uint32_t) (ft_scaled(options, given->rate) * 1000);
    options->stock = given->stock == FT_SIM_UNSET
                     ? -1 : (int64_t) ft_scaled(options, given->stock);

    playbook = options->variant <= FT_WAITING_ROOM
               && options->variant != FT_DEADLINE;
    options->deadline = given->deadline == -1 ? !playbook : given->deadline;
}


static void
ft_options_check(const ft_options_t *options, struct argp_state *state)
{
    bool  edge;

    edge = ft_variant_edge(options->variant);

    if (options->poll_min_ms > options->poll_max_ms) {
        argp_error(state, "--poll-min must not exceed --poll-max");
    }

    if (options->no_show > 0 && !edge && options->variant != FT_WAITING_ROOM) {
        argp_error(state, "--no-show needs a variant where shoppers poll: "
                   "waiting-room or one of the edge's");
    }

    if (options->opens_ms && !edge) {
        argp_error(state, "--opens needs one of the edge's variants");
    }

    if (options->polls.n && options->variant != FT_EDGE_FAIR
        && options->variant != FT_EDGE_PROPORTIONAL)
    {
        argp_error(state, "--polls needs a variant that tells when to come "
                   "back: edge-fair or edge-proportional");
    }

    if (options->slots == 0 && options->variant == FT_WAITING_ROOM) {
        argp_error(state, "--variant waiting-room lets in as many as --slots "
                   "says, at least 1");
    }

    if (options->rate_milli == 0 && edge && options->inflight == 0
        && options->sessions == 0 && options->adapt_ms == 0)
    {
        argp_error(state, "without --slots or --inflight, --rate or --sessions "
                   "must bound the admissions");
    }

    if (options->rate_milli == 0 && options->slots == 0
        && options->variant == FT_IDEAL)
    {
        argp_error(state, "--variant ideal needs --slots or --rate");
    }
}


static error_t
ft_option_parse(int key, char *text, struct argp_state *state)
{
    error_t      rc;
    ft_given_t  *given;

    given = state->input;

    if (key == ARGP_KEY_ARG) {
        argp_error(state, "\"%s\" is not an option", text);
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
        .doc = "Simulates flash sales with the throttle that ships: what is "
               "sold, to whom, and how fairly.\v"
               "Prints the mean over the runs, and the 5th and the 95th "
               "percentile."
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
