
/*
 * flashctl's figures, within 80 columns.
 */

#include "ctl.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>


#define FT_CTL_NAME_MAX  60


void
ft_ctl_print_text(FILE *out, const char *text)
{
    unsigned char  c;

    for ( /* void */ ; text && *text; text++) {
        c = (unsigned char) *text;

        /* what is not ASCII is a byte of a key's, or U+0080 to U+009F */

        fputc(c < 0x20 || c >= 0x7f ? '?' : c, out);
    }
}


void
ft_ctl_print_opening(FILE *out, json_t *state)
{
    char       text[40];
    time_t     seconds;
    struct tm  tm;

    seconds = (time_t) (ft_ctl_figure(state, "opens_ms") / 1000);

    if (seconds && localtime_r(&seconds, &tm)
        && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S%z", &tm))
    {
        fprintf(out, ", opens %s", text);
    }
}


/* A number x 1000, with one decimal. */
static const char *
ft_ctl_milli(char *buf, size_t size, int64_t milli, const char *none)
{
    if (milli == 0 && none) {
        return none;
    }

    snprintf(buf, size, "%lld.%lld", (long long) (milli / 1000),
             (long long) (milli % 1000 / 100));

    return buf;
}


static void
ft_ctl_print_head(FILE *out, const char *zone, const char *key, json_t *state)
{
    char         name[FT_CTL_NAME_MAX];
    const char  *what;

    what = json_is_true(json_object_get(state, "sold_out")) ? "SOLD OUT"
           : json_is_true(json_object_get(state, "hold")) ? "HOLD"
           : ft_ctl_figure(state, "opens_ms") ? "closed"
           : json_is_true(json_object_get(state, "queueing")) ? "queueing"
           : "open";

    snprintf(name, sizeof(name), "%s  %s", zone, key);
    ft_ctl_print_text(out, name);
    fprintf(out, "  [%s", what);
    ft_ctl_print_opening(out, state);
    fputc(']', out);
}


static void
ft_ctl_print_wait(FILE *out, json_t *state, const char *end)
{
    char  wait[32], age[32];

    if (json_is_true(json_object_get(state, "sold_out"))
        || ft_ctl_figure(state, "opens_ms"))
    {
        fprintf(out, "  wait          none%s", end);
        return;
    }

    if (json_is_true(json_object_get(state, "hold"))) {
        fprintf(out, "  wait       unknown  ");

    } else {
        fprintf(out, "  wait      %8s s",
                ft_ctl_milli(wait, sizeof(wait),
                             ft_ctl_figure(state, "wait_ms"), NULL));
    }

    fprintf(out, "  served are those of %s s ago%s",
            ft_ctl_milli(age, sizeof(age),
                         ft_ctl_figure(state, "threshold_age_ms"), NULL), end);
}


static void
ft_ctl_print_rates(FILE *out, json_t *limits, json_t *state, const char *end)
{
    char         now[32], other[32];
    int64_t      ordered, said;

    ordered = ft_ctl_figure(state, "rate_override_milli");
    said = ft_ctl_figure(state, "rate_upstream_milli");

    fprintf(out, "  rate      %8s%s",
            ft_ctl_milli(now, sizeof(now),
                         ft_ctl_figure(state, "rate_now_milli"), "none"),
            ft_ctl_figure(state, "rate_now_milli") ? "/s" : "");

    if (ordered || said) {
        fprintf(out, "  by the %s, the zone's is %s%s",
                ordered ? "operator" : "upstream",
                ft_ctl_milli(other, sizeof(other),
                             ft_ctl_figure(limits, "rate_milli"), "none"),
                ft_ctl_figure(limits, "rate_milli") ? "/s" : "");
    }

    fprintf(out, "%s", end);
}


static void
ft_ctl_print_pace(FILE *out, const ft_ctl_pace_t *pace)
{
    char  came[32], admitted[32];

    fprintf(out, "   now %s/s come, %s/s admitted",
            ft_ctl_milli(came, sizeof(came), pace->returned_milli, NULL),
            ft_ctl_milli(admitted, sizeof(admitted), pace->admitted_milli,
                         NULL));
}


void
ft_ctl_print(FILE *out, const char *zone, json_t *limits, const char *key,
    json_t *state, const ft_ctl_pace_t *pace, const char *end)
{
    int64_t  most;

    ft_ctl_print_head(out, zone, key, state);
    fprintf(out, "%s", end);

    fprintf(out, "  waiting   %8lld    called %lld, held %lld%s",
            (long long) ft_ctl_figure(state, "waiting"),
            (long long) ft_ctl_figure(state, "called"),
            (long long) ft_ctl_figure(state, "held"), end);

    ft_ctl_print_wait(out, state, end);

    fprintf(out, "  upstream  %8lld",
            (long long) ft_ctl_figure(state, "inflight"));

    most = ft_ctl_figure(limits, "inflight_max");

    if (most) {
        fprintf(out, "    of %lld", (long long) most);
    }

    fprintf(out, "%s", end);

    ft_ctl_print_rates(out, limits, state, end);

    fprintf(out, "  admitted  %8lld",
            (long long) ft_ctl_figure(state, "admitted"));

    if (pace) {
        ft_ctl_print_pace(out, pace);
    }

    fprintf(out, "%s", end);

    fprintf(out, "  turned away  rejected %lld, sold out %lld; came %lld, gone "
            "%lld%s",
            (long long) ft_ctl_figure(state, "rejected"),
            (long long) ft_ctl_figure(state, "sold_out_total"),
            (long long) ft_ctl_figure(state, "first_attempts"),
            (long long) (ft_ctl_figure(state, "left")
                         + ft_ctl_figure(state, "missed")
                         + ft_ctl_figure(state, "vanished")), end);
}


static void
ft_ctl_print_key(const char *zone, json_t *limits, const char *key,
    json_t *state, void *data)
{
    (*(unsigned *) data)++;

    ft_ctl_print(stdout, zone, limits, key, state, NULL, "\n");
}


int
ft_ctl_status(const ft_ctl_options_t *options)
{
    int        code;
    bool       found;
    char      *text;
    json_t    *status;
    unsigned   keys;

    status = ft_ctl_look(options, &code);

    if (status == NULL) {
        return code;
    }

    if (options->json) {
        text = json_dumps(status, JSON_INDENT(1)|JSON_ENSURE_ASCII);
        json_decref(status);

        if (text == NULL) {
            fprintf(stderr, "flashctl: no memory\n");
            return FT_CTL_SILENT;
        }

        ft_ctl_mark(text, false);
        printf("%s\n", text);
        free(text);
        return FT_CTL_DONE;
    }

    keys = 0;
    found = ft_ctl_each(options, status, ft_ctl_print_key, &keys);
    json_decref(status);

    if (!found) {
        return FT_CTL_REFUSED;
    }

    if (keys == 0) {
        printf("nobody has come yet\n");
    }

    return FT_CTL_DONE;
}
