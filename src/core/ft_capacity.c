
#include "ft_capacity.h"
#include "ft_forecast.h"
#include "ft_inflight.h"
#include "ft_opening.h"
#include "ft_override.h"
#include "ft_period.h"

#include <sched.h>


/*
 * ft_capacity_take() lasts some 100 ns.  A taker for which another one spins in
 * vain has lost its CPU; one that stays away over all yields was killed.
 */
#define FT_CAPACITY_SPINS   1000
#define FT_CAPACITY_YIELDS  256
#define FT_CAPACITY_TRIES   (FT_CAPACITY_SPINS + FT_CAPACITY_YIELDS)

#if (defined __i386__ || defined __x86_64__)
#define ft_capacity_pause()  __builtin_ia32_pause()
#elif (defined __aarch64__)
#define ft_capacity_pause()  __asm__ volatile ("yield")
#else
#define ft_capacity_pause()  atomic_signal_fence(memory_order_seq_cst)
#endif


typedef enum {
    FT_CAPACITY_FULL,
    FT_CAPACITY_FREE,
    FT_CAPACITY_CONTENDED       /* free, for fewer workers than are taking */
} ft_capacity_answer_t;


uint64_t
ft_capacity_end_ms(const ft_call_t *call, uint64_t first_ms)
{
    return ft_max(call->now_ms, first_ms) + call->rules->session_ms;
}


static bool
ft_capacity_is_free(uint32_t limit, uint32_t used, uint32_t takers)
{
    return limit == 0 || (uint64_t) used + takers <= limit;
}


static void
ft_capacity_wait(uint32_t tries)
{
    if (tries < FT_CAPACITY_SPINS) {
        ft_capacity_pause();

    } else {
        (void) sched_yield();
    }
}


static void
ft_capacity_flag(const ft_call_t *call, bool taking)
{
    uint64_t           bit;
    _Atomic uint64_t  *flags;

    bit = (uint64_t) 1 << call->worker % 64;
    flags = &call->state->taking[call->worker / 64];

    if (taking) {
        atomic_fetch_or(flags, bit);

    } else {
        atomic_fetch_and(flags, ~bit);
    }
}


/* The number of takers; *behind: one of them is in a lower slot. */
static uint32_t
ft_capacity_takers(const ft_call_t *call, bool *behind)
{
    uint32_t  i, n;
    uint64_t  flags, lower;

    n = 0;
    *behind = false;

    for (i = 0; i * 64 < call->workers; i++) {
        flags = atomic_load(&call->state->taking[i]);
        n += (uint32_t) __builtin_popcountll(flags);

        if (i <= call->worker / 64) {
            lower = i < call->worker / 64
                    ? UINT64_MAX : ((uint64_t) 1 << call->worker % 64) - 1;
            *behind |= (flags & lower) != 0;
        }
    }

    return n;
}


/*
 * The flags of the takers are read before the counts: a taker that has finished
 * in between is in the counts, and one that begins later sees this worker.
 */
static ft_capacity_answer_t
ft_capacity_look(const ft_call_t *call, bool *behind)
{
    uint32_t     takers, inflight, sessions;
    ft_state_t  *state;

    state = call->state;
    takers = ft_capacity_takers(call, behind);

    inflight = call->limits.inflight ? ft_inflight_count(call) : 0;
    sessions = call->limits.sessions
               ? ft_sessions_alive(&state->sessions, call->now_ms) : 0;

    if (!ft_capacity_is_free(call->limits.inflight, inflight, 1)
        || !ft_capacity_is_free(call->limits.sessions, sessions, 1))
    {
        return FT_CAPACITY_FULL;
    }

    return ft_capacity_is_free(call->limits.inflight, inflight, takers)
           && ft_capacity_is_free(call->limits.sessions, sessions, takers)
           ? FT_CAPACITY_FREE : FT_CAPACITY_CONTENDED;
}


/*
 * Contention: the taker in the lowest slot stays, the others withdraw until it
 * has finished.  A worker gives up only while another one is taking, so the last
 * one to finish never does.
 */
static bool
ft_capacity_wins(const ft_call_t *call)
{
    bool                  behind;
    uint32_t              tries;
    ft_capacity_answer_t  answer;

    tries = 0;

    for ( ;; ) {
        ft_capacity_flag(call, true);
        answer = ft_capacity_look(call, &behind);

        while (answer == FT_CAPACITY_CONTENDED && !behind
               && tries < FT_CAPACITY_TRIES)
        {
            ft_capacity_wait(tries++);
            answer = ft_capacity_look(call, &behind);
        }

        if (answer != FT_CAPACITY_CONTENDED || tries == FT_CAPACITY_TRIES) {
            return answer == FT_CAPACITY_FREE;
        }

        ft_capacity_flag(call, false);

        while (behind && tries < FT_CAPACITY_TRIES) {
            ft_capacity_wait(tries++);
            (void) ft_capacity_takers(call, &behind);
        }
    }
}


static bool
ft_capacity_take_rate(const ft_call_t *call)
{
    return call->rules->policy == FT_POLICY_PROPORTIONAL
           ? ft_period_take(call)
           : ft_bucket_take(&call->state->bucket, &call->limits,
                            call->now_ms);
}


bool
ft_capacity_take(const ft_call_t *call, uint64_t first_ms)
{
    bool  taken, limited;

    if (ft_override_is_stopped(call->state)) {
        return false;
    }

    limited = call->limits.inflight || call->limits.sessions;

    if (limited && !ft_capacity_wins(call)) {
        ft_capacity_flag(call, false);

        if (call->limits.inflight
            && ft_inflight_count(call) >= call->limits.inflight)
        {
            ft_store(&call->state->adapt.turned_away, 1);
        }

        return false;
    }

    taken = ft_capacity_take_rate(call);

    if (taken) {
        atomic_fetch_add(&call->state->worker[call->worker].inflight, 1);

        if (call->rules->session_ms) {
            ft_sessions_add(&call->state->sessions,
                            ft_capacity_end_ms(call, first_ms),
                            call->rules->session_ms);
        }

        if (call->limits.sessions) {
            ft_store(&call->state->sessions.limited, 1);
        }
    }

    if (limited) {
        ft_capacity_flag(call, false);
    }

    return taken;
}


uint64_t
ft_capacity_upstream_milli(const ft_call_t *call)
{
    uint64_t  flow, rate;

    rate = call->limits.rate_milli;

    if (call->limits.inflight == 0) {

        /* a limit of the passes alone does not limit the pace */

        return rate ? rate : ft_max((uint64_t) call->limits.sessions * 1000, 1);
    }

    flow = ft_load(&call->state->control.flow_milli);

    if (flow == 0) {

        /* not measured yet: as if each request took a second */

        flow = (uint64_t) call->limits.inflight * 1000;
    }

    return rate && rate < flow ? rate : flow;
}


uint64_t
ft_capacity_flow_milli(const ft_call_t *call)
{
    uint64_t  flow;

    flow = ft_capacity_upstream_milli(call);

    if (call->limits.sessions == 0) {
        return flow;
    }

    return ft_max(ft_min(flow, ft_forecast_ending_milli(call)), 1);
}


static uint64_t
ft_capacity_left_milli(uint32_t limit, uint32_t used)
{
    return used < limit ? (uint64_t) (limit - used) * 1000 : 0;
}


static uint64_t
ft_capacity_rate_milli(const ft_call_t *call)
{
    return call->rules->policy == FT_POLICY_PROPORTIONAL
           && call->limits.rate_milli
           ? ft_period_free_milli(call)
           : ft_bucket_free_milli(&call->state->bucket, &call->limits,
                                  call->now_ms);
}


uint64_t
ft_capacity_free_milli(const ft_call_t *call)
{
    uint64_t            left;
    const ft_limits_t  *limits;

    if (ft_override_is_stopped(call->state) || ft_opening_waits(call)) {
        return 0;
    }

    limits = &call->limits;
    left = UINT64_MAX;

    if (limits->inflight) {
        left = ft_capacity_left_milli(limits->inflight,
                                      ft_inflight_count(call));
    }

    if (limits->sessions) {
        left = ft_min(left, ft_capacity_left_milli(limits->sessions,
                                ft_sessions_alive(&call->state->sessions,
                                                  call->now_ms)));
    }

    if (limits->rate_milli || left == UINT64_MAX) {
        left = ft_min(left, ft_capacity_rate_milli(call));
    }

    return left;
}
