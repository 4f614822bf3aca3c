
/*
 * The leaky bucket.  It leaks at `rate` and holds `burst` admissions.
 *
 * The state is one word, the time at which the bucket will be empty (the
 * "theoretical arrival time" of the generic cell rate algorithm, ITU-T I.371).
 * Taking capacity is therefore one compare-and-swap, and a worker that is
 * killed leaves nothing half done.
 *
 * Any window of T seconds has at most burst + rate x T admissions, hence any
 * period has at most rate x period + burst.
 *
 * Without a rate the bucket is always empty.
 */

#ifndef FT_BUCKET_H_INCLUDED
#define FT_BUCKET_H_INCLUDED


#include <stdatomic.h>
#include "ft_config.h"

#pragma GCC visibility push(hidden)


typedef struct {
    _Atomic uint64_t  empty_ns;     /* when the bucket will be empty */
} ft_bucket_t;


/* Takes capacity for one admission.  False: the bucket is full. */
bool ft_bucket_take(ft_bucket_t *bucket, const ft_limits_t *limits,
    uint64_t now_ms);

/* After a change of the rate: caps the content at one full bucket of the new
   rate, so that the new rate is in force at once. */
void ft_bucket_settle(ft_bucket_t *bucket, const ft_limits_t *limits,
    uint64_t now_ms);

/* Free capacity, admissions x 1000, 0 .. burst x 1000. */
uint64_t ft_bucket_free_milli(ft_bucket_t *bucket, const ft_limits_t *limits,
    uint64_t now_ms);

/* The first millisecond with capacity for one admission; <= now_ms: now. */
uint64_t ft_bucket_ready_ms(ft_bucket_t *bucket, const ft_limits_t *limits,
    uint64_t now_ms);

#pragma GCC visibility pop


#endif /* FT_BUCKET_H_INCLUDED */
