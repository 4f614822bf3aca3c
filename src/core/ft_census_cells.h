
/*
 * The layout of the census cells, for ft_census.c and ft_census_rank.c only.
 */

#ifndef FT_CENSUS_CELLS_H_INCLUDED
#define FT_CENSUS_CELLS_H_INCLUDED


#include "ft_census.h"


#define FT_SLOT_MASK    (FT_SLOTS - 1)
#define FT_WINDOW       (FT_SLOTS - 1)  /* slots of a level in use at once */


/* Two counters in one load halve the cost of a sum. */
typedef uint64_t __attribute__((may_alias))  ft_pair_t;


static inline uint64_t
ft_census_cells_pair(const _Atomic uint32_t *cells)
{
    return __atomic_load_n((const ft_pair_t *) cells, __ATOMIC_RELAXED);
}


/* A slot of level 0 is 2^16 us wide; each level is eight times as coarse. */
static inline unsigned
ft_census_cells_shift(unsigned level)
{
    return 16 + 3 * level;
}


/* The finest level whose window, from the threshold on, holds the timestamp. */
static inline unsigned
ft_census_cells_level(uint64_t threshold_us, uint64_t timestamp_us)
{
    unsigned  level, shift;

    for (level = 0; level < FT_LEVELS - 1; level++) {
        shift = ft_census_cells_shift(level);

        if ((timestamp_us >> shift) - (threshold_us >> shift) < FT_WINDOW) {
            break;
        }
    }

    return level;
}


#endif /* FT_CENSUS_CELLS_H_INCLUDED */
