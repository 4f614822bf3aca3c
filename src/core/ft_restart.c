
#include "ft_opening.h"
#include "ft_queue.h"
#include "ft_restart.h"


bool
ft_restart_is_listening(const ft_call_t *call)
{
    uint64_t  until;

    until = ft_load(&call->state->control.listening_ms);

    /* not longer, if the clock was set back */

    return call->now_ms < until && until <= call->now_ms + FT_LISTEN_MS;
}


bool
ft_restart_hears(const ft_call_t *call, const ft_ticket_t *ticket)
{
    uint64_t  born;

    born = ft_load(&call->state->born_ms);

    return ft_opening_known_ms(call, ticket) < born
           && call->now_ms <= born + FT_YOUNG_MS
           && (ft_load(&call->state->control.listening_ms) == 0
               || ft_restart_is_listening(call));
}


/*
 * The advice was half the time to the call, and the threshold is at most as fast
 * as the clock: the head of the line is at most twice the advice before this
 * shopper, unless the advice was cut at its limit.
 */
bool
ft_restart_listen(const ft_call_t *call, const ft_ticket_t *ticket,
    uint64_t timestamp_us, uint64_t advice_ms)
{
    uint64_t     never, first_us;
    ft_state_t  *state;

    if (!ft_restart_hears(call, ticket)) {
        return false;
    }

    never = 0;
    state = call->state;

    if (atomic_compare_exchange_strong(&state->control.listening_ms, &never,
                                       call->now_ms + FT_LISTEN_MS))
    {
        first_us = ft_opening_first_us(call, ticket,
                                       timestamp_us - 2000 * advice_ms);

        ft_queue_begin(call, timestamp_us);
        ft_census_lower(&state->census, first_us);
    }

    ft_census_lower(&state->census, timestamp_us - 1);

    return true;
}
