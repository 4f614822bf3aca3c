
#include "ft_waits.h"


#define FT_DECADE  12           /* round bounds in it */
#define FT_PARTS   8            /* buckets between two of them */


/* In tenths; the bounds of the Prometheus histogram are among them. */
static const uint8_t  ft_waits_steps[FT_DECADE] = {
    10, 12, 15, 18, 20, 25, 30, 36, 40, 50, 60, 80
};


static uint64_t
ft_waits_round_ms(uint32_t i)
{
    uint64_t  bound;

    bound = ft_waits_steps[i % FT_DECADE] * UINT64_C(10);

    for (i /= FT_DECADE; i; i--) {
        bound *= 10;
    }

    return bound;
}


uint64_t
ft_waits_bound_ms(uint32_t i)
{
    uint64_t  low, high;

    low = i < FT_PARTS ? 0 : ft_waits_round_ms(i / FT_PARTS - 1);
    high = ft_waits_round_ms(i / FT_PARTS);

    return low + (high - low) * (i % FT_PARTS + 1) / FT_PARTS;
}


void
ft_waits_count(ft_waits_t *waits, uint64_t wait_ms)
{
    uint32_t  i;
    uint64_t  decade;

    i = 0;

    /* decades first, then round bounds, then buckets */

    for (decade = 1000;
         wait_ms > decade && i < FT_WAITS_BOUNDS / FT_PARTS - 1;
         decade *= 10)
    {
        i += FT_DECADE;
    }

    while (i < FT_WAITS_BOUNDS / FT_PARTS && wait_ms > ft_waits_round_ms(i)) {
        i++;
    }

    i *= FT_PARTS;

    while (i < FT_WAITS_BOUNDS && wait_ms > ft_waits_bound_ms(i)) {
        i++;
    }

    atomic_fetch_add_explicit(&waits->n[i], 1, memory_order_relaxed);
}


void
ft_waits_read(const ft_waits_t *waits, uint64_t n[FT_WAITS_BUCKETS])
{
    uint32_t  i;

    for (i = 0; i < FT_WAITS_BUCKETS; i++) {
        n[i] = atomic_load_explicit(&waits->n[i], memory_order_relaxed);
    }
}


uint64_t
ft_waits_quantile_ms(const uint64_t n[FT_WAITS_BUCKETS], uint32_t share_milli)
{
    uint32_t  i;
    uint64_t  all, rank, low, high;

    all = 0;

    for (i = 0; i < FT_WAITS_BUCKETS; i++) {
        all += n[i];
    }

    if (all == 0) {
        return 0;
    }

    rank = (all * share_milli + 999) / 1000;
    rank = rank ? rank : 1;

    for (i = 0; n[i] < rank; i++) {
        rank -= n[i];
    }

    low = i ? ft_waits_bound_ms(i - 1) : 0;

    if (i == FT_WAITS_BOUNDS) {
        return low;
    }

    high = ft_waits_bound_ms(i);

    return low + (high - low) * rank / n[i];
}
