
#include "ft_capacity.h"
#include "ft_control.h"
#include "ft_inflight.h"
#include "ft_opening.h"
#include "ft_override.h"
#include "ft_position.h"
#include "ft_stats.h"


static uint64_t
ft_stats_wait_ms(const ft_call_t *call, uint64_t timestamp_us)
{
    ft_position_t  p;

    p = ft_position_of(call, timestamp_us);

    return ft_position_shown_ms(call, ft_position_wait_ms(call, &p));
}


ft_stats_t
ft_stats_read(const ft_call_t *call)
{
    uint64_t     returned, no_shows, now_us;
    ft_state_t  *state;
    ft_stats_t   s = { 0 };

    ft_control_tick(call);

    state = call->state;

    s.queueing = ft_load(&state->queueing);
    s.held = ft_state_held(state, call->workers);
    s.inflight = ft_inflight_count(call);
    s.sessions = ft_sessions_alive(&state->sessions, call->now_ms);
    s.called = ft_census_called(&state->census);
    s.fresh = ft_census_fresh(&state->census);
    s.waiting = s.queueing ? ft_position_of(call, UINT64_MAX).position : 0;
    s.opens_ms = ft_opening_next_ms(call);
    s.threshold_ms = s.queueing && s.opens_ms == 0
                     ? ft_load(&state->census.threshold_us) / 1000
                     : call->now_ms;
    now_us = ft_opening_now_us(call);

    /* the clock of this worker may be a little behind */

    s.threshold_age_ms = now_us / 1000 > s.threshold_ms
                         ? now_us / 1000 - s.threshold_ms : 0;
    s.flow_milli = ft_capacity_flow_milli(call);
    s.sold_out = ft_override_is_sold_out(state);

    if (s.queueing && s.opens_ms == 0 && !s.sold_out) {
        s.wait_ms = ft_stats_wait_ms(call, now_us);
    }

    s.free_capacity_milli = s.opens_ms ? 0 : ft_capacity_free_milli(call);

    returned = ft_load(&state->control.returned_milli);
    no_shows = ft_load(&state->control.no_shows_milli);
    s.show_up_milli = (uint32_t) ((returned + 100) * 1000
                                  / (returned + no_shows + 100));

    s.admitted_last_period = ft_load(&state->period.admitted);
    s.paused = ft_override_is_paused(state);
    s.rate_milli = call->limits.rate_milli;
    s.rate_override_milli = ft_load(&state->overrides.rate_milli);
    s.rate_upstream_milli = ft_load(&state->overrides.rate_upstream_milli);
    s.opened_ms = ft_load(&state->overrides.opens_ms);

    return s;
}


void
ft_stats_adapt(const ft_state_t *state, const ft_adapt_rules_t *rules,
    const ft_limits_t *limits, ft_stats_t *stats)
{
    ft_limits_t        now;
    const ft_adapt_t  *adapt;

    now = *limits;
    adapt = &state->adapt;
    ft_adapt_limits(adapt, rules, &now);

    stats->adapt_inflight = now.inflight;
    stats->adapt_rate_milli = ft_adapt_rate_milli(adapt, rules, limits);
    stats->answer_ms = ft_load(&adapt->mean_ms);
    stats->answers_milli = ft_load(&adapt->answered_milli);
    stats->answer_errors_milli = ft_load(&adapt->errors_milli);
}


bool
ft_stats_is_free(const ft_call_t *call)
{
    ft_control_tick(call);

    return !ft_load(&call->state->queueing)
           && !ft_opening_is_closed(call)
           && ft_capacity_free_milli(call) >= 1000;
}
