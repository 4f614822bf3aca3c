
/*
 * How many passes are alive at once: counts by the time at which they end, on
 * wheels of rows, without a record of any pass.  Rows carry the time that they
 * stand for and so clean themselves; a sum over the rows is all there is, so no
 * worker that dies leaves a count that does not end.
 *
 * A pass is counted to the end of its row: never shorter than it lives, and
 * longer by 256 ms or 3 % of its life at most (2 s of 10 minutes).
 */

#ifndef FT_SESSIONS_H_INCLUDED
#define FT_SESSIONS_H_INCLUDED


#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)


#define FT_SESSION_WHEELS  4
#define FT_SESSION_ROWS    512      /* of each wheel, a power of two */
#define FT_SESSIONS_OVER   2048     /* passes said to be over, a power of two */


typedef struct {
    _Atomic uint64_t  until_ms[FT_SESSION_WHEELS];      /* the latest end */
    _Atomic uint64_t  row[FT_SESSION_WHEELS][FT_SESSION_ROWS];
    _Atomic uint32_t  over[FT_SESSIONS_OVER];   /* a table of prints: the last
                                                   ones, it forgets */
    _Atomic uint32_t  bounded;      /* a zone that bounds them has used it */
} ft_sessions_t;


/* Counts one that ends then, having been given for session_ms (to a day). */
void ft_sessions_add(ft_sessions_t *sessions, uint64_t end_ms,
    uint32_t session_ms);

/*
 * Takes back one that was added so.  False: no such one is counted, or, by
 * now_ms, it has ended by itself.
 */
bool ft_sessions_remove(ft_sessions_t *sessions, uint64_t end_ms,
    uint32_t session_ms, uint64_t now_ms);

/* How many are alive; how many end between two times, the first not past. */
uint32_t ft_sessions_alive(const ft_sessions_t *sessions, uint64_t now_ms);
uint32_t ft_sessions_ending(const ft_sessions_t *sessions, uint64_t from_ms,
    uint64_t until_ms);

/* Says that a pass is over before its end.  False: that was said before. */
bool ft_sessions_end(ft_sessions_t *sessions, uint64_t id);

/* Whether that was said of it, as far as is remembered. */
bool ft_sessions_is_over(const ft_sessions_t *sessions, uint64_t id);

#pragma GCC visibility pop


#endif /* FT_SESSIONS_H_INCLUDED */
