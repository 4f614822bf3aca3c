
/*
 * Measurements of a tick: the show-up rate of the called, the share of the held who
 * stay, the flow, and the free capacity.  For the controller only; see
 * docs/engine.md.
 */

#ifndef FT_MEASURE_H_INCLUDED
#define FT_MEASURE_H_INCLUDED


#include "ft_call.h"

#pragma GCC visibility push(hidden)


typedef struct {
    uint64_t          dt_ms;            /* since the last tick */
    uint32_t          held;
    uint32_t          called;           /* set by the controller */
    uint32_t          turned_back;      /* since the last tick */
    uint64_t          free_milli;       /* capacity, admissions x 1000 */
    uint64_t          show_up_milli;    /* of the called, of 1000 */
    uint64_t          stay_milli;       /* of the held, of 1000 */
} ft_measure_t;


/*
 * Expires what is overdue in the census, and fills in the measurements; dt_ms is
 * given.  By the worker that has won the tick.
 */
void ft_measure_tick(const ft_call_t *call, ft_measure_t *m);

#pragma GCC visibility pop


#endif /* FT_MEASURE_H_INCLUDED */
