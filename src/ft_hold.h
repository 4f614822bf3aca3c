
/*
 * What admission needs of the hold, and the hold of admission; the callers'
 * side is in ft_admission.h.
 */

#ifndef FT_HOLD_H_INCLUDED
#define FT_HOLD_H_INCLUDED


#include "ft_admission.h"


/* Whether a request with this ticket is held already. */
bool ft_hold_has(const ft_call_t *call, uint64_t id);

/* Whether no worker holds an earlier stamp. */
bool ft_hold_is_first(const ft_call_t *call, uint64_t stamp_us);

/* Parks a called shopper.  False: it cannot be held, or too many are. */
bool ft_hold_park(const ft_call_t *call, ft_line_t *line, ft_line_node_t *node,
    const ft_ticket_t *ticket);

/* Takes a place in the bucket, in flight and among the passes.  False: no room. */
bool ft_admission_take(const ft_call_t *call, uint64_t first_ms);

/* Counts an admission, and marks the ticket as used. */
void ft_admission_count(const ft_call_t *call, uint64_t id, uint64_t first_ms);


#endif /* FT_HOLD_H_INCLUDED */
