
#include "ft_bucket.h"


#define FT_NS_PER_MS     UINT64_C(1000000)
#define FT_CLOCK_LAG_MS  5000       /* no worker's clock is further behind */


/* Nanoseconds in which one admission leaks; rounded up, never above the rate. */
static inline uint64_t
ft_bucket_step_ns(const ft_limits_t *limits)
{
    return (UINT64_C(1000000000000) + limits->rate_milli - 1)
           / limits->rate_milli;
}


/*
 * A time farther ahead than a full bucket comes from a slower rate that a reload
 * has replaced, or from a clock that was set back.  It is capped, or it would
 * stop admissions for as long.
 */
static uint64_t
ft_bucket_empty_ns(ft_bucket_t *bucket, uint64_t depth, uint64_t now)
{
    uint64_t  empty, most;

    most = now + depth + FT_CLOCK_LAG_MS * FT_NS_PER_MS;
    empty = atomic_load_explicit(&bucket->empty_ns, memory_order_relaxed);

    while (empty > most) {
        if (atomic_compare_exchange_weak_explicit(&bucket->empty_ns, &empty,
                                                  most, memory_order_relaxed,
                                                  memory_order_relaxed))
        {
            return most;
        }
    }

    return empty;
}


bool
ft_bucket_take(ft_bucket_t *bucket, const ft_limits_t *limits, uint64_t now_ms)
{
    uint64_t  empty, from, step, depth, now;

    if (limits->rate_milli == 0) {
        return true;
    }

    now = now_ms * FT_NS_PER_MS;
    step = ft_bucket_step_ns(limits);
    depth = step * limits->burst;
    empty = ft_bucket_empty_ns(bucket, depth, now);

    do {
        from = empty > now ? empty : now;

        if (from + step > now + depth) {
            return false;
        }

    } while (!atomic_compare_exchange_weak_explicit(&bucket->empty_ns, &empty,
                                                    from + step,
                                                    memory_order_relaxed,
                                                    memory_order_relaxed));

    return true;
}


void
ft_bucket_settle(ft_bucket_t *bucket, const ft_limits_t *limits,
    uint64_t now_ms)
{
    uint64_t  empty, most;

    if (limits->rate_milli == 0) {
        return;
    }

    most = now_ms * FT_NS_PER_MS + ft_bucket_step_ns(limits) * limits->burst;
    empty = atomic_load_explicit(&bucket->empty_ns, memory_order_relaxed);

    while (empty > most
           && !atomic_compare_exchange_weak_explicit(&bucket->empty_ns, &empty,
                                                     most,
                                                     memory_order_relaxed,
                                                     memory_order_relaxed))
    {
        /* void */
    }
}


uint64_t
ft_bucket_free_milli(ft_bucket_t *bucket, const ft_limits_t *limits,
    uint64_t now_ms)
{
    uint64_t  empty, now, left, step, depth;

    if (limits->rate_milli == 0) {
        return (uint64_t) limits->burst * 1000;
    }

    now = now_ms * FT_NS_PER_MS;
    step = ft_bucket_step_ns(limits);
    depth = step * limits->burst;
    empty = ft_bucket_empty_ns(bucket, depth, now);

    if (empty <= now) {
        return (uint64_t) limits->burst * 1000;
    }

    if (empty - now >= depth) {
        return 0;
    }

    /* in two parts: left x 1000 may overflow */

    left = depth - (empty - now);

    return left / step * 1000 + left % step * 1000 / step;
}


uint64_t
ft_bucket_ready_ms(ft_bucket_t *bucket, const ft_limits_t *limits,
    uint64_t now_ms)
{
    uint64_t  empty, now, step, depth;

    if (limits->rate_milli == 0) {
        return now_ms;
    }

    now = now_ms * FT_NS_PER_MS;
    step = ft_bucket_step_ns(limits);
    depth = step * limits->burst;
    empty = ft_bucket_empty_ns(bucket, depth, now);

    if (empty + step <= now + depth) {
        return now_ms;
    }

    return (empty + step - depth + FT_NS_PER_MS - 1) / FT_NS_PER_MS;
}
