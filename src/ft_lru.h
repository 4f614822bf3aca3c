
/*
 * The keys of a zone in the order of their last use, as far as that is known:
 * looking a key up tells nothing here, so an order is a lower bound, which a look
 * at the key that seems to be the first puts right.  A heap, so that a look costs
 * some steps in it and no walk over all keys.
 *
 * Serialised by the caller.  Whoever is killed in the midst of a change leaves it
 * marked; the next one forgets all orders and learns them anew.
 */

#ifndef FT_LRU_H_INCLUDED
#define FT_LRU_H_INCLUDED


#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)


typedef struct {
    uint64_t          at_us;        /* its last use is not before that */
    uint32_t          i;            /* the key's entry in the zone */
} ft_lru_item_t;


typedef struct {
    uint32_t          n;            /* items in the heap */
    uint64_t          last_us;      /* the latest of all orders given */
    _Atomic uint32_t  changing;     /* not to be trusted if nobody is at it */
} ft_lru_t;


/* Whether it is a heap of so many, or has to be made anew. */
bool ft_lru_is_of(const ft_lru_t *lru, uint32_t n);

/* Makes it anew for entries 0 .. n - 1, of whose last uses nothing is known. */
void ft_lru_make(ft_lru_t *lru, ft_lru_item_t *heap, uint32_t n);

/* Adds an entry, last used then; the heap has space for it. */
void ft_lru_add(ft_lru_t *lru, ft_lru_item_t *heap, uint32_t i, uint64_t at_us);

/* The first, heap[0], was used then and not before. */
void ft_lru_used(ft_lru_t *lru, ft_lru_item_t *heap, uint64_t at_us);

/* The first cannot go now: behind all others, even if the clock was set back. */
void ft_lru_later(ft_lru_t *lru, ft_lru_item_t *heap, uint64_t now_us);

#pragma GCC visibility pop


#endif /* FT_LRU_H_INCLUDED */
