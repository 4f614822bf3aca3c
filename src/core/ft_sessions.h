
/*
 * The number of valid passes: counts by the time at which they end, on wheels of
 * rows, without a record per pass.
 *
 * A row carries the time that it stands for, so a row of a past turn counts as
 * 0.  Every count ends with its row: a worker that dies leaves no count behind.
 *
 * A pass counts until the end of its row: never shorter than its lifetime, and
 * longer by at most 256 ms or 3 % of the lifetime (2 s of 10 minutes).
 */

#ifndef FT_SESSIONS_H_INCLUDED
#define FT_SESSIONS_H_INCLUDED


#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)


#define FT_SESSION_WHEELS  4
#define FT_SESSION_ROWS    512      /* of each wheel, a power of two */


typedef struct {
    _Atomic uint64_t  until_ms[FT_SESSION_WHEELS];      /* the latest end */
    _Atomic uint64_t  row[FT_SESSION_WHEELS][FT_SESSION_ROWS];
    _Atomic uint32_t  limited;      /* a zone with sessions= has counted */
} ft_sessions_t;


/* Counts a pass that ends at end_ms, with a lifetime of session_ms (<= 1 day). */
void ft_sessions_add(ft_sessions_t *sessions, uint64_t end_ms,
    uint32_t session_ms);

/* Removes the count of such a pass.  False: there is none, or it has ended. */
bool ft_sessions_remove(ft_sessions_t *sessions, uint64_t end_ms,
    uint32_t session_ms, uint64_t now_ms);

/* The number of valid passes; of those that end between two times, from_ms
   not in the past. */
uint32_t ft_sessions_alive(const ft_sessions_t *sessions, uint64_t now_ms);
uint32_t ft_sessions_ending(const ft_sessions_t *sessions, uint64_t from_ms,
    uint64_t until_ms);

#pragma GCC visibility pop


#endif /* FT_SESSIONS_H_INCLUDED */
