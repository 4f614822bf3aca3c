
/*
 * A forecast of capacity from the known ends of the passes, where `sessions` limits
 * them: capacity comes when passes end.  A crowd that was admitted at
 * once ends at once, and until then nobody need be called.
 *
 * Passes declared done before they expire add to it at their average pace.
 */

#ifndef FT_FORECAST_H_INCLUDED
#define FT_FORECAST_H_INCLUDED


#include "ft_call.h"

#pragma GCC visibility push(hidden)


/* Once a tick; dt_ms: since the last tick, 0 at the first. */
void ft_forecast_update(const ft_call_t *call, uint64_t dt_ms);

/* Passes a second x 1000 that end within the next hold. */
uint64_t ft_forecast_ending_milli(const ft_call_t *call);

/*
 * Estimated ms until passes have ended for `position` shoppers and one more; 0
 * without a limit of the passes.
 */
uint64_t ft_forecast_wait_ms(const ft_call_t *call, uint32_t position);

#pragma GCC visibility pop


#endif /* FT_FORECAST_H_INCLUDED */
