
#include "ft_override.h"
#include "ft_feedback.h"


#define FT_OVERRIDE_ANY_SOLD_OUT                                              \
    (FT_OVERRIDE_SOLD_OUT|FT_OVERRIDE_SOLD_OUT_UPSTREAM)


void
ft_override_rate(ft_state_t *state, ft_override_source_t source,
    uint32_t rate_milli)
{
    if (rate_milli > FT_RATE_MAX_MILLI) {
        rate_milli = FT_RATE_MAX_MILLI;
    }

    ft_store(source == FT_OVERRIDE_OPERATOR
             ? &state->overrides.rate_milli
             : &state->overrides.rate_upstream_milli,
             rate_milli);
}


void
ft_override_pause(ft_state_t *state)
{
    atomic_fetch_or(&state->overrides.flags, FT_OVERRIDE_PAUSED);
}


bool
ft_override_sold_out(ft_state_t *state, ft_override_source_t source)
{
    uint32_t  bit;

    bit = source == FT_OVERRIDE_OPERATOR ? FT_OVERRIDE_SOLD_OUT
                                         : FT_OVERRIDE_SOLD_OUT_UPSTREAM;

    return (ft_load(&state->overrides.flags) & bit) == 0
           && (atomic_fetch_or(&state->overrides.flags, bit) & bit) == 0;
}


bool
ft_override_resume(ft_state_t *state, ft_override_source_t source,
    uint64_t now_ms)
{
    uint32_t  was, is;

    if (source == FT_OVERRIDE_OPERATOR) {
        was = atomic_exchange(&state->overrides.flags, 0);
        is = 0;

    } else if (ft_load(&state->overrides.flags)
               & FT_OVERRIDE_SOLD_OUT_UPSTREAM)
    {
        was = atomic_fetch_and(&state->overrides.flags,
                               ~(uint32_t) FT_OVERRIDE_SOLD_OUT_UPSTREAM);
        is = was & ~(uint32_t) FT_OVERRIDE_SOLD_OUT_UPSTREAM;

    } else {
        return false;
    }

    /* shoppers who got "sold out" are not in the census */

    if ((was & FT_OVERRIDE_ANY_SOLD_OUT) && !(is & FT_OVERRIDE_ANY_SOLD_OUT)) {
        ft_store(&state->control.listening_ms, 0);
        ft_store(&state->born_ms, now_ms);
    }

    return was != is;
}


void
ft_override_open(ft_state_t *state, uint64_t now_ms)
{
    ft_store(&state->overrides.opens_ms, now_ms);

    (void) ft_override_resume(state, FT_OVERRIDE_OPERATOR, now_ms);
}


void
ft_override_reset(ft_state_t *state, uint64_t now_ms)
{
    ft_store(&state->overrides.rate_milli, 0);
    ft_store(&state->overrides.rate_upstream_milli, 0);
    ft_store(&state->overrides.opens_ms, 0);

    (void) ft_override_resume(state, FT_OVERRIDE_OPERATOR, now_ms);
}


bool
ft_override_is_set(const ft_state_t *state)
{
    return (ft_load(&state->overrides.flags)
            & (FT_OVERRIDE_PAUSED|FT_OVERRIDE_SOLD_OUT))
           || ft_load(&state->overrides.rate_milli)
           || ft_load(&state->overrides.opens_ms);
}


void
ft_override_limits(const ft_state_t *state, const ft_adapt_rules_t *adapt,
    ft_limits_t *limits)
{
    uint32_t  rate;

    rate = ft_load(&state->overrides.rate_milli);

    if (rate == 0) {
        rate = ft_load(&state->overrides.rate_upstream_milli);
    }

    if (rate) {
        ft_config_set_rate(limits, rate);

    } else if (adapt) {
        ft_adapt_limits(&state->adapt, adapt, limits);
    }
}


bool
ft_override_is_sold_out(const ft_state_t *state)
{
    return ft_load(&state->overrides.flags) & FT_OVERRIDE_ANY_SOLD_OUT;
}


bool
ft_override_is_paused(const ft_state_t *state)
{
    return ft_load(&state->overrides.flags) & FT_OVERRIDE_PAUSED;
}


bool
ft_override_is_stopped(const ft_state_t *state)
{
    return ft_load(&state->overrides.flags) != 0;
}
