
/*
 * Words in shared memory.  Each stands for itself, so relaxed atomics do; where
 * one tells that others are written, it says so with the atomics of C11.
 */

#ifndef FT_WORD_H_INCLUDED
#define FT_WORD_H_INCLUDED


#include <stdatomic.h>
#include <stdint.h>


#define ft_load(p)      atomic_load_explicit(p, memory_order_relaxed)
#define ft_store(p, v)  atomic_store_explicit(p, v, memory_order_relaxed)
#define ft_add(p, n)    atomic_fetch_add_explicit(p, n, memory_order_relaxed)
#define ft_drain(p)     atomic_exchange_explicit(p, 0, memory_order_relaxed)


static inline uint64_t
ft_most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}


static inline uint64_t
ft_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}


#endif /* FT_WORD_H_INCLUDED */
