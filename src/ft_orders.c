
/*
 * Orders: see ft_orders.h.
 */

#include "ft_orders.h"
#include "ft_word.h"


void
ft_orders_rate(ft_state_t *state, ft_orders_from_t from, uint32_t rate_milli)
{
    if (rate_milli > FT_ORDER_RATE_MAX) {
        rate_milli = FT_ORDER_RATE_MAX;
    }

    ft_store(from == FT_FROM_OPERATOR ? &state->orders.rate_milli
                                      : &state->orders.rate_said_milli,
             rate_milli);
}


void
ft_orders_hold(ft_state_t *state)
{
    atomic_fetch_or(&state->orders.door, FT_ORDER_HOLD);
}


bool
ft_orders_sold_out(ft_state_t *state, ft_orders_from_t from)
{
    uint32_t  bit;

    bit = from == FT_FROM_OPERATOR ? FT_ORDER_SOLD_OUT
                                   : FT_ORDER_SOLD_OUT_SAID;

    return (ft_load(&state->orders.door) & bit) == 0
           && (atomic_fetch_or(&state->orders.door, bit) & bit) == 0;
}


bool
ft_orders_resume(ft_state_t *state, ft_orders_from_t from, uint64_t now_ms)
{
    uint32_t  was, is, sold_out;

    sold_out = FT_ORDER_SOLD_OUT|FT_ORDER_SOLD_OUT_SAID;

    if (from == FT_FROM_OPERATOR) {
        was = atomic_exchange(&state->orders.door, 0);
        is = 0;

    } else if (ft_load(&state->orders.door) & FT_ORDER_SOLD_OUT_SAID) {
        was = atomic_fetch_and(&state->orders.door,
                               ~(uint32_t) FT_ORDER_SOLD_OUT_SAID);
        is = was & ~(uint32_t) FT_ORDER_SOLD_OUT_SAID;

    } else {
        return false;
    }

    /* those told "sold out" are in no count: as young as a restart's state */

    if ((was & sold_out) && (is & sold_out) == 0) {
        ft_store(&state->control.rebuilt_ms, 0);
        ft_store(&state->born_ms, now_ms);
    }

    return was != is;
}


void
ft_orders_open(ft_state_t *state, uint64_t now_ms)
{
    ft_store(&state->orders.opens_ms, now_ms);

    (void) ft_orders_resume(state, FT_FROM_OPERATOR, now_ms);
}


void
ft_orders_reset(ft_state_t *state, uint64_t now_ms)
{
    ft_store(&state->orders.rate_milli, 0);
    ft_store(&state->orders.rate_said_milli, 0);
    ft_store(&state->orders.opens_ms, 0);

    (void) ft_orders_resume(state, FT_FROM_OPERATOR, now_ms);
}


bool
ft_orders_given(const ft_state_t *state)
{
    return (ft_load(&state->orders.door)
            & (FT_ORDER_HOLD|FT_ORDER_SOLD_OUT))
           || ft_load(&state->orders.rate_milli)
           || ft_load(&state->orders.opens_ms);
}


void
ft_orders_obey(ft_call_t *call)
{
    uint32_t  rate;

    rate = ft_load(&call->state->orders.rate_milli);

    if (rate == 0) {
        rate = ft_load(&call->state->orders.rate_said_milli);
    }

    if (rate == 0) {
        return;
    }

    call->ordered = *call->limits;
    ft_limits_set_rate(&call->ordered, rate);
    call->limits = &call->ordered;
}
