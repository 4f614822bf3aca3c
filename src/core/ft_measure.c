
#include "ft_capacity.h"
#include "ft_forecast.h"
#include "ft_measure.h"


#define FT_SHOW_TAU_MS     1000     /* averaging of the shares */
#define FT_FLOW_TAU_MS     1000     /* and of the flow */
#define FT_FLOW_MIN        100      /* a second x 1000; the upstream may hang */
#define FT_SHOW_UP_MIN     50       /* of 1000: at most 20 are called for one */
#define FT_STAY_MIN        250      /* of 1000 */


/* Averages n events of this tick, as events a second x 1000. */
static uint64_t
ft_measure_sample(_Atomic uint64_t *average, uint64_t n, uint64_t dt_ms)
{
    uint64_t  value;

    value = ft_measure_average(ft_load(average), n * 1000000 / dt_ms, dt_ms,
                       FT_SHOW_TAU_MS);

    ft_store(average, value);

    return value;
}


/* A share of 1000, near 1000 while little is known. */
static uint64_t
ft_measure_share(uint64_t kept, uint64_t lost, uint64_t least)
{
    return ft_max((kept + 100) * 1000 / (kept + lost + 100), least);
}


static void
ft_measure_shares(const ft_call_t *call, ft_measure_t *m, uint64_t no_shows,
    uint64_t admitted)
{
    uint64_t       kept, lost;
    ft_control_t  *control;

    control = &call->state->control;

    kept = ft_measure_sample(&control->returned_milli,
                             ft_exchange_zero(&control->returned), m->dt_ms);
    lost = ft_measure_sample(&control->no_shows_milli, no_shows, m->dt_ms);
    m->show_up_milli = ft_measure_share(kept, lost, FT_SHOW_UP_MIN);

    kept = ft_measure_sample(&control->stayed_milli, admitted, m->dt_ms);
    lost = ft_measure_sample(&control->left_milli,
                             ft_exchange_zero(&control->left), m->dt_ms);
    m->stay_milli = ft_measure_share(kept, lost, FT_STAY_MIN);
}


/*
 * The flow is measured only while requests are held: a lower number without any
 * means that nobody came, not that the upstream is slow.
 */
static void
ft_measure_flow(const ft_call_t *call, const ft_measure_t *m,
    uint64_t admitted)
{
    uint64_t  flow;

    flow = ft_capacity_upstream_milli(call);
    admitted = admitted * 1000000 / m->dt_ms;

    if (m->held || admitted > flow) {
        flow = ft_measure_average(flow, admitted, m->dt_ms, FT_FLOW_TAU_MS);

        ft_store(&call->state->control.flow_milli, ft_max(flow, FT_FLOW_MIN));
    }
}


void
ft_measure_tick(const ft_call_t *call, ft_measure_t *m)
{
    uint64_t              total, admitted;
    ft_state_t           *state;
    ft_control_t         *control;
    ft_census_expired_t   expired;

    state = call->state;
    control = &state->control;

    expired = ft_census_expire(&state->census, call->now_ms);

    ft_add(&state->totals.no_shows, expired.called);
    ft_add(&state->totals.expired, expired.waiting);

    total = ft_load(&state->totals.admitted);
    admitted = ft_load(&control->admitted);
    admitted = total > admitted ? total - admitted : 0;
    ft_store(&control->admitted, total);

    m->held = ft_state_held(state, call->workers);
    m->turned_back = ft_exchange_zero(&control->turned_back);
    m->free_milli = ft_capacity_free_milli(call);

    ft_measure_shares(call, m, expired.called, admitted);
    ft_measure_flow(call, m, admitted);

    if (ft_load(&state->queueing)) {
        ft_forecast_update(call, m->dt_ms);
    }
}
