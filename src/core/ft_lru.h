
/*
 * The keys of a zone by their last use, as a binary heap.  A lookup of a key does
 * not update the heap, so an entry is a lower bound of the last use; the caller
 * corrects the first entry when it finds a later use.
 *
 * Calls are serialised by the caller.  A process that is killed during a change
 * leaves the heap marked as changing; the next caller rebuilds it.
 */

#ifndef FT_LRU_H_INCLUDED
#define FT_LRU_H_INCLUDED


#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)


typedef struct {
    uint64_t          at_us;        /* lower bound of the last use */
    uint32_t          i;            /* entry in the zone */
} ft_lru_item_t;


typedef struct {
    uint32_t          n;            /* items */
    uint64_t          last_us;      /* the latest use entered */
    _Atomic uint32_t  changing;     /* 1 during a change */
} ft_lru_t;


/* Whether this is a complete heap of n items. */
bool ft_lru_is_of(const ft_lru_t *lru, uint32_t n);

/* Builds a heap of entries 0 .. n - 1 with unknown last uses. */
void ft_lru_make(ft_lru_t *lru, ft_lru_item_t *heap, uint32_t n);

/* Adds an entry; the heap has space for it. */
void ft_lru_add(ft_lru_t *lru, ft_lru_item_t *heap, uint32_t i, uint64_t at_us);

/* Corrects the last use of heap[0]. */
void ft_lru_used(ft_lru_t *lru, ft_lru_item_t *heap, uint64_t at_us);

/* Moves heap[0] behind all others, even if the clock was set back. */
void ft_lru_later(ft_lru_t *lru, ft_lru_item_t *heap, uint64_t now_us);

#pragma GCC visibility pop


#endif /* FT_LRU_H_INCLUDED */
