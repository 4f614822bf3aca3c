#include "stats.h"
#include "clock.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>


static void co_stats_order(co_stats_t *stats);
static json_t *co_stats_config(const co_options_t *options);
static json_t *co_stats_latency(const co_histogram_t *histogram);
static json_t *co_stats_seconds(const co_stats_t *stats);
static json_t *co_stats_moment(int64_t ms);


void
co_stats_init(co_stats_t *stats, const co_options_t *options,
    const co_store_found_t *found)
{
    memset(stats, 0, sizeof(*stats));

    stats->options = options;
    stats->started_ms = co_wall_ms();
    stats->started_us = co_steady_us();
    stats->earlier_orders = found->orders;

    co_window_init(&stats->window, options->arrival_window_ms * 1000);
}


void
co_stats_free(co_stats_t *stats)
{
    co_window_free(&stats->window);
}


void
co_stats_reset(co_stats_t *stats)
{
    co_window_t          window = stats->window;
    int64_t              in_progress = stats->in_progress;
    const co_options_t  *options = stats->options;

    memset(stats, 0, sizeof(*stats));

    stats->options = options;
    stats->started_ms = co_wall_ms();
    stats->started_us = co_steady_us();
    stats->in_progress = in_progress;
    stats->in_progress_max = in_progress;

    co_window_clear(&window);
    stats->window = window;
}


void
co_stats_arrival(co_stats_t *stats)
{
    stats->arrivals++;

    /* out of memory: the window misses an arrival, the total does not */
    (void) co_window_add(&stats->window, co_steady_us());
}


void
co_stats_begin(co_stats_t *stats)
{
    stats->in_progress++;

    if (stats->in_progress > stats->in_progress_max) {
        stats->in_progress_max = stats->in_progress;
    }
}


void
co_stats_end(co_stats_t *stats, co_outcome_e outcome, int64_t us)
{
    stats->in_progress--;

    co_stats_refused(stats, outcome, us);
}


void
co_stats_refused(co_stats_t *stats, co_outcome_e outcome, int64_t us)
{
    stats->outcomes[outcome]++;

    co_histogram_add(&stats->all, us);

    if (outcome == CO_CONFIRMED || outcome == CO_LATE) {
        co_histogram_add(&stats->confirmed, us);
        co_stats_order(stats);
    }
}


static void
co_stats_order(co_stats_t *stats)
{
    int64_t  now, second;

    now = co_wall_ms();

    if (stats->first_order_ms == 0) {
        stats->first_order_ms = now;
        stats->last_order_ms = now;
    }

    /* clears the seconds since the last order; after a clock step back, orders
     * count in the last second */
    for (second = stats->last_order_ms / 1000 + 1; second <= now / 1000;
         second++)
    {
        stats->seconds[second % CO_STATS_SECONDS] = 0;

        if (second - stats->last_order_ms / 1000 > CO_STATS_SECONDS) {
            break;
        }
    }

    if (now > stats->last_order_ms) {
        stats->last_order_ms = now;
    }

    stats->seconds[stats->last_order_ms / 1000 % CO_STATS_SECONDS]++;
}


char *
co_stats_json(const co_stats_t *stats, co_store_t *store, int64_t waiting,
    int64_t paying)
{
    char              *line;
    json_t            *root, *report;
    int64_t            oversold;
    const uint64_t    *n = stats->outcomes;
    const co_stock_t  *stock = co_store_stock(store);

    oversold = stock->sold > stock->initial ? stock->sold - stock->initial : 0;

    root = json_pack("{s:s, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
        "mode", co_options_mode_name(stats->options->mode),
        "config", co_stats_config(stats->options),
        "seed", (json_int_t) stats->options->seed,
        "stock_initial", (json_int_t) stock->initial,
        "stock_now", (json_int_t) stock->available,
        "stock_held", (json_int_t) stock->held,
        "stock_sold", (json_int_t) stock->sold,
        "orders", (json_int_t) (stats->earlier_orders
                                + (int64_t) n[CO_CONFIRMED]
                                + (int64_t) n[CO_LATE]),
        "oversold", (json_int_t) oversold);

    if (root == NULL) {
        return NULL;
    }

    json_object_update_new(root, json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
        "confirmed", (json_int_t) n[CO_CONFIRMED],
        "late_charges", (json_int_t) n[CO_LATE],
        "declined", (json_int_t) n[CO_DECLINED],
        "sold_out", (json_int_t) n[CO_SOLD_OUT],
        "refused_busy", (json_int_t) n[CO_BUSY],
        "refused_deadline", (json_int_t) (n[CO_TOO_LATE] + n[CO_LEFT]),
        "left_before_payment", (json_int_t) n[CO_LEFT],
        "refused_closing", (json_int_t) n[CO_CLOSING],
        "store_failures", (json_int_t) n[CO_BROKEN],
        "bad_requests", (json_int_t) stats->bad_requests));

    json_object_update_new(root, json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
        "in_progress", (json_int_t) stats->in_progress,
        "in_progress_max", (json_int_t) stats->in_progress_max,
        "waiting_for_payment", (json_int_t) waiting,
        "paying", (json_int_t) paying,
        "arrivals", (json_int_t) stats->arrivals,
        "arrival_window_ms", (json_int_t) stats->options->arrival_window_ms,
        "arrivals_max_in_window", (json_int_t) stats->window.most));

    if (stats->options->arrival_window_ms == 5000) {
        json_object_set_new(root, "arrivals_max_in_5s",
                            json_integer((json_int_t) stats->window.most));
    }

    json_object_update_new(root, json_pack(
        "{s:{s:o, s:o}, s:o, s:o, s:o, s:I, s:f}",
        "latencies",
        "checkout", co_stats_latency(&stats->all),
        "checkout_200", co_stats_latency(&stats->confirmed),
        "first_order_ms", co_stats_moment(stats->first_order_ms),
        "last_order_ms", co_stats_moment(stats->last_order_ms),
        "orders_per_second", co_stats_seconds(stats),
        "started_ms", (json_int_t) stats->started_ms,
        "uptime_s", (double) (co_steady_us() - stats->started_us) / 1e6));

    json_object_set_new(root, "holds_expired_units",
                        json_integer((json_int_t)
                                     co_store_expired_units(store)));

    report = co_store_report(store);
    if (report != NULL) {
        json_object_update_missing(root, report);
        json_decref(report);
    }

    line = json_dumps(root, JSON_COMPACT|JSON_REAL_PRECISION(9));
    json_decref(root);

    return line;
}


static json_t *
co_stats_config(const co_options_t *options)
{
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:s,"
                     " s:I, s:I, s:I, s:b}",
        "mode", co_options_mode_name(options->mode),
        "store", options->store,
        "stock", (json_int_t) options->stock,
        "locations", (json_int_t) options->locations,
        "hold_ms", (json_int_t) options->hold_ms,
        "seed", (json_int_t) options->seed,
        "payment_slots", (json_int_t) options->payment_slots,
        "payment_min_ms", (json_int_t) options->payment_min_ms,
        "payment_max_ms", (json_int_t) options->payment_max_ms,
        "decline", options->decline,
        "deadline", options->deadline ? "on" : "off",
        "max_in_progress", (json_int_t) options->max_in_progress,
        "arrival_window_ms", (json_int_t) options->arrival_window_ms,
        "client_timeout_ms", (json_int_t) options->client_timeout_ms,
        "allow_reset", options->allow_reset);
}


static json_t *
co_stats_latency(const co_histogram_t *histogram)
{
    return json_pack("{s:I, s:f, s:f, s:f, s:f}",
        "count", (json_int_t) histogram->count,
        "p50_ms", (double) co_histogram_percentile(histogram, 50) / 1000,
        "p95_ms", (double) co_histogram_percentile(histogram, 95) / 1000,
        "p99_ms", (double) co_histogram_percentile(histogram, 99) / 1000,
        "max_ms", (double) histogram->max / 1000);
}


/* The counts since the first order, at most for the last hour. */
static json_t *
co_stats_seconds(const co_stats_t *stats)
{
    json_t   *counts;
    int64_t   second, first, last;

    counts = json_array();

    first = stats->first_order_ms / 1000;
    last = stats->last_order_ms / 1000;

    if (first <= last - CO_STATS_SECONDS) {
        first = last - CO_STATS_SECONDS + 1;
    }

    for (second = first; last != 0 && second <= last; second++) {
        json_array_append_new(counts, json_integer(
                              stats->seconds[second % CO_STATS_SECONDS]));
    }

    return json_pack("{s:I, s:o}", "start_s", (json_int_t) first,
                     "counts", counts);
}


static json_t *
co_stats_moment(int64_t ms)
{
    return ms != 0 ? json_integer(ms) : json_null();
}
