
#include <string.h>
#include "ft.h"
#include "ft_census_cells.h"
#include "ft_census_rank.h"


/*
 * Sums the slots of a level over the due rows and turns the sums into densities,
 * shoppers per microsecond x 2^32.  In the slot that contains the threshold, all
 * counts are behind it.  Returns the number of shoppers.
 */
static uint32_t
ft_census_density(const ft_census_t *census, unsigned level, uint64_t base_us,
    uint64_t *density)
{
    uint32_t  total, sum[FT_SLOTS];
    unsigned  i, row, shift;
    uint64_t  left, used, pairs[FT_SLOTS / 2];

    memset(pairs, 0, sizeof(pairs));

    used = ft_load(&census->used[level]);

    for (row = 0; used; row++, used >>= 1) {

        if (!(used & 1)) {
            continue;
        }

        for (i = 0; i < FT_SLOTS / 2; i++) {
            pairs[i] += ft_census_cells_pair(&census->cell[level][row][2 * i]);
        }
    }

    memcpy(sum, pairs, sizeof(sum));

    shift = ft_census_cells_shift(level);
    total = 0;

    for (i = 0; i < FT_SLOTS; i++) {
        total += sum[i];
        density[i] = ((uint64_t) sum[i] << 32) >> shift;
    }

    i = (unsigned) ((base_us >> shift) & FT_SLOT_MASK);
    left = (((base_us >> shift) + 1) << shift) - base_us;
    density[i] = ((uint64_t) sum[i] << 32) / left;

    return total;
}


/* Whether no row can hold a count. */
static bool
ft_census_is_empty(const ft_census_t *census)
{
    unsigned  level;

    for (level = 0; level < FT_LEVELS; level++) {
        if (ft_load(&census->used[level])) {
            return false;
        }
    }

    return true;
}


void
ft_census_rank(ft_census_t *census)
{
    unsigned  level, k, shift, i;
    uint32_t  total;
    uint64_t  base, at, end, slot, first, before, sum;
    uint64_t  density[FT_LEVELS][FT_SLOTS];

    base = ft_load(&census->threshold_us);
    total = 0;

    /* fast path for a zone of many idle keys */

    if (ft_load(&census->rank_total) == 0 && ft_census_is_empty(census)) {
        ft_store(&census->rank_base_us, base);
        return;
    }

    for (level = 0; level < FT_LEVELS; level++) {
        total += ft_census_density(census, level, base, density[level]);
    }

    at = base;
    before = UINT64_C(1) << 31;     /* one half: rounds to the nearest */

    for (level = 0; level < FT_LEVELS; level++) {
        shift = ft_census_cells_shift(level);
        first = base >> shift;

        for (slot = at >> shift; slot < first + FT_WINDOW; slot++) {
            i = (unsigned) (slot - first);
            ft_store(&census->rank[level][i], (uint32_t) (before >> 32));

            end = (slot + 1) << shift;
            sum = 0;

            for (k = level; k < FT_LEVELS; k++) {
                sum += density[k][(at >> ft_census_cells_shift(k)) & FT_SLOT_MASK];
            }

            before += sum * (end - at);
            at = end;
        }

        ft_store(&census->rank[level][FT_WINDOW], (uint32_t) (before >> 32));
    }

    ft_store(&census->rank_total, total);
    ft_store(&census->rank_base_us, base);
}


/* The part of the i-th slot of a level that no finer level covers. */
static void
ft_census_part(uint64_t base_us, unsigned level, unsigned i, uint64_t *from,
    uint64_t *to)
{
    unsigned  shift;
    uint64_t  begin;

    shift = ft_census_cells_shift(level);

    *from = ((base_us >> shift) + i) << shift;
    *to = *from + ((uint64_t) 1 << shift);

    if (level == 0) {
        begin = base_us;

    } else {
        shift = ft_census_cells_shift(level - 1);
        begin = ((base_us >> shift) + FT_WINDOW) << shift;
    }

    if (*from < begin) {
        *from = begin;
    }
}


uint64_t
ft_census_rank_find(const ft_census_t *census, uint32_t count, uint64_t limit_us)
{
    unsigned  level, i;
    uint32_t  lower, upper;
    uint64_t  base, from, to, at;

    base = ft_load(&census->rank_base_us);

    for (level = 0; level < FT_LEVELS; level++) {

        if (ft_load(&census->rank[level][FT_WINDOW]) < count) {
            continue;
        }

        for (i = 0; i < FT_WINDOW; i++) {
            ft_census_part(base, level, i, &from, &to);

            if (from >= to) {
                continue;
            }

            upper = ft_load(&census->rank[level][i + 1]);

            if (upper < count) {
                continue;
            }

            lower = ft_load(&census->rank[level][i]);

            at = upper > lower && count > lower
                 ? from + (to - from) * (count - lower) / (upper - lower)
                 : from;

            return at < limit_us ? at : limit_us;
        }
    }

    return limit_us;
}


uint32_t
ft_census_rank_before(const ft_census_t *census, uint64_t timestamp_us)
{
    unsigned  level, shift, i;
    uint32_t  lower, upper;
    uint64_t  base, from, to;

    base = ft_load(&census->rank_base_us);

    if (timestamp_us <= base) {
        return 0;
    }

    level = ft_census_cells_level(base, timestamp_us);
    shift = ft_census_cells_shift(level);

    if ((timestamp_us >> shift) - (base >> shift) >= FT_WINDOW) {
        return ft_census_rank_waiting(census);
    }

    i = (unsigned) ((timestamp_us >> shift) - (base >> shift));
    ft_census_part(base, level, i, &from, &to);

    lower = ft_load(&census->rank[level][i]);
    upper = ft_load(&census->rank[level][i + 1]);

    if (upper <= lower || timestamp_us <= from) {
        return lower;
    }

    return lower + (uint32_t) ((upper - lower) * (timestamp_us - from)
                               / (to - from));
}


uint32_t
ft_census_rank_waiting(const ft_census_t *census)
{
    return ft_load(&census->rank_total);
}
