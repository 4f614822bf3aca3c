/*
 * A histogram of durations with fixed memory.  Percentiles have a relative
 * error of at most 0.4 %.
 *
 * Durations up to 255 us have a bucket each; above, every power of two is
 * divided into 128 buckets.
 */

#ifndef CO_HISTOGRAM_H
#define CO_HISTOGRAM_H


#include <stdint.h>


/* Up to 2^40 us (12 days); longer durations count as the maximum. */
#define CO_HISTOGRAM_BITS     40
#define CO_HISTOGRAM_BUCKETS  ((CO_HISTOGRAM_BITS - 6) * 128)


typedef struct {
    uint64_t  count;
    int64_t   max;
    uint32_t  buckets[CO_HISTOGRAM_BUCKETS];
} co_histogram_t;


/* Counts a duration; "us" must not be negative. */
void co_histogram_add(co_histogram_t *histogram, int64_t us);

/* The percentile "percent" (0 to 100), in microseconds; 0 if empty. */
int64_t co_histogram_percentile(const co_histogram_t *histogram,
    double percent);


#endif /* CO_HISTOGRAM_H */
