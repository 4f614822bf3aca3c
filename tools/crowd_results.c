
#include "crowd_results.h"

#include <math.h>
#include <stdio.h>


typedef enum {
    CROWD_RESULTS_COUNT = 0,
    CROWD_RESULTS_SECONDS,
    CROWD_RESULTS_SHARE,
    CROWD_RESULTS_RATIO,
    CROWD_RESULTS_COEFFICIENT
} crowd_results_type_t;


typedef struct {
    const char            *label;
    const char            *name;        /* in JSON */
    crowd_results_type_t   type;
    double                 value;       /* NAN: unknown */
} crowd_results_row_t;


bool
crowd_results_compute(crowd_results_t *results, crowd_t *crowd,
    const crowd_stats_checkout_t *checkout)
{
    results->crowd = crowd;
    results->checkout = checkout;

    return fairness_compute(crowd->samples, crowd->nsamples,
                            &results->fairness);
}


static double
crowd_results_orders(const crowd_results_t *results)
{
    if (results->checkout != NULL) {
        return (double) results->checkout->orders;
    }

    return results->crowd->options->get
           ? 0 : (double) results->crowd->ends[CROWD_END_CONFIRMED];
}


bool
crowd_results_ok(const crowd_results_t *results)
{
    const crowd_stats_checkout_t  *checkout;

    checkout = results->checkout;

    if (checkout != NULL
        && (checkout->oversold > 0 || checkout->late_charges > 0))
    {
        return false;
    }

    return results->crowd->options->get
           ? results->crowd->ends[CROWD_END_CONFIRMED] > 0
           : crowd_results_orders(results) > 0;
}


static void
crowd_results_print_table_row(const crowd_results_row_t *row)
{
    static const struct {
        int          digits;
        double       scale;
        const char  *unit;
    } formats[] = {
        [CROWD_RESULTS_COUNT] = { 0, 1, "" },
        [CROWD_RESULTS_SECONDS] = { 2, 1, " s" },
        [CROWD_RESULTS_SHARE] = { 1, 100, " %" },
        [CROWD_RESULTS_RATIO] = { 1, 1, "" },
        [CROWD_RESULTS_COEFFICIENT] = { 4, 1, "" }
    };

    if (isnan(row->value)) {
        printf("  %-16s%8s\n", row->label, "-");

    } else {
        printf("  %-16s%8.*f%s\n", row->label, formats[row->type].digits,
               row->value * formats[row->type].scale,
               formats[row->type].unit);
    }
}


static void
crowd_results_print_json(const crowd_results_row_t *rows, size_t n)
{
    size_t  i;

    for (i = 0; i < n; i++) {
        printf("%s\"%s\":", i == 0 ? "{" : ",", rows[i].name);

        if (isnan(rows[i].value)) {
            printf("null");

        } else {
            printf("%.*f", rows[i].type == CROWD_RESULTS_COUNT ? 0 : 6,
                   rows[i].value);
        }
    }

    printf("}\n");
}


void
crowd_results_print(const crowd_results_t *results, bool json)
{
    size_t                         i, n;
    double                         declined, late_charges, oversold, polls;
    const crowd_t                 *crowd;
    const uint64_t                *ends;
    const fairness_t              *fairness;
    const crowd_stats_checkout_t  *checkout;

    crowd = results->crowd;
    ends = crowd->ends;
    fairness = &results->fairness;
    checkout = results->checkout;

    oversold = checkout ? (double) checkout->oversold : NAN;
    late_charges = checkout ? (double) checkout->late_charges : NAN;
    declined = checkout ? (double) checkout->declined
                        : (double) ends[CROWD_END_DECLINED];
    polls = crowd->arrived ? (double) crowd->polls / (double) crowd->arrived
                           : NAN;

    const crowd_results_row_t  rows[] = {
        { "shoppers", "shoppers", 0, (double) crowd->arrived },
        { "admitted", "admitted", 0, (double) crowd->admitted },
        { "orders", "orders", 0, crowd_results_orders(results) },
        { "oversold", "oversold", 0, oversold },
        { "late charges", "late_charges", 0, late_charges },
        { "declined", "declined", 0, declined },
        { "sold out", "sold_out", 0, (double) ends[CROWD_END_SOLD_OUT] },
        { "too late to pay", "too_late", 0, (double) ends[CROWD_END_TOO_LATE] },
        { "gave up", "gave_up", 0, (double) ends[CROWD_END_GAVE_UP] },
        { "vanished", "vanished", 0, (double) ends[CROWD_END_VANISHED] },
        { "failed", "failed", 0, (double) ends[CROWD_END_FAILED] },
        { "wait p50", "wait_p50_s", CROWD_RESULTS_SECONDS,
          fairness->wait_p50_s },
        { "wait p95", "wait_p95_s", CROWD_RESULTS_SECONDS,
          fairness->wait_p95_s },
        { "overtaken", "overtaken", CROWD_RESULTS_SHARE, fairness->overtaken },
        { "wait spread", "wait_spread_s", CROWD_RESULTS_SECONDS,
          fairness->wait_spread_s },
        { "Kendall's tau", "kendall_tau", CROWD_RESULTS_COEFFICIENT,
          fairness->kendall_tau },
        { "worst inversion", "worst_inversion_s", CROWD_RESULTS_SECONDS,
          fairness->worst_inversion_s },
        { "polls/shopper", "polls_per_shopper", CROWD_RESULTS_RATIO, polls },
        { "longest request", "longest_request_s", CROWD_RESULTS_SECONDS,
          (double) crowd->longest_us / 1e6 },
        { "no response", "unanswered", 0, (double) crowd->unanswered },
    };

    n = sizeof(rows) / sizeof(rows[0]);

    if (json) {
        crowd_results_print_json(rows, n);
        return;
    }

    for (i = 0; i < n; i++) {
        crowd_results_print_table_row(&rows[i]);
    }
}
