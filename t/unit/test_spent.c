
/*
 * What must not count twice: tickets that were admitted, passes declared done,
 * versions of a ticket that were used.
 */

#include "core.h"
#include "unit.h"


#define ENDS_MS  (UNIT_EPOCH_MS + 600000)


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
        ft_spent_admit(spent, id, ENDS_MS);
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
    ft_spent_admit(spent, id + 2, ENDS_MS);
    ft_spent_release_worker(spent, 3);

    assert_int_equal(ft_spent_find(spent, id, UNIT_EPOCH_MS).kind,
                     FT_SPENT_UNKNOWN);
    assert_int_equal(ft_spent_find(spent, id + 1, UNIT_EPOCH_MS).kind,
                     FT_SPENT_HELD);
    assert_int_equal(ft_spent_find(spent, id + 2, UNIT_EPOCH_MS).kind,
                     FT_SPENT_ADMITTED);

    free(spent);
}


/* Of n further admissions, 99 of 100 records survive 1,800, and half 4,900. */
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
        ft_spent_admit(spent, id[i], end);
    }

    for (i = n - 1800, kept = 0; i < n; i++) {
        kept += ft_spent_find(spent, id[i], UNIT_EPOCH_MS).kind
                == FT_SPENT_ADMITTED;
    }

    unit_check(kept >= 1800 - 18, "%u of 1800", kept);

    for (i = 0; i < n; i++) {

        /* a record is there, or is known to be forgotten */

        assert_true(ft_spent_find(spent, id[i], UNIT_EPOCH_MS).kind
                    == FT_SPENT_ADMITTED
                    || ft_spent_is_forgotten(spent, id[i],
                                             ENDS_MS + (uint64_t) i * 10));
    }

    assert_false(ft_spent_is_forgotten(spent, id[0], end + 1000));

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
        ft_spent_admit(spent, unit_random(&seed), ENDS_MS);
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


typedef struct {
    ft_state_t   *state;
    ft_rules_t    rules;
    ft_call_t     call;
    uint64_t      seed;
} edge_t;


static void
edge_open(edge_t *e)
{
    memset(e, 0, sizeof(edge_t));

    e->state = unit_shared(sizeof(ft_state_t));
    ft_state_init(e->state, 7, UNIT_EPOCH_MS);

    e->rules.poll_min_ms = FT_POLL_MIN_DEFAULT_MS;
    e->rules.poll_max_ms = FT_POLL_MAX_DEFAULT_MS;
    e->rules.session_ms = 600000;

    e->call.state = e->state;
    e->call.rules = &e->rules;
    e->call.limits.inflight = 10;
    e->call.limits.burst = 1;
    e->call.limits.period_ms = FT_PERIOD_DEFAULT_MS;
    e->call.workers = 1;
    e->call.now_ms = UNIT_EPOCH_MS + FT_YOUNG_MS + 1;
    e->seed = 6;
}


static ft_verdict_t
edge_asks(edge_t *e, ft_ticket_t *ticket)
{
    if (ticket->kind == 0) {
        ticket->id = unit_random(&e->seed);
    }

    return ft_admission_decide(&e->call, ticket, NULL, NULL, false);
}


/* Polls as advised until it is admitted; others leave meanwhile. */
static void
edge_admits(edge_t *e, ft_ticket_t *ticket, ft_ticket_t *kept)
{
    unsigned      i;
    ft_verdict_t  v;

    for (i = 0; i < 1000; i++) {
        v = edge_asks(e, ticket);

        if (v.answer == FT_ADMIT) {
            return;
        }

        assert_int_equal(v.answer, FT_WAIT);

        if (kept) {
            *kept = *ticket;
        }

        ft_inflight_done(e->state, 7, 0);
        e->call.now_ms += v.retry_ms;
    }

    fail_msg("not admitted");
}


/* A full edge, on which one shopper has waited, kept its ticket, and is gone. */
static ft_ticket_t
edge_keeps(edge_t *e)
{
    unsigned     i;
    ft_ticket_t  ticket, kept;

    memset(&kept, 0, sizeof(ft_ticket_t));

    for (i = 0; i < 10; i++) {
        memset(&ticket, 0, sizeof(ft_ticket_t));
        assert_int_equal(edge_asks(e, &ticket).answer, FT_ADMIT);
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
        ft_inflight_done(e->state, 7, 0);
        e->call.now_ms += 20;
    }
}


/* However many admissions later, it does not overtake a newcomer who waits. */
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

    edge_open(&e);
    kept = edge_keeps(&e);
    first = kept.first_ms;
    n = 0;

    for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        edge_goes_on(&e, steps[i]);
        n += steps[i];

        shown = kept;
        v = edge_asks(&e, &shown);

        unit_check(v.answer == FT_SPENT, "answer %d after %u admissions",
                   v.answer, n);

        /* its pass while that lasts, then a first attempt */

        if (ft_pass_again(&e.call, &shown)) {
            assert_int_equal(shown.first_ms, first);
            assert_true(e.call.now_ms < shown.due_ms);
        }
    }

    free(e.state);
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

    edge_open(&e);
    (void) edge_keeps(&e);

    memset(late, 0, sizeof(late));

    for (i = 0; i < 50; i++) {

        do {
            memset(&late[i], 0, sizeof(ft_ticket_t));
            v = edge_asks(&e, &late[i]);
        } while (v.answer == FT_ADMIT);

        assert_int_equal(v.answer, FT_WAIT);
    }

    edge_goes_on(&e, 1500);

    for (i = 0, lost = 0; i < 50; i++) {
        ticket = late[i];
        v = edge_asks(&e, &ticket);
        lost += (v.answer == FT_SPENT);
    }

    assert_int_equal(lost, 0);

    free(e.state);
}


static void
test_a_pass_is_done_once(void **unused)
{
    edge_t       e;
    ft_ticket_t  ticket, pass;

    (void) unused;

    edge_open(&e);

    memset(&ticket, 0, sizeof(ft_ticket_t));
    assert_int_equal(edge_asks(&e, &ticket).answer, FT_ADMIT);
    pass = ticket;
    ft_pass_make(&e.call, &pass);

    assert_false(ft_pass_is_done(&e.call, &pass));
    assert_true(ft_pass_done(&e.call, &pass));

    edge_goes_on(&e, 1500);

    assert_true(ft_pass_is_done(&e.call, &pass));
    assert_false(ft_pass_done(&e.call, &pass));
    assert_false(ft_pass_again(&e.call, &ticket));

    free(e.state);
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
        cmocka_unit_test(test_a_pass_is_done_once)
    };

    return unit_tests(tests);
}
