
#include "measure.h"

#include <math.h>
#include "idle.h"


static void
ft_measure_outcomes(const ft_world_t *world, double *value)
{
    uint32_t  i, count[FT_OUTCOMES] = { 0 };
    uint64_t  polls;

    polls = 0;

    for (i = 0; i < world->n; i++) {
        count[world->shoppers[i].outcome]++;
        polls += world->shoppers[i].polls;
    }

    value[FT_SHOPPERS] = world->n;
    value[FT_CONFIRMED] = count[FT_OUTCOME_CONFIRMED];
    value[FT_DECLINED] = count[FT_OUTCOME_DECLINED];
    value[FT_SOLD_OUT] = count[FT_OUTCOME_SOLD_OUT];
    value[FT_REFUSED] = count[FT_OUTCOME_REFUSED];
    value[FT_GAVE_UP] = count[FT_OUTCOME_GAVE_UP];
    value[FT_TIMED_OUT] = count[FT_OUTCOME_TIMED_OUT];
    value[FT_POLLS] = (double) polls / world->n;
}


static void
ft_measure_checkout(const ft_world_t *world, double *value)
{
    const ft_checkout_t  *checkout;

    checkout = &world->checkout;

    value[FT_ORDERS] = checkout->orders;
    value[FT_LATE_CHARGES] = checkout->late;
    value[FT_IN_PROGRESS_MAX] = checkout->in_progress_max;
    value[FT_HELD_MAX] = world->edge != NULL ? world->edge->held_max : NAN;

    value[FT_OVERSOLD] = 0;

    if (world->options->stock >= 0 && checkout->orders > world->options->stock)
    {
        value[FT_OVERSOLD] = (double) checkout->orders
                             - (double) world->options->stock;
    }
}


static void
ft_measure_times(ft_run_t *run, double *value)
{
    size_t               n;
    uint32_t             i;
    const ft_shopper_t  *shopper;

    n = 0;

    for (i = 0; i < run->world.n; i++) {
        shopper = &run->world.shoppers[i];

        if (shopper->outcome == FT_OUTCOME_CONFIRMED) {
            run->purchases[n] = (double) (shopper->end_us - shopper->first_us)
                                / 1e6;
            run->requests[n] = (double) (shopper->end_us - shopper->asked_us)
                               / 1e6;
            n++;
        }
    }

    fairness_sort(run->purchases, n);
    fairness_sort(run->requests, n);

    value[FT_PURCHASE_P50] = fairness_quantile(run->purchases, n, 0.5);
    value[FT_PURCHASE_P95] = fairness_quantile(run->purchases, n, 0.95);
    value[FT_CHECKOUT_P95] = fairness_quantile(run->requests, n, 0.95);
}


/* `served` is in order of admission; the highest rate of the sale counts. */
static double
ft_measure_over_admitted(const ft_run_t *run, size_t n)
{
    bool                 paced;
    size_t               from, i;
    double               allowed, rate, worst;
    const ft_change_t   *change;
    const ft_options_t  *options;

    options = run->world.options;
    rate = options->rate_milli / 1e3;

    paced = ft_variant_edge(options->variant)
            || (options->variant == FT_IDEAL && options->slots == 0);

    if (!paced || rate == 0) {
        return NAN;
    }

    for (i = 0; i < options->profile.nchanges; i++) {
        change = &options->profile.changes[i];

        if (change->kind == FT_CHANGE_RATE
            && ft_scaled(options, change->value) > rate)
        {
            rate = ft_scaled(options, change->value);
        }
    }

    allowed = rate * FT_PERIOD_DEFAULT_MS / 1e3 + options->burst;
    worst = 0;
    from = 0;

    for (i = 0; i < n; i++) {
        while (run->served[i].admitted_us - run->served[from].admitted_us
               >= FT_PERIOD_DEFAULT_MS * 1000)
        {
            from++;
        }

        worst = fmax(worst, (double) (i - from + 1) - allowed);
    }

    return worst;
}


static bool
ft_measure_fairness(ft_run_t *run, double *value)
{
    size_t               n;
    uint32_t             i;
    fairness_t           fairness;
    const ft_shopper_t  *shopper;

    n = 0;

    for (i = 0; i < run->world.n; i++) {
        shopper = &run->world.shoppers[i];

        if (shopper->admitted_us != FT_NEVER) {
            run->served[n].first_us = run->world.options->opens_ms
                                      ? ft_edge_place_us(&run->world, shopper)
                                      : shopper->first_us;
            run->served[n++].admitted_us = shopper->admitted_us;
        }
    }

    if (!fairness_compute(run->served, n, &fairness)) {
        return false;
    }

    value[FT_ADMITTED] = (double) n;
    value[FT_EXPECTED] = (double) n * (1 - FT_DECLINED_SHARE);
    value[FT_WAIT_P50] = fairness.wait_p50_s;
    value[FT_WAIT_P95] = fairness.wait_p95_s;
    value[FT_WAIT_SPREAD] = fairness.wait_spread_s;
    value[FT_OVERTAKEN] = fairness.overtaken;
    value[FT_KENDALL_TAU] = fairness.kendall_tau;
    value[FT_WORST_INVERSION] = fairness.worst_inversion_s;
    value[FT_OVER_ADMITTED] = ft_measure_over_admitted(run, n);

    return true;
}


bool
ft_measure(ft_run_t *run, ft_figures_t *figures)
{
    ft_measure_outcomes(&run->world, figures->value);
    ft_measure_checkout(&run->world, figures->value);
    ft_measure_times(run, figures->value);
    figures->value[FT_IDLE] = ft_idle(&run->world, run->scratch);

    return ft_measure_fairness(run, figures->value);
}
