
#include "shopper.h"

#include "world.h"


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
        || shopper->polls == shopper->polls_max)
    {
        ft_shopper_end(world, shopper, FT_OUTCOME_GAVE_UP);
        return;
    }

    ft_events_add(&world->events, world->now_us + retry_us, FT_EVENT_REQUEST,
                  (uint32_t) (shopper - world->shoppers));
}
