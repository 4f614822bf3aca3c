
/*
 * The census: the number of waiting shoppers by timestamp, in fixed memory and
 * without a record per shopper.
 *
 * A waiting shopper is one count in one cell, chosen by the timestamp and by the
 * time when the shopper is due back; the ticket names the cell.  When the
 * shopper returns, the old count is decremented and a new one is incremented, so
 * a shopper counts once, however often it polls.  The rows of due times whose
 * time has passed are set to 0: an overdue shopper expires.
 *
 * Timestamps behind the threshold are kept in levels of 64 slots.  Each level is
 * eight times as coarse and as wide as the one before; a timestamp is counted in
 * the finest level that reaches it from the threshold.  Shoppers poll several
 * times while the threshold approaches and are counted finer each time.
 *
 * Shoppers that the threshold has passed are in the `called` lane.  First
 * attempts whose ticket has not come back are in the `fresh` lane: while there
 * are any, newcomers wait, but they take no place in the line.
 *
 * Cost: an increment or decrement touches one or two words; advance, expire and
 * rank, once a tick, are proportional to the rows in use.
 */

#ifndef FT_CENSUS_H_INCLUDED
#define FT_CENSUS_H_INCLUDED


#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)


#define FT_LEVELS  5
#define FT_SLOTS   64           /* of each level */
#define FT_DUES    64           /* 32 of 256 ms, then 32 of 2,048 ms */

#define FT_CENSUS_AHEAD_MS  62000   /* the latest due time, from now */

/* lanes of a place, below bit 3; bit 3: the coarse half of the due wheel */
#define FT_LANE_CALLED   5
#define FT_LANE_FRESH    6
#define FT_LANE_NONE     7
#define FT_LANE_MASK     7
#define FT_PLACE_COARSE  8
#define FT_PLACE_MASK    15


typedef struct {
    _Atomic uint32_t  cell[FT_LEVELS][FT_DUES][FT_SLOTS];

    /* a bit for each row that may hold counts: sums skip the others */
    _Atomic uint64_t  used[FT_LEVELS];

    _Atomic uint32_t  called[FT_DUES];
    _Atomic uint32_t  fresh[FT_DUES];

    /* timestamps up to this one, us, are in the called lane */
    _Atomic uint64_t  threshold_us;

    /* the first due row of each half of the wheel that has not expired */
    _Atomic uint64_t  next_due[2];

    /* written by ft_census_rank(): shoppers before a slot, and all */
    _Atomic uint32_t  rank[FT_LEVELS][FT_SLOTS + 1];
    _Atomic uint64_t  rank_base_us;
    _Atomic uint32_t  rank_total;
} ft_census_t;


/* Shoppers that have expired, by lane. */
typedef struct {
    uint32_t          called;
    uint32_t          waiting;      /* not called yet */
    uint32_t          fresh;
} ft_census_expired_t;


/* Begins a line at a timestamp; removes what is overdue. */
void ft_census_reset(ft_census_t *census, uint64_t threshold_us,
    uint64_t now_ms);

/*
 * Counts a shopper who is due at most FT_CENSUS_AHEAD_MS from now.  Returns the
 * place, which ft_census_decrement() needs.  fresh: a first attempt.
 */
uint8_t ft_census_increment(ft_census_t *census, uint64_t timestamp_us,
    uint64_t due_ms, uint64_t now_ms, bool fresh);

/*
 * Removes a count.  False: it has expired or was removed before.  *called tells
 * whether the threshold has passed the timestamp.
 */
bool ft_census_decrement(ft_census_t *census, uint64_t timestamp_us,
    uint64_t due_ms, uint8_t place, bool *called);

/* Removes all counts whose due time has passed. */
ft_census_expired_t ft_census_expire(ft_census_t *census, uint64_t now_ms);

/* Moves the threshold forward, and the counts that it passes to `called`. */
void ft_census_advance(ft_census_t *census, uint64_t threshold_us);

/* Moves the threshold back; only while nobody has been called. */
void ft_census_lower(ft_census_t *census, uint64_t threshold_us);

/*
 * Makes a table of how many shoppers are before a timestamp; once a tick, by one
 * worker.  Lookups interpolate within a slot.
 */
void ft_census_rank(ft_census_t *census);

/* The timestamp before which `count` of the waiting are; limit_us if there are
   fewer. */
uint64_t ft_census_rank_find(const ft_census_t *census, uint32_t count,
    uint64_t limit_us);

/* Shoppers behind the threshold and before a timestamp. */
uint32_t ft_census_rank_before(const ft_census_t *census,
    uint64_t timestamp_us);

/* All shoppers behind the threshold. */
uint32_t ft_census_rank_waiting(const ft_census_t *census);

/* Sums of the lanes. */
uint32_t ft_census_called(const ft_census_t *census);
uint32_t ft_census_fresh(const ft_census_t *census);

#pragma GCC visibility pop


#endif /* FT_CENSUS_H_INCLUDED */
