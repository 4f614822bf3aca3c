
/*
 * A call into the core: whose state, under which settings, when, by which
 * worker.  Plain values, safe to copy.
 *
 * Time is epoch milliseconds that never step back while anybody waits
 * (ft_zone_now()).  No function of the core blocks or allocates.
 */

#ifndef FT_CALL_H_INCLUDED
#define FT_CALL_H_INCLUDED


#include "ft_config.h"
#include "ft_state.h"


typedef struct {
    ft_state_t        *state;
    const ft_rules_t  *rules;
    ft_limits_t        limits;      /* in force, see ft_override_limits() */
    uint64_t           now_ms;
    uint32_t           worker;      /* the caller's slot, < workers */
    uint32_t           workers;     /* slots in use, <= FT_WORKERS */
} ft_call_t;


#endif /* FT_CALL_H_INCLUDED */
