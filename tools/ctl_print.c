
#include "ctl_print.h"
#include "ctl_json.h"

#include <time.h>


#define CTL_PRINT_NAME_MAX  60


void
ctl_print_text(FILE *out, const char *text)
{
    unsigned char  c;

    for ( /* void */ ; text != NULL && *text != '\0'; text++) {
        c = (unsigned char) *text;

        fputc(c < 0x20 || c >= 0x7f ? '?' : c, out);
    }
}


void
ctl_print_opens(FILE *out, const json_t *state)
{
    char       text[40];
    time_t     seconds;
    struct tm  tm;

    seconds = (time_t) (ctl_json_integer(state, "opens_ms") / 1000);

    if (seconds != 0 && localtime_r(&seconds, &tm) != NULL
        && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S%z", &tm) != 0)
    {
        fprintf(out, ", opens %s", text);
    }
}


static const char *
ctl_print_milli(char *buf, size_t size, int64_t milli)
{
    snprintf(buf, size, "%lld.%lld", (long long) (milli / 1000),
             (long long) (milli % 1000 / 100));

    return buf;
}


static const char *
ctl_print_rate(char *buf, size_t size, int64_t milli)
{
    return milli != 0 ? ctl_print_milli(buf, size, milli) : "none";
}


static void
ctl_print_head(FILE *out, const char *zone, const char *key,
    const json_t *state)
{
    char         name[CTL_PRINT_NAME_MAX];
    const char  *mode;

    mode = ctl_json_flag(state, "sold_out") ? "SOLD OUT"
           : ctl_json_flag(state, "paused") ? "PAUSED"
           : ctl_json_integer(state, "opens_ms") ? "closed"
           : ctl_json_flag(state, "queueing") ? "queueing"
           : "open";

    snprintf(name, sizeof(name), "%s  %s", zone, key);
    ctl_print_text(out, name);
    fprintf(out, "  [%s", mode);
    ctl_print_opens(out, state);
    fputc(']', out);
}


static void
ctl_print_wait(FILE *out, const json_t *state, const char *eol)
{
    char  wait[32], age[32];

    if (ctl_json_flag(state, "sold_out") || ctl_json_integer(state, "opens_ms"))
    {
        fprintf(out, "  wait          none%s", eol);
        return;
    }

    if (ctl_json_flag(state, "paused")) {
        fprintf(out, "  wait       unknown  ");

    } else {
        fprintf(out, "  wait      %8s s",
                ctl_print_milli(wait, sizeof(wait),
                                ctl_json_integer(state, "wait_ms")));
    }

    fprintf(out, "  threshold age %s s%s",
            ctl_print_milli(age, sizeof(age),
                            ctl_json_integer(state, "threshold_age_ms")), eol);
}


static void
ctl_print_inflight(FILE *out, const json_t *limits, const json_t *state,
    const char *eol)
{
    int64_t  max;

    fprintf(out, "  upstream  %8lld",
            (long long) ctl_json_integer(state, "inflight"));

    max = ctl_json_integer(limits, "inflight_max");

    if (max != 0) {
        fprintf(out, "    of %lld", (long long) max);
    }

    fprintf(out, "%s", eol);
}


static void
ctl_print_limit_rate(FILE *out, const json_t *limits, const json_t *state,
    const char *eol)
{
    char     now[32], configured[32];
    bool     by_operator, by_upstream;
    int64_t  now_milli, configured_milli;

    by_operator = ctl_json_integer(state, "rate_override_milli") != 0;
    by_upstream = ctl_json_integer(state, "rate_upstream_milli") != 0;
    now_milli = ctl_json_integer(state, "rate_now_milli");
    configured_milli = ctl_json_integer(limits, "rate_milli");

    fprintf(out, "  rate      %8s%s",
            ctl_print_rate(now, sizeof(now), now_milli),
            now_milli ? "/s" : "");

    if (by_operator || by_upstream) {
        fprintf(out, "  set by the %s, configured %s%s",
                by_operator ? "operator" : "upstream",
                ctl_print_rate(configured, sizeof(configured),
                               configured_milli),
                configured_milli ? "/s" : "");
    }

    fprintf(out, "%s", eol);
}


static void
ctl_print_admitted(FILE *out, const json_t *state,
    const ctl_print_rates_t *rates, const char *eol)
{
    char  attempts[32], admitted[32];

    fprintf(out, "  admitted  %8lld",
            (long long) ctl_json_integer(state, "admitted"));

    if (rates != NULL) {
        fprintf(out, "    now %s/s, first attempts %s/s",
                ctl_print_milli(admitted, sizeof(admitted),
                                rates->admitted_milli),
                ctl_print_milli(attempts, sizeof(attempts),
                                rates->first_attempts_milli));
    }

    fprintf(out, "%s", eol);
}


void
ctl_print_key(FILE *out, const char *zone, const json_t *limits,
    const char *key, const json_t *state, const ctl_print_rates_t *rates,
    const char *eol)
{
    ctl_print_head(out, zone, key, state);
    fprintf(out, "%s", eol);

    fprintf(out, "  waiting   %8lld    called %lld, held %lld%s",
            (long long) ctl_json_integer(state, "waiting"),
            (long long) ctl_json_integer(state, "called"),
            (long long) ctl_json_integer(state, "held"), eol);

    ctl_print_wait(out, state, eol);
    ctl_print_inflight(out, limits, state, eol);
    ctl_print_limit_rate(out, limits, state, eol);
    ctl_print_admitted(out, state, rates, eol);

    fprintf(out, "  rejected  %8lld    sold out %lld, first attempts %lld, "
            "left %lld%s",
            (long long) ctl_json_integer(state, "rejected"),
            (long long) ctl_json_integer(state, "sold_out_total"),
            (long long) ctl_json_integer(state, "first_attempts"),
            (long long) (ctl_json_integer(state, "left")
                         + ctl_json_integer(state, "no_shows")
                         + ctl_json_integer(state, "expired")), eol);
}
