#include "histogram.h"

#include <math.h>


static int
co_histogram_bucket(int64_t us)
{
    int  shift;

    if (us < 256) {
        return (int) us;
    }

    shift = 63 - __builtin_clzll((unsigned long long) us) - 7;

    return shift * 128 + (int) (us >> shift);
}


/* The middle of a bucket. */
static int64_t
co_histogram_value(int bucket)
{
    int  shift;

    if (bucket < 256) {
        return bucket;
    }

    shift = bucket / 128 - 1;

    return ((int64_t) (bucket - shift * 128) << shift)
           + ((int64_t) 1 << (shift - 1));
}


void
co_histogram_add(co_histogram_t *histogram, int64_t us)
{
    int64_t  limit;

    limit = ((int64_t) 1 << CO_HISTOGRAM_BITS) - 1;

    if (us > histogram->max) {
        histogram->max = us;
    }

    histogram->count++;
    histogram->buckets[co_histogram_bucket(us < limit ? us : limit)]++;
}


int64_t
co_histogram_percentile(const co_histogram_t *histogram, double percent)
{
    int       bucket;
    int64_t   value;
    uint64_t  rank, seen;

    if (histogram->count == 0) {
        return 0;
    }

    rank = (uint64_t) ceil((double) histogram->count * percent / 100);
    seen = 0;

    for (bucket = 0; bucket < CO_HISTOGRAM_BUCKETS - 1; bucket++) {
        seen += histogram->buckets[bucket];
        if (seen >= rank) {
            break;
        }
    }

    value = co_histogram_value(bucket);

    return value < histogram->max ? value : histogram->max;
}
