
/*
 * Tickets and passes after the decision: what is given to the admitted, and what
 * comes back of it.
 */

#include "ft_control.h"
#include "ft_hold.h"
#include "ft_pass.h"
#include "ft_word.h"


#define FT_EXPECT_MS        2000    /* an admitted poll's page comes within */
#define FT_REPLAY_SHIFT     14      /* a ticket counts once in 16 s */


static uint32_t
ft_admission_print(const ft_ticket_t *ticket, uint64_t now_ms)
{
    uint64_t  h;

    h = ft_mix(ticket->id ^ ft_mix(ticket->due_ms
                                   + (now_ms >> FT_REPLAY_SHIFT)));

    return (uint32_t) (h >> 32) | 1;
}


bool
ft_admission_seen(const ft_call_t *call, const ft_ticket_t *ticket)
{
    uint32_t  print;

    print = ft_admission_print(ticket, call->now_ms);

    return atomic_exchange(&call->state->seen[ticket->id % FT_SEEN], print)
           == print;
}


bool
ft_admission_was_seen(const ft_call_t *call, const ft_ticket_t *ticket)
{
    uint32_t  print;
    uint64_t  before;

    print = ft_load(&call->state->seen[ticket->id % FT_SEEN]);
    before = call->now_ms - (1 << FT_REPLAY_SHIFT);

    return print == ft_admission_print(ticket, call->now_ms)
           || print == ft_admission_print(ticket, before);
}


uint64_t
ft_admission_seen_ms(const ft_call_t *call, const ft_ticket_t *ticket)
{
    return call->now_ms > ticket->first_ms ? call->now_ms : ticket->first_ms;
}


/* One row a quarter of a second, marked with its time, so it cleans itself. */
static _Atomic uint32_t *
ft_admission_expected(ft_state_t *state, uint64_t due_ms, uint32_t *mark)
{
    *mark = (uint32_t) ((due_ms >> 8) & 0xffff) << 16;

    return &state->expected[(due_ms >> 8) % FT_DUES];
}


uint32_t
ft_admission_expecting(const ft_call_t *call)
{
    uint32_t  n, word, mark;
    uint64_t  row, end;

    n = 0;

    end = (call->now_ms + FT_EXPECT_MS) >> 8;

    for (row = call->now_ms >> 8; row <= end; row++) {
        word = atomic_load(ft_admission_expected(call->state, row << 8, &mark));

        if ((word & 0xffff0000) == mark) {
            n += word & 0xffff;
        }
    }

    return n;
}


uint64_t
ft_admission_end_ms(const ft_call_t *call, uint64_t first_ms)
{
    return (call->now_ms > first_ms ? call->now_ms : first_ms)
           + call->rules->session_ms;
}


void
ft_admission_pass(const ft_call_t *call, ft_ticket_t *ticket)
{
    ticket->kind = FT_TICKET_PASS;
    ticket->seen_ms = ft_admission_seen_ms(call, ticket);
    ticket->due_ms = ft_admission_end_ms(call, ticket->first_ms);
    ticket->epoch = ft_load(&call->state->epoch);
    ticket->place = FT_LANE_NONE;
}


bool
ft_admission_again(const ft_call_t *call, ft_ticket_t *ticket)
{
    uint64_t   given;
    ft_mark_t  mark;

    mark = ft_mark_look(&call->state->marks, ticket->id, call->now_ms);

    if (mark.kind != FT_ID_ADMITTED || mark.at_ms <= call->now_ms
        || ft_sessions_is_over(&call->state->sessions, ticket->id))
    {
        return false;
    }

    ft_admission_pass(call, ticket);

    /* a reload may have changed the session since, but not this one's end */

    given = mark.at_ms - call->rules->session_ms;

    ticket->seen_ms = given > ticket->first_ms ? given : ticket->first_ms;
    ticket->due_ms = mark.at_ms;

    return true;
}


/*
 * The end of a pass given again is known to the second, and its life as it is
 * now: what is taken back may be another's of about the same end.
 */
bool
ft_sessions_done(const ft_call_t *call, const ft_ticket_t *pass)
{
    uint64_t     end;
    uint32_t     session;
    ft_state_t  *state;

    state = call->state;

    if (pass->kind != FT_TICKET_PASS
        || !ft_sessions_end(&state->sessions, pass->id))
    {
        return false;
    }

    ft_add(&state->totals.over, 1);

    if (pass->epoch != ft_load(&state->epoch)) {

        /* of another edge, or of this one before it was restarted */

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


/* Never below none: what a dead worker had in flight went with it. */
static void
ft_admission_leave(ft_state_t *state, uint32_t worker)
{
    uint32_t           n;
    _Atomic uint32_t  *inflight;

    inflight = &state->hand[worker].inflight;
    n = ft_load(inflight);

    while (n && !atomic_compare_exchange_weak(inflight, &n, n - 1)) {
        /* void */
    }
}


/* Its place in flight is given up, but it was not at the upstream: not done. */
void
ft_admission_expect(const ft_call_t *call, ft_ticket_t *pass)
{
    uint32_t           word, mark;
    _Atomic uint32_t  *row;

    row = ft_admission_expected(call->state, call->now_ms + FT_EXPECT_MS,
                                &mark);
    word = ft_load(row);

    while (!atomic_compare_exchange_weak(row, &word,
                                         ((word & 0xffff0000) == mark
                                          ? word : mark) + 1))
    {
        /* void */
    }

    pass->place = FT_LANE_FRESH;

    if (ft_load(&call->state->epoch) == pass->epoch) {
        ft_admission_leave(call->state, call->worker);
    }
}


void
ft_admission_confirm(const ft_call_t *call)
{
    ft_add(&call->state->totals.passed, 1);
}


void
ft_admission_enter(const ft_call_t *call, const ft_ticket_t *pass)
{
    uint32_t           word, mark;
    ft_state_t        *state;
    _Atomic uint32_t  *row;

    state = call->state;

    ft_add(&state->totals.passed, 1);
    atomic_fetch_add(&state->hand[call->worker].inflight, 1);

    if (pass->place != FT_LANE_FRESH
        || pass->epoch != ft_load(&state->epoch)
        || call->now_ms > pass->seen_ms + FT_EXPECT_MS
        || ft_admission_seen(call, pass))
    {
        return;
    }

    /* in between, so that no sum misses it in both, see ft_room.c */

    atomic_fetch_add(&state->arrived, 1);

    row = ft_admission_expected(state, pass->seen_ms + FT_EXPECT_MS, &mark);
    word = ft_load(row);

    while ((word & 0xffff0000) == mark && (word & 0xffff)
           && !atomic_compare_exchange_weak(row, &word, word - 1))
    {
        /* void */
    }
}


void
ft_admission_failed(ft_state_t *state, uint32_t epoch)
{
    if (ft_load(&state->epoch) == epoch) {
        ft_add(&state->totals.errors, 1);
    }
}


void
ft_admission_done(ft_state_t *state, uint32_t epoch, uint32_t worker)
{
    if (ft_load(&state->epoch) != epoch) {
        return;
    }

    ft_add(&state->totals.done, 1);
    ft_admission_leave(state, worker);
}
