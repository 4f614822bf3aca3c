
/*
 * Admission: see ft_admission.h.
 */

#include "ft_control.h"
#include "ft_hold.h"
#include "ft_opening.h"
#include "ft_orders.h"
#include "ft_pass.h"
#include "ft_word.h"


#define FT_GRACE_MS         250     /* after a missed due time */
#define FT_RETRY_SHARE      500     /* of 1000: of the time to the call, and */
#define FT_RETRY_LATE       700     /* of 1000: of the hold, added to it */
#define FT_SHUT_MS          1000    /* who is next asks so often in a hold */
#define FT_LOTTERY_MIN_MS   500     /* the lottery's retry, uniform */
#define FT_LOTTERY_MAX_MS   1500


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


/* Where a shopper stands in the line. */
typedef struct {
    uint64_t          stamp_us;
    uint32_t          held;
    uint32_t          ahead;        /* between the threshold and it */
    uint32_t          position;     /* live shoppers before it, all in all */
    uint64_t          room_ms;      /* until the bucket has room for one */
    uint64_t          sessions_ms;  /* until passes have ended for it, too */
} ft_standing_t;


static ft_standing_t
ft_admission_standing(const ft_call_t *call, uint64_t stamp_us)
{
    ft_standing_t       s;
    const ft_census_t  *census;

    census = &call->state->census;

    s.stamp_us = stamp_us;
    s.held = ft_state_held(call->state, call->workers);
    s.ahead = ft_control_ahead(call, stamp_us);
    s.position = s.held;
    s.room_ms = ft_bucket_ready_ms(&call->state->bucket, call->limits,
                                   call->now_ms)
                - call->now_ms;

    if (ft_orders_is_shut(call->state)) {

        /* nobody need be there before the order ends; soon after, all should */

        s.room_ms = call->rules->hold_ms + FT_SHUT_MS;
    }

    if (stamp_us > ft_load(&census->threshold_us)) {
        s.position += ft_census_called(census) + s.ahead;
    }

    s.sessions_ms = ft_control_sessions_ms(call, s.position);

    return s;
}


/* Estimated ms until it is called, and those held before it are through. */
static uint64_t
ft_admission_wait_ms(const ft_call_t *call, const ft_standing_t *s)
{
    uint64_t  wait;

    wait = ft_control_call_ms(call, s->stamp_us, s->ahead, false);

    if (s->held) {
        wait += s->held * UINT64_C(1000000) / ft_control_open_milli(call);
    }

    if (wait < s->sessions_ms) {
        wait = s->sessions_ms;
    }

    return wait > s->room_ms ? wait : s->room_ms;
}


/* A number in [min, max], in the bounds, that a client cannot choose. */
static uint32_t
ft_admission_spread(const ft_call_t *call, const ft_ticket_t *ticket,
    uint64_t min, uint64_t max)
{
    uint64_t  least, most;

    least = call->rules->poll_min_ms;
    most = call->rules->poll_max_ms;

    min = min < least ? least : min > most ? most : min;
    max = max < min ? min : max > most ? most : max;

    return (uint32_t) (min + ft_mix(ticket->id ^ (call->now_ms << 20))
                             % (max - min + 1));
}


/*
 * The advice is half the time to the call, so that an estimate may be twice as
 * long as the truth; whoever is called need not be there at once, but while
 * those before it are served, so it may aim a good part of a hold past that.
 */
static uint32_t
ft_admission_retry(const ft_call_t *call, const ft_ticket_t *ticket,
    const ft_standing_t *s)
{
    uint64_t  retry;

    if (call->rules->policy == FT_POLICY_LOTTERY) {
        return ft_admission_spread(call, ticket, FT_LOTTERY_MIN_MS,
                                   FT_LOTTERY_MAX_MS);
    }

    retry = ft_control_call_ms(call, s->stamp_us, s->ahead, true);

    if (retry < s->sessions_ms) {
        retry = s->sessions_ms;
    }

    if (retry) {
        retry += (uint64_t) call->rules->hold_ms * FT_RETRY_LATE / 1000;
    }

    retry = retry * FT_RETRY_SHARE / 1000;

    /* at a few admissions a minute nobody need ask before there is room */

    if (s->room_ms > retry + call->rules->hold_ms) {
        retry = s->room_ms - call->rules->hold_ms;
    }

    if (retry < call->rules->poll_min_ms) {
        retry = call->rules->poll_min_ms;
    }

    if (retry > call->rules->poll_max_ms) {
        retry = call->rules->poll_max_ms;
    }

    /* at the largest advice, where it cannot spread upwards, half as far */

    return ft_admission_spread(call, ticket,
                               retry < call->rules->poll_max_ms
                               ? retry - retry / 10 : retry - retry / 20,
                               retry + retry / 10);
}


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

    s = ft_admission_standing(call, ft_opening_stamp_us(call, ticket));

    verdict.replay = (coming == FT_COMES_TWICE);
    verdict.position = s.position;
    verdict.wait_ms = ft_admission_wait_ms(call, &s);

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
    verdict.retry_ms = ft_admission_retry(call, ticket, &s);

    ft_add(&call->state->totals.queued, 1);

    if (!verdict.replay) {
        ft_admission_enlist(call, ticket, verdict.retry_ms,
                            coming != FT_COMES_AGAIN, whole_seconds);
    }

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

    verdict.retry_ms = ft_admission_spread(call, ticket,
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
 * How long the shopper was advised to stay away when it was last seen.  Before an
 * opening that was for the opening's sake, and says nothing of its place.
 */
static uint64_t
ft_admission_advice(const ft_call_t *call, const ft_ticket_t *ticket)
{
    uint64_t  ahead;

    if (ft_opening_is_new_to(call, ticket)) {
        return FT_REBUILD_MS;
    }

    ahead = ticket->due_ms - ticket->seen_ms;

    return ahead > FT_GRACE_MS ? (ahead - FT_GRACE_MS) * 10 / 11 : 0;
}


/*
 * While a cold start listens nobody knows how long the line is, but each
 * shopper's last advice still tells how far back it stands.  It may have been
 * for a bucket that is empty now: whoever seems to be the first comes back when
 * the edge knows.
 */
static ft_verdict_t
ft_admission_listen(const ft_call_t *call, ft_ticket_t *ticket,
    uint64_t advice_ms, bool whole_seconds)
{
    ft_verdict_t  verdict;

    verdict.answer = FT_WAIT;
    verdict.replay = false;
    verdict.wait_ms = 2 * advice_ms;
    verdict.position = ft_admission_standing(call,
                                             ft_opening_stamp_us(call, ticket))
                       .position;

    if (verdict.position == 0 && advice_ms > FT_REBUILD_MS) {
        advice_ms = FT_REBUILD_MS;
    }

    verdict.retry_ms = ft_admission_spread(call, ticket, advice_ms, advice_ms);

    ft_add(&call->state->totals.queued, 1);
    ft_admission_enlist(call, ticket, verdict.retry_ms, false, whole_seconds);

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
            return ft_admission_listen(call, ticket, advice_ms, whole_seconds);
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
    ft_state_t   *state;
    ft_coming_t   coming;
    ft_verdict_t  verdict = { .answer = FT_AGAIN };

    state = call->state;
    coming = FT_COMES_FIRST;

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


ft_snapshot_t
ft_admission_snapshot(const ft_call_t *call)
{
    uint64_t        came, missed, now_us;
    ft_state_t     *state;
    ft_snapshot_t   s = { 0 };
    ft_standing_t   newcomer;

    ft_control_tick(call);

    state = call->state;

    s.queueing = ft_load(&state->queueing);
    s.held = ft_state_held(state, call->workers);
    s.inflight = ft_state_inflight(state, call->workers)
                 + ft_admission_expecting(call);
    s.sessions = ft_sessions_alive(&state->sessions, call->now_ms);
    s.called = ft_census_called(&state->census);
    s.fresh = ft_census_fresh(&state->census);
    s.waiting = s.queueing
                ? ft_admission_standing(call, UINT64_MAX).position : 0;
    s.threshold_ms = s.queueing
                     ? ft_load(&state->census.threshold_us) / 1000
                     : call->now_ms;
    now_us = ft_opening_now_us(call);

    /* a worker whose clock is a little late may find it in its future */

    s.threshold_age_ms = now_us / 1000 > s.threshold_ms
                         ? now_us / 1000 - s.threshold_ms : 0;
    s.flow_milli = ft_control_flow_milli(call);

    newcomer = ft_admission_standing(call, now_us);
    s.wait_ms = s.queueing ? ft_admission_wait_ms(call, &newcomer) : 0;

    s.room_milli = ft_bucket_room_milli(&state->bucket, call->limits,
                                        call->now_ms);

    if (ft_orders_is_shut(state)) {
        s.room_milli = 0;
    }

    came = ft_load(&state->control.came_milli);
    missed = ft_load(&state->control.missed_milli);
    s.show_up_milli = (uint32_t) ((came + 100) * 1000 / (came + missed + 100));

    s.hold = ft_load(&state->orders.door) & FT_ORDER_HOLD;
    s.sold_out = ft_orders_is_sold_out(state);
    s.rate_milli = call->limits->rate_milli;
    s.rate_ordered_milli = ft_load(&state->orders.rate_milli);
    s.rate_said_milli = ft_load(&state->orders.rate_said_milli);
    s.opened_ms = ft_load(&state->orders.opens_ms);

    return s;
}
