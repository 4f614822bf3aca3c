
#include "ft_capacity.h"
#include "ft_control.h"
#include "ft_hold.h"
#include "ft_override.h"
#include "ft_pass.h"


#define FT_HEARTBEAT_MS       100   /* a worker with held requests wakes so often */
#define FT_HEARTBEAT_LATE_MS  300   /* a worker without a heartbeat is ignored */
#define FT_RETRY_MS           5     /* capacity that another worker will free */


static void
ft_hold_publish(const ft_call_t *call, const ft_line_t *line)
{
    ft_worker_t     *worker;
    ft_line_node_t  *first;

    worker = &call->state->worker[call->worker];
    first = ft_line_first(line);

    ft_store(&worker->held, line->len);
    ft_store(&worker->head_us, first ? first->timestamp_us : UINT64_MAX);
    ft_store(&worker->heartbeat_ms, first ? call->now_ms : 0);
}


static bool
ft_hold_is_alive(const ft_call_t *call, const ft_worker_t *worker)
{
    return ft_load(&worker->heartbeat_ms) + FT_HEARTBEAT_LATE_MS
           > call->now_ms;
}


bool
ft_hold_has(const ft_call_t *call, uint64_t id)
{
    ft_spent_record_t  record;

    record = ft_spent_find(&call->state->spent, id, call->now_ms);

    return record.kind == FT_SPENT_HELD
           && ft_hold_is_alive(call, &call->state->worker[record.worker]);
}


bool
ft_hold_is_first(const ft_call_t *call, uint64_t timestamp_us)
{
    uint32_t            i;
    const ft_worker_t  *worker;

    for (i = 0; i < call->workers; i++) {
        worker = &call->state->worker[i];

        if (ft_load(&worker->head_us) < timestamp_us
            && ft_hold_is_alive(call, worker))
        {
            return false;
        }
    }

    return true;
}


/* Admissions of the flow within a hold; at least 1. */
static uint32_t
ft_hold_max(const ft_call_t *call)
{
    uint64_t  n;

    if (call->rules->hold_ms == 0) {
        return 0;
    }

    n = ft_capacity_flow_milli(call) * call->rules->hold_ms / 1000000;

    return (uint32_t) ft_clamp(n, 1, UINT32_MAX);
}


bool
ft_hold_park(const ft_call_t *call, ft_line_t *line, ft_line_node_t *node,
    const ft_ticket_t *ticket, uint64_t timestamp_us)
{
    if (line == NULL || ft_override_is_stopped(call->state)
        || ft_state_held(call->state, call->workers) >= ft_hold_max(call))
    {
        return false;
    }

    node->timestamp_us = timestamp_us;
    node->first_ms = ticket->first_ms;
    node->id = ticket->id;
    node->until_ms = call->now_ms + call->rules->hold_ms;

    ft_line_insert(line, node);
    ft_hold_publish(call, line);
    ft_spent_hold(&call->state->spent, node->id, call->worker, node->until_ms);
    ft_add(&call->state->totals.held, 1);

    return true;
}


static ft_line_node_t *
ft_hold_release(const ft_call_t *call, ft_line_t *line, ft_line_node_t *node)
{
    ft_line_remove(line, node);
    ft_hold_publish(call, line);
    ft_spent_release(&call->state->spent, node->id);

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

    if (ft_override_is_stopped(call->state)) {
        return ft_hold_release(call, line, first);
    }

    if (!ft_hold_is_first(call, first->timestamp_us)) {
        wake = call->now_ms + FT_RETRY_MS;

    } else if (ft_capacity_take(call, first->first_ms)) {
        ft_pass_begin(call, first->id, first->first_ms);
        *admitted = true;
        return ft_hold_release(call, line, first);

    } else {
        wake = ft_bucket_ready_ms(&call->state->bucket, &call->limits,
                                  call->now_ms);

        if (wake <= call->now_ms) {
            wake = call->now_ms + FT_RETRY_MS;
        }
    }

    oldest = ft_line_oldest(line);

    if (oldest->until_ms <= call->now_ms) {
        return ft_hold_release(call, line, oldest);
    }

    wake = ft_min(wake, oldest->until_ms);
    *wake_ms = ft_min(wake, call->now_ms + FT_HEARTBEAT_MS);

    return NULL;
}


void
ft_hold_leave(const ft_call_t *call, ft_line_t *line, ft_line_node_t *node)
{
    (void) ft_hold_release(call, line, node);

    ft_add(&call->state->totals.left, 1);
    ft_add(&call->state->control.left, 1);
}
