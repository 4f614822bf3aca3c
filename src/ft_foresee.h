
/*
 * What the passes that end let the controller foresee; the callers' side is in
 * ft_control.h.
 */

#ifndef FT_FORESEE_H_INCLUDED
#define FT_FORESEE_H_INCLUDED


#include "ft_admission.h"

#pragma GCC visibility push(hidden)


/* Looks ahead, once a tick; dt_ms: since the last tick, 0 at the first. */
void ft_control_foresee(const ft_call_t *call, uint64_t dt_ms);

/* Passes a second x 1000 that end within the next hold. */
uint64_t ft_control_sessions_milli(const ft_call_t *call);

#pragma GCC visibility pop


#endif /* FT_FORESEE_H_INCLUDED */
