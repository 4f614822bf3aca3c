
/*
 * What happened in the last half hour, step by step: a ring that whoever wins
 * the tick writes, so that whoever looks late sees the beginning.
 */

#ifndef FT_HISTORY_H_INCLUDED
#define FT_HISTORY_H_INCLUDED


#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "ft_waits.h"

#pragma GCC visibility push(hidden)


#define FT_HISTORY_STEPS    360
#define FT_HISTORY_STEP_MS  5000


/* Of each step; the names of the columns are in ft_history_names. */
typedef enum {

    /* how often, within the step */
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

    /* on the average over the step: room while somebody waits */
    FT_HISTORY_UNUSED_MILLI,

    /* of those admitted in it, once it is over */
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

    /* the ticks' own: the present step, the totals and waits until here */
    _Atomic uint32_t  number;
    _Atomic uint32_t  seen[FT_HISTORY_COUNTS];
    _Atomic uint64_t  unused;       /* milli x ms */
    _Atomic uint32_t  waits[FT_WAITS_BUCKETS];
} ft_history_t;


/* A tick's figures that are at hand anyway. */
typedef struct {
    uint64_t          dt_ms;
    uint64_t          room_milli;
    uint32_t          waiting;
    uint32_t          held;
} ft_history_tick_t;


extern const char *const  ft_history_names[FT_HISTORY_COLUMNS];


/* A step's values; false: it is not there, or was overwritten meanwhile. */
bool ft_history_read(const ft_history_t *history, uint32_t number,
    uint32_t value[FT_HISTORY_COLUMNS]);

/*
 * The numbers of at most `most` steps up to now that are there; without a gap,
 * *last included.  False: there are none.
 */
bool ft_history_range(const ft_history_t *history, uint64_t now_ms,
    uint32_t most, uint32_t *first, uint32_t *last);

#pragma GCC visibility pop


#endif /* FT_HISTORY_H_INCLUDED */
