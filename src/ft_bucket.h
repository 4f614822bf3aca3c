
/*
 * The leaky bucket: leaks at `rate`, holds `burst`.  Kept as one word, the
 * instant at which the bucket will have leaked empty (the "theoretical arrival
 * time" of the generic cell rate algorithm, ITU-T I.371), so that taking room
 * is one compare-and-swap and a worker that dies leaves nothing half done.
 *
 * In any window of T seconds at most burst + rate x T are admitted, hence
 * never more than rate x period + burst in any period, wherever it begins.
 */

#ifndef FT_BUCKET_H_INCLUDED
#define FT_BUCKET_H_INCLUDED


#include <stdatomic.h>
#include "ft_config.h"

#pragma GCC visibility push(hidden)


typedef struct {
    _Atomic uint64_t  empty_ns;     /* when it will be empty, ns */
} ft_bucket_t;


/* Takes room for one.  False: the bucket is full now. */
bool ft_bucket_take(ft_bucket_t *bucket, const ft_limits_t *limits,
    uint64_t now_ms);

/* After a change of the rate: what was owed by the old one is a full bucket's
   worth at most, so that the new one is in force at once. */
void ft_bucket_settle(ft_bucket_t *bucket, const ft_limits_t *limits,
    uint64_t now_ms);

/* Room now, in admissions x 1000, 0 .. burst x 1000. */
uint64_t ft_bucket_room_milli(ft_bucket_t *bucket, const ft_limits_t *limits,
    uint64_t now_ms);

/* The first millisecond at which there is room for one; <= now_ms: now. */
uint64_t ft_bucket_ready_ms(ft_bucket_t *bucket, const ft_limits_t *limits,
    uint64_t now_ms);

#pragma GCC visibility pop


#endif /* FT_BUCKET_H_INCLUDED */
