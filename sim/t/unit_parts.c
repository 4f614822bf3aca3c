
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "events.h"
#include "figures.h"
#include "patience.h"
#include "profile.h"
#include "random.h"
#include "require.h"
#include "tap.h"


#define FT_EVENTS  5000


void
ft_test_events(void)
{
    int          i, wrong;
    ft_event_t   event, last;
    ft_events_t  events;
    ft_random_t  random;

    ft_random_seed(&random, 1, 1, 2);

    if (!ft_events_init(&events, 8)) {
        abort();
    }

    for (i = 0; i < FT_EVENTS; i++) {
        ft_events_add(&events, (int64_t) ft_random_between(&random, 0, 500),
                      FT_EVENT_LEAVE, (uint32_t) i);
    }

    wrong = 0;
    last = ft_events_take(&events);

    for (i = 1; i < FT_EVENTS; i++) {
        event = ft_events_take(&events);

        wrong += event.at_us < last.at_us
                 || (event.at_us == last.at_us
                     && ft_event_index(&event) < ft_event_index(&last))
                 || ft_event_kind(&event) != FT_EVENT_LEAVE;
        last = event;
    }

    ft_ok(wrong == 0 && events.n == 0,
          "events are ordered by time, then by insertion");

    ft_events_free(&events);
}


static size_t
ft_arrivals(const char *name, double scale)
{
    char          *error;
    size_t         n;
    ft_profile_t   profile;

    if (!ft_profile_read(&profile, name, scale, &error)) {
        free(error);
        return 0;
    }

    n = profile.narrivals;
    ft_profile_free(&profile);

    return n;
}


/* Arrivals of the peak until t. */
static double
ft_peak_integral(double t)
{
    if (t < 10) {
        return 3.2 * t * t;
    }

    if (t < 40) {
        return 320 + 64 * (t - 10);
    }

    return 2240 + 64 * (t - 40) - 3.2 * (t - 40) * (t - 40);
}


static void
ft_test_schedule(void)
{
    char          *error;
    size_t         i, wrong;
    ft_profile_t   profile;

    ft_ok(ft_arrivals("drop", 1) == 8250, "drop has 8,250 shoppers");
    ft_ok(ft_arrivals("low", 1) == 825, "low has 825 shoppers");
    ft_ok(ft_arrivals("peak", 1) == 2560, "peak has 2,560 shoppers");
    ft_ok(ft_arrivals("peak", 10) == 25600,
          "peak with scale 10 has 25,600 shoppers");

    if (!ft_profile_read(&profile, "peak", 1, &error)) {
        abort();
    }

    wrong = 0;

    for (i = 0; i < profile.narrivals; i++) {
        wrong += fabs(ft_peak_integral((double) profile.arrivals_us[i] / 1e6)
                      - (double) (i + 1)) > 1e-3;
    }

    ft_ok(wrong == 0,
          "the i-th arrives when the integral of the rate reaches i");
    ft_ok(profile.arrivals_us[2559] == 50000000, "the last arrives at the end");

    ft_profile_free(&profile);
}


static bool
ft_read_text(ft_profile_t *profile, const char *text, char **error)
{
    int    fd;
    bool   good;
    char   name[] = "/tmp/ft_profile_XXXXXX";
    FILE  *file;

    fd = mkstemp(name);
    file = fd != -1 ? fdopen(fd, "w") : NULL;

    if (file == NULL || fputs(text, file) == EOF || fclose(file) != 0) {
        abort();
    }

    good = ft_profile_read(profile, name, 2, error);
    unlink(name);

    return good;
}


static void
ft_refuse_profile(const char *text, const char *message)
{
    char          *error;
    bool           good;
    ft_profile_t   profile;

    good = ft_read_text(&profile, text, &error);

    ft_ok(!good && error != NULL && strstr(error, message) != NULL,
          "refused with \"%s\"", message);

    if (good) {
        ft_profile_free(&profile);
    }

    free(error);
}


void
ft_test_profile(void)
{
    char          *error;
    bool           good;
    ft_profile_t   profile;

    ft_test_schedule();

    good = ft_read_text(&profile, "# a sale\n\n 4 5 5 # even\nat 3 restart\n"
                        "at 1.5 slots 16\r\n", &error);
    ft_ok(good && profile.narrivals == 40 && profile.stock == -1,
          "a file with stages, comments and a scale");
    ft_ok(good && profile.nchanges == 2
          && profile.changes[0].kind == FT_CHANGE_SLOTS
          && profile.changes[0].at_us == 1500000
          && profile.changes[0].value == 16
          && profile.changes[1].kind == FT_CHANGE_RESTART,
          "changes are sorted by time");

    if (good) {
        ft_profile_free(&profile);
    }

    ft_refuse_profile("1 2 3\nten 0 64\n",
                      "invalid line \"ten 0 64\" in /tmp/ft_profile_");
    ft_refuse_profile("at 5 slots\n", "invalid line \"at 5 slots\"");
    ft_refuse_profile("at 5 slots 0\n", ":1, it must be");
    ft_refuse_profile("at 5 restart 3\n", ":1, it must be");
    ft_refuse_profile("1 2 3 4\n", ":1, it must be");
    ft_refuse_profile("-1 2 3\n", ":1, it must be");
    ft_refuse_profile("10 0 0\n", "the number of shoppers must be 1 to");

    ft_ok(ft_arrivals("/nonexistent/profile", 1) == 0,
          "a missing file is refused");
}


static double
ft_mean_patience(const char *text)
{
    int            i;
    double         sum;
    ft_random_t    random;
    ft_patience_t  patience;

    if (!ft_patience_parse(&patience, text)) {
        return NAN;
    }

    ft_random_seed(&random, 1, 1, 3);
    sum = 0;

    for (i = 0; i < 100000; i++) {
        sum += (double) ft_patience_draw(&patience, &random) / 1e6;
    }

    return sum / 100000;
}


static void
ft_test_random(void)
{
    uint64_t     split;
    ft_random_t  random = { { 1, 2, 3, 4 } };

    /* from the authors' reference implementations */

    split = 1234567;
    ft_ok(ft_random_split(&split) == UINT64_C(6457827717110365317)
          && ft_random_split(&split) == UINT64_C(3203168211198807973),
          "splitmix64 matches the published numbers");
    ft_ok(ft_random_next(&random) == 11520 && ft_random_next(&random) == 0
          && ft_random_next(&random) == 1509978240
          && ft_random_next(&random) == UINT64_C(1215971899390074240),
          "xoshiro256** matches the published numbers");
}


void
ft_test_crowd(void)
{
    size_t       i;
    const char  *bad[] = { "", "x", "0", "-5", "25-5", "exp:", "exp:0",
                           "15s", "0.5*5", "0.5*5,0.6*9", "5,9", "0.5*5,",
                           "1e9" };

    ft_test_random();

    ft_ok(ft_mean_patience("15") == 15, "patience 15");
    ft_ok(fabs(ft_mean_patience("5-25") - 15) < 0.1, "patience 5-25");
    ft_ok(fabs(ft_mean_patience("exp:600") - 600) < 6, "patience exp:600");
    ft_ok(fabs(ft_mean_patience("0.7*exp:600,0.3*3600") - 1500) < 15,
          "patience of a mixture");

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ft_ok(isnan(ft_mean_patience(bad[i])), "patience \"%s\" is refused",
              bad[i]);
    }
}


static bool
ft_require(const char *text, double reached)
{
    ft_summary_t   summary;
    ft_requires_t  requires;

    requires.n = 0;

    if (!ft_require_add(&requires, text)) {
        return false;
    }

    summary.range[FT_CONFIRMED].mean = reached;

    return ft_require_met(&requires.list[0], &summary);
}


void
ft_test_figures(void)
{
    int            i;
    ft_figures_t   runs[21];
    ft_summary_t   summary;
    ft_requires_t  requires = { .n = 0 };

    memset(runs, 0, sizeof(runs));

    for (i = 0; i < 21; i++) {
        runs[i].value[FT_CONFIRMED] = 20 - i;
        runs[i].value[FT_IDLE] = i == 0 ? 0.25 : NAN;
        runs[i].value[FT_OVERSOLD] = NAN;
    }

    ft_figures_summarize(&summary, runs, 21);

    ft_ok(summary.range[FT_CONFIRMED].mean == 10
          && summary.range[FT_CONFIRMED].p5 == 1
          && summary.range[FT_CONFIRMED].p95 == 19,
          "mean, 5th and 95th percentile");
    ft_ok(summary.range[FT_IDLE].mean == 0.25
          && isnan(summary.range[FT_OVERSOLD].mean),
          "runs without a figure are not averaged");

    ft_ok(ft_require("confirmed>=10", 10) && !ft_require("confirmed>=10", 9.9),
          "requirement: minimum");
    ft_ok(ft_require("confirmed<=10", 10) && !ft_require("confirmed<=10", 10.1),
          "requirement: maximum");
    ft_ok(ft_require("confirmed=10+-1", 9) && ft_require("confirmed=10+-1", 11)
          && !ft_require("confirmed=10+-1", 8.9)
          && !ft_require("confirmed=10+-1", 11.1), "requirement: tolerance");
    ft_ok(ft_require("confirmed=10", 10) && !ft_require("confirmed=10", 10.1),
          "requirement: exact value");
    ft_ok(!ft_require("confirmed>=10", NAN),
          "an undefined figure meets no requirement");
    ft_ok(!ft_require_add(&requires, "confirm>=1")
          && !ft_require_add(&requires, "confirmed>1")
          && !ft_require_add(&requires, "confirmed>=x")
          && !ft_require_add(&requires, "confirmed=1+-"),
          "malformed requirements are refused");
}
