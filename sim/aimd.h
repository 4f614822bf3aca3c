
/*
 * Additive increase and multiplicative decrease of the rate: the baseline for
 * adaptation.
 */

#ifndef FT_SIM_AIMD_H_INCLUDED
#define FT_SIM_AIMD_H_INCLUDED


#include <stdint.h>


#define FT_AIMD_PERIOD_MS   1000
#define FT_AIMD_UP_MILLI    1000    /* requests/s x 1000, added each period */
#define FT_AIMD_DOWN_MILLI  700     /* factor x 1000 */


typedef struct {
    uint64_t           began_ms;
    uint64_t           took_ms;
    uint32_t           answers;
    uint32_t           rate_milli;
} ft_aimd_t;


/* Records an answer; updates the rate at the end of a period. */
void ft_aimd_answer(ft_aimd_t *aimd, uint32_t target_ms, uint32_t took_ms,
    uint64_t now_ms);


#endif /* FT_SIM_AIMD_H_INCLUDED */
