
/*
 * The opening: before it everybody waits in a pre-queue that has no order; at
 * the opening those who were there stand in an order drawn by lot, and whoever
 * first tries later stands behind them.
 *
 * The lot is drawn by a keyed function of each ticket (ft_ticket_draw()), so no
 * list is kept.  It is a place within the span before the opening, and there
 * the census counts the pre-queue from the beginning: the edge knows the whole
 * line when it opens.  Nobody is told anything that depends on the lot before.
 */

#ifndef FT_OPENING_H_INCLUDED
#define FT_OPENING_H_INCLUDED


#include "ft_admission.h"

#pragma GCC visibility push(hidden)


#define FT_OPENING_SPAN_MS  UINT32_C(60000)     /* where the pre-queue stands */


/* Before every decision: keeps the state's line in step with the rules. */
void ft_opening_arrange(const ft_call_t *call);

/* Whether the line stands still, whoever asks: its opening is yet to come. */
bool ft_opening_waits(const ft_call_t *call);

/*
 * When it opens, epoch ms; 0: it is open.  As the line has it, whose key may have
 * an opening of its own; where it has none ahead, as the rules have it.
 */
uint64_t ft_opening_next_ms(const ft_call_t *call);

/* Whether the whole line comes back now, as it was advised to. */
bool ft_opening_gathers(const ft_call_t *call);

/* Where a ticket stands in the line, us: two of one ms are told apart by their
   ids.  ticket->draw is needed where it was in the pre-queue. */
uint64_t ft_opening_stamp_us(const ft_call_t *call, const ft_ticket_t *ticket);

/* Where a shopper who first tries now stands, us. */
uint64_t ft_opening_now_us(const ft_call_t *call);

/*
 * A state made before this, epoch ms, has had the time to count the ticket's
 * holder.
 */
uint64_t ft_opening_known_ms(const ft_call_t *call, const ft_ticket_t *ticket);

/* Whether a ticket's holder comes for the first time since the opening, or since
   there is none any more. */
bool ft_opening_is_new_to(const ft_call_t *call, const ft_ticket_t *ticket);

/* Where the line begins of which a ticket is the first that is known, us. */
uint64_t ft_opening_first_us(const ft_call_t *call, const ft_ticket_t *ticket,
    uint64_t stamp_us);

/* Whether the line is laid out for the opening that this call waits for. */
bool ft_opening_counts(const ft_call_t *call);

/* Signs the place of a count: for which opening, and not to be read. */
uint8_t ft_opening_seal(const ft_call_t *call, const ft_ticket_t *ticket,
    uint8_t place);

/* The place again.  False: the count was for another opening, and is gone. */
bool ft_opening_unseal(const ft_call_t *call, const ft_ticket_t *ticket,
    uint8_t *place);

/* The advised time to the next request before the opening, ms, of one who was
   counted, or was not yet. */
uint32_t ft_opening_retry_ms(const ft_call_t *call, const ft_ticket_t *ticket,
    bool counted);

#pragma GCC visibility pop


#endif /* FT_OPENING_H_INCLUDED */
