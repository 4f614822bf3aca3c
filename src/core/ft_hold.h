
/*
 * The hold: called shoppers whose requests wait at the edge for capacity, the
 * earliest timestamp first, over all workers.
 *
 * Each worker publishes the earliest timestamp that it holds, and a heartbeat.  A
 * worker that is gone or stuck has no heartbeat, and the others do not wait for
 * it.
 */

#ifndef FT_HOLD_H_INCLUDED
#define FT_HOLD_H_INCLUDED


#include "ft_call.h"
#include "ft_line.h"
#include "ft_ticket.h"

#pragma GCC visibility push(hidden)


/* Whether a request with this ticket is held already. */
bool ft_hold_has(const ft_call_t *call, uint64_t id);

/* Whether no worker holds an earlier timestamp. */
bool ft_hold_is_first(const ft_call_t *call, uint64_t timestamp_us);

/* Holds a request.  False: it cannot be held (line NULL), too many are, or
   admissions are stopped. */
bool ft_hold_park(const ft_call_t *call, ft_line_t *line, ft_line_node_t *node,
    const ft_ticket_t *ticket, uint64_t timestamp_us);

/*
 * The next request whose hold has ended, removed from the line.  *admitted: it
 * goes to the upstream; otherwise ft_admission_turn_back() answers it.  NULL:
 * none now; call again at *wake_ms (0: no request is held).
 */
ft_line_node_t *ft_hold_next(const ft_call_t *call, ft_line_t *line,
    bool *admitted, uint64_t *wake_ms);

/* The client of a held request has closed its connection. */
void ft_hold_leave(const ft_call_t *call, ft_line_t *line,
    ft_line_node_t *node);

#pragma GCC visibility pop


#endif /* FT_HOLD_H_INCLUDED */
