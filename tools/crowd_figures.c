
#include "crowd_figures.h"

#include <math.h>
#include <stdio.h>


typedef enum {
    FT_FIGURE_COUNT,
    FT_FIGURE_SECONDS,
    FT_FIGURE_SHARE,
    FT_FIGURE_PLAIN,
    FT_FIGURE_COEFFICIENT
} ft_figure_kind_t;


typedef struct {
    const char        *name;            /* in the table */
    const char        *field;           /* in JSON */
    ft_figure_kind_t   kind;
    double             value;           /* NAN: not known */
} ft_figure_t;


#define FT_FIGURES_MAX  32


bool
ft_crowd_figures(ft_crowd_figures_t *figures, ft_crowd_t *crowd,
    const ft_checkout_word_t *checkout)
{
    figures->crowd = crowd;
    figures->checkout = checkout;

    return ft_fairness(crowd->served, crowd->nserved, &figures->fairness);
}


static double
ft_crowd_orders(const ft_crowd_figures_t *figures)
{
    if (figures->checkout != NULL) {
        return (double) figures->checkout->orders;
    }

    return figures->crowd->options->get
           ? 0 : (double) figures->crowd->ends[FT_END_SERVED];
}


bool
ft_crowd_sold_right(const ft_crowd_figures_t *figures)
{
    const ft_checkout_word_t  *checkout;

    checkout = figures->checkout;

    if (checkout != NULL
        && (checkout->oversold > 0 || checkout->late_charges > 0))
    {
        return false;
    }

    return figures->crowd->options->get
           ? figures->crowd->ends[FT_END_SERVED] > 0
           : ft_crowd_orders(figures) > 0;
}


static size_t
ft_crowd_list(const ft_crowd_figures_t *figures, ft_figure_t *list)
{
    size_t                     n;
    double                     declined, late, oversold;
    const ft_crowd_t          *crowd;
    const ft_fairness_t       *fairness;
    const ft_checkout_word_t  *checkout;

    crowd = figures->crowd;
    fairness = &figures->fairness;
    checkout = figures->checkout;

    oversold = checkout ? (double) checkout->oversold : NAN;
    late = checkout ? (double) checkout->late_charges : NAN;
    declined = checkout ? (double) checkout->declined
                        : (double) crowd->ends[FT_END_DECLINED];

    const ft_figure_t  all[] = {
        { "shoppers", "shoppers", FT_FIGURE_COUNT, (double) crowd->arrived },
        { "admitted", "admitted", FT_FIGURE_COUNT, (double) crowd->admitted },
        { "orders", "orders", FT_FIGURE_COUNT, ft_crowd_orders(figures) },
        { "oversold", "oversold", FT_FIGURE_COUNT, oversold },
        { "late charges", "late_charges", FT_FIGURE_COUNT, late },
        { "declined", "declined", FT_FIGURE_COUNT, declined },
        { "sold out", "sold_out", FT_FIGURE_COUNT,
          (double) crowd->ends[FT_END_SOLD_OUT] },
        { "too late to pay", "too_late", FT_FIGURE_COUNT,
          (double) crowd->ends[FT_END_TOO_LATE] },
        { "gave up", "gave_up", FT_FIGURE_COUNT,
          (double) crowd->ends[FT_END_GAVE_UP] },
        { "vanished", "vanished", FT_FIGURE_COUNT,
          (double) crowd->ends[FT_END_VANISHED] },
        { "failed", "failed", FT_FIGURE_COUNT,
          (double) crowd->ends[FT_END_FAILED] },
        { "wait p50", "wait_p50_s", FT_FIGURE_SECONDS, fairness->wait_p50_s },
        { "wait p95", "wait_p95_s", FT_FIGURE_SECONDS, fairness->wait_p95_s },
        { "overtaken", "overtaken", FT_FIGURE_SHARE, fairness->overtaken },
        { "wait spread", "wait_spread_s", FT_FIGURE_SECONDS,
          fairness->wait_spread_s },
        { "Kendall's tau", "kendall_tau", FT_FIGURE_COEFFICIENT,
          fairness->kendall_tau },
        { "worst inversion", "worst_inversion_s", FT_FIGURE_SECONDS,
          fairness->worst_inversion_s },
        { "polls a shopper", "polls_per_shopper", FT_FIGURE_PLAIN,
          crowd->arrived ? (double) crowd->polls / (double) crowd->arrived
                         : NAN },
        { "longest request", "longest_request_s", FT_FIGURE_SECONDS,
          (double) crowd->longest_us / 1e6 },
        { "no answer", "unanswered", FT_FIGURE_COUNT,
          (double) crowd->unanswered },
    };

    for (n = 0; n < sizeof(all) / sizeof(all[0]); n++) {
        list[n] = all[n];
    }

    return n;
}


static void
ft_crowd_print_row(const ft_figure_t *figure)
{
    printf("  %-16s", figure->name);

    if (isnan(figure->value)) {
        printf("%8s\n", "-");
        return;
    }

    switch (figure->kind) {

    case FT_FIGURE_COUNT:
        printf("%8.0f\n", figure->value);
        return;

    case FT_FIGURE_SECONDS:
        printf("%8.2f s\n", figure->value);
        return;

    case FT_FIGURE_SHARE:
        printf("%8.1f %%\n", figure->value * 100);
        return;

    case FT_FIGURE_PLAIN:
        printf("%8.1f\n", figure->value);
        return;

    case FT_FIGURE_COEFFICIENT:
        printf("%8.4f\n", figure->value);
        return;
    }
}


void
ft_crowd_print_table(const ft_crowd_figures_t *figures)
{
    size_t       i, n;
    ft_figure_t  list[FT_FIGURES_MAX];

    n = ft_crowd_list(figures, list);

    for (i = 0; i < n; i++) {
        ft_crowd_print_row(&list[i]);
    }
}


void
ft_crowd_print_json(const ft_crowd_figures_t *figures)
{
    size_t       i, n;
    ft_figure_t  list[FT_FIGURES_MAX];

    n = ft_crowd_list(figures, list);

    for (i = 0; i < n; i++) {
        printf("%s\"%s\":", i == 0 ? "{" : ",", list[i].field);

        if (isnan(list[i].value)) {
            printf("null");

        } else {
            printf("%.*f", list[i].kind == FT_FIGURE_COUNT ? 0 : 6,
                   list[i].value);
        }
    }

    printf("}\n");
}
