
/*
 * The limit on valid passes: never exceeded, for any session and after changes
 * of it; capacity is free when a pass ends or is done.
 */

#include "edge.h"


#define PASSES  20000


static void
test_a_pass_counts_to_its_end(void **unused)
{
    unsigned        i;
    uint32_t        session;
    uint64_t        now;
    ft_sessions_t  *s;

    (void) unused;

    for (session = 1000; session <= 86400000; session = session * 7 / 4) {
        s = unit_shared(sizeof(ft_sessions_t));
        now = UNIT_EPOCH_MS;

        for (i = 0; i < 100; i++) {
            ft_sessions_add(s, now + session, session);
        }

        /* valid to its last ms, gone after at most 1/30 of its life */

        assert_int_equal(ft_sessions_alive(s, now), 100);
        assert_int_equal(ft_sessions_alive(s, now + session - 1), 100);
        assert_int_equal(ft_sessions_ending(s, now, now + session - 1), 0);

        now += session + 256 + session / 30;
        assert_int_equal(ft_sessions_alive(s, now), 0);
        assert_int_equal(ft_sessions_ending(s, UNIT_EPOCH_MS, now), 100);

        /* also after turns of the wheel */

        for (i = 0; i < 3000; i++) {
            now += 100000;
            assert_int_equal(ft_sessions_alive(s, now), 0);
        }

        free(s);
    }
}


static void
test_a_pass_is_removed_once(void **unused)
{
    ft_sessions_t  *s;

    (void) unused;

    s = unit_shared(sizeof(ft_sessions_t));

    ft_sessions_add(s, UNIT_EPOCH_MS + 600000, 600000);

    assert_false(ft_sessions_remove(s, UNIT_EPOCH_MS + 500000, 600000,
                                    UNIT_EPOCH_MS));
    assert_true(ft_sessions_remove(s, UNIT_EPOCH_MS + 600000, 600000,
                                   UNIT_EPOCH_MS + 599000));
    assert_false(ft_sessions_remove(s, UNIT_EPOCH_MS + 600000, 600000,
                                    UNIT_EPOCH_MS + 599000));
    assert_int_equal(ft_sessions_alive(s, UNIT_EPOCH_MS), 0);

    /* a pass that has ended cannot be removed */

    ft_sessions_add(s, UNIT_EPOCH_MS + 600000, 600000);
    assert_false(ft_sessions_remove(s, UNIT_EPOCH_MS + 600000, 600000,
                                    UNIT_EPOCH_MS + 605000));

    free(s);
}


/* A limit of the passes only, four workers, no line. */
static void
sessions_open(edge_t *e, uint32_t sessions)
{
    edge_open(e);

    e->rules.policy = FT_POLICY_REJECT;
    e->rules.hold_ms = 0;
    e->call.limits.sessions = sessions;
    e->call.workers = 4;
}


/* A first attempt; kind 0 if it was not admitted. */
static ft_ticket_t
sessions_first(edge_t *e, uint64_t id)
{
    ft_ticket_t  pass = { .id = id };

    e->call.worker = id % 4;

    if (ft_admission_decide(&e->call, &pass, NULL, NULL, false).answer
        != FT_ADMIT)
    {
        return (ft_ticket_t) { 0 };
    }

    ft_pass_make(&e->call, &pass);
    ft_inflight_done(e->state, EDGE_GENERATION,
                     e->call.worker);

    return pass;
}


/*
 * Against a list of valid passes: random arrivals, random passes done, some of
 * them twice, and changes of the session.
 */
static void
test_never_more_sessions_than_the_limit(void **unused)
{
    edge_t        e;
    uint64_t      seed;
    unsigned      i, k, n, alive, most, admitted, freed;
    ft_ticket_t  *live;

    (void) unused;

    seed = 42;
    live = calloc(100, sizeof(ft_ticket_t));
    assert_non_null(live);
    sessions_open(&e, 100);
    n = most = admitted = freed = 0;

    for (i = 0; i < PASSES; i++) {
        e.call.now_ms += unit_between(&seed, 0, 1000);

        if (i % 2000 == 0) {
            e.rules.session_ms = (uint32_t) unit_between(&seed, 1000, 3600000);
        }

        for (k = alive = 0; k < n; k++) {
            if (live[k].due_ms > e.call.now_ms) {
                live[alive++] = live[k];
            }
        }

        n = alive;
        most = n > most ? n : most;

        unit_check(ft_sessions_alive(&e.state->sessions, e.call.now_ms) >= n,
                   "%u passes live", n);

        if (n && unit_random(&seed) % 4 == 0) {
            k = (unsigned) (unit_random(&seed) % n);
            assert_true(ft_pass_done(&e.call, &live[k]));
            assert_false(ft_pass_done(&e.call, &live[k]));
            live[k] = live[--n];
            freed++;
        }

        k = n;

        if (n == 100) {
            assert_int_equal(sessions_first(&e, i + 1).kind, 0);
            continue;
        }

        live[n] = sessions_first(&e, unit_random(&seed));
        n += live[n].kind == FT_TICKET_PASS;
        admitted += n - k;
    }

    unit_check(most >= 95, "at most %u lived", most);
    unit_check(admitted > freed + 100, "%u admitted, %u freed", admitted,
               freed);
    assert_int_equal(atomic_load(&e.state->totals.spent), freed);

    free(live);
    edge_close(&e);
}


static void
test_a_done_pass_is_not_given_again(void **unused)
{
    edge_t       e;
    ft_ticket_t  pass, old;

    (void) unused;

    sessions_open(&e, 1);
    pass = sessions_first(&e, 5);
    assert_int_equal(pass.kind, FT_TICKET_PASS);

    /* the ticket again, after a lost answer: the same pass, no more capacity */

    old = (ft_ticket_t) { .id = 5, .kind = FT_TICKET_WAIT };
    assert_int_equal(ft_admission_decide(&e.call, &old, NULL, NULL, false)
                     .answer, FT_SPENT);
    assert_true(ft_pass_again(&e.call, &old));
    assert_int_equal(ft_sessions_alive(&e.state->sessions, e.call.now_ms), 1);
    assert_in_range(old.due_ms, pass.due_ms - 1000, pass.due_ms);

    /* with its first end, whatever the session is now */

    e.rules.session_ms = 1000000;
    assert_true(ft_pass_again(&e.call, &old));
    assert_in_range(old.due_ms, pass.due_ms - 1000, pass.due_ms);
    e.rules.session_ms = 600000;

    /* the pass given again frees as much as the first would */

    assert_int_equal(sessions_first(&e, 6).kind, 0);
    assert_true(ft_pass_done(&e.call, &old));
    assert_false(ft_pass_done(&e.call, &pass));
    assert_false(ft_pass_again(&e.call, &old));
    assert_int_equal(sessions_first(&e, 7).kind, FT_TICKET_PASS);
    assert_int_equal(sessions_first(&e, 8).kind, 0);

    edge_close(&e);
}


/* A pass of another edge, or from before a restart, uses no capacity here. */
static void
test_a_foreign_pass_frees_nothing(void **unused)
{
    edge_t       e;
    ft_ticket_t  pass;

    (void) unused;

    sessions_open(&e, 1);
    pass = sessions_first(&e, 5);

    pass.id = 6;
    pass.generation = 8;
    assert_true(ft_pass_done(&e.call, &pass));
    assert_int_equal(sessions_first(&e, 7).kind, 0);

    edge_close(&e);
}


/* Refused by another limit: no pass is counted. */
static void
test_refused_by_another_limit(void **unused)
{
    edge_t    e;
    unsigned  i;

    (void) unused;

    sessions_open(&e, 10);
    e.call.limits.rate_milli = 1000;

    for (i = 1; i < 20; i++) {
        (void) sessions_first(&e, i);
    }

    assert_int_equal(ft_sessions_alive(&e.state->sessions, e.call.now_ms), 1);

    edge_close(&e);
}


/*
 * Shoppers wait for passes that end together, 600 s from now: the estimate says
 * so, nobody is called before, and all are admitted within 5 s of the end.
 */
static void
test_the_wait_for_passes_that_end(void **unused)
{
    edge_t        e;
    unsigned      i, admitted, called, early;
    uint64_t      began, next[40];
    ft_ticket_t   ticket[40];
    ft_verdict_t  v;

    (void) unused;

    sessions_open(&e, 20);
    e.rules.policy = FT_POLICY_FAIR;
    e.rules.hold_ms = FT_HOLD_DEFAULT_MS;
    began = e.call.now_ms;
    early = admitted = 0;

    for (i = 0; i < 40; i++) {
        ticket[i] = (ft_ticket_t) { .id = i + 1 };
        v = ft_admission_decide(&e.call, &ticket[i], NULL, NULL, false);
        assert_int_equal(v.answer, i < 20 ? FT_ADMIT : FT_WAIT);
        next[i] = v.answer == FT_ADMIT ? UINT64_MAX
                                       : e.call.now_ms + v.retry_ms;
    }

    while (e.call.now_ms < began + 606000) {
        e.call.now_ms += 50;

        for (i = 20; i < 40; i++) {
            if (next[i] > e.call.now_ms) {
                continue;
            }

            v = ft_admission_decide(&e.call, &ticket[i], NULL, NULL, false);
            next[i] = v.answer == FT_ADMIT ? UINT64_MAX
                                           : e.call.now_ms + v.retry_ms;
            admitted += v.answer == FT_ADMIT;

            if (v.answer == FT_WAIT && e.call.now_ms == began + 300000) {
                assert_in_range(v.wait_ms, 290000, 320000);
            }
        }

        called = ft_stats_read(&e.call).called;

        if (e.call.now_ms < began + 595000) {
            early = called > early ? called : early;
        }

        unit_check(admitted == 0 || e.call.now_ms >= began + 600000,
                   "%u admitted after %u ms", admitted,
                   (unsigned) (e.call.now_ms - began));
    }

    assert_int_equal(early, 0);
    assert_int_equal(admitted, 20);

    /* a newcomer waits for the next end */

    e.call.now_ms += 100;
    ticket[0] = (ft_ticket_t) { .id = 99 };
    v = ft_admission_decide(&e.call, &ticket[0], NULL, NULL, false);
    assert_int_equal(v.answer, FT_WAIT);
    assert_in_range(v.wait_ms, 590000, 620000);

    edge_close(&e);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_a_pass_counts_to_its_end),
        cmocka_unit_test(test_a_pass_is_removed_once),
        cmocka_unit_test(test_never_more_sessions_than_the_limit),
        cmocka_unit_test(test_a_done_pass_is_not_given_again),
        cmocka_unit_test(test_a_foreign_pass_frees_nothing),
        cmocka_unit_test(test_refused_by_another_limit),
        cmocka_unit_test(test_the_wait_for_passes_that_end)
    };

    return unit_tests(tests);
}
