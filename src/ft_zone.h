
/*
 * A zone in shared memory: a state for each key value, an index to find it
 * without a lock, the worker processes that use it, and its clock.
 *
 * Adding a key and joining are the caller's to serialise (one mutex); finding
 * is not.
 */

#ifndef FT_ZONE_H_INCLUDED
#define FT_ZONE_H_INCLUDED


#include "ft_state.h"

#pragma GCC visibility push(hidden)


#define FT_KEY_MAX     192      /* bytes; longer keys are the caller's to digest */
#define FT_ZONE_LOOKS  16       /* at keys, for one that may make way */


typedef struct ft_zone_s  ft_zone_t;


/* Bytes that a zone for this many keys takes; keys >= 1. */
size_t ft_zone_size(uint32_t keys);

/*
 * Lays out zeroed memory of ft_zone_size(keys) bytes, aligned to 64.
 * seed: random; mono_ms, wall_ms: the two clocks now.
 */
void ft_zone_init(ft_zone_t *zone, uint32_t keys, uint64_t seed,
    uint64_t mono_ms, uint64_t wall_ms);

/*
 * The zone's time: epoch ms that follow the monotonic clock, the same in all
 * workers, so that a step of the wall clock does not disturb a line.  Taken up
 * from the wall clock again when the two differ and nobody waits.
 */
uint64_t ft_zone_now(ft_zone_t *zone, uint64_t mono_ms, uint64_t wall_ms);

/*
 * The calling process's slot, claimed for it; slots of processes that are gone
 * are cleared first, with all they had in hand.  FT_WORKERS: none is free.
 * Serialised by the caller.
 */
uint32_t ft_zone_join(ft_zone_t *zone, uint32_t pid);

/*
 * Clears the slots of processes that are gone and were not replaced (an old
 * worker killed while it was leaving).  Every second or so, serialised by the
 * caller.
 */
void ft_zone_reap(ft_zone_t *zone);

/* Slots in use: the highest claimed + 1, as of the last process that joined. */
uint32_t ft_zone_workers(const ft_zone_t *zone);

/* A known key's state, or NULL.  No lock.  len <= FT_KEY_MAX. */
ft_state_t *ft_zone_find(ft_zone_t *zone, const void *key, size_t len,
    uint64_t now_ms);

/*
 * The state of a key, made if it is new; if there is no space, the least
 * recently used key makes way (*evicted) of those where nobody waits, is held or
 * in flight, whose bucket is empty and of whose passes, if they are bounded, none
 * is alive.  FT_ZONE_LOOKS keys are looked at at the most, the longest unused
 * first, so that a flood of new keys costs no walk over all of them each time.
 * NULL: none of these can go; the next call looks at others.  A line that stands
 * is worth more than a new one.  Serialised by the caller.
 */
ft_state_t *ft_zone_add(ft_zone_t *zone, const void *key, size_t len,
    uint64_t now_ms, bool *evicted);

/* Walk: the state in slot i < ft_zone_keys(), NULL if unused; its key. */
uint32_t ft_zone_keys(const ft_zone_t *zone);
ft_state_t *ft_zone_state(ft_zone_t *zone, uint32_t i);
uint32_t ft_zone_index(const ft_zone_t *zone, const ft_state_t *state);
size_t ft_zone_key(const ft_zone_t *zone, uint32_t i, char *buf);

#pragma GCC visibility pop


#endif /* FT_ZONE_H_INCLUDED */
