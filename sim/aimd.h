
/*
 * The textbook's additive increase, multiplicative decrease of the rate, which
 * adaptation is compared with.
 */

#ifndef FT_SIM_AIMD_H_INCLUDED
#define FT_SIM_AIMD_H_INCLUDED


#include <stdint.h>


#define FT_AIMD_PERIOD_MS   1000
#define FT_AIMD_UP_MILLI    1000    /* a second, each period */
#define FT_AIMD_DOWN_MILLI  700     /* of 1000 */


typedef struct {
    uint64_t           began_ms;
    uint64_t           took_ms;
    uint32_t           answers;
    uint32_t           rate_milli;
} ft_aimd_t;


/* An answer that took so long moves the rate when its period is over. */
void ft_aimd_answer(ft_aimd_t *aimd, uint32_t target_ms, uint32_t took_ms,
    uint64_t now_ms);


#endif /* FT_SIM_AIMD_H_INCLUDED */
