
#include "ft_forecast.h"


#define FT_ENDED_TAU_MS  10000      /* averaging of passes declared done */
#define FT_AHEAD_MS      256        /* the first time ahead */
#define FT_LOOK_MIN_MS   1000       /* how far to look without a hold */


/* Times ahead: 256 ms, then eight per octave to more than a day. */
static uint64_t
ft_forecast_ahead_ms(uint32_t i)
{
    return (uint64_t) (FT_AHEAD_MS / 8 * (8 + i % 8)) << (i / 8);
}


void
ft_forecast_update(const ft_call_t *call, uint64_t dt_ms)
{
    uint32_t              i, n;
    uint64_t              now, from, look, ended;
    ft_control_t         *control;
    const ft_sessions_t  *sessions;

    now = call->now_ms;
    control = &call->state->control;
    sessions = &call->state->sessions;

    ended = ft_exchange_zero(&control->ended);

    if (call->limits.sessions == 0) {
        return;
    }

    if (dt_ms) {
        ended = (ft_load(&control->ended_milli) * FT_ENDED_TAU_MS
                 + ended * 1000000)
                / (FT_ENDED_TAU_MS + dt_ms);
        ft_store(&control->ended_milli, ended);
    }

    look = call->rules->hold_ms ? call->rules->hold_ms : FT_LOOK_MIN_MS;

    ft_store(&control->ending_milli,
             (uint64_t) ft_sessions_ending(sessions, now, now + look) * 1000000
             / look + ft_load(&control->ended_milli));

    n = 0;
    from = now;

    for (i = 0; i < FT_AHEAD && from <= now + call->rules->session_ms; i++) {
        n += ft_sessions_ending(sessions, from, now + ft_forecast_ahead_ms(i));
        ft_store(&control->ending[i], n);
        from = now + ft_forecast_ahead_ms(i);
    }
}


uint64_t
ft_forecast_ending_milli(const ft_call_t *call)
{
    return ft_load(&call->state->control.ending_milli);
}


/*
 * Interpolates between two times ahead.  Shoppers behind all passes that are
 * valid now wait for whole rounds of sessions.
 */
uint64_t
ft_forecast_wait_ms(const ft_call_t *call, uint32_t position)
{
    uint32_t             i, valid;
    uint64_t             n, ends, before, at, from, ended, session;
    const ft_control_t  *control;

    if (call->limits.sessions == 0 || !ft_load(&call->state->queueing)) {
        return 0;
    }

    valid = ft_sessions_alive(&call->state->sessions, call->now_ms);
    n = (uint64_t) position + 1 + valid;

    if (n <= call->limits.sessions) {
        return 0;
    }

    n -= call->limits.sessions;

    control = &call->state->control;
    ended = ft_load(&control->ended_milli);
    session = call->rules->session_ms;
    from = 0;
    before = 0;

    for (i = 0; i < FT_AHEAD && from <= session; i++) {
        at = ft_forecast_ahead_ms(i);
        ends = ft_load(&control->ending[i]) + ended * at / 1000000;

        if (ends >= n) {
            return from + (at - from) * (n - before) / (ends - before);
        }

        from = at;
        before = ft_max(ends, before);
    }

    return from + (n - before) * session
                  / (call->limits.sessions + ended * session / 1000000);
}
