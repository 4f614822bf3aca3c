
/*
 * The state of one key: making it new, and sums over the workers' hands.
 */

#include <string.h>
#include "ft_state.h"


void
ft_state_init(ft_state_t *state, uint32_t epoch, uint64_t now_ms)
{
    /* nobody else uses it yet, or has any longer: plain stores will do */

    memset(state, 0, sizeof(ft_state_t));

    atomic_store(&state->born_ms, now_ms);
    atomic_store(&state->used_ms, now_ms);
    ft_census_reset(&state->census, now_ms * 1000, now_ms);
    atomic_store(&state->epoch, epoch);
}


void
ft_state_forget(ft_state_t *state, uint32_t worker)
{
    ft_hand_t  *hand;

    hand = &state->hand[worker];

    if (atomic_load(&hand->held)) {
        ft_mark_forget(&state->marks, worker);
    }

    atomic_store(&hand->beat_ms, 0);
    atomic_store(&hand->head_us, 0);
    atomic_store(&hand->held, 0);
    atomic_store(&hand->inflight, 0);
}


uint32_t
ft_state_held(const ft_state_t *state, uint32_t workers)
{
    uint32_t  i, n;

    n = 0;

    for (i = 0; i < workers; i++) {
        n += atomic_load_explicit(&state->hand[i].held, memory_order_relaxed);
    }

    return n;
}


uint32_t
ft_state_inflight(const ft_state_t *state, uint32_t workers)
{
    uint32_t  i, n;

    n = 0;

    for (i = 0; i < workers; i++) {
        n += atomic_load(&state->hand[i].inflight);
    }

    return n;
}
