
/*
 * A restart during a sale: the state is new while its shoppers are not.  The edge
 * listens for a moment to the tickets that are older than the state, admits
 * nobody meanwhile, and then begins the line before the earliest of them.
 */

#ifndef FT_RESTART_H_INCLUDED
#define FT_RESTART_H_INCLUDED


#include "ft_call.h"
#include "ft_ticket.h"

#pragma GCC visibility push(hidden)


#define FT_YOUNG_MS   60000     /* a state this young may follow a restart */
#define FT_LISTEN_MS  1000


/*
 * True: the edge listens, and has heard this ticket.  advice_ms: the retry time
 * that its holder got last.
 */
bool ft_restart_listen(const ft_call_t *call, const ft_ticket_t *ticket,
    uint64_t timestamp_us, uint64_t advice_ms);

/* Whether the edge listens now. */
bool ft_restart_is_listening(const ft_call_t *call);

/* Whether it listens to this ticket, or would begin to. */
bool ft_restart_hears(const ft_call_t *call, const ft_ticket_t *ticket);

#pragma GCC visibility pop


#endif /* FT_RESTART_H_INCLUDED */
