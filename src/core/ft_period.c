
#include "ft_period.h"


void
ft_period_tick(const ft_call_t *call)
{
    uint64_t      began, total, length;
    ft_period_t  *period;

    period = &call->state->period;
    began = ft_load(&period->began_ms);
    length = call->limits.period_ms;

    /* a beginning in the future: the clock was set back */

    if (began <= call->now_ms && call->now_ms < began + length) {
        return;
    }

    total = ft_load(&call->state->totals.admitted);

    ft_store(&period->admitted,
             began <= call->now_ms && call->now_ms < began + 2 * length
             ? total - ft_load(&period->base) : 0);
    ft_store(&period->base, total);
    ft_store(&period->began_ms, call->now_ms - call->now_ms % length);
}


static uint32_t
ft_period_budget(const ft_limits_t *limits)
{
    uint64_t  n;

    n = (uint64_t) limits->rate_milli * limits->period_ms / 1000000;

    return (uint32_t) ft_clamp(n, 1, UINT32_MAX);
}


/* Admissions so far in the period of this call, whose number it returns. */
static uint32_t
ft_period_used(const ft_call_t *call, uint64_t word, uint32_t *used)
{
    uint32_t  number;

    number = (uint32_t) (call->now_ms / call->limits.period_ms);

    /* a worker whose clock is behind is in the period of the others */

    if ((uint32_t) (word >> 32) == number + 1) {
        number++;
    }

    *used = (uint32_t) (word >> 32) == number ? (uint32_t) word : 0;

    return number;
}


bool
ft_period_take(const ft_call_t *call)
{
    uint32_t           number, used;
    uint64_t           word;
    _Atomic uint64_t  *budget;

    if (call->limits.rate_milli == 0) {
        return true;
    }

    budget = &call->state->period.budget;
    word = ft_load(budget);

    do {
        number = ft_period_used(call, word, &used);

        if (used >= ft_period_budget(&call->limits)) {
            return false;
        }

    } while (!atomic_compare_exchange_weak(budget, &word,
                                           ((uint64_t) number << 32)
                                           + used + 1));

    return true;
}


uint64_t
ft_period_free_milli(const ft_call_t *call)
{
    uint32_t  used, budget;

    (void) ft_period_used(call, ft_load(&call->state->period.budget), &used);

    budget = ft_period_budget(&call->limits);

    return used < budget ? (uint64_t) (budget - used) * 1000 : 0;
}
