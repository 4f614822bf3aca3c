
/*
 * Orders: what an operator says of a key while a sale runs, and what the
 * upstream says.  They stand in the state, so they are in force at once in all
 * workers and over reloads, until they are taken back.
 *
 * The operator's word outranks the upstream's: `open` from a checkout does not
 * undo the operator's "sold out", nor its rate the operator's rate.
 */

#ifndef FT_ORDERS_H_INCLUDED
#define FT_ORDERS_H_INCLUDED


#include "ft_admission.h"

#pragma GCC visibility push(hidden)


/* Bits of ft_orders_t.door, by who set them; 0: nothing is ordered. */
#define FT_ORDER_HOLD           1   /* the operator: everyone queues */
#define FT_ORDER_SOLD_OUT       2   /* the operator: nobody need wait */
#define FT_ORDER_SOLD_OUT_SAID  4   /* the upstream said so */

/* Rates that can be ordered, admissions a second x 1000. */
#define FT_ORDER_RATE_MAX       UINT32_C(1000000000)


typedef enum {
    FT_FROM_OPERATOR,
    FT_FROM_UPSTREAM
} ft_orders_from_t;


/* A rate in place of the zone's; 0 takes it back. */
void ft_orders_rate(ft_state_t *state, ft_orders_from_t from,
    uint32_t rate_milli);

/* Everyone without a pass queues. */
void ft_orders_hold(ft_state_t *state);

/* Everyone without a pass hears it, and nobody waits.  False: it was so. */
bool ft_orders_sold_out(ft_state_t *state, ft_orders_from_t from);

/*
 * Takes back `hold` and `sold out`; the upstream only what it said itself.
 * Those who wait have kept their places: when the last "sold out" goes, the
 * state listens to who comes back, as after a restart.  False: nothing was to be
 * taken back.
 */
bool ft_orders_resume(ft_state_t *state, ft_orders_from_t from,
    uint64_t now_ms);

/* Resumes, and opens a sale that was to open later: it opened at now_ms. */
void ft_orders_open(ft_state_t *state, uint64_t now_ms);

/* Takes everything back, whoever said it. */
void ft_orders_reset(ft_state_t *state, uint64_t now_ms);

/* Whether any order of the operator's is in force. */
bool ft_orders_given(const ft_state_t *state);

/*
 * The limits in force: what is ordered in place of the zone's, which call->limits
 * points to; afterwards it may point into *call, which must not be copied then.
 * The burst stays if it was set, and is the new rate's where it was the default.
 */
void ft_orders_obey(ft_call_t *call);


static inline bool
ft_orders_is_sold_out(const ft_state_t *state)
{
    return atomic_load_explicit(&state->orders.door, memory_order_relaxed)
           & (FT_ORDER_SOLD_OUT|FT_ORDER_SOLD_OUT_SAID);
}


static inline bool
ft_orders_is_hold(const ft_state_t *state)
{
    return atomic_load_explicit(&state->orders.door, memory_order_relaxed)
           & FT_ORDER_HOLD;
}


/* Nobody is let in now: `hold` or `sold out`. */
static inline bool
ft_orders_is_shut(const ft_state_t *state)
{
    return atomic_load_explicit(&state->orders.door, memory_order_relaxed) != 0;
}

#pragma GCC visibility pop


#endif /* FT_ORDERS_H_INCLUDED */
