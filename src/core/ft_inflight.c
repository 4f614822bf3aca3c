
#include "ft_inflight.h"


#define FT_EXPECT_MS   2000     /* the page of an admitted poll comes within */

/* A row is 256 ms: 16 bits of its number, 16 of the count. */
#define FT_EXPECT_SHIFT  8
#define FT_EXPECT_ROW    UINT32_C(0xffff0000)


static _Atomic uint32_t *
ft_inflight_row(ft_state_t *state, uint64_t due_ms, uint32_t *number)
{
    *number = (uint32_t) (due_ms >> FT_EXPECT_SHIFT) << 16;

    return &state->expected[(due_ms >> FT_EXPECT_SHIFT) % FT_DUES];
}


static uint32_t
ft_inflight_expected(const ft_call_t *call)
{
    uint32_t  n, word, number;
    uint64_t  row, end;

    n = 0;
    end = (call->now_ms + FT_EXPECT_MS) >> FT_EXPECT_SHIFT;

    for (row = call->now_ms >> FT_EXPECT_SHIFT; row <= end; row++) {
        word = atomic_load(ft_inflight_row(call->state, row << FT_EXPECT_SHIFT,
                                           &number));

        if ((word & FT_EXPECT_ROW) == number) {
            n += word & ~FT_EXPECT_ROW;
        }
    }

    return n;
}


/* A page that arrives during the sum might be missed in both counts. */
uint32_t
ft_inflight_count(const ft_call_t *call)
{
    uint32_t     n, arrived;
    ft_state_t  *state;

    state = call->state;

    do {
        arrived = atomic_load(&state->arrived);
        n = ft_state_inflight(state, call->workers)
            + ft_inflight_expected(call);
    } while (atomic_load(&state->arrived) != arrived);

    return n;
}


/* Never below 0: the count of a dead worker has been cleared. */
static void
ft_inflight_leave(ft_state_t *state, uint32_t worker)
{
    uint32_t           n;
    _Atomic uint32_t  *inflight;

    inflight = &state->worker[worker].inflight;
    n = ft_load(inflight);

    while (n && !atomic_compare_exchange_weak(inflight, &n, n - 1)) {
        /* void */
    }
}


void
ft_inflight_expect(const ft_call_t *call, ft_ticket_t *pass)
{
    uint32_t           word, number;
    _Atomic uint32_t  *row;

    row = ft_inflight_row(call->state, call->now_ms + FT_EXPECT_MS, &number);
    word = ft_load(row);

    while (!atomic_compare_exchange_weak(row, &word,
                                         ((word & FT_EXPECT_ROW) == number
                                          ? word : number) + 1))
    {
        /* void */
    }

    pass->place = FT_LANE_FRESH;

    if (ft_load(&call->state->generation) == pass->generation) {
        ft_inflight_leave(call->state, call->worker);
    }
}


void
ft_inflight_enter(const ft_call_t *call, const ft_ticket_t *pass)
{
    uint32_t           word, number;
    ft_state_t        *state;
    _Atomic uint32_t  *row;

    state = call->state;

    ft_add(&state->totals.passed, 1);
    atomic_fetch_add(&state->worker[call->worker].inflight, 1);

    if (pass->place != FT_LANE_FRESH
        || pass->generation != ft_load(&state->generation)
        || call->now_ms > pass->seen_ms + FT_EXPECT_MS
        || ft_spent_use(&state->spent, pass->id, pass->due_ms, call->now_ms))
    {
        return;
    }

    /* between the two counts, see ft_inflight_count() */

    atomic_fetch_add(&state->arrived, 1);

    row = ft_inflight_row(state, pass->seen_ms + FT_EXPECT_MS, &number);
    word = ft_load(row);

    while ((word & FT_EXPECT_ROW) == number && (word & ~FT_EXPECT_ROW)
           && !atomic_compare_exchange_weak(row, &word, word - 1))
    {
        /* void */
    }
}


void
ft_inflight_failed(ft_state_t *state, uint32_t generation)
{
    if (ft_load(&state->generation) == generation) {
        ft_add(&state->totals.errors, 1);
    }
}


void
ft_inflight_done(ft_state_t *state, uint32_t generation, uint32_t worker)
{
    if (ft_load(&state->generation) != generation) {
        return;
    }

    ft_add(&state->totals.done, 1);
    ft_inflight_leave(state, worker);
}
