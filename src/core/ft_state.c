
#include <string.h>
#include "ft_state.h"


void
ft_state_init(ft_state_t *state, uint32_t generation, uint64_t now_ms)
{
    /* not published yet, or no longer in use: plain stores suffice */

    memset(state, 0, sizeof(ft_state_t));

    atomic_store(&state->born_ms, now_ms);
    atomic_store(&state->used_ms, now_ms);
    ft_census_reset(&state->census, now_ms * 1000, now_ms);
    atomic_store(&state->generation, generation);
}


void
ft_state_forget(ft_state_t *state, uint32_t worker)
{
    ft_worker_t  *w;

    w = &state->worker[worker];

    if (atomic_load(&w->held)) {
        ft_spent_release_worker(&state->spent, worker);
    }

    atomic_store(&w->heartbeat_ms, 0);
    atomic_store(&w->head_us, 0);
    atomic_store(&w->held, 0);
    atomic_store(&w->inflight, 0);
    atomic_fetch_and(&state->taking[worker / 64],
                     ~((uint64_t) 1 << worker % 64));
}


uint32_t
ft_state_held(const ft_state_t *state, uint32_t workers)
{
    uint32_t  i, n;

    n = 0;

    for (i = 0; i < workers; i++) {
        n += ft_load(&state->worker[i].held);
    }

    return n;
}


uint32_t
ft_state_inflight(const ft_state_t *state, uint32_t workers)
{
    uint32_t  i, n;

    n = 0;

    for (i = 0; i < workers; i++) {
        n += atomic_load(&state->worker[i].inflight);
    }

    return n;
}
