
#include "edge.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "ft_admission.h"
#include "ft_hold.h"
#include "ft_inflight.h"
#include "ft_override.h"
#include "ft_pass.h"
#include "world.h"


/* a date like today's: stamps are wall-clock times */
#define FT_EDGE_BEGAN_MS  UINT64_C(1800000000000)

/* a client whose connection broke tries again */
#define FT_EDGE_BROKEN_US  1000000

/* period of the proportional controller in the experiments */
#ifndef FT_EDGE_SAMPLE_MS
#define FT_EDGE_SAMPLE_MS  1000
#endif


static void ft_edge_pump(ft_world_t *world, uint32_t worker);


ft_edge_t *
ft_edge_create(const ft_options_t *options)
{
    uint32_t    i;
    ft_edge_t  *edge;

    edge = calloc(1, sizeof(ft_edge_t));
    if (edge == NULL) {
        return NULL;
    }

    edge->state = aligned_alloc(64, (sizeof(ft_state_t) + 63) / 64 * 64);
    if (edge->state == NULL) {
        free(edge);
        return NULL;
    }

    edge->adapt.target_ms = options->adapt_ms;
    edge->adapt.min_milli = FT_AIMD_UP_MILLI;

    edge->rules.policy = options->variant == FT_EDGE_LOTTERY
                         ? FT_POLICY_LOTTERY
                         : options->variant == FT_EDGE_PROPORTIONAL
                         ? FT_POLICY_PROPORTIONAL : FT_POLICY_FAIR;
    edge->rules.hold_ms = options->hold_ms;
    edge->rules.poll_min_ms = options->poll_min_ms;
    edge->rules.poll_max_ms = options->poll_max_ms;
    edge->rules.session_ms = options->session_ms;

    if (options->opens_ms) {
        edge->rules.opens_ms = FT_EDGE_BEGAN_MS + options->opens_ms;
    }

    edge->nworkers = options->workers;

    for (i = 1; i < edge->nworkers; i++) {
        edge->workers[i].clock_ms = options->clock_skew_ms * i
                                    / (edge->nworkers - 1);
    }

    return edge;
}


void
ft_edge_free(ft_edge_t *edge)
{
    if (edge != NULL) {
        free(edge->state);
        free(edge);
    }
}


static uint64_t
ft_edge_clock(ft_world_t *world, uint32_t worker)
{
    return FT_EDGE_BEGAN_MS + (uint64_t) (world->now_us / 1000)
           + world->edge->workers[worker].clock_ms;
}


/* As configured now. */
static ft_limits_t
ft_edge_limits(const ft_world_t *world)
{
    return (ft_limits_t) {
        .rate_milli = world->rate_milli,
        .period_ms = world->options->variant == FT_EDGE_PROPORTIONAL
                     ? FT_EDGE_SAMPLE_MS : FT_PERIOD_DEFAULT_MS,
        .burst = world->options->burst,
        .inflight = world->inflight,
        .sessions = world->options->sessions
    };
}


static ft_call_t
ft_edge_call(ft_world_t *world, uint32_t worker)
{
    ft_call_t   call;
    ft_edge_t  *edge;

    edge = world->edge;
    edge->limits = ft_edge_limits(world);

    if (world->options->aimd) {
        edge->limits.rate_milli = edge->aimd.rate_milli;

    } else if (world->options->adapt_ms) {
        ft_adapt_limits(&edge->state->adapt, &edge->adapt, &edge->limits);
    }

    call.state = edge->state;
    call.limits = edge->limits;
    call.rules = &edge->rules;
    call.now_ms = ft_edge_clock(world, worker);
    call.worker = worker;
    call.workers = edge->nworkers;

    return call;
}


static void
ft_edge_new_state(ft_world_t *world)
{
    memset(world->edge->state, 0, sizeof(ft_state_t));
    ft_state_init(world->edge->state,
                  (uint32_t) ft_random_next(&world->crowd) | 1,
                  ft_edge_clock(world, 0));
}


void
ft_edge_reset(ft_world_t *world)
{
    uint32_t    i;
    ft_edge_t  *edge;

    edge = world->edge;
    edge->held = 0;
    edge->held_max = 0;

    memset(&edge->aimd, 0, sizeof(ft_aimd_t));
    edge->aimd.rate_milli = world->rate_milli;

    for (i = 0; i < edge->nworkers; i++) {
        memset(&edge->workers[i].line, 0, sizeof(ft_line_t));
        edge->workers[i].wake_us = FT_NEVER;
    }

    ft_edge_new_state(world);
}


void
ft_edge_restart(ft_world_t *world)
{
    uint32_t       i;
    ft_edge_t     *edge;
    ft_shopper_t  *shopper;

    edge = world->edge;

    for (i = 0; i < edge->nworkers; i++) {
        memset(&edge->workers[i].line, 0, sizeof(ft_line_t));
    }

    ft_edge_new_state(world);
    edge->held = 0;

    for (i = 0; i < world->n; i++) {
        shopper = &world->shoppers[i];

        if (shopper->held) {
            shopper->held = false;
            ft_shopper_wait(world, shopper, FT_EDGE_BROKEN_US);
        }
    }
}


static void
ft_edge_admit(ft_world_t *world, ft_shopper_t *shopper,
    const ft_ticket_t *ticket, uint32_t worker)
{
    ft_call_t  call;

    shopper->admitted_us = world->now_us;
    shopper->worker = worker;
    shopper->generation = world->edge->state->generation;
    shopper->over = world->options->over > 0
                    && ft_random_unit(&world->crowd) < world->options->over;

    if (shopper->over) {
        call = ft_edge_call(world, worker);
        shopper->pass = *ticket;
        ft_pass_make(&call, &shopper->pass);
    }

    ft_checkout_begin(world, shopper);
}


static void
ft_edge_told_to_wait(ft_world_t *world, ft_shopper_t *shopper,
    const ft_ticket_t *ticket, uint32_t retry_ms)
{
    int64_t  retry_us;

    shopper->ticket = *ticket;

    if (world->options->variant == FT_EDGE_LOTTERY) {
        retry_us = (int64_t) ft_random_between(&world->retries,
                                               FT_RETRY_MIN_US,
                                               FT_RETRY_MAX_US);

    } else if (world->options->polls.n) {
        retry_us = ft_patience_draw(&world->options->polls, &world->retries)
                   + FT_ROUND_TRIP_US;

    } else {
        retry_us = (int64_t) retry_ms * 1000 + FT_ROUND_TRIP_US;
    }

    ft_shopper_wait(world, shopper, retry_us);
}


static void
ft_edge_park(ft_world_t *world, ft_shopper_t *shopper, uint32_t worker)
{
    ft_edge_t  *edge;

    edge = world->edge;
    shopper->held = true;
    shopper->worker = worker;

    edge->held++;
    if (edge->held > edge->held_max) {
        edge->held_max = edge->held;
    }

    ft_events_add(&world->events, shopper->leaves_us, FT_EVENT_LEAVE,
                  (uint32_t) (shopper - world->shoppers));

    ft_edge_pump(world, worker);
}


/* As good as the keyed one: nobody here guesses it. */
static uint64_t
ft_edge_draw(const ft_world_t *world, uint64_t id)
{
    return ft_mix(id ^ world->options->seed);
}


int64_t
ft_edge_place_us(const ft_world_t *world, const ft_shopper_t *shopper)
{
    uint64_t  opens_us;

    opens_us = (uint64_t) world->options->opens_ms * 1000;

    if (shopper->ticket.first_ms >= world->edge->rules.opens_ms) {
        return shopper->first_us;
    }

    /* as long as the time before the opening is, for the figures in seconds */

    return (int64_t) ((ft_edge_draw(world, shopper->ticket.id) >> 32)
                      * opens_us >> 32);
}


void
ft_edge_request(ft_world_t *world, ft_shopper_t *shopper)
{
    uint32_t      worker;
    ft_call_t     call;
    ft_ticket_t   ticket;
    ft_verdict_t  verdict;

    worker = (uint32_t) (ft_random_next(&world->crowd)
                         % world->edge->nworkers);
    call = ft_edge_call(world, worker);
    ticket = shopper->ticket;

    if (ticket.kind != FT_TICKET_WAIT) {
        memset(&ticket, 0, sizeof(ft_ticket_t));
        ticket.id = ft_random_next(&world->crowd);
    }

    ticket.shuffle = ft_edge_draw(world, ticket.id);

    verdict = ft_admission_decide(&call, &ticket,
                                  &world->edge->workers[worker].line,
                                  &shopper->node, false);

    switch (verdict.answer) {

    case FT_ADMIT:
        ft_edge_admit(world, shopper, &ticket, worker);
        break;

    case FT_HOLD:
        shopper->parked = ticket;
        ft_edge_park(world, shopper, worker);
        break;

    case FT_WAIT:
        ft_edge_told_to_wait(world, shopper, &ticket, verdict.retry_ms);
        break;

    case FT_CLOSED:
        ft_edge_told_to_wait(world, shopper, &ticket, verdict.retry_ms);
        break;

    case FT_REJECT:
    case FT_ALL_SOLD:
        ft_shopper_end(world, shopper, FT_OUTCOME_REFUSED);
        break;

    case FT_SPENT:

        if (!ft_pass_again(&call, &ticket)) {

            /* the timestamp no longer counts */

            shopper->ticket.kind = 0;
            ft_edge_request(world, shopper);
            break;
        }

        /* the response was lost: the same pass */

        ft_inflight_enter(&call, &ticket);
        ft_edge_admit(world, shopper, &ticket, worker);
        break;
    }
}


static void
ft_edge_set_timer(ft_world_t *world, uint32_t worker, int64_t wake_us)
{
    ft_edge_worker_t  *w;

    w = &world->edge->workers[worker];

    if (w->wake_us == FT_NEVER || wake_us < w->wake_us) {
        w->wake_us = wake_us;
        ft_events_add(&world->events, wake_us, FT_EVENT_WAKE, worker);
    }
}


/* When the worker's timer fires for a time by its clock. */
static int64_t
ft_edge_timer(ft_world_t *world, uint32_t worker, uint64_t clock_ms)
{
    int64_t  at_us;

    at_us = (int64_t) (clock_ms - FT_EDGE_BEGAN_MS
                       - world->edge->workers[worker].clock_ms) * 1000;

    /* as any event loop's, not twice in one millisecond */

    if (at_us <= world->now_us) {
        at_us = (world->now_us / 1000 + 1) * 1000;
    }

    return at_us;
}


static void
ft_edge_pump(ft_world_t *world, uint32_t worker)
{
    bool             admitted;
    uint64_t         wake_ms;
    ft_call_t        call;
    ft_verdict_t     verdict;
    ft_shopper_t    *shopper;
    ft_line_node_t  *node;

    call = ft_edge_call(world, worker);

    for ( ;; ) {
        node = ft_hold_next(&call, &world->edge->workers[worker].line,
                            &admitted, &wake_ms);
        if (node == NULL) {
            break;
        }

        shopper = (ft_shopper_t *) ((char *) node
                                    - offsetof(ft_shopper_t, node));
        shopper->held = false;
        world->edge->held--;

        if (admitted) {
            ft_edge_admit(world, shopper, &shopper->parked, worker);
            continue;
        }

        verdict = ft_admission_turn_back(&call, &shopper->parked, false);
        ft_edge_told_to_wait(world, shopper, &shopper->parked,
                             verdict.retry_ms);
    }

    if (wake_ms != 0) {
        ft_edge_set_timer(world, worker,
                          ft_edge_timer(world, worker, wake_ms));
    }
}


void
ft_edge_wake(ft_world_t *world, uint32_t worker)
{
    ft_edge_worker_t  *w;

    w = &world->edge->workers[worker];

    /* a timer that was set to fire earlier has taken this one's place */

    if (w->wake_us == world->now_us) {
        w->wake_us = FT_NEVER;
        ft_edge_pump(world, worker);
    }
}


void
ft_edge_leave(ft_world_t *world, uint32_t index)
{
    ft_call_t      call;
    ft_shopper_t  *shopper;

    shopper = &world->shoppers[index];

    if (!shopper->held) {
        return;
    }

    call = ft_edge_call(world, shopper->worker);
    ft_hold_leave(&call, &world->edge->workers[shopper->worker].line,
                  &shopper->node);

    shopper->held = false;
    world->edge->held--;
    ft_shopper_end(world, shopper, FT_OUTCOME_GAVE_UP);
}


void
ft_edge_done(ft_world_t *world, uint32_t index, bool refused)
{
    uint32_t       took;
    uint64_t       now;
    ft_limits_t    limits;
    ft_call_t      call;
    ft_shopper_t  *shopper;

    shopper = &world->shoppers[index];

    ft_inflight_done(world->edge->state, shopper->generation, shopper->worker);

    now = ft_edge_clock(world, shopper->worker);
    took = (uint32_t) ((world->now_us - shopper->admitted_us) / 1000);

    if (world->options->aimd && !refused) {
        ft_aimd_answer(&world->edge->aimd, world->options->adapt_ms, took, now);

    } else if (world->options->adapt_ms) {
        limits = ft_edge_limits(world);
        ft_adapt_answer(&world->edge->state->adapt, &world->edge->adapt,
                        &limits, refused ? FT_ANSWER_REFUSAL : FT_ANSWER_GOOD,
                        took, now);
    }

    if (shopper->over) {
        call = ft_edge_call(world, shopper->worker);
        (void) ft_pass_done(&call, &shopper->pass);
    }

    if (ft_line_first(&world->edge->workers[shopper->worker].line) != NULL) {
        ft_edge_set_timer(world, shopper->worker, world->now_us);
    }
}
