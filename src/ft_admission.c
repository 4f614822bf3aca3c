
/*
 * Admission: see ft_admission.h.  What a shopper is told of its place, and when
 * to come back, is in ft_standing.c.
 */

#include "ft_control.h"
#include "ft_hold.h"
#include "ft_opening.h"
#include "ft_orders.h"
#include "ft_pass.h"
#include "ft_standing.h"
#include "ft_word.h"


#define FT_GRACE_MS  250    /* after a missed due time */


void
ft_admission_count(const ft_call_t *call, uint64_t id, uint64_t first_ms)
{
    uint64_t  waited;

    waited = call->now_ms > first_ms ? call->now_ms - first_ms : 0;

    ft_mark_admitted(&call->state->marks, id,
                     ft_admission_end_ms(call, first_ms));
    ft_add(&call->state->totals.admitted, 1);
    ft_waits_count(&call->state->waits, waited);

    if (waited) {
        ft_add(&call->state->totals.waited_ms, waited);
    }

    if (waited > ft_load(&call->state->news.longest_ms)) {
        ft_store(&call->state->news.longest_ms, waited);
    }
}


static ft_verdict_t
ft_admission_admit(const ft_call_t *call, const ft_ticket_t *ticket)
{
    ft_verdict_t  verdict = { .answer = FT_ADMIT };

    ft_admission_count(call, ticket->id, ticket->first_ms);

    return verdict;
}


/* What a request brings, seen from the census. */
typedef enum {
    FT_COMES_FIRST,         /* a first attempt */
    FT_COMES_AGAIN,         /* its count was there, and has been taken out */
    FT_COMES_LATE,          /* its count has fallen out, or is another edge's:
                               it counts when it comes back once more */
    FT_COMES_TWICE          /* this very ticket was used a moment ago */
} ft_coming_t;


/* Counts a shopper who goes on waiting, and dates its ticket. */
static void
ft_admission_enlist(const ft_call_t *call, ft_ticket_t *ticket, uint32_t retry,
    bool fresh, bool whole_seconds)
{
    uint8_t      place;
    uint32_t     ahead;
    ft_state_t  *state;

    state = call->state;

    if (whole_seconds) {
        retry = (retry + 999) / 1000 * 1000;
    }

    ahead = retry + retry / 10 + FT_GRACE_MS;

    if (ahead > FT_CENSUS_AHEAD_MS) {
        ahead = FT_CENSUS_AHEAD_MS;
    }

    ticket->kind = FT_TICKET_WAIT;
    ticket->seen_ms = ft_admission_seen_ms(call, ticket);
    ticket->due_ms = ticket->seen_ms + ahead;
    ticket->epoch = ft_load(&state->epoch);

    place = FT_LANE_NONE;

    if (!ft_opening_is_closed(call) || ft_opening_counts(call)) {
        place = ft_census_count(&state->census,
                                ft_opening_stamp_us(call, ticket),
                                ticket->due_ms, call->now_ms, fresh);
    }

    ticket->place = ft_opening_seal(call, ticket, place);
}


static ft_verdict_t
ft_admission_wait(const ft_call_t *call, ft_ticket_t *ticket,
    ft_coming_t coming, bool whole_seconds)
{
    ft_verdict_t   verdict;
    ft_standing_t  s;

    s = ft_standing(call, ft_opening_stamp_us(call, ticket));

    verdict.replay = (coming == FT_COMES_TWICE);
    verdict.same = false;
    verdict.position = s.position;
    verdict.wait_ms = ft_standing_wait_ms(call, &s);

    if (coming == FT_COMES_FIRST) {

        /* those who came just before are not counted yet, but will be */

        verdict.wait_ms += ft_census_fresh(&call->state->census)
                           * UINT64_C(1000000) / ft_control_open_milli(call);
    }

    if (coming == FT_COMES_FIRST && call->rules->max_wait_ms
        && verdict.wait_ms > call->rules->max_wait_ms)
    {
        ft_add(&call->state->totals.rejected, 1);
        verdict.answer = FT_REJECT;
        verdict.retry_ms = (uint32_t) (verdict.wait_ms < UINT32_MAX
                                       ? verdict.wait_ms : UINT32_MAX);
        return verdict;
    }

    verdict.answer = FT_WAIT;
    verdict.wait_ms = ft_standing_told_ms(call, verdict.wait_ms);
    verdict.retry_ms = ft_standing_retry_ms(call, ticket, &s);

    ft_add(&call->state->totals.queued, 1);

    if (!verdict.replay) {
        ft_admission_enlist(call, ticket, verdict.retry_ms,
                            coming != FT_COMES_AGAIN, whole_seconds);
    }

    return verdict;
}


/* How long the shopper was told to stay away when it was last seen. */
static uint64_t
ft_admission_told_ms(const ft_ticket_t *ticket)
{
    uint64_t  ahead;

    ahead = ticket->due_ms - ticket->seen_ms;

    return ahead > FT_GRACE_MS ? (ahead - FT_GRACE_MS) * 10 / 11 : 0;
}


/* Before an opening that was for its sake, and says nothing of the place. */
static uint64_t
ft_admission_advice(const ft_call_t *call, const ft_ticket_t *ticket)
{
    return ft_opening_is_new_to(call, ticket) ? FT_REBUILD_MS
                                              : ft_admission_told_ms(ticket);
}


/*
 * Who comes before its time, reloads or polls out of turn, and is not called yet
 * is told the rest of that time: its count stands as it is, and so does its
 * ticket, however often it is shown.  0: it is not so, or hardly any time is left.
 * A ticket for which a newer one was given, to a page that needs a whole second
 * where a poll does not, say, must not take that one's place in the cookie.
 */
static uint32_t
ft_admission_rest_ms(const ft_call_t *call, const ft_ticket_t *ticket,
    bool whole_seconds)
{
    uint8_t      place;
    uint64_t     at, rest;
    ft_state_t  *state;

    state = call->state;
    at = ticket->seen_ms + ft_admission_told_ms(ticket);

    if (at <= call->now_ms
        || call->rules->policy != FT_POLICY_FAIR
        || !ft_load(&state->queueing)
        || ticket->epoch != ft_load(&state->epoch)
        || ft_opening_stamp_us(call, ticket)
           <= ft_load(&state->census.threshold_us)
        || ft_orders_is_sold_out(state)
        || ft_opening_is_closed(call)
        || ft_opening_is_new_to(call, ticket)
        || !ft_opening_unseal(call, ticket, &place)
        || (place & FT_LANE_NONE) == FT_LANE_NONE
        || (place & FT_LANE_NONE) == FT_LANE_FRESH
        || ft_control_hears(call, ticket)
        || ft_admission_was_seen(call, ticket))
    {
        return 0;
    }

    rest = at - call->now_ms;

    if (whole_seconds) {
        rest -= rest % 1000;
    }

    return rest < call->rules->poll_min_ms ? 0 : (uint32_t) rest;
}


static ft_verdict_t
ft_admission_stay(const ft_call_t *call, const ft_ticket_t *ticket,
    uint32_t rest_ms)
{
    ft_verdict_t   verdict;
    ft_standing_t  s;

    s = ft_standing(call, ft_opening_stamp_us(call, ticket));

    verdict.answer = FT_WAIT;
    verdict.replay = false;
    verdict.same = true;
    verdict.position = s.position;
    verdict.wait_ms = ft_standing_told_ms(call, ft_standing_wait_ms(call, &s));
    verdict.retry_ms = ft_standing_retry_ms(call, ticket, &s);

    if (verdict.retry_ms > rest_ms) {
        verdict.retry_ms = rest_ms;
    }

    ft_add(&call->state->totals.queued, 1);

    return verdict;
}


/* The old count of a shopper who is here again goes. */
static ft_coming_t
ft_admission_recall(const ft_call_t *call, ft_ticket_t *ticket)
{
    bool          called;
    uint8_t       place;
    ft_state_t   *state;
    ft_coming_t   coming;

    state = call->state;

    if (ft_admission_seen(call, ticket)) {
        return FT_COMES_TWICE;
    }

    called = false;
    coming = FT_COMES_AGAIN;

    if (ticket->epoch != ft_load(&state->epoch)) {

        /* in a cold start everybody counts at once, see ft_control_rebuild() */

        if (call->now_ms > ft_load(&state->born_ms) + FT_YOUNG_MS) {
            coming = FT_COMES_LATE;
        }

    } else if (ft_opening_unseal(call, ticket, &place)
               && !ft_census_uncount(&state->census,
                                     ft_opening_stamp_us(call, ticket),
                                     ticket->due_ms, place, &called))
    {
        if (call->now_ms <= ticket->due_ms && place != FT_LANE_NONE) {
            return FT_COMES_TWICE;
        }

        coming = FT_COMES_LATE;
    }

    if (called) {
        ft_add(&state->control.came, 1);
    }

    return coming;
}


/*
 * The ticket keeps the place and is in no count: as another edge's, it is counted
 * when it comes back to a sale that is open again.  It was not advised by where it
 * stands, so nothing of that advice is in it.
 */
static ft_verdict_t
ft_admission_sold_out(const ft_call_t *call, ft_ticket_t *ticket)
{
    ft_verdict_t  verdict = { .answer = FT_ALL_SOLD };

    ft_add(&call->state->totals.sold_out, 1);

    verdict.retry_ms = ft_standing_spread_ms(call, ticket,
                                             call->rules->poll_max_ms / 2,
                                             call->rules->poll_max_ms);

    ticket->kind = FT_TICKET_WAIT;
    ticket->seen_ms = ft_admission_seen_ms(call, ticket);
    ticket->due_ms = ticket->seen_ms;
    ticket->epoch = 0;
    ticket->place = FT_LANE_NONE;

    return verdict;
}


static ft_verdict_t
ft_admission_reject(const ft_call_t *call)
{
    ft_verdict_t  verdict = { .answer = FT_REJECT };

    ft_add(&call->state->totals.rejected, 1);
    verdict.retry_ms = (uint32_t) (1000000 / ft_control_flow_milli(call)) + 1;
    verdict.wait_ms = verdict.retry_ms;

    return verdict;
}


/* Nothing that is said depends on the lot. */
static ft_verdict_t
ft_admission_closed(const ft_call_t *call, ft_ticket_t *ticket,
    ft_coming_t coming, bool whole_seconds)
{
    ft_verdict_t  verdict = { .answer = FT_CLOSED };

    verdict.replay = (coming == FT_COMES_TWICE);
    verdict.retry_ms = ft_opening_retry_ms(call, ticket,
                                           coming == FT_COMES_AGAIN
                                           || coming == FT_COMES_TWICE);

    ft_add(&call->state->totals.closed, 1);

    if (!verdict.replay) {
        ft_admission_enlist(call, ticket, verdict.retry_ms,
                            coming != FT_COMES_AGAIN, whole_seconds);
    }

    return verdict;
}


static ft_verdict_t
ft_admission_lottery(const ft_call_t *call, ft_ticket_t *ticket,
    ft_coming_t coming, bool whole_seconds)
{
    if (ft_admission_take(call, ticket->first_ms)) {
        return ft_admission_admit(call, ticket);
    }

    ft_control_begin(call, ft_opening_stamp_us(call, ticket));

    return ft_admission_wait(call, ticket, coming, whole_seconds);
}


/*
 * While a cold start listens nobody knows how long the line is, but each
 * shopper's last advice still tells how far back it stands.  It may have been
 * for a bucket that is empty now: whoever seems to be the first comes back when
 * the edge knows.
 */
static ft_verdict_t
ft_admission_listen(const ft_call_t *call, ft_ticket_t *ticket,
    ft_coming_t coming, uint64_t advice_ms, bool whole_seconds)
{
    ft_verdict_t  verdict;

    verdict.answer = FT_WAIT;
    verdict.replay = (coming == FT_COMES_TWICE);
    verdict.same = false;
    verdict.wait_ms = ft_standing_told_ms(call, 2 * advice_ms);
    verdict.position = ft_standing(call, ft_opening_stamp_us(call, ticket))
                       .position;

    if (verdict.position == 0 && advice_ms > FT_REBUILD_MS) {
        advice_ms = FT_REBUILD_MS;
    }

    verdict.retry_ms = ft_standing_spread_ms(call, ticket, advice_ms,
                                             advice_ms);

    ft_add(&call->state->totals.queued, 1);

    if (!verdict.replay) {
        ft_admission_enlist(call, ticket, verdict.retry_ms, false,
                            whole_seconds);
    }

    return verdict;
}


static ft_verdict_t
ft_admission_fair(const ft_call_t *call, ft_ticket_t *ticket, ft_line_t *line,
    ft_line_node_t *node, ft_coming_t coming, bool whole_seconds)
{
    uint64_t       stamp_us, advice_ms;
    ft_state_t    *state;
    ft_verdict_t   verdict = { .answer = FT_HOLD };

    state = call->state;
    stamp_us = ft_opening_stamp_us(call, ticket);

    if (coming != FT_COMES_FIRST) {
        advice_ms = ft_admission_advice(call, ticket);

        if (ft_control_rebuild(call, ticket, advice_ms)) {
            return ft_admission_listen(call, ticket, coming, advice_ms,
                                       whole_seconds);
        }
    }

    if (!ft_load(&state->queueing)) {

        if (ft_admission_take(call, ticket->first_ms)) {
            return ft_admission_admit(call, ticket);
        }

        ft_control_begin(call, stamp_us);
    }

    if (coming == FT_COMES_FIRST
        || stamp_us > ft_load(&state->census.threshold_us))
    {
        return ft_admission_wait(call, ticket, coming, whole_seconds);
    }

    /* another request with this ticket is held already: that one will do */

    if (ft_hold_has(call, ticket->id)) {
        return ft_admission_wait(call, ticket, FT_COMES_TWICE, whole_seconds);
    }

    ft_add(&state->control.passed, 1);

    if (ft_hold_is_first(call, stamp_us)
        && ft_admission_take(call, ticket->first_ms))
    {
        return ft_admission_admit(call, ticket);
    }

    if (ft_hold_park(call, line, node, ticket)) {
        return verdict;
    }

    ft_add(&state->totals.turned_back, 1);
    ft_add(&state->control.turned_back, 1);

    return ft_admission_wait(call, ticket, coming, whole_seconds);
}


ft_verdict_t
ft_admission_decide(const ft_call_t *call, ft_ticket_t *ticket, ft_line_t *line,
    ft_line_node_t *node, bool whole_seconds)
{
    uint32_t      rest;
    ft_state_t   *state;
    ft_coming_t   coming;
    ft_verdict_t  verdict = { .answer = FT_AGAIN };

    state = call->state;
    coming = FT_COMES_FIRST;

    ft_mark_prefetch(&state->marks, ticket->id);

    /* before the count of who asks goes: it may be the only one in the line */

    ft_opening_arrange(call);
    ft_control_tick(call);

    if (ticket->kind == 0) {
        ticket->first_ms = call->now_ms;
        ft_add(&state->totals.first_attempts, 1);

    } else if (ft_mark_look(&state->marks, ticket->id, call->now_ms).kind
               == FT_ID_ADMITTED)
    {
        return verdict;

    } else {
        ft_add(&state->totals.polls, 1);
        rest = ft_admission_rest_ms(call, ticket, whole_seconds);

        if (rest) {
            return ft_admission_stay(call, ticket, rest);
        }

        coming = ft_admission_recall(call, ticket);
    }

    if (ft_orders_is_sold_out(state)) {
        return ft_admission_sold_out(call, ticket);
    }

    if (ft_opening_is_closed(call)) {
        return ft_admission_closed(call, ticket, coming, whole_seconds);
    }

    switch (call->rules->policy) {

    case FT_POLICY_REJECT:
        return ft_admission_take(call, ticket->first_ms)
               ? ft_admission_admit(call, ticket) : ft_admission_reject(call);

    case FT_POLICY_LOTTERY:
        return ft_admission_lottery(call, ticket, coming, whole_seconds);

    default: /* FT_POLICY_FAIR */
        return ft_admission_fair(call, ticket, line, node, coming,
                                 whole_seconds);
    }
}


ft_verdict_t
ft_hold_turn_back(const ft_call_t *call, ft_ticket_t *ticket,
    bool whole_seconds)
{
    if (ft_orders_is_sold_out(call->state)) {
        return ft_admission_sold_out(call, ticket);
    }

    return ft_admission_wait(call, ticket, FT_COMES_AGAIN, whole_seconds);
}
