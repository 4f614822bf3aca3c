
/*
 * Where a shopper stands: see ft_standing.h.
 */

#include "ft_control.h"
#include "ft_orders.h"
#include "ft_standing.h"
#include "ft_word.h"


#define FT_RETRY_SHARE      500     /* of 1000: of the time to the call, and */
#define FT_RETRY_LATE       700     /* of 1000: of the hold, added to it */
#define FT_SHUT_MS          1000    /* who is next asks so often in a hold */
#define FT_UNKNOWN_MS       UINT64_C(7200000)   /* told while nobody knows */
#define FT_LOTTERY_MIN_MS   500     /* the lottery's retry, uniform */
#define FT_LOTTERY_MAX_MS   1500


ft_standing_t
ft_standing(const ft_call_t *call, uint64_t stamp_us)
{
    ft_standing_t       s;
    const ft_census_t  *census;

    census = &call->state->census;

    s.stamp_us = stamp_us;
    s.held = ft_state_held(call->state, call->workers);
    s.ahead = ft_control_ahead(call, stamp_us);
    s.position = s.held;
    s.room_ms = ft_bucket_ready_ms(&call->state->bucket, call->limits,
                                   call->now_ms)
                - call->now_ms;

    if (ft_orders_is_shut(call->state)) {

        /* nobody need be there before the order ends; soon after, all should */

        s.room_ms = call->rules->hold_ms + FT_SHUT_MS;
    }

    if (stamp_us > ft_load(&census->threshold_us)) {
        s.position += ft_census_called(census) + s.ahead;
    }

    s.sessions_ms = ft_control_sessions_ms(call, s.position);

    return s;
}


uint64_t
ft_standing_wait_ms(const ft_call_t *call, const ft_standing_t *s)
{
    uint64_t  wait;

    wait = ft_control_call_ms(call, s->stamp_us, s->ahead, false);

    if (s->held) {
        wait += s->held * UINT64_C(1000000) / ft_control_open_milli(call);
    }

    if (wait < s->sessions_ms) {
        wait = s->sessions_ms;
    }

    /* then room_ms is an advice, not an estimate */

    if (ft_orders_is_shut(call->state)) {
        return wait;
    }

    return wait > s->room_ms ? wait : s->room_ms;
}


uint64_t
ft_standing_told_ms(const ft_call_t *call, uint64_t wait_ms)
{
    return ft_orders_is_hold(call->state) && wait_ms < FT_UNKNOWN_MS
           ? FT_UNKNOWN_MS : wait_ms;
}


/*
 * The advice is half the time to the call, so that an estimate may be twice as
 * long as the truth; whoever is called need not be there at once, but while
 * those before it are served, so it may aim a good part of a hold past that.
 */
uint32_t
ft_standing_retry_ms(const ft_call_t *call, const ft_ticket_t *ticket,
    const ft_standing_t *s)
{
    uint64_t  retry;

    if (call->rules->policy == FT_POLICY_LOTTERY) {
        return ft_standing_spread_ms(call, ticket, FT_LOTTERY_MIN_MS,
                                     FT_LOTTERY_MAX_MS);
    }

    retry = ft_control_call_ms(call, s->stamp_us, s->ahead, true);

    if (retry < s->sessions_ms) {
        retry = s->sessions_ms;
    }

    if (retry) {
        retry += (uint64_t) call->rules->hold_ms * FT_RETRY_LATE / 1000;
    }

    retry = retry * FT_RETRY_SHARE / 1000;

    /* at a few admissions a minute nobody need ask before there is room */

    if (s->room_ms > retry + call->rules->hold_ms) {
        retry = s->room_ms - call->rules->hold_ms;
    }

    if (retry < call->rules->poll_min_ms) {
        retry = call->rules->poll_min_ms;
    }

    if (retry > call->rules->poll_max_ms) {
        retry = call->rules->poll_max_ms;
    }

    /* at the largest advice, where it cannot spread upwards, half as far */

    return ft_standing_spread_ms(call, ticket,
                                 retry < call->rules->poll_max_ms
                                 ? retry - retry / 10 : retry - retry / 20,
                                 retry + retry / 10);
}
