
/*
 * Free capacity under all limits, its pace, and taking capacity of all limits at
 * once or of none.
 */

#ifndef FT_CAPACITY_H_INCLUDED
#define FT_CAPACITY_H_INCLUDED


#include "ft_call.h"

#pragma GCC visibility push(hidden)


/*
 * Takes capacity for one admission: in flight, among the passes, and in the
 * bucket (policy=proportional: in the budget of the period).  False: there is
 * none, or admissions are stopped.
 *
 * No limit is exceeded, however many workers take at the same time.  The last
 * free capacity goes to one of the workers that take it at the same time.  A
 * worker that is stopped within this function keeps capacity for one admission
 * until it continues or is reaped.
 *
 * first_ms: the timestamp of the ticket, for the end of its pass.
 */
bool ft_capacity_take(const ft_call_t *call, uint64_t first_ms);

/* When a pass ends whose shopper is admitted now. */
uint64_t ft_capacity_end_ms(const ft_call_t *call, uint64_t first_ms);

/* Free capacity of all limits, admissions x 1000; 0 while stopped or closed. */
uint64_t ft_capacity_free_milli(const ft_call_t *call);

/* Admissions a second x 1000, at least 1: the capacity of the upstream; and the
   part of it that ending passes leave free. */
uint64_t ft_capacity_upstream_milli(const ft_call_t *call);
uint64_t ft_capacity_flow_milli(const ft_call_t *call);

#pragma GCC visibility pop


#endif /* FT_CAPACITY_H_INCLUDED */
