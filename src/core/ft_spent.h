
/*
 * Things that must not count twice: tickets that have been admitted, passes that the
 * upstream declared done, and versions of a ticket that have been used.
 *
 * Two tables of 64-bit records, each a set of buckets of 8.  A record holds 30
 * bits of a mixed key as a fingerprint, a kind, and a time; other bits of the key
 * choose the bucket.  When a ninth record comes, the bucket forgets its oldest.  An
 * operation costs one cache line and at most 8 comparisons.
 *
 * Capacity: the last 4,864 admissions of a key on average (99 of 100 records
 * survive 1,700).  Error rate: a lookup takes one key for another with a
 * probability of 8 / 2^30 at most.
 *
 * Each bucket remembers the latest end among the passes that it has forgotten.
 * A caller can therefore tell "has not been admitted" from "may have been
 * admitted, and is forgotten".  A pass that is done and forgotten is valid again
 * until it ends.
 */

#ifndef FT_SPENT_H_INCLUDED
#define FT_SPENT_H_INCLUDED


#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)


#define FT_SPENT_WAYS      8        /* records of a bucket, a cache line */
#define FT_SPENT_TICKETS   608      /* buckets, by ticket id */
#define FT_SPENT_VERSIONS  96       /* buckets, by id and due time */

#define FT_SPENT_REPLAY_MS  16384   /* a used version is recognised for so long */


typedef enum {
    FT_SPENT_UNKNOWN = 0,
    FT_SPENT_HELD,          /* a request with this ticket is held */
    FT_SPENT_ADMITTED,
    FT_SPENT_DONE           /* admitted, and the pass was declared done */
} ft_spent_kind_t;


typedef struct {
    ft_spent_kind_t   kind;
    uint32_t          worker;       /* FT_SPENT_HELD: that holds the request */
    uint64_t          until_ms;     /* end of the hold or pass, whole seconds */
} ft_spent_record_t;


/* All 0 at first. */
typedef struct {
    _Atomic uint64_t  ticket[FT_SPENT_TICKETS][FT_SPENT_WAYS];
    _Atomic uint64_t  version[FT_SPENT_VERSIONS][FT_SPENT_WAYS];
    _Atomic uint32_t  forgotten_s[FT_SPENT_TICKETS];

    /* lifetime of a pass; the shortest before the last change, and its time */
    _Atomic uint32_t  session_ms;
    _Atomic uint32_t  former_ms;
    _Atomic uint32_t  changed_s;
} ft_spent_t;


/* The bucket of an id is in no cache: it can be fetched ahead of its use. */
void ft_spent_prefetch(const ft_spent_t *spent, uint64_t id);

ft_spent_record_t ft_spent_find(const ft_spent_t *spent, uint64_t id,
    uint64_t now_ms);

/* Records a request that is held by a worker (0 .. 255), unless the ticket was
   admitted; removes the record. */
void ft_spent_hold(ft_spent_t *spent, uint64_t id, uint32_t worker,
    uint64_t until_ms);
void ft_spent_release(ft_spent_t *spent, uint64_t id);

/* Removes all records of held requests of a worker that has died. */
void ft_spent_release_worker(ft_spent_t *spent, uint32_t worker);

/* Records an admission whose pass lasts session_ms and ends at end_ms.  False: an
   admission was recorded before. */
bool ft_spent_admit(ft_spent_t *spent, uint64_t id, uint64_t end_ms,
    uint32_t session_ms);

/* Records that the pass is done.  False: that was recorded before. */
bool ft_spent_finish(ft_spent_t *spent, uint64_t id, uint64_t end_ms);

/* Whether an admission of this id at seen_ms or later may have been forgotten.
   session_ms: lifetime of a pass now. */
bool ft_spent_is_forgotten(const ft_spent_t *spent, uint64_t id,
    uint64_t seen_ms, uint32_t session_ms);

/*
 * Records the use of one version of a ticket, named by its due time.  True: the
 * version was used within FT_SPENT_REPLAY_MS before.
 */
bool ft_spent_use(ft_spent_t *spent, uint64_t id, uint64_t due_ms,
    uint64_t now_ms);

/* Whether a version was used within twice that time.  Records nothing. */
bool ft_spent_is_used(const ft_spent_t *spent, uint64_t id, uint64_t due_ms,
    uint64_t now_ms);

#pragma GCC visibility pop


#endif /* FT_SPENT_H_INCLUDED */
