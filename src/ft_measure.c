
/*
 * What a tick measures: see ft_measure.h.
 */

#include "ft_control.h"
#include "ft_foresee.h"
#include "ft_measure.h"
#include "ft_word.h"


#define FT_SHOW_TAU_MS     1000     /* averaging of who shows up and stays */
#define FT_FLOW_TAU_MS     1000     /* of the flow */
#define FT_FLOW_MIN        100      /* of a second x 1000: a hung upstream's */
#define FT_SHOW_UP_MIN     50       /* of 1000: at most 20 are called for one */
#define FT_STAY_MIN        250      /* of 1000: and 4 of those for one held */


/* Averages what happened n times in this tick, as a second's worth x 1000. */
static uint64_t
ft_measure_sample(_Atomic uint64_t *average, uint64_t n, uint64_t dt_ms)
{
    uint64_t  value;

    value = ft_average(ft_load(average), n * 1000000 / dt_ms, dt_ms,
                       FT_SHOW_TAU_MS);

    ft_store(average, value);

    return value;
}


/* The share, of 1000, that was kept; whole where nothing is known. */
static uint64_t
ft_measure_share(uint64_t kept, uint64_t lost, uint64_t least)
{
    return ft_most((kept + 100) * 1000 / (kept + lost + 100), least);
}


/* Who of the called shows up, and who of the held stays. */
static void
ft_measure_shares(const ft_call_t *call, ft_tick_t *tick, uint64_t missed,
    uint64_t admitted)
{
    uint64_t       kept, lost;
    ft_control_t  *control;

    control = &call->state->control;

    kept = ft_measure_sample(&control->came_milli, ft_drain(&control->came),
                             tick->dt_ms);
    lost = ft_measure_sample(&control->missed_milli, missed, tick->dt_ms);
    tick->show_up_milli = ft_measure_share(kept, lost, FT_SHOW_UP_MIN);

    kept = ft_measure_sample(&control->stayed_milli, admitted, tick->dt_ms);
    lost = ft_measure_sample(&control->left_milli, ft_drain(&control->left),
                             tick->dt_ms);
    tick->stay_milli = ft_measure_share(kept, lost, FT_STAY_MIN);
}


/*
 * The flow is what goes through while somebody stands at the edge for room:
 * less than that says that nobody came, not that the upstream is slow.
 */
static void
ft_measure_flow(const ft_call_t *call, const ft_tick_t *tick,
    uint64_t admitted)
{
    uint64_t  flow;

    flow = ft_control_open_milli(call);
    admitted = admitted * 1000000 / tick->dt_ms;

    if (tick->held || admitted > flow) {
        flow = ft_average(flow, admitted, tick->dt_ms, FT_FLOW_TAU_MS);

        ft_store(&call->state->control.flow_milli,
                 ft_most(flow, FT_FLOW_MIN));
    }
}


void
ft_measure_tick(const ft_call_t *call, ft_tick_t *tick)
{
    uint64_t          total, admitted;
    ft_state_t       *state;
    ft_control_t     *control;
    ft_census_gone_t  gone;

    state = call->state;
    control = &state->control;

    gone = ft_census_expire(&state->census, call->now_ms);

    atomic_fetch_add(&state->totals.missed, gone.called);
    atomic_fetch_add(&state->totals.vanished, gone.waiting);

    total = ft_load(&state->totals.admitted);
    admitted = ft_load(&control->admitted);
    admitted = total > admitted ? total - admitted : 0;
    ft_store(&control->admitted, total);

    tick->held = ft_state_held(state, call->workers);
    tick->turned_back = ft_drain(&control->turned_back);
    tick->room_milli = ft_control_room_milli(call);

    ft_measure_shares(call, tick, gone.called, admitted);
    ft_measure_flow(call, tick, admitted);

    if (ft_load(&state->queueing)) {
        ft_control_foresee(call, tick->dt_ms);
    }
}
