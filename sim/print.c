
#include "print.h"

#include <math.h>
#include <stdio.h>


static void
ft_print_number(double value)
{
    if (isnan(value)) {
        printf(" %10s", "-");
    } else {
        printf(" %10.*f", fabs(value) < 100 ? 4 : 1, value);
    }
}


void
ft_print_table(const ft_options_t *options, const ft_summary_t *summary)
{
    ft_figure_t        figure;
    const ft_range_t  *range;

    printf("%s, %s, patience %s s, deadline check %s: %u runs, seed %llu\n\n",
           ft_options_variant_name(options->variant), options->profile_name,
           options->patience_name, options->deadline ? "on" : "off",
           options->runs, (unsigned long long) options->seed);
    printf("%-27s %10s %10s %10s\n", "", "mean", "p5", "p95");

    for (figure = 0; figure < FT_FIGURES; figure++) {
        range = &summary->range[figure];

        printf("%-27s", ft_figures_label(figure));
        ft_print_number(range->mean);
        ft_print_number(range->p5);
        ft_print_number(range->p95);
        printf("\n");
    }
}


static void
ft_print_json_number(const char *name, double value)
{
    if (isnan(value)) {
        printf("\"%s\":null", name);
    } else {
        printf("\"%s\":%.10g", name, value);
    }
}


static void
ft_print_json_string(const char *name, const char *text)
{
    printf("\"%s\":\"", name);

    for ( /* void */ ; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            printf("\\%c", *text);

        } else if ((unsigned char) *text < 0x20) {
            printf("\\u%04x", *text);

        } else {
            putchar(*text);
        }
    }

    printf("\",");
}


void
ft_print_json(const ft_options_t *options, const ft_summary_t *summary)
{
    ft_figure_t        figure;
    const ft_range_t  *range;

    printf("{");
    ft_print_json_string("profile", options->profile_name);
    ft_print_json_string("variant", ft_options_variant_name(options->variant));
    ft_print_json_string("patience", options->patience_name);
    printf("\"deadline\":%s,\"runs\":%u,\"seed\":%llu,\"scale\":%g,"
           "\"no_show\":%g,\"slots\":%u,\"rate\":%g,\"burst\":%u,"
           "\"inflight\":%u,\"poll_min_s\":%g,\"poll_max_s\":%g,\"hold_s\":%g,"
           "\"workers\":%u,\"clock_skew_s\":%g",
           options->deadline ? "true" : "false", options->runs,
           (unsigned long long) options->seed, options->scale,
           options->no_show, options->slots, options->rate_milli / 1e3,
           options->burst, options->inflight, options->poll_min_ms / 1e3,
           options->poll_max_ms / 1e3, options->hold_ms / 1e3,
           options->workers, options->clock_skew_ms / 1e3);

    for (figure = 0; figure < FT_FIGURES; figure++) {
        range = &summary->range[figure];

        printf(",\n\"%s\":{", ft_figures_name(figure));
        ft_print_json_number("mean", range->mean);
        printf(",");
        ft_print_json_number("p5", range->p5);
        printf(",");
        ft_print_json_number("p95", range->p95);
        printf("}");
    }

    printf("}\n");
}


bool
ft_print_requires(const ft_options_t *options, const ft_summary_t *summary)
{
    int                  i;
    bool                 all, met;
    const ft_require_t  *require;

    all = true;

    for (i = 0; i < options->requires.n; i++) {
        require = &options->requires.list[i];
        met = ft_require_met(require, summary);
        all = all && met;

        printf("%-34s %-25s", options->title,
               ft_figures_label(require->figure));
        ft_print_number(summary->range[require->figure].mean);
        printf("   %-14s %s\n", require->text, met ? "ok" : "MISSED");
    }

    return all;
}
