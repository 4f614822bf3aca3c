
/*
 * Where a shopper stands in the line, and what it is told of that: its position,
 * the estimated wait, and when to come back.
 */

#ifndef FT_STANDING_H_INCLUDED
#define FT_STANDING_H_INCLUDED


#include "ft_pass.h"

#pragma GCC visibility push(hidden)


/* Where a shopper stands in the line. */
typedef struct {
    uint64_t          stamp_us;
    uint32_t          held;         /* at the edge, by all workers */
    uint32_t          ahead;        /* between the threshold and it */
    uint32_t          position;     /* live shoppers before it, all in all */
    uint64_t          room_ms;      /* until the bucket has room for one */
    uint64_t          sessions_ms;  /* until passes have ended for it, too */
} ft_standing_t;


/* Of a stamp, in us of the line's time (ft_opening_stamp_us()). */
ft_standing_t ft_standing(const ft_call_t *call, uint64_t stamp_us);

/*
 * Estimated ms until it is called, and those held before it are through; in an
 * operator's hold, from its end on.
 */
uint64_t ft_standing_wait_ms(const ft_call_t *call, const ft_standing_t *s);

/*
 * What is told of an estimate: nobody knows how long an operator's hold lasts, so
 * then it is two hours at least, for a page "more than an hour".
 */
uint64_t ft_standing_told_ms(const ft_call_t *call, uint64_t wait_ms);

/* The advised time to the next request, ms, within the bounds of the rules. */
uint32_t ft_standing_retry_ms(const ft_call_t *call, const ft_ticket_t *ticket,
    const ft_standing_t *s);

/* A number in [min, max], in the bounds, that a client cannot choose. */
static inline uint32_t
ft_standing_spread_ms(const ft_call_t *call, const ft_ticket_t *ticket,
    uint64_t min, uint64_t max)
{
    uint64_t  least, most;

    least = call->rules->poll_min_ms;
    most = call->rules->poll_max_ms;

    min = min < least ? least : min > most ? most : min;
    max = max < min ? min : max > most ? most : max;

    return (uint32_t) (min + ft_mix(ticket->id ^ (call->now_ms << 20))
                             % (max - min + 1));
}

#pragma GCC visibility pop


#endif /* FT_STANDING_H_INCLUDED */
