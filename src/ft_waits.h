
/*
 * How long the admitted waited: counts by wait, in buckets that are fine enough
 * for percentiles (beyond a tenth of a second, no wider than a 24th of the wait).
 */

#ifndef FT_WAITS_H_INCLUDED
#define FT_WAITS_H_INCLUDED


#include <stdatomic.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)


/* 61 round bounds, 0.1 to 10,000 s, eight buckets to each, one behind them */
#define FT_WAITS_BOUNDS   (61 * 8)
#define FT_WAITS_BUCKETS  (FT_WAITS_BOUNDS + 1)


typedef struct {
    _Atomic uint64_t  n[FT_WAITS_BUCKETS];
} ft_waits_t;


/* The greatest wait, ms, in bucket i < FT_WAITS_BOUNDS; each eighth is round. */
uint64_t ft_waits_bound_ms(uint32_t i);

void ft_waits_count(ft_waits_t *waits, uint64_t wait_ms);

/* The counts as they are now. */
void ft_waits_read(const ft_waits_t *waits, uint64_t n[FT_WAITS_BUCKETS]);

/*
 * The wait, ms, that so many of 1000 do not exceed, interpolated within its
 * bucket; 0 if nobody is counted.
 */
uint64_t ft_waits_quantile_ms(const uint64_t n[FT_WAITS_BUCKETS],
    uint32_t share_milli);

#pragma GCC visibility pop


#endif /* FT_WAITS_H_INCLUDED */
