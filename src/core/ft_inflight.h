
/*
 * Requests at the upstream: a count per worker, which disappears with a worker
 * that dies, and the pages that are expected after an admitted poll.
 */

#ifndef FT_INFLIGHT_H_INCLUDED
#define FT_INFLIGHT_H_INCLUDED


#include "ft_call.h"
#include "ft_ticket.h"

#pragma GCC visibility push(hidden)


/* At the upstream, or expected there within a moment. */
uint32_t ft_inflight_count(const ft_call_t *call);

/*
 * A poll has been admitted: its page will come with this pass.  Its capacity is
 * kept for 2 s; marks the pass accordingly.
 */
void ft_inflight_expect(const ft_call_t *call, ft_ticket_t *pass);

/* A request with a valid pass goes to the upstream; never refused. */
void ft_inflight_enter(const ft_call_t *call, const ft_ticket_t *pass);

/*
 * A request has completed.  generation: of the state when it entered; another
 * state counts nothing.  Failed: the response was a 5xx.
 */
void ft_inflight_done(ft_state_t *state, uint32_t generation, uint32_t worker);
void ft_inflight_failed(ft_state_t *state, uint32_t generation);

#pragma GCC visibility pop


#endif /* FT_INFLIGHT_H_INCLUDED */
