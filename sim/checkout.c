
#include "checkout.h"

#include "world.h"


/* the bucket's clock must not start at 0 */
#define FT_CHECKOUT_START_MS  UINT64_C(1000000)


static void
ft_checkout_answer(ft_world_t *world, ft_shopper_t *shopper,
    ft_outcome_t outcome)
{
    world->checkout.in_progress--;

    if (world->edge != NULL) {
        ft_edge_done(world, (uint32_t) (shopper - world->shoppers),
                     outcome == FT_OUTCOME_REFUSED
                     || outcome == FT_OUTCOME_SOLD_OUT);
    }

    if (world->now_us > shopper->leaves_us) {
        outcome = FT_OUTCOME_TIMED_OUT;
    }

    ft_shopper_end(world, shopper, outcome);
}


static bool
ft_checkout_reserve(ft_world_t *world)
{
    ft_checkout_t  *checkout;

    checkout = &world->checkout;

    if (world->options->stock < 0) {
        return true;
    }

    if (checkout->stock <= 0) {
        return false;
    }

    if (world->options->variant != FT_NAIVE) {
        checkout->stock--;
    }

    return true;
}


void
ft_checkout_begin(ft_world_t *world, ft_shopper_t *shopper)
{
    ft_checkout_t  *checkout;

    checkout = &world->checkout;

    checkout->in_progress++;
    if (checkout->in_progress > checkout->in_progress_max) {
        checkout->in_progress_max = checkout->in_progress;
    }

    if (!ft_checkout_reserve(world)) {
        ft_checkout_answer(world, shopper, FT_OUTCOME_SOLD_OUT);
        return;
    }

    checkout->queue[(checkout->head + checkout->queued++) % world->n] =
        (uint32_t) (shopper - world->shoppers);

    ft_checkout_next(world);
}


static void
ft_checkout_pay(ft_world_t *world, ft_shopper_t *shopper)
{
    double  time_us;

    time_us = ft_random_between(&world->payments, FT_PAYMENT_MIN_US,
                                FT_PAYMENT_MAX_US)
              * world->checkout.factor;

    if (shopper->admitted_us == FT_NEVER) {
        shopper->admitted_us = world->now_us;
    }

    world->checkout.busy++;
    shopper->paying_us = world->now_us;
    shopper->paid_us = world->now_us + (int64_t) time_us;

    ft_events_add(&world->events, shopper->paid_us, FT_EVENT_PAID,
                  (uint32_t) (shopper - world->shoppers));
}


/* Only the ideal line without slots is paced by the rate. */
static bool
ft_checkout_rate_allows(ft_world_t *world)
{
    int64_t      ready_us;
    uint64_t     now_ms;
    ft_limits_t  limits;

    if (world->options->variant != FT_IDEAL || world->checkout.slots > 0) {
        return true;
    }

    limits.rate_milli = world->rate_milli;
    limits.burst = world->options->burst;
    limits.period_ms = FT_PERIOD_DEFAULT_MS;
    limits.inflight = 0;

    now_ms = FT_CHECKOUT_START_MS + (uint64_t) (world->now_us / 1000);

    if (ft_bucket_take(&world->ideal_bucket, &limits, now_ms)) {
        return true;
    }

    if (!world->ideal_waits) {
        world->ideal_waits = true;
        ready_us = (int64_t) (ft_bucket_ready_ms(&world->ideal_bucket, &limits,
                                                 now_ms)
                              - FT_CHECKOUT_START_MS) * 1000;
        ft_events_add(&world->events, ready_us, FT_EVENT_WAKE, 0);
    }

    return false;
}


/* The ideal line removes shoppers who left; a server's queue keeps them. */
static bool
ft_checkout_too_late(const ft_world_t *world, const ft_shopper_t *shopper)
{
    int64_t  left_us;

    left_us = shopper->leaves_us - world->now_us;

    return (world->options->deadline && left_us < FT_PAYMENT_MAX_US)
           || (world->options->variant == FT_IDEAL && left_us < 0);
}


void
ft_checkout_next(ft_world_t *world)
{
    bool            late;
    ft_shopper_t   *shopper;
    ft_checkout_t  *checkout;

    checkout = &world->checkout;

    while (checkout->queued > 0
           && (checkout->slots == 0 || checkout->busy < checkout->slots))
    {
        shopper = &world->shoppers[checkout->queue[checkout->head]];

        late = ft_checkout_too_late(world, shopper);

        if (!late && !ft_checkout_rate_allows(world)) {
            return;
        }

        checkout->head = (checkout->head + 1) % world->n;
        checkout->queued--;

        if (late) {
            checkout->stock++;
            ft_checkout_answer(world, shopper, FT_OUTCOME_REFUSED);
            continue;
        }

        ft_checkout_pay(world, shopper);
    }
}


void
ft_checkout_paid(ft_world_t *world, ft_shopper_t *shopper)
{
    ft_checkout_t  *checkout;

    checkout = &world->checkout;
    checkout->busy--;

    if (ft_random_unit(&world->payments) < FT_DECLINED_SHARE) {
        if (world->options->variant != FT_NAIVE) {
            checkout->stock++;
        }

        ft_checkout_answer(world, shopper, FT_OUTCOME_DECLINED);

    } else {
        if (world->options->variant == FT_NAIVE) {
            checkout->stock--;
        }

        checkout->orders++;
        checkout->late += (world->now_us > shopper->leaves_us);

        ft_checkout_answer(world, shopper, FT_OUTCOME_CONFIRMED);
    }

    ft_checkout_next(world);
}
