/*
 * A histogram of durations: fixed memory, percentiles to within 0.4 %.
 */

#ifndef CO_HISTOGRAM_H
#define CO_HISTOGRAM_H


#include <stdint.h>


/* Microseconds up to 2^40, twelve days; what is longer counts as that. */
#define CO_HISTOGRAM_BITS     40
#define CO_HISTOGRAM_BUCKETS  ((CO_HISTOGRAM_BITS - 6) * 128)


typedef struct {
    uint64_t  count;
    int64_t   max;
    uint32_t  buckets[CO_HISTOGRAM_BUCKETS];
} co_histogram_t;


/* Counts a duration, in microseconds, 0 or more. */
void co_histogram_add(co_histogram_t *histogram, int64_t us);

/* The duration that "percent" (0 to 100) do not exceed; 0 if none counted. */
int64_t co_histogram_percentile(const co_histogram_t *histogram,
    double percent);


#endif /* CO_HISTOGRAM_H */
