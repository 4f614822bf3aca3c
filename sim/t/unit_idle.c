
#include <math.h>
#include <string.h>
#include "idle.h"
#include "tap.h"


#define FT_S  1000000


static ft_shopper_t
ft_idle_shopper(double first, double paying, double paid)
{
    ft_shopper_t  shopper;

    memset(&shopper, 0, sizeof(ft_shopper_t));
    shopper.first_us = llround(first * FT_S);
    shopper.leaves_us = shopper.first_us + 15 * FT_S;
    shopper.admitted_us = llround(paying * FT_S);
    shopper.paying_us = llround(paying * FT_S);
    shopper.paid_us = llround(paid * FT_S);
    shopper.end_us = shopper.paid_us;

    return shopper;
}


static ft_shopper_t
ft_idle_unserved(double first, double end)
{
    ft_shopper_t  shopper;

    shopper = ft_idle_shopper(first, end, end);
    shopper.admitted_us = FT_NEVER;
    shopper.paying_us = FT_NEVER;

    return shopper;
}


static double
ft_idle_of(ft_shopper_t *shoppers, uint32_t n, ft_options_t *options)
{
    int64_t     scratch[5 * 8];
    ft_world_t  world;

    memset(&world, 0, sizeof(ft_world_t));
    options->scale = 1;
    world.options = options;
    world.shoppers = shoppers;
    world.n = n;

    return ft_idle(&world, scratch);
}


void
ft_test_idle(void)
{
    ft_change_t   change = { 5 * FT_S, FT_CHANGE_SLOTS, 4 };
    ft_options_t  options;
    ft_shopper_t  shoppers[3];

    memset(&options, 0, sizeof(ft_options_t));
    options.slots = 2;

    shoppers[0] = ft_idle_shopper(0, 0, 4);
    ft_ok(isnan(ft_idle_of(shoppers, 1, &options)),
          "idle: undefined without waiting shoppers");

    /* one of two slots is busy while the second shopper waits, 1 s to 4 s */

    shoppers[1] = ft_idle_shopper(1, 4, 5);
    ft_ok(fabs(ft_idle_of(shoppers, 2, &options) - 0.5) < 1e-9,
          "idle: half of the slots");

    shoppers[1] = ft_idle_unserved(1, 9);
    ft_ok(fabs(ft_idle_of(shoppers, 2, &options) - 13.0 / 16) < 1e-9,
          "idle: an unserved shopper waits until its end");

    shoppers[1].leaves_us = 4 * FT_S + FT_PAYMENT_MAX_US;
    options.deadline = true;
    ft_ok(fabs(ft_idle_of(shoppers, 2, &options) - 0.5) < 1e-9,
          "idle: not after the last time to serve it");

    /* 1 s to 4 s: 1 of 2; 4 s to 5 s: 2 of 2 free; then 4 of 4 until 9 s */

    options.deadline = false;
    options.profile.changes = &change;
    options.profile.nchanges = 1;
    ft_ok(fabs(ft_idle_of(shoppers, 2, &options) - (1 - 3.0 / 24)) < 1e-9,
          "idle: the number of slots changes");

    /* without slots: 2 admitted in 4 s of waiting, at 1 a second */

    memset(&options, 0, sizeof(ft_options_t));
    options.rate_milli = 1000;
    shoppers[0] = ft_idle_shopper(0, 2, 2);
    shoppers[1] = ft_idle_shopper(1, 4, 4);
    ft_ok(fabs(ft_idle_of(shoppers, 2, &options) - 0.5) < 1e-9,
          "idle: of the rate without slots");
}
