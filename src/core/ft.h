
/*
 * Access to shared memory, and some arithmetic.
 *
 * Counters in shared memory are independent of each other, so relaxed atomics
 * suffice.  Where a store publishes other stores, the code uses the C11
 * functions with acquire and release order.
 */

#ifndef FT_H_INCLUDED
#define FT_H_INCLUDED


#include <stdatomic.h>
#include <stdint.h>


/* The state is shared between processes: a lock in a library would not be. */
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "64-bit atomics are not lock-free");


#define ft_load(p)      atomic_load_explicit(p, memory_order_relaxed)
#define ft_store(p, v)  atomic_store_explicit(p, v, memory_order_relaxed)
#define ft_add(p, n)    atomic_fetch_add_explicit(p, n, memory_order_relaxed)

/* The value, which becomes 0. */
#define ft_exchange_zero(p)  atomic_exchange_explicit(p, 0,                   \
                                                      memory_order_relaxed)


static inline uint64_t
ft_max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}


static inline uint64_t
ft_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}


static inline uint64_t
ft_clamp(uint64_t n, uint64_t min, uint64_t max)
{
    return n < min ? min : n > max ? max : n;
}


/* An exponential average: moves towards the sample by dt / (tau + dt). */
static inline uint64_t
ft_measure_average(uint64_t old, uint64_t sample, uint64_t dt_ms, uint64_t tau_ms)
{
    return (old * tau_ms + sample * dt_ms) / (tau_ms + dt_ms);
}


/* A 64-bit finalizer (Stafford's variant 13 of MurmurHash3's). */
static inline uint64_t
ft_mix(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;

    return x;
}


#endif /* FT_H_INCLUDED */
