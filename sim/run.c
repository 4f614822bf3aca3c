
#include "run.h"

#include <stdlib.h>
#include <string.h>
#include "measure.h"


/* independent streams of random numbers, so that variants meet one crowd */
enum {
    FT_STREAM_PATIENCE,
    FT_STREAM_PAYMENTS,
    FT_STREAM_RETRIES,
    FT_STREAM_CROWD
};


/* who vanishes does so after 1 to this many polls */
#define FT_VANISH_POLLS  5


bool
ft_run_init(ft_run_t *run, const ft_options_t *options)
{
    size_t       n;
    ft_world_t  *world;

    memset(run, 0, sizeof(ft_run_t));

    n = options->profile.narrivals;
    world = &run->world;
    world->options = options;
    world->n = (uint32_t) n;

    world->shoppers = malloc(n * sizeof(ft_shopper_t));
    world->checkout.queue = malloc(n * sizeof(uint32_t));
    run->served = malloc(n * sizeof(fairness_sample_t));
    run->purchases = malloc(n * sizeof(double));
    run->requests = malloc(n * sizeof(double));
    run->scratch = malloc(n * 5 * sizeof(int64_t));

    if (ft_variant_edge(options->variant)) {
        world->edge = ft_edge_create(options);

        if (world->edge == NULL) {
            return false;
        }
    }

    return ft_events_init(&world->events, 4096) && world->shoppers != NULL
           && world->checkout.queue != NULL && run->served != NULL
           && run->purchases != NULL && run->requests != NULL
           && run->scratch != NULL;
}


void
ft_run_free(ft_run_t *run)
{
    ft_edge_free(run->world.edge);
    ft_events_free(&run->world.events);
    free(run->world.shoppers);
    free(run->world.checkout.queue);
    free(run->served);
    free(run->purchases);
    free(run->requests);
    free(run->scratch);
}


static void
ft_run_make_crowd(ft_world_t *world, uint32_t number)
{
    uint32_t             i;
    ft_random_t          random;
    ft_shopper_t        *shopper;
    const ft_options_t  *options;

    options = world->options;
    ft_random_seed(&random, options->seed, number, FT_STREAM_PATIENCE);

    for (i = 0; i < world->n; i++) {
        shopper = &world->shoppers[i];

        shopper->first_us = options->profile.arrivals_us[i];
        shopper->leaves_us = ft_opened_us(options, shopper->first_us)
                             + ft_patience_draw(&options->patience, &random);
        shopper->asked_us = FT_NEVER;
        shopper->admitted_us = FT_NEVER;
        shopper->paying_us = FT_NEVER;
        shopper->paid_us = FT_NEVER;
        shopper->end_us = FT_NEVER;
        shopper->ticket.kind = 0;
        shopper->polls = 0;
        shopper->polls_most = 0;
        shopper->outcome = FT_OUTCOME_NONE;
        shopper->held = false;

        if (ft_random_unit(&random) < options->no_show) {
            shopper->polls_most = 1 + (uint32_t) (ft_random_unit(&random)
                                                  * FT_VANISH_POLLS);
        }
    }
}


static void
ft_run_reset(ft_world_t *world, uint32_t number)
{
    size_t               i;
    uint32_t            *queue;
    const ft_options_t  *options;

    options = world->options;

    ft_random_seed(&world->payments, options->seed, number,
                   FT_STREAM_PAYMENTS);
    ft_random_seed(&world->retries, options->seed, number, FT_STREAM_RETRIES);
    ft_random_seed(&world->crowd, options->seed, number, FT_STREAM_CROWD);

    ft_run_make_crowd(world, number);

    queue = world->checkout.queue;
    memset(&world->checkout, 0, sizeof(ft_checkout_t));
    world->checkout.queue = queue;
    world->checkout.slots = options->slots;
    world->checkout.stock = options->stock;
    world->checkout.factor = 1;

    memset(&world->gate, 0, sizeof(ft_bucket_t));
    world->gate_waits = false;
    world->rate_milli = options->rate_milli;
    world->inflight = options->inflight;
    world->now_us = 0;

    ft_events_clear(&world->events);

    for (i = 0; i < options->profile.nchanges; i++) {
        ft_events_add(&world->events, options->profile.changes[i].at_us,
                      FT_EVENT_CHANGE, (uint32_t) i);
    }

    if (world->edge != NULL) {
        ft_edge_reset(world);
    }
}


static void
ft_run_request(ft_world_t *world, ft_shopper_t *shopper)
{
    shopper->polls++;
    shopper->asked_us = world->now_us;

    if (world->edge != NULL) {
        ft_edge_request(world, shopper);
    } else {
        ft_playbook_request(world, shopper);
    }
}


static void
ft_run_change(ft_world_t *world, const ft_change_t *change)
{
    double  scaled;

    scaled = ft_scaled(world->options, change->value);

    switch (change->kind) {

    case FT_CHANGE_SLOTS:
        world->checkout.slots = (uint32_t) scaled;
        ft_checkout_next(world);
        break;

    case FT_CHANGE_RATE:
        world->rate_milli = (uint32_t) (scaled * 1000);
        break;

    case FT_CHANGE_INFLIGHT:
        world->inflight = (uint32_t) scaled;
        break;

    case FT_CHANGE_PAYMENT:
        world->checkout.factor = change->value;
        break;

    case FT_CHANGE_RESTART:
        if (world->edge != NULL) {
            ft_edge_restart(world);
        }

        break;
    }
}


static void
ft_run_wake(ft_world_t *world, uint32_t worker)
{
    if (world->edge != NULL) {
        ft_edge_wake(world, worker);

    } else {
        world->gate_waits = false;
        ft_checkout_next(world);
    }
}


static void
ft_run_event(ft_world_t *world, const ft_event_t *event)
{
    uint32_t  index;

    index = ft_event_index(event);
    world->now_us = event->at_us;

    switch (ft_event_kind(event)) {

    case FT_EVENT_REQUEST:
        ft_run_request(world, &world->shoppers[index]);
        break;

    case FT_EVENT_PAID:
        ft_checkout_paid(world, &world->shoppers[index]);
        break;

    case FT_EVENT_LEAVE:
        ft_edge_leave(world, index);
        break;

    case FT_EVENT_WAKE:
        ft_run_wake(world, index);
        break;

    case FT_EVENT_CHANGE:
        ft_run_change(world, &world->options->profile.changes[index]);
        break;
    }
}


void
ft_shopper_end(ft_world_t *world, ft_shopper_t *shopper, ft_outcome_t outcome)
{
    shopper->outcome = outcome;
    shopper->end_us = world->now_us;
}


void
ft_shopper_wait(ft_world_t *world, ft_shopper_t *shopper, int64_t retry_us)
{
    if (world->now_us + retry_us > shopper->leaves_us
        || shopper->polls == shopper->polls_most)
    {
        ft_shopper_end(world, shopper, FT_OUTCOME_GAVE_UP);
        return;
    }

    ft_events_add(&world->events, world->now_us + retry_us, FT_EVENT_REQUEST,
                  (uint32_t) (shopper - world->shoppers));
}


bool
ft_run(ft_run_t *run, uint32_t number, ft_figures_t *figures)
{
    uint32_t     next;
    ft_event_t   event;
    ft_world_t  *world;

    world = &run->world;
    ft_run_reset(world, number);

    for (next = 0; next < world->n || world->events.n > 0; /* void */) {

        /* arrivals are in order already: most of what waits is not in the
           heap */

        if (next < world->n
            && (world->events.n == 0
                || world->shoppers[next].first_us
                   <= world->events.heap[0].at_us))
        {
            world->now_us = world->shoppers[next].first_us;
            ft_run_request(world, &world->shoppers[next++]);
            continue;
        }

        event = ft_events_take(&world->events);
        ft_run_event(world, &event);
    }

    return ft_measure(run, figures);
}


void
ft_run_trace_head(FILE *file)
{
    fprintf(file, "run\tfirst_s\tadmitted_s\tend_s\tpolls\toutcome\n");
}


static void
ft_run_trace_time(FILE *file, int64_t time_us)
{
    if (time_us == FT_NEVER) {
        fprintf(file, "\t-");
    } else {
        fprintf(file, "\t%.6f", (double) time_us / 1e6);
    }
}


void
ft_run_trace(const ft_run_t *run, uint32_t number, FILE *file)
{
    uint32_t             i;
    const ft_shopper_t  *shopper;

    static const char  *outcomes[FT_OUTCOMES] = {
        [FT_OUTCOME_NONE] = "-",
        [FT_OUTCOME_CONFIRMED] = "confirmed",
        [FT_OUTCOME_DECLINED] = "declined",
        [FT_OUTCOME_SOLD_OUT] = "sold_out",
        [FT_OUTCOME_REFUSED] = "refused",
        [FT_OUTCOME_GAVE_UP] = "gave_up",
        [FT_OUTCOME_TIMED_OUT] = "timed_out"
    };

    for (i = 0; i < run->world.n; i++) {
        shopper = &run->world.shoppers[i];

        fprintf(file, "%u", number);
        ft_run_trace_time(file, shopper->first_us);
        ft_run_trace_time(file, shopper->admitted_us);
        ft_run_trace_time(file, shopper->end_us);
        fprintf(file, "\t%u\t%s\n", shopper->polls,
                outcomes[shopper->outcome]);
    }
}
