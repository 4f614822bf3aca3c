
/*
 * What admission needs of the hold, and the hold of admission; the callers'
 * side is in ft_admission.h.
 */

#ifndef FT_HOLD_H_INCLUDED
#define FT_HOLD_H_INCLUDED


#include "ft_admission.h"

#pragma GCC visibility push(hidden)


/* Whether a request with this ticket is held already. */
bool ft_hold_has(const ft_call_t *call, uint64_t id);

/* Whether no worker holds an earlier stamp. */
bool ft_hold_is_first(const ft_call_t *call, uint64_t stamp_us);

/* Parks a called shopper.  False: it cannot be held, or too many are. */
bool ft_hold_park(const ft_call_t *call, ft_line_t *line, ft_line_node_t *node,
    const ft_ticket_t *ticket);

/*
 * Takes a place in flight, among the passes and in the bucket: in all of them,
 * or in none.  False: no room, or the door is shut.
 *
 * However many workers ask at one instant, no bound is exceeded.  Where they go
 * by the same time and nobody leaves meanwhile, as many get in as the tightest
 * bound has room for: of two that ask for the last room one gets it.  (That one
 * is refused needs 64 meetings in a row, of others who come and take back at the
 * same instants.)  A worker whose clock is behind may be refused by the bucket
 * and keep another from its place for that moment; one that is stopped in the
 * midst of it keeps the place until it goes on or is reaped.
 */
bool ft_admission_take(const ft_call_t *call, uint64_t first_ms);

/* Counts an admission, and marks the ticket as used. */
void ft_admission_count(const ft_call_t *call, uint64_t id, uint64_t first_ms);

#pragma GCC visibility pop


#endif /* FT_HOLD_H_INCLUDED */
