
/*
 * The last half hour of a key in steps of 5 s: a ring, written once a tick by one
 * worker and read without a lock.
 */

#ifndef FT_HISTORY_H_INCLUDED
#define FT_HISTORY_H_INCLUDED


#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "ft_totals.h"
#include "ft_waits.h"

#pragma GCC visibility push(hidden)


#define FT_HISTORY_STEPS    360
#define FT_HISTORY_STEP_MS  5000


/* The columns of a step; their names are in ft_history_names. */
typedef enum {

    /* counts within the step */
    FT_HISTORY_FIRST_ATTEMPTS = 0,
    FT_HISTORY_POLLS,
    FT_HISTORY_ADMITTED,
    FT_HISTORY_QUEUED,
    FT_HISTORY_REJECTED,
    FT_HISTORY_SOLD_OUT,
    FT_HISTORY_PASSED,
    FT_HISTORY_DONE,
    FT_HISTORY_ERRORS,
    FT_HISTORY_GONE,

    /* at its last tick */
    FT_HISTORY_WAITING,
    FT_HISTORY_HELD,
    FT_HISTORY_INFLIGHT,
    FT_HISTORY_THRESHOLD_AGE_MS,

    /* mean over the step: free capacity while somebody waits */
    FT_HISTORY_UNUSED_CAPACITY_MILLI,

    /* waits of the admitted; set when the step is over */
    FT_HISTORY_WAIT_P50_MS,
    FT_HISTORY_WAIT_P95_MS,

    FT_HISTORY_COLUMNS
} ft_history_column_t;

#define FT_HISTORY_COUNTS  FT_HISTORY_WAITING


typedef struct {
    _Atomic uint32_t  number;       /* epoch ms / FT_HISTORY_STEP_MS; 0: none */
    _Atomic uint32_t  value[FT_HISTORY_COLUMNS];
} ft_history_step_t;


typedef struct {
    ft_history_step_t step[FT_HISTORY_STEPS];

    /* for the ticks: the present step; totals and waits so far */
    _Atomic uint32_t  number;
    _Atomic uint32_t  seen[FT_HISTORY_COUNTS];
    _Atomic uint64_t  unused;       /* milli x ms */
    _Atomic uint32_t  waits[FT_WAITS_BUCKETS];
} ft_history_t;


/* The record of a tick. */
typedef struct {
    uint64_t            now_ms;
    uint64_t            dt_ms;          /* since the last tick */
    const ft_totals_t  *totals;
    const ft_waits_t   *waits;
    bool                queueing;
    uint64_t            free_milli;     /* capacity, admissions x 1000 */
    uint64_t            threshold_age_ms;
    uint32_t            waiting;
    uint32_t            held;
    uint32_t            inflight;
} ft_history_tick_t;


extern const char *const  ft_history_names[FT_HISTORY_COLUMNS];


/* Enters a tick; by the worker that has won it. */
void ft_history_record(ft_history_t *history, const ft_history_tick_t *tick);

/* The values of a step.  False: it does not exist, or was overwritten. */
bool ft_history_read(const ft_history_t *history, uint32_t number,
    uint32_t value[FT_HISTORY_COLUMNS]);

/*
 * The longest range of at most `most` existing steps up to now, without a gap,
 * both ends included.  False: there is none.
 */
bool ft_history_range(const ft_history_t *history, uint64_t now_ms,
    uint32_t most, uint32_t *first, uint32_t *last);

#pragma GCC visibility pop


#endif /* FT_HISTORY_H_INCLUDED */
