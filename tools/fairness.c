
#include "fairness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>


#define FT_SECOND_US          1000000
#define FT_SPREAD_ADMISSIONS  5


static int
ft_value_order(const void *a, const void *b)
{
    const double  *x, *y;

    x = a;
    y = b;

    return (*x > *y) - (*x < *y);
}


static int
ft_served_by_admission(const void *a, const void *b)
{
    const ft_served_t  *x, *y;

    x = a;
    y = b;

    if (x->admitted_us != y->admitted_us) {
        return x->admitted_us < y->admitted_us ? -1 : 1;
    }

    return (x->first_us > y->first_us) - (x->first_us < y->first_us);
}


static int
ft_served_by_first(const void *a, const void *b)
{
    const ft_served_t  *x, *y;

    x = a;
    y = b;

    if (x->first_us != y->first_us) {
        return x->first_us < y->first_us ? -1 : 1;
    }

    return (x->admitted_us > y->admitted_us)
           - (x->admitted_us < y->admitted_us);
}


void
ft_sort_values(double *values, size_t n)
{
    qsort(values, n, sizeof(double), ft_value_order);
}


double
ft_quantile(const double *values, size_t n, double q)
{
    size_t  i;
    double  at;

    if (n == 0) {
        return NAN;
    }

    at = q * (double) (n - 1);
    i = (size_t) at;

    if (i + 1 >= n) {
        return values[n - 1];
    }

    return values[i] + (at - (double) i) * (values[i + 1] - values[i]);
}


/*
 * Overtaking, in order of admission.  Whoever is admitted at the same instant
 * overtakes nobody: among those the earliest first attempt stands first.
 */
static void
ft_fairness_order(const ft_served_t *served, size_t n, ft_fairness_t *fairness)
{
    size_t   i, overtaken;
    int64_t  latest, worst;

    overtaken = 0;
    worst = 0;
    latest = n > 0 ? served[0].first_us : 0;

    for (i = 0; i < n; i++) {
        if (latest - served[i].first_us > FT_SECOND_US) {
            overtaken++;
        }

        if (latest - served[i].first_us > worst) {
            worst = latest - served[i].first_us;
        }

        if (served[i].first_us > latest) {
            latest = served[i].first_us;
        }
    }

    fairness->overtaken = n > 0 ? (double) overtaken / (double) n : NAN;
    fairness->worst_inversion_s = n > 0 ? (double) worst / 1e6 : NAN;
}


/* Over `served` in order of first attempt; waits and spreads hold n each. */
static double
ft_fairness_spread(const ft_served_t *served, size_t n, double *waits,
    double *spreads)
{
    size_t   i, in_second, seconds;
    int64_t  second;

    seconds = 0;

    for (i = 0; i < n; i += in_second) {
        second = served[i].first_us / FT_SECOND_US;

        for (in_second = 0;
             i + in_second < n
             && served[i + in_second].first_us / FT_SECOND_US == second;
             in_second++)
        {
            waits[in_second] = (double) (served[i + in_second].admitted_us
                                         - served[i + in_second].first_us)
                               / 1e6;
        }

        if (in_second < FT_SPREAD_ADMISSIONS) {
            continue;
        }

        ft_sort_values(waits, in_second);
        spreads[seconds++] = ft_quantile(waits, in_second, 0.95)
                             - ft_quantile(waits, in_second, 0.05);
    }

    ft_sort_values(spreads, seconds);

    return ft_quantile(spreads, seconds, 0.5);
}


/* Merge sort by admission; counts the pairs that stood the wrong way round. */
static uint64_t
ft_fairness_discordant(ft_served_t *served, size_t n, ft_served_t *spare)
{
    size_t    i, k, left, right;
    uint64_t  discordant;

    if (n < 2) {
        return 0;
    }

    left = n / 2;

    discordant = ft_fairness_discordant(served, left, spare)
                 + ft_fairness_discordant(served + left, n - left, spare);

    memcpy(spare, served, left * sizeof(ft_served_t));

    i = 0;
    right = left;

    for (k = 0; i < left; k++) {
        if (right < n && served[right].admitted_us < spare[i].admitted_us) {
            served[k] = served[right++];
            discordant += left - i;

        } else {
            served[k] = spare[i++];
        }
    }

    return discordant;
}


/* The pairs among neighbours of the same first attempt, admission, or both. */
static uint64_t
ft_fairness_ties(const ft_served_t *served, size_t n, bool first, bool admitted)
{
    size_t    i, run;
    uint64_t  ties;

    ties = 0;
    run = 1;

    for (i = 1; i < n; i++) {
        if ((!first || served[i].first_us == served[i - 1].first_us)
            && (!admitted || served[i].admitted_us == served[i - 1].admitted_us))
        {
            ties += run++;

        } else {
            run = 1;
        }
    }

    return ties;
}


/* Knight's way (1966); `ordered` is in order of first attempt and admission. */
static double
ft_fairness_tau(ft_served_t *ordered, size_t n, ft_served_t *spare)
{
    double    concordance;
    uint64_t  pairs, firsts, admissions, both, discordant;

    pairs = n > 0 ? (uint64_t) n * (n - 1) / 2 : 0;
    firsts = ft_fairness_ties(ordered, n, true, false);
    both = ft_fairness_ties(ordered, n, true, true);
    discordant = ft_fairness_discordant(ordered, n, spare);
    admissions = ft_fairness_ties(ordered, n, false, true);

    if (firsts == pairs || admissions == pairs) {
        return NAN;
    }

    concordance = (double) (pairs + both - firsts - admissions)
                  - 2.0 * (double) discordant;

    return concordance
           / sqrt((double) (pairs - firsts) * (double) (pairs - admissions));
}


static void
ft_fairness_waits(const ft_served_t *served, size_t n, double *waits,
    ft_fairness_t *fairness)
{
    size_t  i;

    for (i = 0; i < n; i++) {
        waits[i] = (double) (served[i].admitted_us - served[i].first_us) / 1e6;
    }

    ft_sort_values(waits, n);

    fairness->wait_p50_s = ft_quantile(waits, n, 0.5);
    fairness->wait_p95_s = ft_quantile(waits, n, 0.95);
}


bool
ft_fairness(ft_served_t *served, size_t n, ft_fairness_t *fairness)
{
    double       *waits;
    ft_served_t  *ordered;

    ordered = malloc((n + 1) * 2 * sizeof(ft_served_t));
    waits = malloc((n + 1) * 2 * sizeof(double));

    if (ordered == NULL || waits == NULL) {
        free(ordered);
        free(waits);
        return false;
    }

    if (n > 0) {
        memcpy(ordered, served, n * sizeof(ft_served_t));
        qsort(served, n, sizeof(ft_served_t), ft_served_by_admission);
        qsort(ordered, n, sizeof(ft_served_t), ft_served_by_first);
    }

    fairness->admitted = n;

    ft_fairness_order(served, n, fairness);
    ft_fairness_waits(served, n, waits, fairness);
    fairness->wait_spread_s = ft_fairness_spread(ordered, n, waits, waits + n);
    fairness->kendall_tau = ft_fairness_tau(ordered, n, ordered + n);

    free(ordered);
    free(waits);

    return true;
}
