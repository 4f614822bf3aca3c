
/*
 * The controller decides where the threshold goes: see ft_control.h and
 * docs/engine.md.  What it decides from is measured in ft_measure.c.
 */

#include "ft_control.h"
#include "ft_foresee.h"
#include "ft_measure.h"
#include "ft_opening.h"
#include "ft_orders.h"
#include "ft_record.h"
#include "ft_word.h"


#define FT_SPEED_TAU_MS    3000     /* of the line's and threshold's speed */
#define FT_BOOST_GAIN      20       /* a second and unit of room unused */
#define FT_LOOKAHEAD       550      /* of 1000: of the hold */
#define FT_PACE_TAU_MS     60000    /* a line's best pace is forgotten so */
#define FT_PACE_SHARE      600      /* of 1000: of that, advice reckons with */
#define FT_GAP_MAX_MS      2000     /* ticks further apart count as this */

/* the proportional controller: gain, setpoint (a share), sampling time */

#ifndef FT_KP_MILLI
#define FT_KP_MILLI        500
#endif

#define FT_SETPOINT_MILLI  1500

#ifndef FT_SAMPLE_MS
#define FT_SAMPLE_MS       1000
#endif


uint32_t
ft_control_held_max(const ft_call_t *call)
{
    uint64_t  n;

    if (call->rules->hold_ms == 0) {
        return 0;
    }

    n = ft_control_flow_milli(call) * call->rules->hold_ms / 1000000;

    return n ? (uint32_t) n : 1;
}


/* Whoever is told to go on must not be told so twice: one tick, one winner. */
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

    /* a last tick far in the future: the clock was set back */

    *dt_ms = now_ms < last ? FT_TICK_MS
             : now_ms - last < FT_GAP_MAX_MS ? now_ms - last : FT_GAP_MAX_MS;

    return true;
}


void
ft_control_begin(const ft_call_t *call, uint64_t stamp_us)
{
    uint32_t     no;
    ft_state_t  *state;

    no = 0;
    state = call->state;

    if (!atomic_compare_exchange_strong(&state->queueing, &no, 1)) {
        return;
    }

    ft_census_reset(&state->census, stamp_us - 1, call->now_ms);

    ft_store(&state->control.boost_milli, 0);
    ft_store(&state->control.came_milli, 0);
    ft_store(&state->control.missed_milli, 0);
    ft_store(&state->control.stayed_milli, 0);
    ft_store(&state->control.left_milli, 0);
    ft_store(&state->control.drain_milli, 0);
    ft_store(&state->control.pace_milli, 0);
    ft_store(&state->control.flow_milli, 0);
    ft_store(&state->control.speed_ppm, 1000000);
    ft_store(&state->control.admitted, ft_load(&state->totals.admitted));
    ft_store(&state->control.passed, 0);
    ft_store(&state->control.period_ms, call->now_ms);
    ft_store(&state->control.ticked_ms, call->now_ms);

    ft_control_foresee(call, 0);
    ft_news_begin(call);
}


void
ft_control_clear(const ft_call_t *call)
{
    ft_state_t  *state;

    state = call->state;

    /* everybody is due before that; ft_control_begin() sets the time right */

    (void) ft_census_expire(&state->census,
                            call->now_ms + 4 * FT_CENSUS_AHEAD_MS);
    ft_store(&state->queueing, 0);
}


bool
ft_control_listening(const ft_call_t *call)
{
    uint64_t  until;

    until = ft_load(&call->state->control.rebuilt_ms);

    /* a clock that was set back does not make it listen for longer */

    return call->now_ms < until && until <= call->now_ms + FT_REBUILD_MS;
}


bool
ft_control_hears(const ft_call_t *call, const ft_ticket_t *ticket)
{
    uint64_t  born;

    born = ft_load(&call->state->born_ms);

    return ft_opening_known_ms(call, ticket) < born
           && call->now_ms <= born + FT_YOUNG_MS
           && (ft_load(&call->state->control.rebuilt_ms) == 0
               || ft_control_listening(call));
}


/*
 * The advice was half the time to the call, and the threshold goes at most at
 * the pace of the clock: the head of the line stands no more than twice the
 * advice before this shopper, unless the advice was cut at its bound.
 */
bool
ft_control_rebuild(const ft_call_t *call, const ft_ticket_t *ticket,
    uint64_t advice_ms)
{
    uint64_t     never, stamp_us;
    ft_state_t  *state;

    if (!ft_control_hears(call, ticket)) {
        return false;
    }

    never = 0;
    state = call->state;
    stamp_us = ft_opening_stamp_us(call, ticket);

    if (atomic_compare_exchange_strong(&state->control.rebuilt_ms, &never,
                                       call->now_ms + FT_REBUILD_MS))
    {
        ft_control_begin(call, stamp_us);
        ft_census_lower(&state->census,
                        ft_opening_first_us(call, ticket,
                                            stamp_us - 2000 * advice_ms));
    }

    ft_census_lower(&state->census, stamp_us - 1);

    return true;
}


/* Room that leaks away unused calls more; shoppers turned back call fewer. */
static void
ft_control_boost(const ft_call_t *call, const ft_tick_t *tick)
{
    int64_t   boost, spare;
    uint64_t  room;

    /* at an opening those who are called are on their way, in their own time */

    if (ft_opening_gathers(call)) {
        return;
    }

    room = tick->room_milli;

    /* passes that end together are no sign that too few were called before */

    if (call->limits->sessions) {
        room = ft_least(room, 1000 + ft_control_flow_milli(call) / 4);
    }

    spare = (int64_t) room - 1000
            - (int64_t) (tick->turned_back + tick->held) * 1000;

    boost = (int64_t) ft_load(&call->state->control.boost_milli)
            + spare * FT_BOOST_GAIN * (int64_t) tick->dt_ms / 1000;

    ft_store(&call->state->control.boost_milli,
             boost > 0 ? (uint64_t) boost : 0);
}


/*
 * called = (room + flow x lookahead + boost - held x stay) / (show-up x stay):
 * who comes may still leave while it is held.
 */
static uint64_t
ft_control_target(const ft_call_t *call, const ft_tick_t *tick)
{
    uint64_t  demand, supply;

    demand = tick->room_milli
             + ft_control_flow_milli(call)
               * (call->rules->hold_ms * FT_LOOKAHEAD / 1000 + FT_TICK_MS)
               / 1000
             + ft_load(&call->state->control.boost_milli);

    supply = tick->held * tick->stay_milli;

    if (demand <= supply) {
        return 0;
    }

    return (demand - supply) * 1000 / (tick->show_up_milli * tick->stay_milli);
}


/* Moves the threshold, and learns how fast the line moves. */
static void
ft_control_move(const ft_call_t *call, const ft_tick_t *tick,
    uint64_t threshold_us, uint32_t places)
{
    uint64_t       old, drain, flow, pace;
    ft_control_t  *control;

    control = &call->state->control;
    old = ft_load(&call->state->census.threshold_us);

    if (threshold_us < old) {
        threshold_us = old;
    }

    ft_census_advance(&call->state->census, threshold_us);

    ft_store(&control->speed_ppm,
             ft_average(ft_load(&control->speed_ppm),
                        (threshold_us - old) * 1000 / tick->dt_ms,
                        tick->dt_ms, FT_SPEED_TAU_MS));

    drain = ft_average(ft_load(&control->drain_milli),
                       (uint64_t) places * 1000000 / tick->dt_ms,
                       tick->dt_ms, FT_SPEED_TAU_MS);
    flow = ft_control_flow_milli(call);
    pace = ft_average(ft_load(&control->pace_milli), 0, tick->dt_ms,
                      FT_PACE_TAU_MS);

    ft_store(&control->drain_milli, drain);
    ft_store(&control->pace_milli, ft_most(pace, ft_most(drain, flow)));
}


/*
 * Calls as many as the target asks for.  When all who wait are called and there
 * is room for more, the threshold goes on to the present, unless first attempts
 * that have yet to come back would be more than that room.
 */
static void
ft_control_census(const ft_call_t *call, const ft_tick_t *tick)
{
    uint64_t     target, threshold, now_us;
    uint32_t     more, waiting;
    ft_state_t  *state;

    state = call->state;
    now_us = ft_opening_now_us(call);
    target = ft_control_target(call, tick);
    waiting = ft_census_waiting(&state->census);

    if (tick->called >= target) {
        more = 0;
        threshold = 0;

    } else if (target - tick->called >= (uint64_t) waiting
                                        + ft_census_fresh(&state->census))
    {
        more = waiting;
        threshold = now_us;

    } else {
        more = target - tick->called < waiting
               ? (uint32_t) (target - tick->called)
               : waiting;
        threshold = ft_census_find(&state->census, more, now_us);
    }

    ft_control_move(call, tick, threshold, more);
}


/*
 * speed = 1 + Kp x (setpoint x capacity - passed) / capacity, sampled once a
 * second: the published controller's proportional term.  Knows neither who
 * waits nor who shows up.
 */
static void
ft_control_proportional(const ft_call_t *call, const ft_tick_t *tick)
{
    int64_t        capacity, error, speed;
    uint64_t       since, threshold;
    ft_control_t  *control;

    control = &call->state->control;
    speed = (int64_t) ft_load(&control->speed_ppm);
    since = call->now_ms - ft_load(&control->period_ms);

    if (since >= FT_SAMPLE_MS) {
        capacity = (int64_t) (ft_control_flow_milli(call) * since / 1000);

        error = (capacity * FT_SETPOINT_MILLI / 1000
                 - (int64_t) ft_drain(&control->passed) * 1000)
                * 1000000 / (capacity ? capacity : 1);

        error = error > 1000000 ? 1000000 : error;
        error = error < -1000000 ? -1000000 : error;

        speed = 1000000 + error * FT_KP_MILLI / 1000;

        ft_store(&control->speed_ppm, (uint64_t) speed);
        ft_store(&control->period_ms, call->now_ms);
    }

    threshold = ft_load(&call->state->census.threshold_us)
                + (uint64_t) speed * tick->dt_ms / 1000;

    if (threshold > ft_opening_now_us(call)) {
        threshold = ft_opening_now_us(call);
    }

    ft_census_advance(&call->state->census, threshold);
}


/*
 * Nobody waits.  First attempts that may still come back keep the door shut only
 * while there is not room for them all and for one more: clients that never
 * come back would keep it shut for good.
 */
static bool
ft_control_is_over(const ft_call_t *call, const ft_tick_t *tick)
{
    const ft_census_t  *census;

    census = &call->state->census;

    return ft_census_waiting(census) == 0 && tick->called == 0
           && tick->held == 0
           && (uint64_t) ft_census_fresh(census) * 1000 + 1000
              <= ft_most(tick->room_milli, 1000);
}


static void
ft_control_step(const ft_call_t *call, ft_tick_t *tick)
{
    ft_state_t  *state;

    state = call->state;

    if (!ft_load(&state->queueing)) {
        return;
    }

    ft_census_rank(&state->census);
    tick->called = ft_census_called(&state->census);

    if (ft_opening_waits(call)) {
        return;
    }

    if (ft_control_is_over(call, tick)) {
        ft_store(&state->queueing, 0);
        return;
    }

    if (ft_control_listening(call) || ft_orders_is_shut(state)) {
        return;
    }

    if (call->rules->controller == FT_CONTROLLER_PROPORTIONAL) {
        ft_control_proportional(call, tick);
        return;
    }

    ft_control_boost(call, tick);
    ft_control_census(call, tick);
}


static void
ft_control_record(const ft_call_t *call, const ft_tick_t *tick)
{
    ft_history_tick_t  record;

    record.dt_ms = tick->dt_ms;
    record.room_milli = tick->room_milli;
    record.held = tick->held;
    record.waiting = ft_load(&call->state->queueing)
                     ? tick->held + ft_census_called(&call->state->census)
                       + ft_control_ahead(call, UINT64_MAX)
                     : 0;

    ft_history_record(call, &record);
    ft_news_record(call, record.waiting);
}


void
ft_control_tick(const ft_call_t *call)
{
    ft_tick_t  tick;

    if (!ft_control_win(call->state, call->now_ms, &tick.dt_ms)) {
        return;
    }

    ft_measure_tick(call, &tick);
    ft_control_step(call, &tick);
    ft_control_record(call, &tick);
}


uint32_t
ft_control_ahead(const ft_call_t *call, uint64_t stamp_us)
{
    uint32_t            before, passed;
    uint64_t            threshold;
    const ft_census_t  *census;

    census = &call->state->census;
    threshold = ft_load(&census->threshold_us);

    if (stamp_us <= threshold) {
        return 0;
    }

    before = ft_census_before(census, stamp_us);
    passed = ft_census_before(census, threshold);

    return before > passed ? before - passed : 0;
}


/*
 * The places before it, over the speed at which places are called: a line of
 * uneven density has an even speed in places, not in stamps.
 */
uint64_t
ft_control_call_ms(const ft_call_t *call, uint64_t stamp_us, uint32_t ahead,
    bool advice)
{
    uint64_t             threshold, speed;
    const ft_control_t  *control;

    control = &call->state->control;

    if (call->rules->controller == FT_CONTROLLER_PROPORTIONAL) {
        threshold = ft_load(&call->state->census.threshold_us);

        if (stamp_us <= threshold) {
            return 0;
        }

        speed = ft_load(&control->speed_ppm);
        return (stamp_us - threshold) * 1000 / ft_most(speed, 1);
    }

    if (ahead == 0) {
        return 0;
    }

    speed = ft_most(ft_load(&control->drain_milli),
                    ft_control_open_milli(call));

    if (advice) {
        speed = ft_most(speed, ft_load(&control->pace_milli)
                               * FT_PACE_SHARE / 1000);
    }

    return ahead * UINT64_C(1000000) / speed;
}
