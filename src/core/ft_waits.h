
/*
 * A histogram of the waits of admitted shoppers, fine enough for percentiles:
 * above 0.1 s no bucket is wider than a 24th of the wait.
 */

#ifndef FT_WAITS_H_INCLUDED
#define FT_WAITS_H_INCLUDED


#include <stdatomic.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)


/* 61 round bounds from 0.1 to 10,000 s, eight buckets each, and one above */
#define FT_WAITS_BOUNDS   (61 * 8)
#define FT_WAITS_BUCKETS  (FT_WAITS_BOUNDS + 1)


typedef struct {
    _Atomic uint64_t  n[FT_WAITS_BUCKETS];
} ft_waits_t;


/* The upper bound, ms, of bucket i < FT_WAITS_BOUNDS. */
uint64_t ft_waits_bound_ms(uint32_t i);

void ft_waits_count(ft_waits_t *waits, uint64_t wait_ms);

void ft_waits_read(const ft_waits_t *waits, uint64_t n[FT_WAITS_BUCKETS]);

/*
 * The wait, ms, that share_milli of 1000 do not exceed, interpolated within a
 * bucket; 0 if the histogram is empty.
 */
uint64_t ft_waits_quantile_ms(const uint64_t n[FT_WAITS_BUCKETS],
    uint32_t share_milli);

#pragma GCC visibility pop


#endif /* FT_WAITS_H_INCLUDED */
