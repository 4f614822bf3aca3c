
#include <math.h>
#include <stdlib.h>
#include "fairness.h"
#include "random.h"
#include "tap.h"


#define FT_SALES     400
#define FT_SHOPPERS  120


static bool
ft_near(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) < 1e-9;
}


/* Few different instants, so that there are ties of every kind. */
static size_t
ft_random_sale(ft_random_t *random, fairness_sample_t *served)
{
    size_t   i, n;
    int64_t  grain;

    n = (size_t) ft_random_between(random, 0, FT_SHOPPERS);
    grain = ft_random_unit(random) < 0.5 ? 250000 : 1;

    for (i = 0; i < n; i++) {
        served[i].first_us = (int64_t) ft_random_between(random, 0, 9e6);
        served[i].first_us -= served[i].first_us % grain;
        served[i].admitted_us = served[i].first_us
            + (int64_t) ft_random_between(random, 0, 5e6) / grain * grain;
    }

    return n;
}


static double
ft_slow_overtaken(const fairness_sample_t *served, size_t n)
{
    size_t  i, k, overtaken;
    bool    behind;

    overtaken = 0;

    for (i = 0; i < n; i++) {
        behind = false;

        for (k = 0; k < n; k++) {
            behind |= served[k].admitted_us < served[i].admitted_us
                      && served[k].first_us - served[i].first_us > 1000000;
        }

        overtaken += behind;
    }

    return n > 0 ? (double) overtaken / (double) n : NAN;
}


static double
ft_slow_inversion(const fairness_sample_t *served, size_t n)
{
    size_t   i, k;
    int64_t  worst;

    worst = 0;

    for (i = 0; i < n; i++) {
        for (k = 0; k < n; k++) {
            if (served[k].admitted_us < served[i].admitted_us
                && served[k].first_us - served[i].first_us > worst)
            {
                worst = served[k].first_us - served[i].first_us;
            }
        }
    }

    return n > 0 ? (double) worst / 1e6 : NAN;
}


static int
ft_sign(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}


static double
ft_slow_tau(const fairness_sample_t *served, size_t n)
{
    int     first, admitted;
    size_t  i, k;
    double  sum, firsts, admissions;

    sum = 0;
    firsts = 0;
    admissions = 0;

    for (i = 0; i < n; i++) {
        for (k = 0; k < i; k++) {
            first = ft_sign(served[i].first_us, served[k].first_us);
            admitted = ft_sign(served[i].admitted_us, served[k].admitted_us);

            sum += first * admitted;
            firsts += (first != 0);
            admissions += (admitted != 0);
        }
    }

    return firsts * admissions > 0 ? sum / sqrt(firsts * admissions) : NAN;
}


static double
ft_slow_spread(const fairness_sample_t *served, size_t n)
{
    size_t   i, count, seconds;
    double   spreads[16], waits[FT_SHOPPERS];
    int64_t  second;

    seconds = 0;

    for (second = 0; second < 9; second++) {
        count = 0;

        for (i = 0; i < n; i++) {
            if (served[i].first_us / 1000000 == second) {
                waits[count++] = (double) (served[i].admitted_us
                                           - served[i].first_us) / 1e6;
            }
        }

        if (count >= 5) {
            fairness_sort(waits, count);
            spreads[seconds++] = fairness_quantile(waits, count, 0.95)
                                 - fairness_quantile(waits, count, 0.05);
        }
    }

    fairness_sort(spreads, seconds);

    return fairness_quantile(spreads, seconds, 0.5);
}


static void
ft_test_against_brute_force(void)
{
    int                sale, wrong[4] = { 0 };
    size_t             n;
    double             slow[4];
    fairness_t         fairness;
    ft_random_t        random;
    fairness_sample_t  served[FT_SHOPPERS];

    ft_random_seed(&random, 1, 1, 1);

    for (sale = 0; sale < FT_SALES; sale++) {
        n = ft_random_sale(&random, served);

        slow[0] = ft_slow_overtaken(served, n);
        slow[1] = ft_slow_inversion(served, n);
        slow[2] = ft_slow_tau(served, n);
        slow[3] = ft_slow_spread(served, n);

        if (!fairness_compute(served, n, &fairness)) {
            abort();
        }

        wrong[0] += !ft_near(slow[0], fairness.overtaken);
        wrong[1] += !ft_near(slow[1], fairness.worst_inversion_s);
        wrong[2] += !ft_near(slow[2], fairness.kendall_tau);
        wrong[3] += !ft_near(slow[3], fairness.wait_spread_s);
    }

    ft_ok(wrong[0] == 0, "overtaken is as counted pair by pair");
    ft_ok(wrong[1] == 0, "worst inversion is as counted pair by pair");
    ft_ok(wrong[2] == 0, "Kendall's tau-b is as counted pair by pair");
    ft_ok(wrong[3] == 0, "wait spread is as counted second by second");
}


static void
ft_test_known_orders(void)
{
    int                i;
    fairness_t         fairness;
    fairness_sample_t  served[10];

    for (i = 0; i < 10; i++) {
        served[i] = (fairness_sample_t) { i * 2000000,
                                          60000000 + i * 1000000 };
    }

    fairness_compute(served, 10, &fairness);
    ft_ok(fairness.kendall_tau == 1 && fairness.overtaken == 0
          && fairness.worst_inversion_s == 0, "perfect order");
    ft_ok(ft_near(fairness.wait_p50_s, 55.5)
          && isnan(fairness.wait_spread_s),
          "its median wait, and no spread without five in a second");

    for (i = 0; i < 10; i++) {
        served[i] = (fairness_sample_t) { i * 2000000,
                                          60000000 - i * 1000000 };
    }

    fairness_compute(served, 10, &fairness);
    ft_ok(fairness.kendall_tau == -1 && ft_near(fairness.overtaken, 0.9)
          && ft_near(fairness.worst_inversion_s, 18), "the last come first");

    for (i = 0; i < 10; i++) {
        served[i] = (fairness_sample_t) { i * 2000000, 60000000 };
    }

    fairness_compute(served, 10, &fairness);
    ft_ok(isnan(fairness.kendall_tau) && fairness.overtaken == 0,
          "all at one instant: no order, nobody overtaken");

    fairness_compute(served, 0, &fairness);
    ft_ok(isnan(fairness.overtaken) && isnan(fairness.wait_p50_s)
          && fairness.admitted == 0, "nobody admitted: no figures");
}


static void
ft_test_overtaking_bound(void)
{
    fairness_t         fairness;
    fairness_sample_t  served[2];

    served[0] = (fairness_sample_t) { 0, 5000001 };
    served[1] = (fairness_sample_t) { 1000000, 5000000 };
    fairness_compute(served, 2, &fairness);
    ft_ok(fairness.overtaken == 0, "a second later is not overtaking");

    served[0] = (fairness_sample_t) { 0, 5000001 };
    served[1] = (fairness_sample_t) { 1000001, 5000000 };
    fairness_compute(served, 2, &fairness);
    ft_ok(fairness.overtaken == 0.5, "more than a second later is");
}


static void
ft_test_quantiles(void)
{
    double  values[] = { 40, 10, 30, 20 };

    fairness_sort(values, 4);
    ft_ok(values[0] == 10 && values[3] == 40, "values are sorted");
    ft_ok(fairness_quantile(values, 4, 0.5) == 25
          && fairness_quantile(values, 4, 0) == 10
          && fairness_quantile(values, 4, 1) == 40
          && ft_near(fairness_quantile(values, 4, 0.05), 11.5),
          "quantiles are interpolated");
    ft_ok(fairness_quantile(values, 1, 0.95) == 10
          && isnan(fairness_quantile(values, 0, 0.5)),
          "quantiles of one value, and of none");
}


void
ft_test_fairness(void)
{
    ft_test_against_brute_force();
    ft_test_known_orders();
    ft_test_overtaking_bound();
    ft_test_quantiles();
}
