
#include "idle.h"

#include <math.h>
#include <stdlib.h>


/* kind in the low bits of a point, in the order of events at one time */
enum {
    FT_IDLE_PAID,
    FT_IDLE_ADMITTED,
    FT_IDLE_STOP,
    FT_IDLE_PAYING,
    FT_IDLE_WAIT,
    FT_IDLE_KINDS = 8
};

typedef struct {
    int64_t            waiting;
    int64_t            busy;
    double             capacity;        /* slots, or admissions per us */
    double             offered;
    double             used;
} ft_idle_t;


static int
ft_idle_order(const void *a, const void *b)
{
    const int64_t  *x, *y;

    x = a;
    y = b;

    return (*x > *y) - (*x < *y);
}


static size_t
ft_idle_add_shopper(const ft_world_t *world, const ft_shopper_t *shopper,
    int64_t *points)
{
    bool     slots;
    size_t   n;
    int64_t  served_us, stop_us, came_us;

    n = 0;
    slots = (world->options->slots > 0);
    served_us = slots ? shopper->paying_us : shopper->admitted_us;

    stop_us = served_us != FT_NEVER ? served_us : shopper->end_us;

    if (world->options->deadline
        && stop_us > shopper->leaves_us - FT_PAYMENT_MAX_US)
    {
        stop_us = shopper->leaves_us - FT_PAYMENT_MAX_US;
    }

    came_us = ft_options_opened_us(world->options, shopper->first_us);

    if (stop_us > came_us) {
        points[n++] = came_us * FT_IDLE_KINDS + FT_IDLE_WAIT;
        points[n++] = stop_us * FT_IDLE_KINDS + FT_IDLE_STOP;
    }

    if (slots && served_us != FT_NEVER) {
        points[n++] = shopper->paying_us * FT_IDLE_KINDS + FT_IDLE_PAYING;
        points[n++] = shopper->paid_us * FT_IDLE_KINDS + FT_IDLE_PAID;
    }

    if (!slots && served_us != FT_NEVER) {
        points[n++] = served_us * FT_IDLE_KINDS + FT_IDLE_ADMITTED;
    }

    return n;
}


static void
ft_idle_advance(ft_idle_t *idle, int64_t time_us)
{
    double  used;

    if (idle->waiting > 0) {
        used = (double) idle->busy;

        /* after a reduction, payments in progress may exceed the slots */

        if (used > idle->capacity) {
            used = idle->capacity;
        }

        idle->offered += idle->capacity * (double) time_us;
        idle->used += used * (double) time_us;
    }
}


static void
ft_idle_apply(ft_idle_t *idle, int64_t point)
{
    switch (point % FT_IDLE_KINDS) {

    case FT_IDLE_PAID:
        idle->busy--;
        break;

    case FT_IDLE_ADMITTED:
        idle->used += (idle->waiting > 0);
        break;

    case FT_IDLE_STOP:
        idle->waiting--;
        break;

    case FT_IDLE_PAYING:
        idle->busy++;
        break;

    default: /* FT_IDLE_WAIT */
        idle->waiting++;
    }
}


static void
ft_idle_change(const ft_world_t *world, ft_idle_t *idle,
    const ft_change_t *change)
{
    if (world->options->slots > 0 && change->kind == FT_CHANGE_SLOTS) {
        idle->capacity = ft_options_scaled(world->options, change->value);
    }

    if (world->options->slots == 0 && change->kind == FT_CHANGE_RATE) {
        idle->capacity = ft_options_scaled(world->options, change->value) / 1e6;
    }
}


double
ft_idle(const ft_world_t *world, int64_t *scratch)
{
    size_t               i, n, k;
    int64_t              now_us, at_us;
    ft_idle_t            idle;
    const ft_profile_t  *profile;

    n = 0;
    for (i = 0; i < world->n; i++) {
        n += ft_idle_add_shopper(world, &world->shoppers[i], scratch + n);
    }

    qsort(scratch, n, sizeof(int64_t), ft_idle_order);

    idle = (ft_idle_t) { 0 };
    idle.capacity = world->options->slots > 0
                    ? world->options->slots
                    : world->options->rate_milli / 1e9;

    profile = &world->options->profile;
    now_us = 0;
    k = 0;

    for (i = 0; i < n; i++) {
        at_us = scratch[i] / FT_IDLE_KINDS;

        while (k < profile->nchanges && profile->changes[k].at_us <= at_us) {
            ft_idle_advance(&idle, profile->changes[k].at_us - now_us);
            now_us = profile->changes[k].at_us;
            ft_idle_change(world, &idle, &profile->changes[k++]);
        }

        ft_idle_advance(&idle, at_us - now_us);
        now_us = at_us;
        ft_idle_apply(&idle, scratch[i]);
    }

    if (idle.offered == 0) {
        return NAN;
    }

    return idle.used < idle.offered ? 1 - idle.used / idle.offered : 0;
}
