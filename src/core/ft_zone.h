
/*
 * A zone in shared memory: a state per key, an index that is read without a lock,
 * the worker processes that use the zone, and its clock.
 *
 * The caller serialises (one mutex) adding a key, joining and reaping; finding a
 * key needs no lock.
 */

#ifndef FT_ZONE_H_INCLUDED
#define FT_ZONE_H_INCLUDED


#include "ft_state.h"

#pragma GCC visibility push(hidden)


#define FT_KEY_MAX     192      /* bytes; the caller digests longer keys */
#define FT_ZONE_LOOKS  16       /* keys examined to find one to evict */


typedef struct ft_zone_s  ft_zone_t;


/* The size of a zone of this many keys, >= 1, in bytes. */
size_t ft_zone_size(uint32_t keys);

/*
 * Initializes zeroed memory of ft_zone_size(keys) bytes, aligned to 64.  seed:
 * random; mono_ms, wall_ms: the monotonic and the wall clock.
 */
void ft_zone_init(ft_zone_t *zone, uint32_t keys, uint64_t seed,
    uint64_t mono_ms, uint64_t wall_ms);

/*
 * The zone's time: epoch ms that follow the monotonic clock, the same in all
 * workers, so a step of the wall clock does not change a line.  When the two
 * differ by over a second and nobody waits, the zone adopts the wall clock; that
 * is checked once a second.
 */
uint64_t ft_zone_now(ft_zone_t *zone, uint64_t mono_ms, uint64_t wall_ms);

/*
 * Claims a slot for the calling process, after clearing the slots of processes
 * that are gone.  FT_WORKERS: none is free.  Serialised.
 */
uint32_t ft_zone_join(ft_zone_t *zone, uint32_t pid);

/*
 * Clears the slots of processes that are gone and were not replaced, for example
 * an old worker killed during a reload.  Once a second or so.  Serialised.
 */
void ft_zone_reap(ft_zone_t *zone);

/* Slots in use: the highest one claimed, plus 1. */
uint32_t ft_zone_workers(const ft_zone_t *zone);

/* The state of a known key, or NULL.  len <= FT_KEY_MAX. */
ft_state_t *ft_zone_find(ft_zone_t *zone, const void *key, size_t len,
    uint64_t now_ms);

/*
 * The state of a key, made if it is new.  In a full zone the least recently used
 * idle key is evicted (*evicted): nobody waits, is held or in flight, the bucket
 * is empty, no override of the operator is set, and no pass is valid if passes
 * are limited.  At most FT_ZONE_LOOKS keys are examined, the least recently used
 * first.  NULL: none of them is idle; the next call examines others.  Serialised.
 */
ft_state_t *ft_zone_add(ft_zone_t *zone, const void *key, size_t len,
    uint64_t now_ms, bool *evicted);

/* A walk: the state in slot i < ft_zone_keys(), NULL if unused; and its key. */
uint32_t ft_zone_keys(const ft_zone_t *zone);
ft_state_t *ft_zone_state(ft_zone_t *zone, uint32_t i);
uint32_t ft_zone_index(const ft_zone_t *zone, const ft_state_t *state);
size_t ft_zone_key(const ft_zone_t *zone, uint32_t i, char *buf);

#pragma GCC visibility pop


#endif /* FT_ZONE_H_INCLUDED */
