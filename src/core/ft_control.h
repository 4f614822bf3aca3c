
/*
 * The controller: once a tick it moves the threshold, so that the shoppers it
 * calls match the capacity that there will be.  There is no timer: the first
 * request of a tick runs it.  The law, and why it is stable: docs/engine.md.
 */

#ifndef FT_CONTROL_H_INCLUDED
#define FT_CONTROL_H_INCLUDED


#include "ft_call.h"

#pragma GCC visibility push(hidden)


#ifndef FT_TICK_MS
#define FT_TICK_MS  100
#endif


/* Runs a tick if one is due and no other worker runs it. */
void ft_control_tick(const ft_call_t *call);

/* Shoppers between the threshold and a timestamp; 0 for the called. */
uint32_t ft_control_ahead(const ft_call_t *call, uint64_t timestamp_us);

/*
 * Estimated ms until a timestamp with this number of shoppers ahead is called: at the
 * present speed, or, for advice, at the speed to which a slow line may return.
 */
uint64_t ft_control_call_ms(const ft_call_t *call, uint64_t timestamp_us,
    uint32_t ahead, bool advice);

#pragma GCC visibility pop


#endif /* FT_CONTROL_H_INCLUDED */
