
/*
 * The hold: called shoppers parked at the edge for room, earliest stamp first,
 * over all workers.  Each worker publishes the earliest stamp it holds and the
 * time it did so; a worker that is gone or stuck stops doing so, and the others
 * no longer wait for it.
 */

#include "ft_control.h"
#include "ft_hold.h"
#include "ft_opening.h"
#include "ft_orders.h"
#include "ft_word.h"


#define FT_BEAT_MS       100    /* a holding worker wakes at least so often */
#define FT_BEAT_LATE_MS  300    /* a head not refreshed for this is ignored */
#define FT_RETRY_MS      5      /* room that another worker will free */


static void
ft_hold_publish(const ft_call_t *call, const ft_line_t *line)
{
    ft_hand_t       *hand;
    ft_line_node_t  *first;

    hand = &call->state->hand[call->worker];
    first = ft_line_first(line);

    ft_store(&hand->held, line->len);
    ft_store(&hand->head_us, first ? first->stamp_us : UINT64_MAX);
    ft_store(&hand->beat_ms, first ? call->now_ms : 0);
}


static bool
ft_hold_beats(const ft_call_t *call, const ft_hand_t *hand)
{
    return ft_load(&hand->beat_ms) + FT_BEAT_LATE_MS > call->now_ms;
}


bool
ft_hold_has(const ft_call_t *call, uint64_t id)
{
    ft_mark_t  mark;

    mark = ft_mark_look(&call->state->marks, id, call->now_ms);

    /* a worker that is gone holds nobody */

    return mark.kind == FT_ID_HELD
           && ft_hold_beats(call, &call->state->hand[mark.worker]);
}


bool
ft_hold_is_first(const ft_call_t *call, uint64_t stamp_us)
{
    uint32_t          i;
    const ft_hand_t  *hand;

    for (i = 0; i < call->workers; i++) {
        hand = &call->state->hand[i];

        if (ft_load(&hand->head_us) < stamp_us && ft_hold_beats(call, hand)) {
            return false;
        }
    }

    return true;
}


bool
ft_hold_park(const ft_call_t *call, ft_line_t *line, ft_line_node_t *node,
    const ft_ticket_t *ticket)
{
    if (line == NULL || ft_orders_is_shut(call->state)
        || ft_state_held(call->state, call->workers)
           >= ft_control_held_max(call))
    {
        return false;
    }

    node->stamp_us = ft_opening_stamp_us(call, ticket);
    node->first_ms = ticket->first_ms;
    node->id = ticket->id;
    node->until_ms = call->now_ms + call->rules->hold_ms;

    ft_line_insert(line, node);
    ft_hold_publish(call, line);
    ft_mark_held(&call->state->marks, node->id, call->worker, node->until_ms);

    atomic_fetch_add_explicit(&call->state->totals.held, 1,
                              memory_order_relaxed);
    return true;
}


static ft_line_node_t *
ft_hold_release(const ft_call_t *call, ft_line_t *line, ft_line_node_t *node)
{
    ft_line_remove(line, node);
    ft_hold_publish(call, line);
    ft_mark_clear(&call->state->marks, node->id);

    return node;
}


ft_line_node_t *
ft_hold_next(const ft_call_t *call, ft_line_t *line, bool *admitted,
    uint64_t *wake_ms)
{
    uint64_t         wake;
    ft_line_node_t  *first, *oldest;

    *wake_ms = 0;
    *admitted = false;

    first = ft_line_first(line);

    if (first == NULL) {
        return NULL;
    }

    ft_control_tick(call);
    ft_hold_publish(call, line);

    if (ft_orders_is_shut(call->state)) {
        return ft_hold_release(call, line, first);
    }

    if (!ft_hold_is_first(call, first->stamp_us)) {
        wake = call->now_ms + FT_RETRY_MS;

    } else if (ft_admission_take(call, first->first_ms)) {
        ft_admission_count(call, first->id, first->first_ms);
        *admitted = true;
        return ft_hold_release(call, line, first);

    } else {
        wake = ft_bucket_ready_ms(&call->state->bucket, call->limits,
                                  call->now_ms);

        if (wake <= call->now_ms) {
            wake = call->now_ms + FT_RETRY_MS;
        }
    }

    oldest = ft_line_oldest(line);

    if (oldest->until_ms <= call->now_ms) {
        return ft_hold_release(call, line, oldest);
    }

    if (wake > oldest->until_ms) {
        wake = oldest->until_ms;
    }

    if (wake > call->now_ms + FT_BEAT_MS) {
        wake = call->now_ms + FT_BEAT_MS;
    }

    *wake_ms = wake;

    return NULL;
}


void
ft_hold_leave(const ft_call_t *call, ft_line_t *line, ft_line_node_t *node)
{
    (void) ft_hold_release(call, line, node);

    atomic_fetch_add_explicit(&call->state->totals.left, 1,
                              memory_order_relaxed);
    atomic_fetch_add_explicit(&call->state->control.left, 1,
                              memory_order_relaxed);
}
