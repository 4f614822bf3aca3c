
#include "playbook.h"

#include "world.h"


void
ft_playbook_request(ft_world_t *world, ft_shopper_t *shopper)
{
    if (world->options->variant != FT_WAITING_ROOM) {
        ft_checkout_begin(world, shopper);
        return;
    }

    if (world->checkout.in_progress < world->options->slots) {
        shopper->admitted_us = world->now_us;
        ft_checkout_begin(world, shopper);
        return;
    }

    ft_shopper_wait(world, shopper,
                    (int64_t) ft_random_between(&world->retries,
                                                FT_RETRY_MIN_US,
                                                FT_RETRY_MAX_US));
}
