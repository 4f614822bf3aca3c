
/*
 * Room: what the bounds let in now and at which pace; taking a place in all of
 * them at once, or in none.
 */

#include "ft_control.h"
#include "ft_foresee.h"
#include "ft_hold.h"
#include "ft_opening.h"
#include "ft_orders.h"
#include "ft_pass.h"
#include "ft_word.h"


#define FT_TRIES  64            /* for room that others ask for at this instant */


void
ft_adapt_obey(ft_call_t *call, const ft_adapt_rules_t *rules)
{
    if (ft_load(&call->state->orders.rate_milli)
        || ft_load(&call->state->orders.rate_said_milli))
    {
        return;
    }

    call->ordered = *call->limits;
    ft_adapt_limits(&call->state->adapt, rules, &call->ordered);
    call->limits = &call->ordered;
}


void
ft_adapt_figures(const ft_state_t *state, const ft_adapt_rules_t *rules,
    const ft_limits_t *limits, ft_snapshot_t *s)
{
    ft_limits_t  now;

    now = *limits;
    ft_adapt_limits(&state->adapt, rules, &now);

    s->adapt_inflight = now.inflight;
    s->adapt_rate_milli = ft_adapt_rate_milli(&state->adapt, rules, limits);
    s->answer_ms = ft_load(&state->adapt.mean_ms);
    s->answers_milli = ft_load(&state->adapt.answered_milli);
    s->answer_errors_milli = ft_load(&state->adapt.errors_milli);
}


/* The pass does not begin after all. */
static void
ft_admission_end_session(const ft_call_t *call, uint64_t first_ms)
{
    (void) ft_sessions_remove(&call->state->sessions,
                              ft_admission_end_ms(call, first_ms),
                              call->rules->session_ms, call->now_ms);
}


/*
 * Counted before it is compared: no two can both take the last room.  Both may
 * find one too many, though, and take back; so whoever has taken back looks
 * again, and the last of them to take back finds the room.
 */
static bool
ft_admission_begin_session(const ft_call_t *call, uint64_t first_ms)
{
    uint32_t        i, most;
    ft_sessions_t  *sessions;

    if (call->rules->session_ms == 0) {
        return true;
    }

    most = call->limits->sessions;
    sessions = &call->state->sessions;

    if (most == 0) {
        ft_sessions_add(sessions, ft_admission_end_ms(call, first_ms),
                        call->rules->session_ms);
        return true;
    }

    for (i = 0; i < FT_TRIES; i++) {

        if (ft_sessions_alive(sessions, call->now_ms) >= most) {
            break;
        }

        ft_sessions_add(sessions, ft_admission_end_ms(call, first_ms),
                        call->rules->session_ms);

        ft_store(&sessions->bounded, 1);

        if (ft_sessions_alive(sessions, call->now_ms) <= most) {
            return true;
        }

        ft_admission_end_session(call, first_ms);
    }

    return false;
}


/*
 * At the upstream, or expected there.  A page that comes meanwhile might be
 * missed on its way from the one to the other.
 */
static uint32_t
ft_admission_inflight(const ft_call_t *call)
{
    uint32_t     n, arrived;
    ft_state_t  *state;

    state = call->state;

    do {
        arrived = atomic_load(&state->arrived);
        n = ft_state_inflight(state, call->workers)
            + ft_admission_expecting(call);
    } while (atomic_load(&state->arrived) != arrived);

    return n;
}


/* As with passes: counted, compared, and looked at again. */
static bool
ft_admission_begin_flight(const ft_call_t *call)
{
    uint32_t    i, most;
    ft_hand_t  *hand;

    most = call->limits->inflight;
    hand = &call->state->hand[call->worker];

    if (most == 0) {
        atomic_fetch_add(&hand->inflight, 1);
        return true;
    }

    for (i = 0; i < FT_TRIES; i++) {

        if (ft_admission_inflight(call) >= most) {
            break;
        }

        atomic_fetch_add(&hand->inflight, 1);

        if (ft_admission_inflight(call) <= most) {
            return true;
        }

        atomic_fetch_sub(&hand->inflight, 1);
    }

    ft_store(&call->state->adapt.turned_away, 1);

    return false;
}


/*
 * The bucket last: from it nothing is ever taken back, so who is refused because
 * others ask is refused for the sake of one who gets in, or of a bucket that has
 * no room for either.
 */
bool
ft_admission_take(const ft_call_t *call, uint64_t first_ms)
{
    ft_hand_t  *hand;

    if (ft_orders_is_shut(call->state)) {
        return false;
    }

    hand = &call->state->hand[call->worker];

    if (!ft_admission_begin_flight(call)) {
        return false;
    }

    if (!ft_admission_begin_session(call, first_ms)) {
        atomic_fetch_sub(&hand->inflight, 1);
        return false;
    }

    if (!ft_bucket_take(&call->state->bucket, call->limits, call->now_ms)) {
        atomic_fetch_sub(&hand->inflight, 1);
        ft_admission_end_session(call, first_ms);
        return false;
    }

    return true;
}


uint64_t
ft_control_open_milli(const ft_call_t *call)
{
    uint64_t  flow, rate;

    rate = call->limits->rate_milli;

    if (call->limits->inflight == 0) {

        /* passes alone are no bound on the pace */

        return rate ? rate : ft_most((uint64_t) call->limits->sessions * 1000,
                                     1);
    }

    flow = ft_load(&call->state->control.flow_milli);

    if (flow == 0) {

        /* not measured yet: as if each request took a second */

        flow = (uint64_t) call->limits->inflight * 1000;
    }

    return rate && rate < flow ? rate : flow;
}


uint64_t
ft_control_flow_milli(const ft_call_t *call)
{
    uint64_t  flow;

    flow = ft_control_open_milli(call);

    if (call->limits->sessions == 0) {
        return flow;
    }

    return ft_most(ft_least(flow, ft_control_sessions_milli(call)), 1);
}


static uint64_t
ft_control_free_milli(uint32_t most, uint32_t n)
{
    return n < most ? (uint64_t) (most - n) * 1000 : 0;
}


uint64_t
ft_control_room_milli(const ft_call_t *call)
{
    uint64_t            room;
    const ft_limits_t  *limits;

    if (ft_orders_is_shut(call->state) || ft_opening_waits(call)) {
        return 0;
    }

    limits = call->limits;
    room = UINT64_MAX;

    if (limits->inflight) {
        room = ft_control_free_milli(limits->inflight,
                                     ft_state_inflight(call->state,
                                                       call->workers));
    }

    if (limits->sessions) {
        room = ft_least(room, ft_control_free_milli(limits->sessions,
                                  ft_sessions_alive(&call->state->sessions,
                                                    call->now_ms)));
    }

    if (limits->rate_milli || room == UINT64_MAX) {
        room = ft_least(room, ft_bucket_room_milli(&call->state->bucket,
                                                   limits, call->now_ms));
    }

    return room;
}
