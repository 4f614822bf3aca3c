
#include "idle.h"

#include <math.h>
#include <stdlib.h>


/* what happens at a time, in its low bits; in the order of one instant */
enum {
    FT_MARK_PAID,
    FT_MARK_ADMITTED,
    FT_MARK_STOP,
    FT_MARK_PAYING,
    FT_MARK_WAIT,
    FT_MARKS = 8
};

typedef struct {
    int64_t            waiting;
    int64_t            busy;
    double             capacity;        /* slots, or admissions a us */
    double             offered;
    double             used;
} ft_idle_t;


static int
ft_mark_order(const void *a, const void *b)
{
    const int64_t  *x, *y;

    x = a;
    y = b;

    return (*x > *y) - (*x < *y);
}


static size_t
ft_idle_mark_shopper(const ft_world_t *world, const ft_shopper_t *shopper,
    int64_t *marks)
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

    came_us = ft_opened_us(world->options, shopper->first_us);

    if (stop_us > came_us) {
        marks[n++] = came_us * FT_MARKS + FT_MARK_WAIT;
        marks[n++] = stop_us * FT_MARKS + FT_MARK_STOP;
    }

    if (slots && served_us != FT_NEVER) {
        marks[n++] = shopper->paying_us * FT_MARKS + FT_MARK_PAYING;
        marks[n++] = shopper->paid_us * FT_MARKS + FT_MARK_PAID;
    }

    if (!slots && served_us != FT_NEVER) {
        marks[n++] = served_us * FT_MARKS + FT_MARK_ADMITTED;
    }

    return n;
}


static void
ft_idle_pass(ft_idle_t *idle, int64_t time_us)
{
    double  used;

    if (idle->waiting > 0) {
        used = (double) idle->busy;

        /* after a cut, payments under way may exceed the slots */

        if (used > idle->capacity) {
            used = idle->capacity;
        }

        idle->offered += idle->capacity * (double) time_us;
        idle->used += used * (double) time_us;
    }
}


static void
ft_idle_apply(ft_idle_t *idle, int64_t mark)
{
    switch (mark % FT_MARKS) {

    case FT_MARK_PAID:
        idle->busy--;
        break;

    case FT_MARK_ADMITTED:
        idle->used += (idle->waiting > 0);
        break;

    case FT_MARK_STOP:
        idle->waiting--;
        break;

    case FT_MARK_PAYING:
        idle->busy++;
        break;

    default: /* FT_MARK_WAIT */
        idle->waiting++;
    }
}


static void
ft_idle_change(const ft_world_t *world, ft_idle_t *idle,
    const ft_change_t *change)
{
    if (world->options->slots > 0 && change->kind == FT_CHANGE_SLOTS) {
        idle->capacity = ft_scaled(world->options, change->value);
    }

    if (world->options->slots == 0 && change->kind == FT_CHANGE_RATE) {
        idle->capacity = ft_scaled(world->options, change->value) / 1e6;
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
        n += ft_idle_mark_shopper(world, &world->shoppers[i], scratch + n);
    }

    qsort(scratch, n, sizeof(int64_t), ft_mark_order);

    idle = (ft_idle_t) { 0 };
    idle.capacity = world->options->slots > 0
                    ? world->options->slots
                    : world->options->rate_milli / 1e9;

    profile = &world->options->profile;
    now_us = 0;
    k = 0;

    for (i = 0; i < n; i++) {
        at_us = scratch[i] / FT_MARKS;

        while (k < profile->nchanges && profile->changes[k].at_us <= at_us) {
            ft_idle_pass(&idle, profile->changes[k].at_us - now_us);
            now_us = profile->changes[k].at_us;
            ft_idle_change(world, &idle, &profile->changes[k++]);
        }

        ft_idle_pass(&idle, at_us - now_us);
        now_us = at_us;
        ft_idle_apply(&idle, scratch[i]);
    }

    if (idle.offered == 0) {
        return NAN;
    }

    return idle.used < idle.offered ? 1 - idle.used / idle.offered : 0;
}
