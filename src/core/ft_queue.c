
#include "ft_forecast.h"
#include "ft_queue.h"


void
ft_queue_begin(const ft_call_t *call, uint64_t timestamp_us)
{
    uint32_t       no;
    ft_state_t    *state;
    ft_control_t  *control;

    no = 0;
    state = call->state;
    control = &state->control;

    if (!atomic_compare_exchange_strong(&state->queueing, &no, 1)) {
        return;
    }

    ft_census_reset(&state->census, timestamp_us - 1, call->now_ms);

    ft_store(&control->boost_milli, 0);
    ft_store(&control->returned_milli, 0);
    ft_store(&control->no_shows_milli, 0);
    ft_store(&control->stayed_milli, 0);
    ft_store(&control->left_milli, 0);
    ft_store(&control->drain_milli, 0);
    ft_store(&control->pace_milli, 0);
    ft_store(&control->flow_milli, 0);
    ft_store(&control->speed_ppm, 1000000);
    ft_store(&control->admitted, ft_load(&state->totals.admitted));
    ft_store(&control->ticked_ms, call->now_ms);
    ft_store(&state->period.passed_on, 0);
    ft_store(&state->period.sampled_ms, call->now_ms);

    ft_forecast_update(call, 0);
    ft_queuelog_begin(&state->queuelog, &state->totals, call->now_ms);
}


void
ft_queue_clear(const ft_call_t *call)
{
    /* everybody is due before that; ft_queue_begin() sets the time right */

    (void) ft_census_expire(&call->state->census,
                            call->now_ms + 4 * FT_CENSUS_AHEAD_MS);
    ft_store(&call->state->queueing, 0);
}
