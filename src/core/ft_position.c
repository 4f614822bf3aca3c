
#include "ft_capacity.h"
#include "ft_control.h"
#include "ft_forecast.h"
#include "ft_override.h"
#include "ft_position.h"


#define FT_RETRY_SHARE      500     /* of 1000: of the time to the call, plus */
#define FT_RETRY_LATE       700     /* of 1000: this part of the hold */
#define FT_PAUSE_POLL_MS    1000    /* the next in line poll so in a pause */
#define FT_UNKNOWN_MS       UINT64_C(7200000)
#define FT_LOTTERY_MIN_MS   500     /* uniform */
#define FT_LOTTERY_MAX_MS   1500


ft_position_t
ft_position_of(const ft_call_t *call, uint64_t timestamp_us)
{
    ft_position_t       p;
    const ft_census_t  *census;

    census = &call->state->census;

    p.timestamp_us = timestamp_us;
    p.held = ft_state_held(call->state, call->workers);
    p.ahead = ft_control_ahead(call, timestamp_us);
    p.position = p.held;
    p.ready_ms = ft_bucket_ready_ms(&call->state->bucket, &call->limits,
                                    call->now_ms)
                 - call->now_ms;

    if (ft_override_is_stopped(call->state)) {

        /* nobody need return before the end, all should soon after */

        p.ready_ms = call->rules->hold_ms + FT_PAUSE_POLL_MS;
    }

    if (timestamp_us > ft_load(&census->threshold_us)) {
        p.position += ft_census_called(census) + p.ahead;
    }

    p.sessions_ms = ft_forecast_wait_ms(call, p.position);

    return p;
}


uint64_t
ft_position_wait_ms(const ft_call_t *call, const ft_position_t *p)
{
    uint64_t  wait;

    wait = ft_control_call_ms(call, p->timestamp_us, p->ahead, false);

    if (p->held) {
        wait += p->held * UINT64_C(1000000) / ft_capacity_upstream_milli(call);
    }

    wait = ft_max(wait, p->sessions_ms);

    /* while stopped, ready_ms is not an estimate */

    return ft_override_is_stopped(call->state) ? wait
                                               : ft_max(wait, p->ready_ms);
}


uint64_t
ft_position_shown_ms(const ft_call_t *call, uint64_t wait_ms)
{
    return ft_override_is_paused(call->state) ? ft_max(wait_ms, FT_UNKNOWN_MS)
                                              : wait_ms;
}


uint32_t
ft_position_spread_ms(const ft_call_t *call, const ft_ticket_t *ticket,
    uint64_t min, uint64_t max)
{
    uint64_t  least, most;

    least = call->rules->poll_min_ms;
    most = call->rules->poll_max_ms;

    min = ft_clamp(min, least, most);
    max = ft_clamp(max, min, most);

    return (uint32_t) (min + ft_mix(ticket->id ^ (call->now_ms << 20))
                             % (max - min + 1));
}


/*
 * Half the time to the call, so the estimate may be twice as long as the truth.
 * A called shopper may return a part of the hold late, while those before are
 * served.
 */
uint32_t
ft_position_retry_ms(const ft_call_t *call, const ft_ticket_t *ticket,
    const ft_position_t *p)
{
    uint64_t  retry;

    if (call->rules->policy == FT_POLICY_LOTTERY) {
        return ft_position_spread_ms(call, ticket, FT_LOTTERY_MIN_MS,
                                     FT_LOTTERY_MAX_MS);
    }

    retry = ft_control_call_ms(call, p->timestamp_us, p->ahead, true);
    retry = ft_max(retry, p->sessions_ms);

    if (retry) {
        retry += (uint64_t) call->rules->hold_ms * FT_RETRY_LATE / 1000;
    }

    retry = retry * FT_RETRY_SHARE / 1000;

    /* at a few admissions a minute nobody need poll before there is capacity */

    if (p->ready_ms > retry + call->rules->hold_ms) {
        retry = p->ready_ms - call->rules->hold_ms;
    }

    retry = ft_clamp(retry, call->rules->poll_min_ms, call->rules->poll_max_ms);

    /* at the maximum there is no spread upwards, so half as much downwards */

    return ft_position_spread_ms(call, ticket,
                                 retry < call->rules->poll_max_ms
                                 ? retry - retry / 10 : retry - retry / 20,
                                 retry + retry / 10);
}
