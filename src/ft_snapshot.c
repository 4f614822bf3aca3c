
/*
 * What the figures of a key are now, for the status and for orders: see
 * ft_admission_snapshot().
 */

#include "ft_control.h"
#include "ft_opening.h"
#include "ft_orders.h"
#include "ft_pass.h"
#include "ft_standing.h"
#include "ft_word.h"


ft_snapshot_t
ft_admission_snapshot(const ft_call_t *call)
{
    uint64_t        came, missed, now_us;
    ft_state_t     *state;
    ft_snapshot_t   s = { 0 };
    ft_standing_t   newcomer;

    ft_control_tick(call);

    state = call->state;

    s.queueing = ft_load(&state->queueing);
    s.held = ft_state_held(state, call->workers);
    s.inflight = ft_state_inflight(state, call->workers)
                 + ft_admission_expecting(call);
    s.sessions = ft_sessions_alive(&state->sessions, call->now_ms);
    s.called = ft_census_called(&state->census);
    s.fresh = ft_census_fresh(&state->census);
    s.waiting = s.queueing ? ft_standing(call, UINT64_MAX).position : 0;
    s.opens_ms = ft_opening_next_ms(call);
    s.threshold_ms = s.queueing && s.opens_ms == 0
                     ? ft_load(&state->census.threshold_us) / 1000
                     : call->now_ms;
    now_us = ft_opening_now_us(call);

    /* a worker whose clock is a little late may find it in its future */

    s.threshold_age_ms = now_us / 1000 > s.threshold_ms
                         ? now_us / 1000 - s.threshold_ms : 0;
    s.flow_milli = ft_control_flow_milli(call);

    s.sold_out = ft_orders_is_sold_out(state);

    if (s.queueing && s.opens_ms == 0 && !s.sold_out) {
        newcomer = ft_standing(call, now_us);
        s.wait_ms = ft_standing_told_ms(call, ft_standing_wait_ms(call,
                                                                  &newcomer));
    }

    s.room_milli = ft_bucket_room_milli(&state->bucket, call->limits,
                                        call->now_ms);

    if (ft_orders_is_shut(state) || s.opens_ms) {
        s.room_milli = 0;
    }

    came = ft_load(&state->control.came_milli);
    missed = ft_load(&state->control.missed_milli);
    s.show_up_milli = (uint32_t) ((came + 100) * 1000 / (came + missed + 100));

    s.hold = ft_orders_is_hold(state);
    s.rate_milli = call->limits->rate_milli;
    s.rate_ordered_milli = ft_load(&state->orders.rate_milli);
    s.rate_said_milli = ft_load(&state->orders.rate_said_milli);
    s.opened_ms = ft_load(&state->orders.opens_ms);

    return s;
}
