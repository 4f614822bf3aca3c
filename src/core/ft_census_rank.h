
/*
 * The census as a line: how many shoppers are before a timestamp.  The table is
 * made once a tick; lookups interpolate within a slot.
 */

#ifndef FT_CENSUS_RANK_H_INCLUDED
#define FT_CENSUS_RANK_H_INCLUDED


#include "ft_census.h"

#pragma GCC visibility push(hidden)


/* Makes the table; once a tick, by one worker. */
void ft_census_rank(ft_census_t *census);

/* As of the last ft_census_rank(): */

/* The timestamp before which `count` of the waiting are; limit_us if there are
   fewer. */
uint64_t ft_census_rank_find(const ft_census_t *census, uint32_t count,
    uint64_t limit_us);

/* Shoppers behind the threshold and before a timestamp. */
uint32_t ft_census_rank_before(const ft_census_t *census,
    uint64_t timestamp_us);

/* All shoppers behind the threshold. */
uint32_t ft_census_rank_waiting(const ft_census_t *census);

#pragma GCC visibility pop


#endif /* FT_CENSUS_RANK_H_INCLUDED */
