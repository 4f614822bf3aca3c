
/*
 * Tickets, passes and versions of a ticket that must not count twice.
 */

#include "edge.h"


#define SESSION_MS  600000
#define ENDS_MS     (UNIT_EPOCH_MS + SESSION_MS)


static ft_spent_t *
spent_new(void)
{
    return unit_shared(sizeof(ft_spent_t));
}


static void
test_admitted_held_and_done(void **unused)
{
    uint64_t            id, seed;
    ft_spent_t         *spent;
    ft_spent_record_t   record;

    (void) unused;

    spent = spent_new();
    seed = 1;

    for (id = unit_random(&seed); seed < UINT64_MAX / 2; id = unit_random(&seed))
    {
        assert_int_equal(ft_spent_find(spent, id, UNIT_EPOCH_MS).kind,
                         FT_SPENT_UNKNOWN);

        ft_spent_hold(spent, id, 7, UNIT_EPOCH_MS + 1500);
        record = ft_spent_find(spent, id, UNIT_EPOCH_MS);
        assert_int_equal(record.kind, FT_SPENT_HELD);
        assert_int_equal(record.worker, 7);
        assert_in_range(record.until_ms, UNIT_EPOCH_MS + 1500,
                        UNIT_EPOCH_MS + 3000);

        ft_spent_release(spent, id);
        assert_int_equal(ft_spent_find(spent, id, UNIT_EPOCH_MS).kind,
                         FT_SPENT_UNKNOWN);

        ft_spent_hold(spent, id, 7, UNIT_EPOCH_MS + 1500);
        (void) ft_spent_admit(spent, id, ENDS_MS, SESSION_MS);
        ft_spent_release(spent, id);

        record = ft_spent_find(spent, id, UNIT_EPOCH_MS);
        assert_int_equal(record.kind, FT_SPENT_ADMITTED);
        assert_int_equal(record.until_ms, ENDS_MS);

        assert_true(ft_spent_finish(spent, id, ENDS_MS));
        assert_false(ft_spent_finish(spent, id, ENDS_MS));
        assert_int_equal(ft_spent_find(spent, id, UNIT_EPOCH_MS).kind,
                         FT_SPENT_DONE);
    }

    free(spent);
}


static void
test_a_dead_worker_holds_nothing(void **unused)
{
    uint64_t     id, seed;
    ft_spent_t  *spent;

    (void) unused;

    spent = spent_new();
    seed = 2;
    id = unit_random(&seed);

    ft_spent_hold(spent, id, 3, UNIT_EPOCH_MS + 1500);
    ft_spent_hold(spent, id + 1, 4, UNIT_EPOCH_MS + 1500);
    (void) ft_spent_admit(spent, id + 2, ENDS_MS, SESSION_MS);
    ft_spent_release_worker(spent, 3);

    assert_int_equal(ft_spent_find(spent, id, UNIT_EPOCH_MS).kind,
                     FT_SPENT_UNKNOWN);
    assert_int_equal(ft_spent_find(spent, id + 1, UNIT_EPOCH_MS).kind,
                     FT_SPENT_HELD);
    assert_int_equal(ft_spent_find(spent, id + 2, UNIT_EPOCH_MS).kind,
                     FT_SPENT_ADMITTED);

    free(spent);
}


/* Of n further admissions, 99 of 100 records survive 1,700, and half 4,600. */
static void
test_capacity(void **unused)
{
    unsigned     i, n, kept;
    uint64_t     seed, end, *id;
    ft_spent_t  *spent;

    (void) unused;

    spent = spent_new();
    n = 4 * FT_SPENT_TICKETS * FT_SPENT_WAYS;
    id = calloc(n, sizeof(uint64_t));
    assert_non_null(id);
    seed = 3;
    end = 0;

    for (i = 0; i < n; i++) {
        id[i] = unit_random(&seed);
        end = ENDS_MS + (uint64_t) i * 10;
        (void) ft_spent_admit(spent, id[i], end, SESSION_MS);
    }

    for (i = n - 1700, kept = 0; i < n; i++) {
        kept += ft_spent_find(spent, id[i], UNIT_EPOCH_MS).kind
                == FT_SPENT_ADMITTED;
    }

    unit_check(kept >= 1700 - 17, "%u of 1700", kept);

    for (i = 0; i < n; i++) {

        /* a record is there, or is known to be forgotten */

        assert_true(ft_spent_find(spent, id[i], UNIT_EPOCH_MS).kind
                    == FT_SPENT_ADMITTED
                    || ft_spent_is_forgotten(spent, id[i],
                                             UNIT_EPOCH_MS + (uint64_t) i * 10,
                                             SESSION_MS));
    }

    assert_false(ft_spent_is_forgotten(spent, id[0],
                                       end + 1000 - SESSION_MS, SESSION_MS));

    free(id);
    free(spent);
}


/* 2 ids of 10 million at most: 8 / 2^30 for each. */
static void
test_rarely_takes_one_for_another(void **unused)
{
    unsigned     i, wrong;
    uint64_t     seed;
    ft_spent_t  *spent;

    (void) unused;

    spent = spent_new();
    seed = 4;

    for (i = 0; i < 2 * FT_SPENT_TICKETS * FT_SPENT_WAYS; i++) {
        (void) ft_spent_admit(spent, unit_random(&seed), ENDS_MS, SESSION_MS);
    }

    for (i = 0, wrong = 0; i < 10000000; i++) {
        wrong += ft_spent_find(spent, unit_random(&seed), UNIT_EPOCH_MS).kind
                 != FT_SPENT_UNKNOWN;
    }

    unit_check(wrong <= 2, "%u wrong", wrong);

    free(spent);
}


static void
test_a_version_counts_once(void **unused)
{
    unsigned     i, late;
    uint64_t     seed, id, now;
    ft_spent_t  *spent;

    (void) unused;

    spent = spent_new();
    seed = 5;
    now = UNIT_EPOCH_MS;
    late = 0;

    for (i = 0; i < 20000; i++, now += 100) {
        id = unit_random(&seed);

        assert_false(ft_spent_is_used(spent, id, now + 900, now));
        assert_false(ft_spent_use(spent, id, now + 900, now));
        assert_true(ft_spent_use(spent, id, now + 900, now + 50));
        assert_true(ft_spent_is_used(spent, id, now + 900, now + 50));

        /* another version, and this one long after */

        assert_false(ft_spent_is_used(spent, id, now + 901, now));
        late += ft_spent_use(spent, id, now + 900, now + FT_SPENT_REPLAY_MS);
    }

    assert_int_equal(late, 0);

    free(spent);
}


/* At most 10 requests at the upstream. */
static void
spent_open(edge_t *e)
{
    edge_open(e);
    e->call.limits.inflight = 10;
}


/* Polls as advised until it is admitted; others leave meanwhile. */
static void
edge_admits(edge_t *e, ft_ticket_t *ticket, ft_ticket_t *kept)
{
    unsigned      i;
    ft_verdict_t  v;

    if (ticket->kind == 0) {
        ticket->id = unit_random(&e->seed);
    }

    for (i = 0; i < 1000; i++) {
        v = edge_request(e, ticket, NULL);

        if (v.answer == FT_ADMIT) {
            return;
        }

        assert_int_equal(v.answer, FT_WAIT);

        if (kept) {
            *kept = *ticket;
        }

        ft_inflight_done(e->state, EDGE_GENERATION, 0);
        e->call.now_ms += v.retry_ms;
    }

    fail_msg("not admitted");
}


/* A full edge; one shopper has waited, kept its ticket, and is done. */
static ft_ticket_t
edge_keeps(edge_t *e)
{
    unsigned     i;
    ft_ticket_t  ticket, kept;

    memset(&kept, 0, sizeof(ft_ticket_t));

    for (i = 0; i < 10; i++) {
        assert_int_equal(edge_first(e, &ticket).answer, FT_ADMIT);
    }

    memset(&ticket, 0, sizeof(ft_ticket_t));
    edge_admits(e, &ticket, &kept);
    assert_int_equal(kept.kind, FT_TICKET_WAIT);

    return kept;
}


/* n further admissions of shoppers who wait in turn. */
static void
edge_goes_on(edge_t *e, unsigned n)
{
    ft_ticket_t  ticket;

    while (n--) {
        memset(&ticket, 0, sizeof(ft_ticket_t));
        edge_admits(e, &ticket, NULL);
        ft_inflight_done(e->state, EDGE_GENERATION, 0);
        e->call.now_ms += 20;
    }
}


/* A kept ticket does not overtake a waiting newcomer. */
static void
test_a_kept_ticket_does_not_count_again(void **unused)
{
    edge_t        e;
    unsigned      i, n;
    uint64_t      first;
    ft_ticket_t   kept, shown;
    ft_verdict_t  v;

    static const unsigned  steps[] = { 1, 400, 3600, 4000, 12000, 20000 };

    (void) unused;

    spent_open(&e);
    kept = edge_keeps(&e);
    first = kept.first_ms;
    n = 0;

    for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        edge_goes_on(&e, steps[i]);
        n += steps[i];

        shown = kept;
        v = edge_request(&e, &shown, NULL);

        unit_check(v.answer == FT_SPENT, "answer %d after %u admissions",
                   v.answer, n);

        /* its pass while that lasts, then a first attempt */

        if (ft_pass_again(&e.call, &shown)) {
            assert_int_equal(shown.first_ms, first);
            assert_true(e.call.now_ms < shown.due_ms);
        }
    }

    edge_close(&e);
}


/* A shopper who was away for 1,500 admissions has kept its place. */
static void
test_a_late_shopper_keeps_its_place(void **unused)
{
    edge_t        e;
    unsigned      i, lost;
    ft_ticket_t   ticket, late[50];
    ft_verdict_t  v;

    (void) unused;

    spent_open(&e);
    (void) edge_keeps(&e);

    memset(late, 0, sizeof(late));

    for (i = 0; i < 50; i++) {

        do {
            v = edge_first(&e, &late[i]);
        } while (v.answer == FT_ADMIT);

        assert_int_equal(v.answer, FT_WAIT);
    }

    edge_goes_on(&e, 1500);

    for (i = 0, lost = 0; i < 50; i++) {
        ticket = late[i];
        v = edge_request(&e, &ticket, NULL);
        lost += (v.answer == FT_SPENT);
    }

    assert_int_equal(lost, 0);

    edge_close(&e);
}


static void
test_a_pass_is_done_once(void **unused)
{
    edge_t       e;
    ft_ticket_t  ticket, pass;

    (void) unused;

    spent_open(&e);

    assert_int_equal(edge_first(&e, &ticket).answer, FT_ADMIT);
    pass = ticket;
    ft_pass_make(&e.call, &pass);

    assert_false(ft_pass_is_done(&e.call, &pass));
    assert_true(ft_pass_done(&e.call, &pass));

    edge_goes_on(&e, 1500);

    assert_true(ft_pass_is_done(&e.call, &pass));
    assert_false(ft_pass_done(&e.call, &pass));
    assert_false(ft_pass_again(&e.call, &ticket));

    edge_close(&e);
}


/* n admissions at this moment. */
static void
spent_fill(edge_t *e, unsigned n)
{
    while (n--) {
        assert_true(ft_spent_admit(&e->state->spent, unit_random(&e->seed),
                                   e->call.now_ms + e->rules.session_ms,
                                   e->rules.session_ms));
    }
}


/* A shopper who waits at a full edge. */
static ft_ticket_t
spent_waiter(edge_t *e)
{
    ft_ticket_t   ticket;
    ft_verdict_t  v;

    do {
        v = edge_first(e, &ticket);
    } while (v.answer == FT_ADMIT);

    assert_int_equal(v.answer, FT_WAIT);
    e->call.now_ms += v.retry_ms;

    return ticket;
}


/* The clock of the worker that used the version is ahead of this worker's. */
static void
test_a_version_on_two_workers(void **unused)
{
    edge_t        e;
    uint64_t      id, seed, now;
    unsigned      i;
    ft_spent_t   *spent;
    ft_ticket_t   ticket, shown;
    ft_verdict_t  v;

    (void) unused;

    spent = spent_new();
    seed = 8;

    for (i = 0; i < 500; i++) {
        id = unit_random(&seed);
        assert_false(ft_spent_use(spent, id, ENDS_MS, UNIT_EPOCH_MS));
        assert_true(ft_spent_is_used(spent, id, ENDS_MS, UNIT_EPOCH_MS - i));
        assert_true(ft_spent_use(spent, id, ENDS_MS, UNIT_EPOCH_MS - i));
    }

    free(spent);

    /* others wait in the same slot of the census: their counts must stay */

    spent_open(&e);
    e.call.workers = 2;
    ticket = spent_waiter(&e);
    (void) edge_request(&e, &ticket, NULL);

    for (i = 0; i < 50; i++) {
        now = e.call.now_ms;
        shown = spent_waiter(&e);
        e.call.now_ms = now;
        (void) edge_request(&e, &shown, NULL);
    }

    shown = ticket;
    e.call.now_ms = ticket.due_ms;
    v = edge_request(&e, &shown, NULL);
    assert_false(v.replay);

    shown = ticket;
    e.call.worker = 1;
    e.call.now_ms -= 20;
    v = edge_request(&e, &shown, NULL);
    assert_true(v.replay);

    edge_close(&e);
}


static void
test_a_record_is_not_replaced_by_a_weaker_one(void **unused)
{
    ft_spent_t  *spent;

    (void) unused;

    spent = spent_new();

    assert_true(ft_spent_admit(spent, 1, ENDS_MS, SESSION_MS));
    assert_false(ft_spent_admit(spent, 1, ENDS_MS + 1000, SESSION_MS));
    ft_spent_hold(spent, 1, 3, UNIT_EPOCH_MS + 2000);
    assert_int_equal(ft_spent_find(spent, 1, UNIT_EPOCH_MS).kind,
                     FT_SPENT_ADMITTED);
    assert_int_equal(ft_spent_find(spent, 1, UNIT_EPOCH_MS).until_ms, ENDS_MS);

    ft_spent_release(spent, 1);
    ft_spent_release_worker(spent, 3);
    assert_int_equal(ft_spent_find(spent, 1, UNIT_EPOCH_MS).kind,
                     FT_SPENT_ADMITTED);

    assert_true(ft_spent_finish(spent, 1, ENDS_MS));
    assert_false(ft_spent_admit(spent, 1, ENDS_MS, SESSION_MS));
    ft_spent_hold(spent, 1, 3, UNIT_EPOCH_MS + 2000);
    assert_int_equal(ft_spent_find(spent, 1, UNIT_EPOCH_MS).kind,
                     FT_SPENT_DONE);

    free(spent);
}


/*
 * A worker without a heartbeat still holds a request, and another one holds a
 * second request with the same ticket.  Both go to the upstream; one admission
 * and one session count.
 */
static void
test_held_by_two_workers(void **unused)
{
    edge_t           e;
    bool             admitted;
    unsigned         i;
    uint64_t         wake;
    ft_line_t        line[2];
    ft_ticket_t      ticket, shown;
    ft_line_node_t   node[2];

    (void) unused;

    spent_open(&e);
    e.call.workers = 2;
    memset(line, 0, sizeof(line));
    ticket = spent_waiter(&e);

    assert_int_equal(atomic_load(&e.state->totals.admitted), 10);
    assert_int_equal(ft_stats_read(&e.call).sessions, 10);

    for (i = 0; i < 2; i++) {
        e.call.worker = i;
        shown = ticket;
        assert_int_equal(ft_admission_decide(&e.call, &shown, &line[i],
                                             &node[i], false).answer,
                         FT_HOLD);
        e.call.now_ms += 400;
    }

    for (i = 0; i < 2; i++) {
        e.call.worker = i;
        ft_inflight_done(e.state, EDGE_GENERATION, 0);
        assert_ptr_equal(ft_hold_next(&e.call, &line[i], &admitted, &wake),
                         &node[i]);
        assert_true(admitted);
    }

    assert_int_equal(atomic_load(&e.state->totals.admitted), 11);
    assert_int_equal(atomic_load(&e.state->totals.passed), 1);
    assert_int_equal(ft_stats_read(&e.call).sessions, 11);
    assert_int_equal(ft_stats_read(&e.call).inflight, 10);

    shown = ticket;
    assert_int_equal(edge_request(&e, &shown, NULL).answer, FT_SPENT);

    edge_close(&e);
}


/* Kept across a reload that changes the session, before or after its record is
   forgotten. */
static void
test_a_kept_ticket_and_another_session(void **unused)
{
    edge_t       e;
    unsigned     i;
    ft_ticket_t  kept, shown;

    static const struct {
        uint32_t  from_ms;
        uint32_t  to_ms;
        unsigned  before;
        unsigned  after;
    } cases[] = {
        { 60000, 600000, 20000, 0 },
        { 60000, 600000, 20000, 100 },
        { 60000, 600000, 0, 20000 },
        { 60000, 600000, 3000, 3500 },
        { 600000, 60000, 20000, 0 },
        { 600000, 60000, 0, 20000 },
        { 600000, 60000, 3000, 30000 }
    };

    (void) unused;

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        spent_open(&e);
        e.rules.session_ms = cases[i].from_ms;
        kept = edge_keeps(&e);

        e.call.now_ms += 20000;
        spent_fill(&e, cases[i].before);
        e.rules.session_ms = cases[i].to_ms;
        e.call.now_ms += 20000;
        spent_fill(&e, cases[i].after);

        shown = kept;
        unit_check(edge_request(&e, &shown, NULL).answer == FT_SPENT,
                   "case %u", i);

        edge_close(&e);
    }
}


/* After a change of the session a shopper who is late keeps its place. */
static void
test_a_late_shopper_and_another_session(void **unused)
{
    edge_t        e;
    unsigned      i, lost;
    ft_ticket_t   late[50];

    (void) unused;

    spent_open(&e);
    e.rules.session_ms = 60000;
    (void) edge_keeps(&e);
    spent_fill(&e, 20000);

    e.call.now_ms += 20000;
    e.rules.session_ms = 600000;

    for (i = 0; i < 50; i++) {
        late[i] = spent_waiter(&e);
    }

    e.call.now_ms += 20000;
    spent_fill(&e, 1000);

    for (i = 0, lost = 0; i < 50; i++) {
        lost += (edge_request(&e, &late[i], NULL).answer == FT_SPENT);
    }

    assert_int_equal(lost, 0);

    edge_close(&e);
}


/* However many were admitted since, a ticket counts until it is overdue. */
static void
test_a_ticket_that_is_not_overdue(void **unused)
{
    edge_t       e;
    ft_ticket_t  ticket, shown;

    (void) unused;

    spent_open(&e);
    ticket = spent_waiter(&e);
    spent_fill(&e, 20000);

    e.call.now_ms = ticket.due_ms;
    shown = ticket;
    assert_int_not_equal(edge_request(&e, &shown, NULL).answer, FT_SPENT);

    e.call.now_ms = ticket.due_ms + 1;
    shown = ticket;
    assert_int_equal(edge_request(&e, &shown, NULL).answer, FT_SPENT);

    edge_close(&e);
}


/* A ticket that got "sold out" counts when it returns as advised. */
static void
test_a_ticket_that_was_sold_out(void **unused)
{
    edge_t        e;
    ft_ticket_t   ticket;
    ft_verdict_t  v;

    (void) unused;

    spent_open(&e);
    ticket = spent_waiter(&e);
    (void) ft_override_sold_out(e.state, FT_OVERRIDE_OPERATOR);
    v = edge_request(&e, &ticket, NULL);
    assert_int_equal(v.answer, FT_ALL_SOLD);

    (void) ft_override_resume(e.state, FT_OVERRIDE_OPERATOR, e.call.now_ms);
    e.call.now_ms += v.retry_ms;
    spent_fill(&e, 20000);
    assert_int_not_equal(edge_request(&e, &ticket, NULL).answer, FT_SPENT);

    edge_close(&e);
}


/* After a restart no record is left: a kept ticket counts at most once more. */
static void
test_a_kept_ticket_after_a_restart(void **unused)
{
    edge_t       e;
    ft_ticket_t  kept, shown;

    (void) unused;

    spent_open(&e);
    kept = edge_keeps(&e);

    e.call.now_ms += 60000;
    ft_state_init(e.state, EDGE_GENERATION + 1, e.call.now_ms);
    e.call.now_ms += FT_YOUNG_MS + 1;

    shown = kept;
    assert_int_equal(edge_request(&e, &shown, NULL).answer, FT_ADMIT);
    shown = kept;
    assert_int_equal(edge_request(&e, &shown, NULL).answer, FT_SPENT);

    e.call.now_ms += 20000;
    spent_fill(&e, 20000);
    shown = kept;
    assert_int_equal(edge_request(&e, &shown, NULL).answer, FT_SPENT);

    edge_close(&e);
}


/* A step of the clock while nobody waits, see ft_zone_now(). */
static void
test_a_kept_ticket_after_a_clock_step(void **unused)
{
    edge_t       e;
    unsigned     i;
    ft_ticket_t  kept, shown;

    static const int64_t  steps[] = { 3600000, -60000, -3600000 };

    (void) unused;

    for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        spent_open(&e);
        e.call.now_ms += 7200000;
        kept = edge_keeps(&e);
        e.call.now_ms += 7200000;
        spent_fill(&e, 20000);
        e.call.now_ms += (uint64_t) steps[i];

        shown = kept;
        assert_int_equal(edge_request(&e, &shown, NULL).answer, FT_SPENT);

        edge_close(&e);
    }
}


/* Admitted with early access, and shown where the sale is closed. */
static void
test_a_kept_ticket_before_the_opening(void **unused)
{
    edge_t        e;
    ft_ticket_t   kept, first, second;
    ft_verdict_t  v;

    (void) unused;

    spent_open(&e);
    kept = edge_keeps(&e);
    e.rules.opens_ms = e.call.now_ms + 600000;
    assert_int_equal(edge_request(&e, &kept, NULL).answer, FT_SPENT);

    /* an earlier version of a ticket is not counted beside the later one */

    e.call.now_ms += 2 * FT_CENSUS_AHEAD_MS;
    v = edge_first(&e, &first);
    assert_int_equal(v.answer, FT_CLOSED);
    e.call.now_ms += v.retry_ms;

    second = first;
    v = edge_request(&e, &second, NULL);
    assert_int_equal(v.answer, FT_CLOSED);
    assert_false(v.replay);

    e.call.now_ms += 100;
    v = edge_request(&e, &first, NULL);
    assert_int_equal(v.answer, FT_CLOSED);
    assert_true(v.replay);

    e.call.now_ms += 500;
    assert_int_equal(ft_stats_read(&e.call).waiting, 1);

    edge_close(&e);
}


/* Without an order a forgotten ticket is worth as much as a first attempt. */
static void
test_a_kept_ticket_in_a_lottery(void **unused)
{
    edge_t       e;
    ft_ticket_t  kept, shown;

    (void) unused;

    spent_open(&e);
    e.rules.policy = FT_POLICY_LOTTERY;
    kept = edge_keeps(&e);
    shown = kept;
    assert_int_equal(edge_request(&e, &shown, NULL).answer, FT_SPENT);

    e.call.now_ms += 20000;
    spent_fill(&e, 20000);
    shown = kept;
    assert_int_equal(edge_request(&e, &shown, NULL).answer, FT_WAIT);

    edge_close(&e);
}


/* Also in the version that was renewed before. */
static void
test_all_versions_of_a_pass_are_done(void **unused)
{
    edge_t       e;
    ft_ticket_t  pass, renewed;

    (void) unused;

    spent_open(&e);
    assert_int_equal(edge_first(&e, &pass).answer, FT_ADMIT);
    ft_pass_make(&e.call, &pass);

    e.call.now_ms += 10000;
    renewed = pass;
    ft_pass_make(&e.call, &renewed);
    assert_true(renewed.due_ms > pass.due_ms);

    assert_true(ft_pass_done(&e.call, &pass));
    assert_true(ft_pass_is_done(&e.call, &renewed));
    assert_false(ft_pass_done(&e.call, &renewed));

    edge_close(&e);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_admitted_held_and_done),
        cmocka_unit_test(test_a_dead_worker_holds_nothing),
        cmocka_unit_test(test_capacity),
        cmocka_unit_test(test_rarely_takes_one_for_another),
        cmocka_unit_test(test_a_version_counts_once),
        cmocka_unit_test(test_a_kept_ticket_does_not_count_again),
        cmocka_unit_test(test_a_late_shopper_keeps_its_place),
        cmocka_unit_test(test_a_pass_is_done_once),
        cmocka_unit_test(test_a_version_on_two_workers),
        cmocka_unit_test(test_a_record_is_not_replaced_by_a_weaker_one),
        cmocka_unit_test(test_held_by_two_workers),
        cmocka_unit_test(test_a_kept_ticket_and_another_session),
        cmocka_unit_test(test_a_late_shopper_and_another_session),
        cmocka_unit_test(test_a_ticket_that_is_not_overdue),
        cmocka_unit_test(test_a_ticket_that_was_sold_out),
        cmocka_unit_test(test_a_kept_ticket_after_a_restart),
        cmocka_unit_test(test_a_kept_ticket_after_a_clock_step),
        cmocka_unit_test(test_a_kept_ticket_before_the_opening),
        cmocka_unit_test(test_a_kept_ticket_in_a_lottery),
        cmocka_unit_test(test_all_versions_of_a_pass_are_done)
    };

    return unit_tests(tests);
}
