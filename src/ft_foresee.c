
/*
 * Where passes are bounded, room comes when they end, and when most of them end
 * is known: a crowd let in at once ends at once, and until then nobody need be
 * called.  Those said to be over before their end come on top, at the pace at
 * which they have been coming.
 */

#include "ft_control.h"
#include "ft_foresee.h"
#include "ft_word.h"


#define FT_ENDED_TAU_MS  10000      /* averaging of those that are over */
#define FT_AHEAD_MS      256        /* the first time ahead */
#define FT_LOOK_MIN_MS   1000       /* without a hold */


/* 256 ms, and eight an octave to more than a day. */
static uint64_t
ft_foresee_ms(uint32_t i)
{
    return (uint64_t) (FT_AHEAD_MS / 8 * (8 + i % 8)) << (i / 8);
}


void
ft_control_foresee(const ft_call_t *call, uint64_t dt_ms)
{
    uint32_t               i, n;
    uint64_t               now, from, hold, ended;
    ft_control_t          *control;
    const ft_sessions_t   *sessions;

    now = call->now_ms;
    control = &call->state->control;
    sessions = &call->state->sessions;

    ended = atomic_exchange_explicit(&control->ended, 0, memory_order_relaxed);

    if (call->limits->sessions == 0) {
        return;
    }

    if (dt_ms) {
        ended = (ft_load(&control->ended_milli) * FT_ENDED_TAU_MS
                 + ended * 1000000)
                / (FT_ENDED_TAU_MS + dt_ms);
        ft_store(&control->ended_milli, ended);
    }

    hold = call->rules->hold_ms ? call->rules->hold_ms : FT_LOOK_MIN_MS;

    ft_store(&control->ending_milli,
             (uint64_t) ft_sessions_ending(sessions, now, now + hold) * 1000000
             / hold + ft_load(&control->ended_milli));

    n = 0;
    from = now;

    for (i = 0; i < FT_AHEAD && from <= now + call->rules->session_ms; i++) {
        n += ft_sessions_ending(sessions, from, now + ft_foresee_ms(i));
        ft_store(&control->ending[i], n);
        from = now + ft_foresee_ms(i);
    }
}


uint64_t
ft_control_sessions_milli(const ft_call_t *call)
{
    return ft_load(&call->state->control.ending_milli);
}


/*
 * Those that will have ended by a time ahead, and by the next one, tell between
 * which two it is; behind all that are alive now, a session for each round.
 */
uint64_t
ft_control_sessions_ms(const ft_call_t *call, uint32_t position)
{
    uint32_t             i, alive;
    uint64_t             n, ends, before, at, from, over, session;
    const ft_control_t  *control;

    if (call->limits->sessions == 0 || !ft_load(&call->state->queueing)) {
        return 0;
    }

    alive = ft_sessions_alive(&call->state->sessions, call->now_ms);
    n = (uint64_t) position + 1 + alive;

    if (n <= call->limits->sessions) {
        return 0;
    }

    n -= call->limits->sessions;

    control = &call->state->control;
    over = ft_load(&control->ended_milli);
    session = call->rules->session_ms;
    from = 0;
    before = 0;

    for (i = 0; i < FT_AHEAD && from <= session; i++) {
        at = ft_foresee_ms(i);
        ends = ft_load(&control->ending[i]) + over * at / 1000000;

        if (ends >= n) {
            return from + (at - from) * (n - before) / (ends - before);
        }

        from = at;
        before = ends > before ? ends : before;
    }

    /* n > before: the rest goes at the pace of whole rounds */

    return from + (n - before) * session
                  / (call->limits->sessions + over * session / 1000000);
}
