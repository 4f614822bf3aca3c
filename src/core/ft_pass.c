
#include "ft_capacity.h"
#include "ft_pass.h"


uint64_t
ft_pass_seen_ms(const ft_call_t *call, const ft_ticket_t *ticket)
{
    return ft_max(call->now_ms, ticket->first_ms);
}


void
ft_pass_begin(const ft_call_t *call, uint64_t id, uint64_t first_ms)
{
    uint32_t     session;
    uint64_t     waited, end;
    ft_state_t  *state;

    state = call->state;
    session = call->rules->session_ms;
    end = ft_capacity_end_ms(call, first_ms);
    waited = call->now_ms > first_ms ? call->now_ms - first_ms : 0;

    if (!ft_spent_admit(&state->spent, id, end, session)) {

        /* another request with this ticket was admitted at the same time */

        (void) ft_sessions_remove(&state->sessions, end, session, call->now_ms);
        ft_pass_confirm(call);
        return;
    }

    ft_add(&state->totals.admitted, 1);
    ft_waits_count(&state->waits, waited);

    if (waited) {
        ft_add(&state->totals.waited_ms, waited);
        ft_queuelog_waited(&state->queuelog, waited);
    }
}


void
ft_pass_make(const ft_call_t *call, ft_ticket_t *ticket)
{
    ticket->kind = FT_TICKET_PASS;
    ticket->seen_ms = ft_pass_seen_ms(call, ticket);
    ticket->due_ms = ft_capacity_end_ms(call, ticket->first_ms);
    ticket->generation = ft_load(&call->state->generation);
    ticket->place = FT_LANE_NONE;
}


bool
ft_pass_again(const ft_call_t *call, ft_ticket_t *ticket)
{
    uint64_t           given;
    ft_spent_record_t  record;

    record = ft_spent_find(&call->state->spent, ticket->id, call->now_ms);

    if (record.kind != FT_SPENT_ADMITTED || record.until_ms <= call->now_ms) {
        return false;
    }

    ft_pass_make(call, ticket);

    /* a reload may have changed the session, but not the end of this pass */

    given = record.until_ms - call->rules->session_ms;

    ticket->seen_ms = ft_max(given, ticket->first_ms);
    ticket->due_ms = record.until_ms;

    return true;
}


bool
ft_pass_is_done(const ft_call_t *call, const ft_ticket_t *pass)
{
    return ft_spent_find(&call->state->spent, pass->id, call->now_ms).kind
           == FT_SPENT_DONE;
}


/*
 * The end of a pass that was given again is known to the second: the count that
 * is removed may be of another pass with about the same end.
 */
bool
ft_pass_done(const ft_call_t *call, const ft_ticket_t *pass)
{
    uint64_t     end;
    uint32_t     session;
    ft_state_t  *state;

    state = call->state;

    if (pass->kind != FT_TICKET_PASS
        || !ft_spent_finish(&state->spent, pass->id, pass->due_ms))
    {
        return false;
    }

    ft_add(&state->totals.spent, 1);

    /* the sessions of another edge, or from before a restart, are not counted */

    if (pass->generation != ft_load(&state->generation)) {
        return true;
    }

    session = (uint32_t) (pass->due_ms - pass->seen_ms);

    for (end = pass->due_ms; end <= pass->due_ms + 1000; end += 250) {
        if (ft_sessions_remove(&state->sessions, end, session, call->now_ms)) {
            ft_add(&state->control.ended, 1);
            break;
        }
    }

    return true;
}


void
ft_pass_confirm(const ft_call_t *call)
{
    ft_add(&call->state->totals.passed, 1);
}
