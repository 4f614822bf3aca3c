
/*
 * Accounting by periods: the admissions in the last complete period, for the
 * stats; and the budget of a period for policy=proportional, which a period
 * resets (the leaky bucket, for the other policies, is continuous).
 */

#ifndef FT_PERIOD_H_INCLUDED
#define FT_PERIOD_H_INCLUDED


#include "ft_call.h"

#pragma GCC visibility push(hidden)


/* Once a tick: begins a new period if one is over. */
void ft_period_tick(const ft_call_t *call);

/* Takes one of the rate x period admissions of this period.  False: none is
   left.  Without a rate there is no budget. */
bool ft_period_take(const ft_call_t *call);

/* The rest of the budget, admissions x 1000. */
uint64_t ft_period_free_milli(const ft_call_t *call);

#pragma GCC visibility pop


#endif /* FT_PERIOD_H_INCLUDED */
