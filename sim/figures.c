
#include "figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "fairness.h"


typedef struct {
    const char  *name;
    const char  *label;
} ft_figure_words_t;


static const ft_figure_words_t  ft_figure_words[FT_FIGURES] = {
    [FT_SHOPPERS] = { "shoppers", "shoppers" },
    [FT_ADMITTED] = { "admitted", "admitted" },
    [FT_EXPECTED] = { "expected", "orders to expect" },
    [FT_CONFIRMED] = { "confirmed", "confirmed" },
    [FT_DECLINED] = { "declined", "declined" },
    [FT_SOLD_OUT] = { "sold_out", "sold out" },
    [FT_REFUSED] = { "refused", "refused" },
    [FT_GAVE_UP] = { "gave_up", "gave up" },
    [FT_TIMED_OUT] = { "timed_out", "timed out" },
    [FT_ORDERS] = { "orders", "orders" },
    [FT_LATE_CHARGES] = { "late_charges", "late charges" },
    [FT_OVERSOLD] = { "oversold", "oversold" },
    [FT_PURCHASE_P50] = { "purchase_p50_s", "time to purchase p50, s" },
    [FT_PURCHASE_P95] = { "purchase_p95_s", "time to purchase p95, s" },
    [FT_CHECKOUT_P95] = { "checkout_p95_s", "checkout request p95, s" },
    [FT_IN_PROGRESS_MAX] = { "in_progress_max", "most in progress" },
    [FT_HELD_MAX] = { "held_max", "most held" },
    [FT_OVER_ADMITTED] = { "over_admitted", "over-admitted" },
    [FT_POLLS] = { "polls_per_shopper", "polls a shopper" },
    [FT_IDLE] = { "idle", "idle while somebody waits" },
    [FT_WAIT_P50] = { "wait_p50_s", "wait p50, s" },
    [FT_WAIT_P95] = { "wait_p95_s", "wait p95, s" },
    [FT_WAIT_SPREAD] = { "wait_spread_s", "wait spread, s" },
    [FT_OVERTAKEN] = { "overtaken", "overtaken" },
    [FT_KENDALL_TAU] = { "kendall_tau", "Kendall's tau" },
    [FT_WORST_INVERSION] = { "worst_inversion_s", "worst inversion, s" },
};


const char *
ft_figure_name(ft_figure_t figure)
{
    return ft_figure_words[figure].name;
}


const char *
ft_figure_label(ft_figure_t figure)
{
    return ft_figure_words[figure].label;
}


ft_figure_t
ft_figure_find(const char *name, size_t len)
{
    ft_figure_t  figure;

    for (figure = 0; figure < FT_FIGURES; figure++) {
        if (strlen(ft_figure_words[figure].name) == len
            && memcmp(ft_figure_words[figure].name, name, len) == 0)
        {
            break;
        }
    }

    return figure;
}


static ft_range_t
ft_figures_range(double *values, size_t n)
{
    size_t      i;
    double      sum;
    ft_range_t  range;

    fairness_sort(values, n);

    sum = 0;
    for (i = 0; i < n; i++) {
        sum += values[i];
    }

    range.mean = n > 0 ? sum / (double) n : NAN;
    range.p5 = fairness_quantile(values, n, 0.05);
    range.p95 = fairness_quantile(values, n, 0.95);

    return range;
}


bool
ft_figures_sum_up(ft_summary_t *summary, const ft_figures_t *runs, size_t n)
{
    size_t       i, defined;
    double      *values;
    ft_figure_t  figure;

    values = malloc((n + 1) * sizeof(double));
    if (values == NULL) {
        return false;
    }

    for (figure = 0; figure < FT_FIGURES; figure++) {
        defined = 0;

        for (i = 0; i < n; i++) {
            if (!isnan(runs[i].value[figure])) {
                values[defined++] = runs[i].value[figure];
            }
        }

        summary->range[figure] = ft_figures_range(values, defined);
    }

    free(values);

    return true;
}
