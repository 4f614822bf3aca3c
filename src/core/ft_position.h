
/*
 * The position of a shopper in line, and the advice to the shopper: the
 * estimated wait, and when to return.
 */

#ifndef FT_POSITION_H_INCLUDED
#define FT_POSITION_H_INCLUDED


#include "ft_call.h"
#include "ft_ticket.h"

#pragma GCC visibility push(hidden)


typedef struct {
    uint64_t          timestamp_us;
    uint32_t          held;         /* requests held by all workers */
    uint32_t          ahead;        /* between the threshold and this one */
    uint32_t          position;     /* shoppers before this one */
    uint64_t          ready_ms;     /* until the bucket has capacity for one */
    uint64_t          sessions_ms;  /* until passes have ended for this one */
} ft_position_t;


/* timestamp_us: ft_opening_timestamp_us(). */
ft_position_t ft_position_of(const ft_call_t *call, uint64_t timestamp_us);

/*
 * Estimated ms until the shopper is called and the held ones before are
 * admitted; in a pause, from its end on.
 */
uint64_t ft_position_wait_ms(const ft_call_t *call, const ft_position_t *p);

/*
 * The estimate as it is shown: at least two hours in a pause, whose end is
 * unknown, which a page shows as "more than an hour".
 */
uint64_t ft_position_shown_ms(const ft_call_t *call, uint64_t wait_ms);

/* The advised time to the next request, ms, within the limits of the rules. */
uint32_t ft_position_retry_ms(const ft_call_t *call, const ft_ticket_t *ticket,
    const ft_position_t *p);

/* A number in [min, max], within the limits of the rules, that depends on the
   ticket and the time. */
uint32_t ft_position_spread_ms(const ft_call_t *call,
    const ft_ticket_t *ticket, uint64_t min, uint64_t max);

#pragma GCC visibility pop


#endif /* FT_POSITION_H_INCLUDED */
