
/*
 * Passes of admitted shoppers.
 */

#ifndef FT_PASS_H_INCLUDED
#define FT_PASS_H_INCLUDED


#include "ft_call.h"
#include "ft_ticket.h"

#pragma GCC visibility push(hidden)


/* Counts an admission, and records the ticket as spent. */
void ft_pass_begin(const ft_call_t *call, uint64_t id, uint64_t first_ms);

/* Turns the ticket of an admitted shopper into the pass. */
void ft_pass_make(const ft_call_t *call, ft_ticket_t *ticket);

/*
 * A ticket that was admitted before (FT_SPENT) becomes its pass again, with the
 * end it had: for a response that was lost, or another tab.  False: the pass has
 * ended, was declared done, or is forgotten; the holder is a first attempt.
 */
bool ft_pass_again(const ft_call_t *call, ft_ticket_t *ticket);

/* Whether the pass was declared done. */
bool ft_pass_is_done(const ft_call_t *call, const ft_ticket_t *pass);

/*
 * Declares a pass done before its end, which frees its session; its holder is a
 * first attempt from now on.  False: it was done before, and nothing changes.
 */
bool ft_pass_done(const ft_call_t *call, const ft_ticket_t *pass);

/* Counts a poll with a valid pass, which does not go to the upstream. */
void ft_pass_confirm(const ft_call_t *call);

/* The time at which a ticket is answered.  The clock of another edge may be
   ahead: never before its first attempt. */
uint64_t ft_pass_seen_ms(const ft_call_t *call, const ft_ticket_t *ticket);

#pragma GCC visibility pop


#endif /* FT_PASS_H_INCLUDED */
