
#include "ft_admission.h"
#include "ft_capacity.h"
#include "ft_control.h"
#include "ft_hold.h"
#include "ft_opening.h"
#include "ft_override.h"
#include "ft_pass.h"
#include "ft_position.h"
#include "ft_queue.h"
#include "ft_restart.h"


#define FT_GRACE_MS  250    /* from the advised time to the due time */


/* The kind of a request for the census. */
typedef enum {
    FT_ARRIVAL_FIRST,       /* a first attempt */
    FT_ARRIVAL_COUNTED,     /* its count was there, and is removed */
    FT_ARRIVAL_LATE,        /* its count has expired, or is another edge's; it
                               is counted when it comes back once more */
    FT_ARRIVAL_REPLAY       /* this version of the ticket was used before */
} ft_arrival_t;


/* A request under decision. */
typedef struct {
    const ft_call_t  *call;
    ft_ticket_t      *ticket;
    uint64_t          timestamp_us;     /* place in line */
    ft_arrival_t      arrival;
    bool              whole_seconds;
} ft_asking_t;


/* Counts a shopper who goes on waiting, and dates its ticket. */
static void
ft_admission_enlist(const ft_asking_t *asking, uint32_t retry, bool fresh)
{
    uint8_t           place;
    uint64_t          ahead;
    ft_state_t       *state;
    ft_ticket_t      *ticket;
    const ft_call_t  *call;

    call = asking->call;
    state = call->state;
    ticket = asking->ticket;

    if (asking->whole_seconds) {
        retry = (retry + 999) / 1000 * 1000;
    }

    ahead = ft_min(retry + retry / 10 + FT_GRACE_MS, FT_CENSUS_AHEAD_MS);

    ticket->kind = FT_TICKET_WAIT;
    ticket->seen_ms = ft_pass_seen_ms(call, ticket);
    ticket->due_ms = ticket->seen_ms + ahead;
    ticket->generation = ft_load(&state->generation);

    place = FT_LANE_NONE;

    if (!ft_opening_is_closed(call) || ft_opening_counts(call)) {
        place = ft_census_increment(&state->census, asking->timestamp_us,
                                    ticket->due_ms, call->now_ms, fresh);
    }

    ticket->place = ft_opening_seal(call, ticket, place);
}


static ft_verdict_t
ft_admission_admit(const ft_asking_t *asking)
{
    ft_verdict_t  verdict = { .answer = FT_ADMIT };

    ft_pass_begin(asking->call, asking->ticket->id, asking->ticket->first_ms);

    return verdict;
}


static ft_verdict_t
ft_admission_wait(const ft_asking_t *asking)
{
    uint32_t          max_wait;
    ft_position_t     p;
    const ft_call_t  *call;
    ft_verdict_t      verdict = { .answer = FT_WAIT };

    call = asking->call;
    p = ft_position_of(call, asking->timestamp_us);

    verdict.replay = (asking->arrival == FT_ARRIVAL_REPLAY);
    verdict.position = p.position;
    verdict.wait_ms = ft_position_wait_ms(call, &p);

    if (asking->arrival == FT_ARRIVAL_FIRST) {

        /* first attempts just before this one are not in the line yet */

        verdict.wait_ms += ft_census_fresh(&call->state->census)
                           * UINT64_C(1000000)
                           / ft_capacity_upstream_milli(call);

        max_wait = call->rules->max_wait_ms;

        if (max_wait && verdict.wait_ms > max_wait) {
            ft_add(&call->state->totals.rejected, 1);
            verdict.answer = FT_REJECT;
            verdict.retry_ms = (uint32_t) ft_min(verdict.wait_ms, UINT32_MAX);
            return verdict;
        }
    }

    verdict.wait_ms = ft_position_shown_ms(call, verdict.wait_ms);
    verdict.retry_ms = ft_position_retry_ms(call, asking->ticket, &p);

    ft_add(&call->state->totals.queued, 1);

    if (!verdict.replay) {
        ft_admission_enlist(asking, verdict.retry_ms,
                            asking->arrival != FT_ARRIVAL_COUNTED);
    }

    return verdict;
}


/* The retry time that the shopper got last. */
static uint64_t
ft_admission_advice_ms(const ft_ticket_t *ticket)
{
    uint64_t  ahead;

    ahead = ticket->due_ms - ticket->seen_ms;

    return ahead > FT_GRACE_MS ? (ahead - FT_GRACE_MS) * 10 / 11 : 0;
}


/*
 * The rest of the retry time of an early poll (a reload, a tab, a poll out of
 * turn) that is not called yet: its count and its ticket stay as they are.  0:
 * not an early poll, or hardly any time is left.
 *
 * A used version of the ticket is excluded: it must not replace the newer one in
 * the cookie.
 */
static uint32_t
ft_admission_rest_ms(const ft_asking_t *asking)
{
    uint8_t             place;
    uint64_t            at, rest;
    ft_state_t         *state;
    const ft_call_t    *call;
    const ft_ticket_t  *ticket;

    call = asking->call;
    state = call->state;
    ticket = asking->ticket;
    at = ticket->seen_ms + ft_admission_advice_ms(ticket);

    if (at <= call->now_ms
        || call->rules->policy != FT_POLICY_FAIR
        || !ft_load(&state->queueing)
        || ticket->generation != ft_load(&state->generation)
        || asking->timestamp_us <= ft_load(&state->census.threshold_us)
        || ft_override_is_sold_out(state)
        || ft_opening_is_closed(call)
        || ft_opening_is_new_to(call, ticket)
        || !ft_opening_unseal(call, ticket, &place)
        || (place & FT_LANE_MASK) == FT_LANE_NONE
        || (place & FT_LANE_MASK) == FT_LANE_FRESH
        || ft_restart_hears(call, ticket)
        || ft_spent_is_used(&state->spent, ticket->id, ticket->due_ms,
                            call->now_ms))
    {
        return 0;
    }

    rest = at - call->now_ms;

    if (asking->whole_seconds) {
        rest -= rest % 1000;
    }

    return rest < call->rules->poll_min_ms ? 0 : (uint32_t) rest;
}


static ft_verdict_t
ft_admission_stay(const ft_asking_t *asking, uint32_t rest_ms)
{
    ft_position_t     p;
    const ft_call_t  *call;
    ft_verdict_t      verdict = { .answer = FT_WAIT, .same = true };

    call = asking->call;
    p = ft_position_of(call, asking->timestamp_us);

    verdict.position = p.position;
    verdict.wait_ms = ft_position_shown_ms(call, ft_position_wait_ms(call, &p));
    verdict.retry_ms = (uint32_t) ft_min(rest_ms,
                              ft_position_retry_ms(call, asking->ticket, &p));

    ft_add(&call->state->totals.queued, 1);

    return verdict;
}


/*
 * An overdue ticket that the threshold has passed, and whose admission the
 * records would no longer show.  It may have been kept after its admission, so
 * its timestamp no longer counts.
 */
static bool
ft_admission_is_forgotten(const ft_asking_t *asking)
{
    uint64_t            due;
    ft_state_t         *state;
    const ft_call_t    *call;
    const ft_ticket_t  *ticket;

    call = asking->call;
    state = call->state;
    ticket = asking->ticket;

    due = ticket->due_ms;

    if (ticket->generation == 0) {

        /* see ft_admission_sold_out() */

        due += call->rules->poll_max_ms + FT_GRACE_MS;
    }

    return call->now_ms > due
           && call->rules->policy != FT_POLICY_LOTTERY
           && ft_spent_is_forgotten(&state->spent, ticket->id, ticket->seen_ms,
                                    call->rules->session_ms)
           && (!ft_load(&state->queueing)
               || asking->timestamp_us
                  <= ft_load(&state->census.threshold_us));
}


/* Removes the count of a shopper who is back. */
static ft_arrival_t
ft_admission_recall(const ft_asking_t *asking)
{
    bool                called;
    uint8_t             place;
    ft_state_t         *state;
    ft_arrival_t        arrival;
    const ft_call_t    *call;
    const ft_ticket_t  *ticket;

    call = asking->call;
    state = call->state;
    ticket = asking->ticket;

    if (ft_spent_use(&state->spent, ticket->id, ticket->due_ms, call->now_ms)) {
        return FT_ARRIVAL_REPLAY;
    }

    called = false;
    arrival = FT_ARRIVAL_COUNTED;

    if (ticket->generation != ft_load(&state->generation)) {

        /* after a restart everybody counts at once, see ft_restart.h */

        if (call->now_ms > ft_load(&state->born_ms) + FT_YOUNG_MS) {
            arrival = FT_ARRIVAL_LATE;
        }

    } else if (ft_opening_unseal(call, ticket, &place)
               && !ft_census_decrement(&state->census, asking->timestamp_us,
                                       ticket->due_ms, place, &called))
    {
        if (call->now_ms <= ticket->due_ms && place != FT_LANE_NONE) {
            return FT_ARRIVAL_REPLAY;
        }

        arrival = FT_ARRIVAL_LATE;
    }

    if (called) {
        ft_add(&state->control.returned, 1);
    }

    return arrival;
}


/*
 * The ticket keeps its timestamp and is in no count, as another edge's: it is
 * counted when it comes back to a sale that has resumed.
 */
static ft_verdict_t
ft_admission_sold_out(const ft_asking_t *asking)
{
    ft_ticket_t      *ticket;
    const ft_call_t  *call;
    ft_verdict_t      verdict = { .answer = FT_ALL_SOLD };

    call = asking->call;
    ticket = asking->ticket;

    ft_add(&call->state->totals.sold_out, 1);

    verdict.retry_ms = ft_position_spread_ms(call, ticket,
                                             call->rules->poll_max_ms / 2,
                                             call->rules->poll_max_ms);

    ticket->kind = FT_TICKET_WAIT;
    ticket->seen_ms = ft_pass_seen_ms(call, ticket);
    ticket->due_ms = ticket->seen_ms;
    ticket->generation = 0;
    ticket->place = FT_LANE_NONE;

    return verdict;
}


static ft_verdict_t
ft_admission_reject(const ft_asking_t *asking)
{
    ft_verdict_t  verdict = { .answer = FT_REJECT };

    ft_add(&asking->call->state->totals.rejected, 1);
    verdict.retry_ms = (uint32_t) (1000000
                                   / ft_capacity_flow_milli(asking->call))
                       + 1;
    verdict.wait_ms = verdict.retry_ms;

    return verdict;
}


/* Nothing in the answer depends on the shuffle. */
static ft_verdict_t
ft_admission_closed(const ft_asking_t *asking)
{
    bool              counted;
    const ft_call_t  *call;
    ft_verdict_t      verdict = { .answer = FT_CLOSED };

    call = asking->call;
    counted = asking->arrival == FT_ARRIVAL_COUNTED
              || asking->arrival == FT_ARRIVAL_REPLAY;

    verdict.replay = (asking->arrival == FT_ARRIVAL_REPLAY);
    verdict.retry_ms = ft_opening_retry_ms(call, asking->ticket, counted);

    ft_add(&call->state->totals.closed, 1);

    if (!verdict.replay) {
        ft_admission_enlist(asking, verdict.retry_ms,
                            asking->arrival != FT_ARRIVAL_COUNTED);
    }

    return verdict;
}


static ft_verdict_t
ft_admission_lottery(const ft_asking_t *asking)
{
    if (ft_capacity_take(asking->call, asking->ticket->first_ms)) {
        return ft_admission_admit(asking);
    }

    ft_queue_begin(asking->call, asking->timestamp_us);

    return ft_admission_wait(asking);
}


/*
 * While a restarted edge listens, nobody knows how long the line is; the last
 * advice of each shopper tells how far back it is.  The advice may have been for
 * a bucket that is empty now: the shopper that seems to be first returns when
 * the edge knows.
 */
static ft_verdict_t
ft_admission_listen(const ft_asking_t *asking, uint64_t advice_ms)
{
    const ft_call_t  *call;
    ft_verdict_t      verdict = { .answer = FT_WAIT };

    call = asking->call;

    verdict.replay = (asking->arrival == FT_ARRIVAL_REPLAY);
    verdict.wait_ms = ft_position_shown_ms(call, 2 * advice_ms);
    verdict.position = ft_position_of(call, asking->timestamp_us).position;

    if (verdict.position == 0) {
        advice_ms = ft_min(advice_ms, FT_LISTEN_MS);
    }

    verdict.retry_ms = ft_position_spread_ms(call, asking->ticket, advice_ms,
                                             advice_ms);

    ft_add(&call->state->totals.queued, 1);

    if (!verdict.replay) {
        ft_admission_enlist(asking, verdict.retry_ms, false);
    }

    return verdict;
}


/* Before an opening the retry time says nothing about the place. */
static uint64_t
ft_admission_last_advice(const ft_asking_t *asking)
{
    return ft_opening_is_new_to(asking->call, asking->ticket)
           ? FT_LISTEN_MS : ft_admission_advice_ms(asking->ticket);
}


/* policy=fair, and policy=proportional, which differs in its controller. */
static ft_verdict_t
ft_admission_in_order(ft_asking_t *asking, ft_line_t *line,
    ft_line_node_t *node)
{
    uint64_t          advice_ms;
    ft_state_t       *state;
    const ft_call_t  *call;
    ft_verdict_t      verdict = { .answer = FT_HOLD };

    call = asking->call;
    state = call->state;

    if (asking->arrival != FT_ARRIVAL_FIRST) {
        advice_ms = ft_admission_last_advice(asking);

        if (ft_restart_listen(call, asking->ticket, asking->timestamp_us,
                              advice_ms))
        {
            return ft_admission_listen(asking, advice_ms);
        }
    }

    if (!ft_load(&state->queueing)) {

        if (ft_capacity_take(call, asking->ticket->first_ms)) {
            return ft_admission_admit(asking);
        }

        ft_queue_begin(call, asking->timestamp_us);
    }

    if (asking->arrival == FT_ARRIVAL_FIRST
        || asking->timestamp_us > ft_load(&state->census.threshold_us))
    {
        return ft_admission_wait(asking);
    }

    if (ft_hold_has(call, asking->ticket->id)) {

        /* another request with this ticket is held */

        asking->arrival = FT_ARRIVAL_REPLAY;
        return ft_admission_wait(asking);
    }

    ft_add(&state->period.passed_on, 1);

    if (ft_hold_is_first(call, asking->timestamp_us)
        && ft_capacity_take(call, asking->ticket->first_ms))
    {
        return ft_admission_admit(asking);
    }

    if (ft_hold_park(call, line, node, asking->ticket, asking->timestamp_us)) {
        return verdict;
    }

    ft_add(&state->totals.turned_back, 1);
    ft_add(&state->control.turned_back, 1);

    return ft_admission_wait(asking);
}


static ft_verdict_t
ft_admission_answer(ft_asking_t *asking, ft_line_t *line, ft_line_node_t *node)
{
    const ft_call_t  *call;

    call = asking->call;

    if (ft_override_is_sold_out(call->state)) {
        return ft_admission_sold_out(asking);
    }

    if (ft_opening_is_closed(call)) {
        return ft_admission_closed(asking);
    }

    switch (call->rules->policy) {

    case FT_POLICY_REJECT:
        return ft_capacity_take(call, asking->ticket->first_ms)
               ? ft_admission_admit(asking) : ft_admission_reject(asking);

    case FT_POLICY_LOTTERY:
        return ft_admission_lottery(asking);

    default: /* FT_POLICY_FAIR, FT_POLICY_PROPORTIONAL */
        return ft_admission_in_order(asking, line, node);
    }
}


/* A request with a ticket. */
static ft_verdict_t
ft_admission_poll(ft_asking_t *asking, ft_line_t *line, ft_line_node_t *node)
{
    uint32_t            rest;
    ft_state_t         *state;
    const ft_call_t    *call;
    ft_spent_record_t   record;
    ft_verdict_t        spent = { .answer = FT_SPENT };

    call = asking->call;
    state = call->state;

    record = ft_spent_find(&state->spent, asking->ticket->id, call->now_ms);

    if (record.kind == FT_SPENT_ADMITTED || record.kind == FT_SPENT_DONE) {
        return spent;
    }

    asking->timestamp_us = ft_opening_timestamp_us(call, asking->ticket);

    if (ft_admission_is_forgotten(asking)) {
        return spent;
    }

    ft_add(&state->totals.polls, 1);
    rest = ft_admission_rest_ms(asking);

    if (rest) {
        return ft_admission_stay(asking, rest);
    }

    asking->arrival = ft_admission_recall(asking);

    return ft_admission_answer(asking, line, node);
}


ft_verdict_t
ft_admission_decide(const ft_call_t *call, ft_ticket_t *ticket, ft_line_t *line,
    ft_line_node_t *node, bool whole_seconds)
{
    uint32_t      generation;
    ft_state_t   *state;
    ft_asking_t   asking;
    ft_verdict_t  verdict;

    state = call->state;

    /* before any count: the state may be replaced at any time */

    generation = ft_load(&state->generation);

    ft_spent_prefetch(&state->spent, ticket->id);

    /* before the count of this request goes: it may be the last in the line */

    ft_opening_arrange(call);
    ft_control_tick(call);

    asking.call = call;
    asking.ticket = ticket;
    asking.whole_seconds = whole_seconds;

    if (ticket->kind == 0) {
        ticket->first_ms = call->now_ms;
        asking.timestamp_us = ft_opening_timestamp_us(call, ticket);
        asking.arrival = FT_ARRIVAL_FIRST;

        ft_add(&state->totals.first_attempts, 1);

        verdict = ft_admission_answer(&asking, line, node);

    } else {
        verdict = ft_admission_poll(&asking, line, node);
    }

    verdict.generation = generation;

    return verdict;
}


ft_verdict_t
ft_admission_turn_back(const ft_call_t *call, ft_ticket_t *ticket,
    bool whole_seconds)
{
    ft_asking_t  asking;

    asking.call = call;
    asking.ticket = ticket;
    asking.timestamp_us = ft_opening_timestamp_us(call, ticket);
    asking.arrival = FT_ARRIVAL_COUNTED;
    asking.whole_seconds = whole_seconds;

    return ft_override_is_sold_out(call->state)
           ? ft_admission_sold_out(&asking) : ft_admission_wait(&asking);
}
