
#include "fairness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>


#define FAIRNESS_SECOND_US   1000000
#define FAIRNESS_SPREAD_MIN  5          /* admissions a second */


static int
fairness_by_value(const void *a, const void *b)
{
    const double  *x, *y;

    x = a;
    y = b;

    return (*x > *y) - (*x < *y);
}


static int
fairness_by_admission(const void *a, const void *b)
{
    const fairness_sample_t  *x, *y;

    x = a;
    y = b;

    if (x->admitted_us != y->admitted_us) {
        return x->admitted_us < y->admitted_us ? -1 : 1;
    }

    return (x->first_us > y->first_us) - (x->first_us < y->first_us);
}


static int
fairness_by_first(const void *a, const void *b)
{
    const fairness_sample_t  *x, *y;

    x = a;
    y = b;

    if (x->first_us != y->first_us) {
        return x->first_us < y->first_us ? -1 : 1;
    }

    return (x->admitted_us > y->admitted_us)
           - (x->admitted_us < y->admitted_us);
}


void
fairness_sort(double *values, size_t n)
{
    qsort(values, n, sizeof(double), fairness_by_value);
}


double
fairness_quantile(const double *values, size_t n, double q)
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
 * samples are sorted by admission, then by first attempt: simultaneous
 * admissions do not count as overtaking.
 */
static void
fairness_overtaking(const fairness_sample_t *samples, size_t n,
    fairness_t *fairness)
{
    size_t   i, overtaken;
    int64_t  latest, worst;

    overtaken = 0;
    worst = 0;
    latest = n > 0 ? samples[0].first_us : 0;

    for (i = 0; i < n; i++) {
        if (latest - samples[i].first_us > FAIRNESS_SECOND_US) {
            overtaken++;
        }

        if (latest - samples[i].first_us > worst) {
            worst = latest - samples[i].first_us;
        }

        if (samples[i].first_us > latest) {
            latest = samples[i].first_us;
        }
    }

    fairness->overtaken = n > 0 ? (double) overtaken / (double) n : NAN;
    fairness->worst_inversion_s = n > 0 ? (double) worst / 1e6 : NAN;
}


/* samples are sorted by first attempt; waits and spreads have space for n. */
static double
fairness_spread(const fairness_sample_t *samples, size_t n, double *waits,
    double *spreads)
{
    size_t   i, in_second, seconds;
    int64_t  second;

    seconds = 0;

    for (i = 0; i < n; i += in_second) {
        second = samples[i].first_us / FAIRNESS_SECOND_US;

        for (in_second = 0;
             i + in_second < n
             && samples[i + in_second].first_us / FAIRNESS_SECOND_US == second;
             in_second++)
        {
            waits[in_second] = (double) (samples[i + in_second].admitted_us
                                         - samples[i + in_second].first_us)
                               / 1e6;
        }

        if (in_second < FAIRNESS_SPREAD_MIN) {
            continue;
        }

        fairness_sort(waits, in_second);
        spreads[seconds++] = fairness_quantile(waits, in_second, 0.95)
                             - fairness_quantile(waits, in_second, 0.05);
    }

    fairness_sort(spreads, seconds);

    return fairness_quantile(spreads, seconds, 0.5);
}


/* Merge sort; returns the number of inversions. */
static uint64_t
fairness_discordant(fairness_sample_t *samples, size_t n,
    fairness_sample_t *buffer)
{
    size_t    i, k, left, right;
    uint64_t  discordant;

    if (n < 2) {
        return 0;
    }

    left = n / 2;

    discordant = fairness_discordant(samples, left, buffer)
                 + fairness_discordant(samples + left, n - left, buffer);

    memcpy(buffer, samples, left * sizeof(fairness_sample_t));

    i = 0;
    right = left;

    for (k = 0; i < left; k++) {
        if (right < n && samples[right].admitted_us < buffer[i].admitted_us) {
            samples[k] = samples[right++];
            discordant += left - i;

        } else {
            samples[k] = buffer[i++];
        }
    }

    return discordant;
}


/*
 * The number of pairs with equal first attempts, admissions, or both; equal
 * samples are adjacent.
 */
static uint64_t
fairness_ties(const fairness_sample_t *samples, size_t n, bool first,
    bool admitted)
{
    size_t    i, run;
    uint64_t  ties;

    ties = 0;
    run = 1;

    for (i = 1; i < n; i++) {
        if ((!first || samples[i].first_us == samples[i - 1].first_us)
            && (!admitted
                || samples[i].admitted_us == samples[i - 1].admitted_us))
        {
            ties += run++;

        } else {
            run = 1;
        }
    }

    return ties;
}


/* Knight's algorithm (1966); sorts by_first by admission. */
static double
fairness_tau(fairness_sample_t *by_first, size_t n, fairness_sample_t *buffer)
{
    double    concordance;
    uint64_t  pairs, firsts, admissions, both, discordant;

    pairs = n > 0 ? (uint64_t) n * (n - 1) / 2 : 0;
    firsts = fairness_ties(by_first, n, true, false);
    both = fairness_ties(by_first, n, true, true);
    discordant = fairness_discordant(by_first, n, buffer);
    admissions = fairness_ties(by_first, n, false, true);

    if (firsts == pairs || admissions == pairs) {
        return NAN;
    }

    concordance = (double) (pairs + both - firsts - admissions)
                  - 2.0 * (double) discordant;

    return concordance
           / sqrt((double) (pairs - firsts) * (double) (pairs - admissions));
}


static void
fairness_waits(const fairness_sample_t *samples, size_t n, double *waits,
    fairness_t *fairness)
{
    size_t  i;

    for (i = 0; i < n; i++) {
        waits[i] = (double) (samples[i].admitted_us - samples[i].first_us)
                   / 1e6;
    }

    fairness_sort(waits, n);

    fairness->wait_p50_s = fairness_quantile(waits, n, 0.5);
    fairness->wait_p95_s = fairness_quantile(waits, n, 0.95);
}


bool
fairness_compute(fairness_sample_t *samples, size_t n, fairness_t *fairness)
{
    double       *waits;
    fairness_sample_t  *by_first;

    by_first = malloc((n + 1) * 2 * sizeof(fairness_sample_t));
    waits = malloc((n + 1) * 2 * sizeof(double));

    if (by_first == NULL || waits == NULL) {
        free(by_first);
        free(waits);
        return false;
    }

    if (n > 0) {
        memcpy(by_first, samples, n * sizeof(fairness_sample_t));
        qsort(samples, n, sizeof(fairness_sample_t), fairness_by_admission);
        qsort(by_first, n, sizeof(fairness_sample_t), fairness_by_first);
    }

    fairness->admitted = n;

    fairness_overtaking(samples, n, fairness);
    fairness_waits(samples, n, waits, fairness);
    fairness->wait_spread_s = fairness_spread(by_first, n, waits, waits + n);
    fairness->kendall_tau = fairness_tau(by_first, n, by_first + n);

    free(by_first);
    free(waits);

    return true;
}
