
#include "ft_capacity.h"
#include "ft_control.h"
#include "ft_measure.h"
#include "ft_opening.h"
#include "ft_override.h"
#include "ft_period.h"
#include "ft_restart.h"


#define FT_SPEED_TAU_MS    3000     /* averaging of the speeds */
#define FT_BOOST_GAIN      20       /* a second and unit of unused capacity */
#define FT_LOOKAHEAD       550      /* of 1000: of the hold */
#define FT_PACE_TAU_MS     60000    /* decay of the best pace */
#define FT_PACE_SHARE      600      /* of 1000: of that pace, for advice */
#define FT_GAP_MAX_MS      2000     /* a longer time between ticks counts so */

/* policy=proportional: gain, and setpoint as a share of the capacity */

#ifndef FT_KP_MILLI
#define FT_KP_MILLI        500
#endif

#define FT_SETPOINT_MILLI  1500


/* One tick, one winner. */
static bool
ft_control_win(ft_state_t *state, uint64_t now_ms, uint64_t *dt_ms)
{
    uint64_t  last;

    last = ft_load(&state->control.ticked_ms);

    if (now_ms < last + FT_TICK_MS && last < now_ms + FT_GAP_MAX_MS) {
        return false;
    }

    if (!atomic_compare_exchange_strong(&state->control.ticked_ms, &last,
                                        now_ms))
    {
        return false;
    }

    /* a last tick in the future: the clock was set back */

    *dt_ms = now_ms < last ? FT_TICK_MS : ft_min(now_ms - last, FT_GAP_MAX_MS);

    return true;
}


/* Unused capacity calls more shoppers; called shoppers turned back call fewer. */
static void
ft_control_boost(const ft_call_t *call, const ft_measure_t *m)
{
    int64_t   boost, spare;
    uint64_t  free_milli;

    /* at an opening the called return at times of their own */

    if (ft_opening_gathers(call)) {
        return;
    }

    free_milli = m->free_milli;

    /* many passes may end at once: that says nothing about earlier calls */

    if (call->limits.sessions) {
        free_milli = ft_min(free_milli,
                            1000 + ft_capacity_flow_milli(call) / 4);
    }

    spare = (int64_t) free_milli - 1000
            - (int64_t) (m->turned_back + m->held) * 1000;

    boost = (int64_t) ft_load(&call->state->control.boost_milli)
            + spare * FT_BOOST_GAIN * (int64_t) m->dt_ms / 1000;

    ft_store(&call->state->control.boost_milli,
             boost > 0 ? (uint64_t) boost : 0);
}


/*
 * called = (free capacity + flow x lookahead + boost - held x stay)
 *          / (show-up x stay)
 */
static uint64_t
ft_control_target(const ft_call_t *call, const ft_measure_t *m)
{
    uint64_t  demand, supply;

    demand = m->free_milli
             + ft_capacity_flow_milli(call)
               * (call->rules->hold_ms * FT_LOOKAHEAD / 1000 + FT_TICK_MS)
               / 1000
             + ft_load(&call->state->control.boost_milli);

    supply = m->held * m->stay_milli;

    if (demand <= supply) {
        return 0;
    }

    return (demand - supply) * 1000 / (m->show_up_milli * m->stay_milli);
}


/* Moves the threshold, and measures how fast the line moves. */
static void
ft_control_move(const ft_call_t *call, const ft_measure_t *m,
    uint64_t threshold_us, uint32_t places)
{
    uint64_t       old, drain, flow, pace;
    ft_control_t  *control;

    control = &call->state->control;
    old = ft_load(&call->state->census.threshold_us);
    threshold_us = ft_max(threshold_us, old);

    ft_census_advance(&call->state->census, threshold_us);

    ft_store(&control->speed_ppm,
             ft_measure_average(ft_load(&control->speed_ppm),
                        (threshold_us - old) * 1000 / m->dt_ms,
                        m->dt_ms, FT_SPEED_TAU_MS));

    drain = ft_measure_average(ft_load(&control->drain_milli),
                       (uint64_t) places * 1000000 / m->dt_ms,
                       m->dt_ms, FT_SPEED_TAU_MS);
    flow = ft_capacity_flow_milli(call);
    pace = ft_measure_average(ft_load(&control->pace_milli), 0, m->dt_ms,
                      FT_PACE_TAU_MS);

    ft_store(&control->drain_milli, drain);
    ft_store(&control->pace_milli, ft_max(pace, ft_max(drain, flow)));
}


/*
 * Calls as many as the target asks for.  When all who wait are called and there
 * is capacity for more, the threshold moves to the present, unless the first
 * attempts that have not returned could be more than that.
 */
static void
ft_control_census(const ft_call_t *call, const ft_measure_t *m)
{
    uint64_t     target, missing, threshold, now_us;
    uint32_t     more, waiting;
    ft_state_t  *state;

    state = call->state;
    now_us = ft_opening_now_us(call);
    target = ft_control_target(call, m);
    waiting = ft_census_rank_waiting(&state->census);
    missing = target > m->called ? target - m->called : 0;

    if (missing == 0) {
        more = 0;
        threshold = 0;

    } else if (missing >= (uint64_t) waiting
                          + ft_census_fresh(&state->census))
    {
        more = waiting;
        threshold = now_us;

    } else {
        more = (uint32_t) ft_min(missing, waiting);
        threshold = ft_census_rank_find(&state->census, more, now_us);
    }

    ft_control_move(call, m, threshold, more);
}


/*
 * The published law: speed = 1 + Kp x (setpoint x capacity - passed on)
 * / capacity, sampled once a period.  Knows nothing of the waiting shoppers.
 */
static void
ft_control_proportional(const ft_call_t *call, const ft_measure_t *m)
{
    int64_t       capacity, error, speed;
    uint64_t      since, threshold;
    ft_state_t   *state;
    ft_period_t  *period;

    state = call->state;
    period = &state->period;
    speed = (int64_t) ft_load(&state->control.speed_ppm);
    since = call->now_ms - ft_load(&period->sampled_ms);

    if (since >= call->limits.period_ms) {
        capacity = (int64_t) (ft_capacity_flow_milli(call) * since / 1000);

        error = (capacity * FT_SETPOINT_MILLI / 1000
                 - (int64_t) ft_exchange_zero(&period->passed_on) * 1000)
                * 1000000 / (capacity ? capacity : 1);

        error = error > 1000000 ? 1000000 : error;
        error = error < -1000000 ? -1000000 : error;

        speed = 1000000 + error * FT_KP_MILLI / 1000;

        ft_store(&state->control.speed_ppm, (uint64_t) speed);
        ft_store(&period->sampled_ms, call->now_ms);
    }

    threshold = ft_load(&state->census.threshold_us)
                + (uint64_t) speed * m->dt_ms / 1000;

    ft_census_advance(&state->census,
                      ft_min(threshold, ft_opening_now_us(call)));
}


/*
 * Nobody waits.  First attempts that have not returned keep the line only while
 * there is no capacity for all of them and one more: clients that never return
 * must not keep it for ever.
 */
static bool
ft_control_is_over(const ft_call_t *call, const ft_measure_t *m)
{
    const ft_census_t  *census;

    census = &call->state->census;

    return ft_census_rank_waiting(census) == 0 && m->called == 0
           && m->held == 0
           && (uint64_t) ft_census_fresh(census) * 1000 + 1000
              <= ft_max(m->free_milli, 1000);
}


static void
ft_control_step(const ft_call_t *call, ft_measure_t *m)
{
    ft_state_t  *state;

    state = call->state;

    if (!ft_load(&state->queueing)) {
        return;
    }

    ft_census_rank(&state->census);
    m->called = ft_census_called(&state->census);

    if (ft_opening_waits(call)) {
        return;
    }

    if (ft_control_is_over(call, m)) {
        ft_store(&state->queueing, 0);
        return;
    }

    if (ft_restart_is_listening(call) || ft_override_is_stopped(state)) {
        return;
    }

    if (call->rules->policy == FT_POLICY_PROPORTIONAL) {
        ft_control_proportional(call, m);
        return;
    }

    ft_control_boost(call, m);
    ft_control_census(call, m);
}


static void
ft_control_record(const ft_call_t *call, const ft_measure_t *m)
{
    uint64_t            threshold_ms;
    ft_state_t         *state;
    ft_history_tick_t   tick;

    state = call->state;
    threshold_ms = ft_load(&state->census.threshold_us) / 1000;

    tick.now_ms = call->now_ms;
    tick.dt_ms = m->dt_ms;
    tick.totals = &state->totals;
    tick.waits = &state->waits;
    tick.queueing = ft_load(&state->queueing) != 0;
    tick.free_milli = m->free_milli;
    tick.held = m->held;
    tick.inflight = ft_state_inflight(state, call->workers);
    tick.waiting = 0;
    tick.threshold_age_ms = 0;

    if (tick.queueing) {
        tick.waiting = m->held + ft_census_called(&state->census)
                       + ft_control_ahead(call, UINT64_MAX);

        if (call->now_ms > threshold_ms && !ft_opening_waits(call)) {
            tick.threshold_age_ms = call->now_ms - threshold_ms;
        }
    }

    ft_period_tick(call);
    ft_history_record(&state->history, &tick);
    ft_queuelog_record(&state->queuelog, tick.queueing, tick.waiting,
                       call->now_ms);
}


void
ft_control_tick(const ft_call_t *call)
{
    ft_measure_t  m;

    if (!ft_control_win(call->state, call->now_ms, &m.dt_ms)) {
        return;
    }

    ft_measure_tick(call, &m);
    ft_control_step(call, &m);
    ft_control_record(call, &m);
}


uint32_t
ft_control_ahead(const ft_call_t *call, uint64_t timestamp_us)
{
    uint32_t            before, passed;
    uint64_t            threshold;
    const ft_census_t  *census;

    census = &call->state->census;
    threshold = ft_load(&census->threshold_us);

    if (timestamp_us <= threshold) {
        return 0;
    }

    before = ft_census_rank_before(census, timestamp_us);
    passed = ft_census_rank_before(census, threshold);

    return before > passed ? before - passed : 0;
}


/*
 * Shoppers ahead over the speed at which shoppers are called: a line of uneven
 * density has an even speed in shoppers, not in timestamps.
 */
uint64_t
ft_control_call_ms(const ft_call_t *call, uint64_t timestamp_us,
    uint32_t ahead, bool advice)
{
    uint64_t             threshold, speed;
    const ft_control_t  *control;

    control = &call->state->control;

    if (call->rules->policy == FT_POLICY_PROPORTIONAL) {
        threshold = ft_load(&call->state->census.threshold_us);

        if (timestamp_us <= threshold) {
            return 0;
        }

        speed = ft_load(&control->speed_ppm);
        return (timestamp_us - threshold) * 1000 / ft_max(speed, 1);
    }

    if (ahead == 0) {
        return 0;
    }

    speed = ft_max(ft_load(&control->drain_milli),
                   ft_capacity_upstream_milli(call));

    if (advice) {
        speed = ft_max(speed, ft_load(&control->pace_milli)
                              * FT_PACE_SHARE / 1000);
    }

    return ahead * UINT64_C(1000000) / speed;
}
