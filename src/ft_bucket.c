
/*
 * The leaky bucket as one word: see ft_bucket.h.
 */

#include "ft_bucket.h"


#define FT_NS_PER_MS  UINT64_C(1000000)


/* Nanoseconds in which one admission leaks away. */
static inline uint64_t
ft_bucket_step_ns(const ft_limits_t *limits)
{
    return UINT64_C(1000000000000) / limits->rate_milli;
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
    empty = atomic_load_explicit(&bucket->empty_ns, memory_order_relaxed);

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


uint64_t
ft_bucket_room_milli(ft_bucket_t *bucket, const ft_limits_t *limits,
    uint64_t now_ms)
{
    uint64_t  empty, now, step, depth;

    if (limits->rate_milli == 0) {
        return (uint64_t) limits->burst * 1000;
    }

    now = now_ms * FT_NS_PER_MS;
    step = ft_bucket_step_ns(limits);
    depth = step * limits->burst;
    empty = atomic_load_explicit(&bucket->empty_ns, memory_order_relaxed);

    if (empty <= now) {
        return (uint64_t) limits->burst * 1000;
    }

    if (empty - now >= depth) {
        return 0;
    }

    /* a step is at most 1e12 ns, a depth that overflows is a year long */

    return (depth - (empty - now)) / (step / 1000 ? step / 1000 : 1);
}


uint64_t
ft_bucket_ready_ms(ft_bucket_t *bucket, const ft_limits_t *limits,
    uint64_t now_ms)
{
    uint64_t  empty, step, depth;

    if (limits->rate_milli == 0) {
        return now_ms;
    }

    step = ft_bucket_step_ns(limits);
    depth = step * limits->burst;
    empty = atomic_load_explicit(&bucket->empty_ns, memory_order_relaxed);

    if (empty + step <= now_ms * FT_NS_PER_MS + depth) {
        return now_ms;
    }

    return (empty + step - depth + FT_NS_PER_MS - 1) / FT_NS_PER_MS;
}
