/*
 * The statistics of the checkout, as JSON in GET /stats.
 */

#ifndef CO_STATS_H
#define CO_STATS_H


#include <stdint.h>

#include "histogram.h"
#include "options.h"
#include "store.h"
#include "window.h"


/* Orders per second are kept for the last hour. */
#define CO_STATS_SECONDS  3600


/* The result of a checkout. */
typedef enum {
    CO_CONFIRMED = 0,
    CO_LATE,                                     /* charged after leaving */
    CO_DECLINED,
    CO_SOLD_OUT,
    CO_BUSY,                                     /* too many in progress */
    CO_TOO_LATE,                                 /* refused at the deadline */
    CO_LEFT,                                     /* left before the payment */
    CO_CLOSING,                                  /* the service is stopping */
    CO_BROKEN,                                   /* the store failed */
    CO_OUTCOMES
} co_outcome_e;


typedef struct {
    const co_options_t  *options;
    int64_t              started_ms;
    int64_t              started_us;

    uint64_t             outcomes[CO_OUTCOMES];
    uint64_t             bad_requests;
    uint64_t             arrivals;
    int64_t              earlier_orders;         /* before the start */

    int64_t              in_progress;
    int64_t              in_progress_max;

    int64_t              first_order_ms;         /* 0: none */
    int64_t              last_order_ms;
    uint32_t             seconds[CO_STATS_SECONDS];

    co_window_t          window;
    co_histogram_t       all;
    co_histogram_t       confirmed;
} co_stats_t;


void co_stats_init(co_stats_t *stats, const co_options_t *options,
    const co_store_found_t *found);
void co_stats_free(co_stats_t *stats);

/* Clears all statistics except the number in progress. */
void co_stats_reset(co_stats_t *stats);

void co_stats_arrival(co_stats_t *stats);

/* The start and the end of a checkout, which took "us" microseconds. */
void co_stats_begin(co_stats_t *stats);
void co_stats_end(co_stats_t *stats, co_outcome_e outcome, int64_t us);

/* A checkout that was refused before its start. */
void co_stats_refused(co_stats_t *stats, co_outcome_e outcome, int64_t us);

/*
 * Returns a line of JSON, with the report of the store merged in.  The caller
 * frees it.  NULL if out of memory.
 */
char *co_stats_json(const co_stats_t *stats, co_store_t *store,
    int64_t waiting, int64_t paying);


#endif /* CO_STATS_H */
