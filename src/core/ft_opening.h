
/*
 * The opening.  Before it, all shoppers wait in a pre-queue without an order.  At
 * the opening the pre-queue is shuffled, and first attempts after the opening
 * are behind it.
 *
 * The shuffle is a keyed function of each ticket (ft_ticket_shuffle()), so there
 * is no list: a ticket's shuffled place is a timestamp within the minute before
 * the opening.  The census counts the pre-queue there from the beginning, and
 * the whole line is known when the sale opens.  No response before the opening
 * depends on the shuffled place.
 */

#ifndef FT_OPENING_H_INCLUDED
#define FT_OPENING_H_INCLUDED


#include "ft_call.h"
#include "ft_ticket.h"

#pragma GCC visibility push(hidden)


#define FT_OPENING_SPAN_MS  UINT32_C(60000)     /* timestamps of the pre-queue */


/* Before every decision: keeps the line in step with the rules. */
void ft_opening_arrange(const ft_call_t *call);

/* Whether this call is before its opening. */
bool ft_opening_is_closed(const ft_call_t *call);

/* Whether the line of the key waits for its opening, whoever calls. */
bool ft_opening_waits(const ft_call_t *call);

/* When the key opens, epoch ms; 0: it is open. */
uint64_t ft_opening_next_ms(const ft_call_t *call);

/* Whether the pre-queue is returning now, as advised. */
bool ft_opening_gathers(const ft_call_t *call);

/*
 * The place of a ticket in line, us.  Two tickets of one ms differ by their ids.
 * Needs ticket->shuffle if the ticket was in the pre-queue.
 */
uint64_t ft_opening_timestamp_us(const ft_call_t *call,
    const ft_ticket_t *ticket);

/* The place of a first attempt now, us. */
uint64_t ft_opening_now_us(const ft_call_t *call);

/* A state made before this time, epoch ms, has had time to count the ticket. */
uint64_t ft_opening_known_ms(const ft_call_t *call, const ft_ticket_t *ticket);

/* Whether this is the ticket's first poll since the line was laid out. */
bool ft_opening_is_new_to(const ft_call_t *call, const ft_ticket_t *ticket);

/* The beginning of the line of which this ticket is the first known, us. */
uint64_t ft_opening_first_us(const ft_call_t *call, const ft_ticket_t *ticket,
    uint64_t timestamp_us);

/* Whether the line is laid out for the opening of this call. */
bool ft_opening_counts(const ft_call_t *call);

/* Encodes the place of a count for the ticket: bound to this line, and
   unreadable before the opening. */
uint8_t ft_opening_seal(const ft_call_t *call, const ft_ticket_t *ticket,
    uint8_t place);

/* Decodes it.  False: the count was for another line, and is gone. */
bool ft_opening_unseal(const ft_call_t *call, const ft_ticket_t *ticket,
    uint8_t *place);

/* Advised time to the next request before the opening, ms; counted: the census
   has the shopper. */
uint32_t ft_opening_retry_ms(const ft_call_t *call, const ft_ticket_t *ticket,
    bool counted);

#pragma GCC visibility pop


#endif /* FT_OPENING_H_INCLUDED */
