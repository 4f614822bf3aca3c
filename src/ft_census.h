
/*
 * The census: how many shoppers wait, by stamp, in fixed memory and without a
 * record of any of them.
 *
 * A waiting shopper is one count in one cell, given by its stamp and by the
 * time it is due back; its ticket says which.  When it comes back the old
 * count goes and a new one is made, so it is counted once however often it
 * polls; a cell whose due time has passed is emptied, so whoever stays away
 * falls out.
 *
 * Stamps beyond the threshold are kept in levels of slots, each level eight
 * times as coarse and as wide as the one before: a stamp is counted in the
 * finest level whose window, which begins at the threshold, reaches it.
 * Shoppers poll more than once while the threshold approaches and are counted
 * finer each time.  Those the threshold has passed stand in the `called` lane,
 * and first attempts that have not come back yet in the `fresh` lane: they
 * keep the door shut, but take no place.
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

#define FT_CENSUS_AHEAD_MS  62000   /* no shopper is due later than this */

/* lanes of a place, below bit 3; bit 3: the coarse half of the due wheel */
#define FT_LANE_CALLED   5
#define FT_LANE_FRESH    6
#define FT_LANE_NONE     7
#define FT_PLACE_COARSE  8


typedef struct {
    _Atomic uint32_t  cell[FT_LEVELS][FT_DUES][FT_SLOTS];

    /* rows that may hold something: a bit for each, so that sums skip the rest */
    _Atomic uint64_t  used[FT_LEVELS];

    _Atomic uint32_t  called[FT_DUES];
    _Atomic uint32_t  fresh[FT_DUES];

    /* stamps up to this, in us, are in the called lane */
    _Atomic uint64_t  threshold_us;

    /* the first due row, of each half of the wheel, that is not emptied yet */
    _Atomic uint64_t  next_due[2];

    /* made by ft_census_rank(): live shoppers before a slot, and in all */
    _Atomic uint32_t  rank[FT_LEVELS][FT_SLOTS + 1];
    _Atomic uint64_t  rank_base_us;
    _Atomic uint32_t  rank_total;
} ft_census_t;


typedef struct {
    uint32_t          called;       /* fell out of the called lane */
    uint32_t          waiting;      /* fell out before they were called */
    uint32_t          fresh;
} ft_census_gone_t;


/* Begins anew at a stamp, without whoever is overdue. */
void ft_census_reset(ft_census_t *census, uint64_t threshold_us,
    uint64_t now_ms);

/*
 * Counts a shopper, due at most FT_CENSUS_AHEAD_MS from now.  Returns its
 * place.  `fresh`: a first attempt.
 */
uint8_t ft_census_count(ft_census_t *census, uint64_t stamp_us,
    uint64_t due_ms, uint64_t now_ms, bool fresh);

/*
 * Takes a count back.  False: there is none (overdue, or already taken).
 * *called tells whether it stood in the called lane.
 */
bool ft_census_uncount(ft_census_t *census, uint64_t stamp_us,
    uint64_t due_ms, uint8_t place, bool *called);

/* Empties the rows whose time has passed. */
ft_census_gone_t ft_census_expire(ft_census_t *census, uint64_t now_ms);

/* Moves the threshold forward, and what it passes into the called lane. */
void ft_census_advance(ft_census_t *census, uint64_t threshold_us);

/* Moves the threshold back, as long as nobody has been called. */
void ft_census_lower(ft_census_t *census, uint64_t threshold_us);

/* Sums up: fills the rank table.  The controller's once a tick. */
void ft_census_rank(ft_census_t *census);

/* The stamp, us, before which `count` of the waiting stand (after rank);
   limit_us if fewer wait. */
uint64_t ft_census_find(const ft_census_t *census, uint32_t count,
    uint64_t limit_us);

/* Live shoppers beyond the threshold and before a stamp, as of the last rank. */
uint32_t ft_census_before(const ft_census_t *census, uint64_t stamp_us);

/* Waiting beyond the threshold, as of the last rank. */
uint32_t ft_census_waiting(const ft_census_t *census);

uint32_t ft_census_called(const ft_census_t *census);
uint32_t ft_census_fresh(const ft_census_t *census);

#pragma GCC visibility pop


#endif /* FT_CENSUS_H_INCLUDED */
