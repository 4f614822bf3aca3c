
/*
 * What a tick measures: who of the called shows up, who of the held stays, how
 * fast shoppers go through, and what room there is.  Of use to the controller
 * alone; docs/engine.md.
 */

#ifndef FT_MEASURE_H_INCLUDED
#define FT_MEASURE_H_INCLUDED


#include "ft_admission.h"

#pragma GCC visibility push(hidden)


/* What a tick works with. */
typedef struct {
    uint64_t          dt_ms;            /* since the last one */
    uint32_t          held;
    uint32_t          called;           /* set by the controller */
    uint32_t          turned_back;      /* since the last one */
    uint64_t          room_milli;       /* admissions x 1000 */
    uint64_t          show_up_milli;    /* of the called, of 1000 */
    uint64_t          stay_milli;       /* of the held, of 1000 */
} ft_tick_t;


/* An exponential average moves towards a sample, by dt / (tau + dt). */
static inline uint64_t
ft_average(uint64_t old, uint64_t sample, uint64_t dt_ms, uint64_t tau_ms)
{
    return (old * tau_ms + sample * dt_ms) / (tau_ms + dt_ms);
}


/*
 * Empties what is overdue in the census, and fills in the tick, of which dt_ms is
 * given, but for `called`.  By whoever has won the tick.
 */
void ft_measure_tick(const ft_call_t *call, ft_tick_t *tick);

#pragma GCC visibility pop


#endif /* FT_MEASURE_H_INCLUDED */
