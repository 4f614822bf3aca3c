
#include <stddef.h>
#include <string.h>
#include "ft.h"
#include "ft_census.h"


#define FT_SLOT_MASK    (FT_SLOTS - 1)
#define FT_WINDOW       (FT_SLOTS - 1)  /* slots of a level in use at once */
#define FT_ROWS         (FT_DUES / 2)   /* of each half of the due wheel */
#define FT_ROW_MASK     (FT_ROWS - 1)
#define FT_FINE_MS      7000            /* due within: the fine half */


/* Two counters in one load halve the cost of a sum. */
typedef uint64_t __attribute__((may_alias))  ft_pair_t;

_Static_assert(_Alignof(ft_census_t) % sizeof(ft_pair_t) == 0
               && offsetof(ft_census_t, cell) % sizeof(ft_pair_t) == 0
               && offsetof(ft_census_t, called) % sizeof(ft_pair_t) == 0
               && offsetof(ft_census_t, fresh) % sizeof(ft_pair_t) == 0,
               "counters of a pair are not aligned");


static inline uint64_t
ft_census_pair(const _Atomic uint32_t *cells)
{
    return __atomic_load_n((const ft_pair_t *) cells, __ATOMIC_RELAXED);
}


/* A slot of level 0 is 2^16 us wide; each level is eight times as coarse. */
static inline unsigned
ft_census_shift(unsigned level)
{
    return 16 + 3 * level;
}


/* The finest level whose window, from the threshold on, holds the timestamp. */
static inline unsigned
ft_census_level(uint64_t threshold_us, uint64_t timestamp_us)
{
    unsigned  level, shift;

    for (level = 0; level < FT_LEVELS - 1; level++) {
        shift = ft_census_shift(level);

        if ((timestamp_us >> shift) - (threshold_us >> shift) < FT_WINDOW) {
            break;
        }
    }

    return level;
}


/* A row is 2^8 ms wide in the fine half of the wheel, 2^11 in the other. */
static inline unsigned
ft_census_row_shift(unsigned half)
{
    return half ? 11 : 8;
}


static inline unsigned
ft_census_row(unsigned half, uint64_t due_ms)
{
    return half * FT_ROWS
           + (unsigned) ((due_ms >> ft_census_row_shift(half)) & FT_ROW_MASK);
}


/* Subtracts at most n, never below 0; returns how many. */
static uint32_t
ft_census_take(_Atomic uint32_t *cell, uint32_t n)
{
    uint32_t  have, take;

    have = ft_load(cell);

    do {
        take = have < n ? have : n;

        if (take == 0) {
            return 0;
        }

    } while (!atomic_compare_exchange_weak_explicit(cell, &have, have - take,
                                                    memory_order_relaxed,
                                                    memory_order_relaxed));

    return take;
}


void
ft_census_reset(ft_census_t *census, uint64_t threshold_us, uint64_t now_ms)
{
    unsigned  half;

    (void) ft_census_expire(census, now_ms);

    /* follows a clock that was set back */

    for (half = 0; half < 2; half++) {
        ft_store(&census->next_due[half], now_ms >> ft_census_row_shift(half));
    }

    ft_store(&census->threshold_us, threshold_us);
    ft_store(&census->rank_base_us, threshold_us);
}


uint8_t
ft_census_increment(ft_census_t *census, uint64_t timestamp_us, uint64_t due_ms,
    uint64_t now_ms, bool fresh)
{
    unsigned  half, row, level;
    uint64_t  threshold;

    half = (due_ms > now_ms + FT_FINE_MS);
    row = ft_census_row(half, due_ms);
    half *= FT_PLACE_COARSE;

    if (fresh) {
        ft_add(&census->fresh[row], 1);
        return (uint8_t) (FT_LANE_FRESH | half);
    }

    threshold = ft_load(&census->threshold_us);

    if (timestamp_us <= threshold) {
        ft_add(&census->called[row], 1);
        return (uint8_t) (FT_LANE_CALLED | half);
    }

    level = ft_census_level(threshold, timestamp_us);

    if (!(ft_load(&census->used[level]) >> row & 1)) {
        atomic_fetch_or_explicit(&census->used[level], (uint64_t) 1 << row,
                                 memory_order_relaxed);
    }

    ft_add(&census->cell[level][row]
                        [(timestamp_us >> ft_census_shift(level)) & FT_SLOT_MASK],
           1);

    return (uint8_t) (level | half);
}


/* Removes a count from a slot that contains the threshold. */
static bool
ft_census_take_split(ft_census_t *census, unsigned row, uint64_t threshold_us)
{
    uint64_t  slot;
    unsigned  level;

    for (level = 0; level < FT_LEVELS; level++) {
        slot = threshold_us >> ft_census_shift(level);

        if (ft_census_take(&census->cell[level][row][slot & FT_SLOT_MASK], 1)) {
            return true;
        }
    }

    return false;
}


bool
ft_census_decrement(ft_census_t *census, uint64_t timestamp_us, uint64_t due_ms,
    uint8_t place, bool *called)
{
    unsigned           half, row, lane;
    uint64_t           threshold;
    _Atomic uint32_t  *cell;

    *called = false;
    lane = place & (FT_PLACE_COARSE - 1);

    if (lane == FT_LANE_NONE) {
        return false;
    }

    half = (place & FT_PLACE_COARSE) != 0;

    if (due_ms >> ft_census_row_shift(half) < ft_load(&census->next_due[half])) {
        return false;
    }

    row = ft_census_row(half, due_ms);

    if (lane == FT_LANE_FRESH) {
        return ft_census_take(&census->fresh[row], 1) != 0;
    }

    threshold = ft_load(&census->threshold_us);
    *called = (timestamp_us <= threshold);

    if (lane == FT_LANE_CALLED) {
        return ft_census_take(&census->called[row], 1)
               || ft_census_take_split(census, row, threshold);
    }

    cell = &census->cell[lane][row]
                        [(timestamp_us >> ft_census_shift(lane)) & FT_SLOT_MASK];

    /*
     * A slot that contains the threshold was split by share, not by timestamp:
     * the count may be in either part.
     */

    if (*called) {
        return ft_census_take(&census->called[row], 1) || ft_census_take(cell, 1)
               || ft_census_take_split(census, row, threshold);
    }

    return ft_census_take(cell, 1) || ft_census_take(&census->called[row], 1)
           || ft_census_take_split(census, row, threshold);
}


static uint32_t
ft_census_drain_row(ft_census_t *census, unsigned row)
{
    uint32_t  n;
    unsigned  level, slot;

    n = 0;

    for (level = 0; level < FT_LEVELS; level++) {

        if (!(ft_load(&census->used[level]) >> row & 1)) {
            continue;
        }

        atomic_fetch_and_explicit(&census->used[level],
                                  ~((uint64_t) 1 << row),
                                  memory_order_relaxed);

        for (slot = 0; slot < FT_SLOTS; slot++) {
            if (ft_load(&census->cell[level][row][slot])) {
                n += ft_exchange_zero(&census->cell[level][row][slot]);
            }
        }
    }

    return n;
}


ft_census_expired_t
ft_census_expire(ft_census_t *census, uint64_t now_ms)
{
    unsigned          half, row;
    uint64_t          next, end;
    ft_census_expired_t  expired = { 0, 0, 0 };

    for (half = 0; half < 2; half++) {
        end = now_ms >> ft_census_row_shift(half);
        next = ft_load(&census->next_due[half]);

        if (end > next + FT_ROWS) {
            next = end - FT_ROWS;
        }

        for ( /* void */ ; next < end; next++) {
            row = half * FT_ROWS + (unsigned) (next & FT_ROW_MASK);

            expired.called += ft_exchange_zero(&census->called[row]);
            expired.fresh += ft_exchange_zero(&census->fresh[row]);
            expired.waiting += ft_census_drain_row(census, row);

            ft_store(&census->next_due[half], next + 1);
        }
    }

    return expired;
}


/* Moves a share (of 65,536) of a slot to the called lane. */
static void
ft_census_move(ft_census_t *census, unsigned level, uint64_t slot,
    uint64_t share)
{
    uint64_t           carry;
    unsigned           row;
    uint32_t           n;
    _Atomic uint32_t  *cell;

    carry = 32768;

    for (row = 0; row < FT_DUES; row++) {
        cell = &census->cell[level][row][slot & FT_SLOT_MASK];
        n = ft_load(cell);

        if (n == 0) {
            continue;
        }

        carry += n * share;
        n = ft_census_take(cell, (uint32_t) (carry >> 16));
        carry &= 65535;

        if (n) {
            ft_add(&census->called[row], n);
        }
    }
}


void
ft_census_advance(ft_census_t *census, uint64_t threshold_us)
{
    unsigned  level, shift;
    uint64_t  old, from, slot, last;

    old = ft_load(&census->threshold_us);

    if (threshold_us <= old) {
        return;
    }

    ft_store(&census->threshold_us, threshold_us);

    for (level = 0; level < FT_LEVELS; level++) {
        shift = ft_census_shift(level);
        last = threshold_us >> shift;
        slot = old >> shift;

        if (last > slot + FT_SLOTS) {
            last = slot + FT_SLOTS;
        }

        for ( /* void */ ; slot < last; slot++) {
            ft_census_move(census, level, slot, 65536);
        }

        if (slot != threshold_us >> shift) {
            continue;
        }

        from = slot << shift > old ? slot << shift : old;

        ft_census_move(census, level, slot,
                       ((threshold_us - from) << 16)
                       / (((slot + 1) << shift) - from));
    }
}


void
ft_census_lower(ft_census_t *census, uint64_t threshold_us)
{
    uint64_t  old;

    old = ft_load(&census->threshold_us);

    while (threshold_us < old
           && !atomic_compare_exchange_weak_explicit(&census->threshold_us,
                                                     &old, threshold_us,
                                                     memory_order_relaxed,
                                                     memory_order_relaxed))
    {
        /* void */
    }
}


static uint32_t
ft_census_lane(const _Atomic uint32_t *lane)
{
    unsigned  row;
    uint64_t  n;

    n = 0;

    for (row = 0; row < FT_DUES; row += 2) {
        n += ft_census_pair(&lane[row]);
    }

    return (uint32_t) n + (uint32_t) (n >> 32);
}


uint32_t
ft_census_called(const ft_census_t *census)
{
    return ft_census_lane(census->called);
}


uint32_t
ft_census_fresh(const ft_census_t *census)
{
    return ft_census_lane(census->fresh);
}


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
            pairs[i] += ft_census_pair(&census->cell[level][row][2 * i]);
        }
    }

    memcpy(sum, pairs, sizeof(sum));

    shift = ft_census_shift(level);
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
        shift = ft_census_shift(level);
        first = base >> shift;

        for (slot = at >> shift; slot < first + FT_WINDOW; slot++) {
            i = (unsigned) (slot - first);
            ft_store(&census->rank[level][i], (uint32_t) (before >> 32));

            end = (slot + 1) << shift;
            sum = 0;

            for (k = level; k < FT_LEVELS; k++) {
                sum += density[k][(at >> ft_census_shift(k)) & FT_SLOT_MASK];
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

    shift = ft_census_shift(level);

    *from = ((base_us >> shift) + i) << shift;
    *to = *from + ((uint64_t) 1 << shift);

    if (level == 0) {
        begin = base_us;

    } else {
        shift = ft_census_shift(level - 1);
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

    level = ft_census_level(base, timestamp_us);
    shift = ft_census_shift(level);

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
