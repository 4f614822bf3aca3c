
/*
 * The stats of a key: the free capacity under each limit.
 */

#include "edge.h"


#define SESSION_MS  60000


static uint64_t
stats_free(edge_t *e)
{
    return ft_stats_read(&e->call).free_capacity_milli;
}


/* Admits n shoppers whose requests stay at the upstream. */
static void
stats_admit(edge_t *e, unsigned n)
{
    ft_ticket_t  ticket;

    while (n--) {
        assert_int_equal(edge_first(e, &ticket).answer, FT_ADMIT);
    }
}


static void
stats_open(edge_t *e)
{
    edge_open(e);
    e->rules.session_ms = SESSION_MS;
}


static void
test_inflight_only(void **unused)
{
    edge_t       e;
    unsigned     i;
    ft_ticket_t  ticket;

    (void) unused;

    stats_open(&e);
    e.call.limits.inflight = 5;

    for (i = 0; i < 5; i++) {
        assert_int_equal(stats_free(&e), (5 - i) * 1000);
        stats_admit(&e, 1);
    }

    assert_int_equal(stats_free(&e), 0);
    assert_false(ft_stats_is_free(&e.call));
    assert_int_equal(edge_first(&e, &ticket).answer, FT_WAIT);

    ft_inflight_done(e.state, EDGE_GENERATION, 0);
    assert_int_equal(stats_free(&e), 1000);

    /* more than a limit that was lowered */

    e.call.limits.inflight = 2;
    assert_int_equal(stats_free(&e), 0);

    edge_close(&e);
}


/* An admitted poll is expected to load its page within 2 s. */
static void
test_expected_pages(void **unused)
{
    edge_t       e;
    ft_stats_t   s;
    ft_ticket_t  ticket;

    (void) unused;

    stats_open(&e);
    e.call.limits.inflight = 5;

    assert_int_equal(edge_first(&e, &ticket).answer, FT_ADMIT);
    ft_pass_make(&e.call, &ticket);
    ft_inflight_expect(&e.call, &ticket);

    s = ft_stats_read(&e.call);
    assert_int_equal(s.inflight, 1);
    assert_int_equal(s.free_capacity_milli, 4000);

    /* the page arrives, and ends */

    e.call.now_ms += 500;
    ft_inflight_enter(&e.call, &ticket);
    assert_int_equal(stats_free(&e), 4000);
    ft_inflight_done(e.state, EDGE_GENERATION, 0);
    assert_int_equal(stats_free(&e), 5000);

    /* a page that never comes */

    assert_int_equal(edge_first(&e, &ticket).answer, FT_ADMIT);
    ft_pass_make(&e.call, &ticket);
    ft_inflight_expect(&e.call, &ticket);
    e.call.now_ms += 1900;
    assert_int_equal(stats_free(&e), 4000);
    e.call.now_ms += 500;
    assert_int_equal(stats_free(&e), 5000);

    edge_close(&e);
}


static void
test_sessions_only(void **unused)
{
    edge_t       e;
    ft_stats_t   s;
    ft_ticket_t  pass;

    (void) unused;

    stats_open(&e);
    e.call.limits.sessions = 4;

    assert_int_equal(stats_free(&e), 4000);
    assert_int_equal(edge_first(&e, &pass).answer, FT_ADMIT);
    ft_pass_make(&e.call, &pass);
    stats_admit(&e, 2);

    s = ft_stats_read(&e.call);
    assert_int_equal(s.sessions, 3);
    assert_int_equal(s.free_capacity_milli, 1000);

    /* a request that ends frees nothing, a pass that is done does */

    ft_inflight_done(e.state, EDGE_GENERATION, 0);
    assert_int_equal(stats_free(&e), 1000);
    assert_true(ft_pass_done(&e.call, &pass));
    assert_int_equal(stats_free(&e), 2000);

    stats_admit(&e, 2);
    assert_int_equal(stats_free(&e), 0);

    /* a pass counts until its row of 256 ms has ended */

    e.call.now_ms += SESSION_MS - 1;
    assert_int_equal(stats_free(&e), 0);
    e.call.now_ms += 257;
    assert_int_equal(stats_free(&e), 4000);

    edge_close(&e);
}


static void
test_rate_only(void **unused)
{
    edge_t       e;
    ft_ticket_t  ticket;

    (void) unused;

    stats_open(&e);
    e.call.limits.rate_milli = 10000;
    e.call.limits.burst = 3;

    assert_int_equal(stats_free(&e), 3000);
    stats_admit(&e, 2);
    assert_int_equal(stats_free(&e), 1000);
    e.call.now_ms += 50;
    assert_int_equal(stats_free(&e), 1500);
    e.call.now_ms += 1000;
    assert_int_equal(stats_free(&e), 3000);
    assert_true(ft_stats_is_free(&e.call));

    stats_admit(&e, 3);
    assert_int_equal(stats_free(&e), 0);
    assert_int_equal(edge_first(&e, &ticket).answer, FT_WAIT);

    edge_close(&e);
}


/* policy=proportional has the budget of a period instead of the bucket. */
static void
test_rate_of_a_period(void **unused)
{
    edge_t  e;

    (void) unused;

    stats_open(&e);
    e.rules.policy = FT_POLICY_PROPORTIONAL;
    e.call.limits.rate_milli = 10000;
    e.call.now_ms -= e.call.now_ms % e.call.limits.period_ms;

    assert_int_equal(stats_free(&e), 50000);
    stats_admit(&e, 20);
    assert_int_equal(stats_free(&e), 30000);
    e.call.now_ms += e.call.limits.period_ms;
    assert_int_equal(stats_free(&e), 50000);

    edge_close(&e);
}


static void
test_no_limit_but_the_burst(void **unused)
{
    edge_t  e;

    (void) unused;

    stats_open(&e);
    e.call.limits.burst = 3;
    stats_admit(&e, 10);
    assert_int_equal(stats_free(&e), 3000);

    edge_close(&e);
}


/* The least of the three. */
static void
test_all_limits(void **unused)
{
    edge_t    e;
    unsigned  least;

    (void) unused;

    for (least = 0; least < 3; least++) {
        stats_open(&e);
        e.call.limits.inflight = least == 0 ? 4 : 9;
        e.call.limits.sessions = least == 1 ? 4 : 9;
        e.call.limits.burst = least == 2 ? 4 : 9;
        e.call.limits.rate_milli = 1;

        assert_int_equal(stats_free(&e), 4000);
        stats_admit(&e, 3);
        assert_int_equal(stats_free(&e), 1000);
        stats_admit(&e, 1);
        assert_int_equal(stats_free(&e), 0);

        edge_close(&e);
    }
}


static void
test_paused(void **unused)
{
    edge_t      e;
    ft_stats_t  s;

    (void) unused;

    stats_open(&e);
    e.call.limits.inflight = 5;

    ft_override_pause(e.state);
    s = ft_stats_read(&e.call);
    assert_int_equal(s.paused, 1);
    assert_int_equal(s.free_capacity_milli, 0);
    assert_false(ft_stats_is_free(&e.call));

    (void) ft_override_resume(e.state, FT_OVERRIDE_OPERATOR, e.call.now_ms);
    s = ft_stats_read(&e.call);
    assert_int_equal(s.paused, 0);
    assert_int_equal(s.free_capacity_milli, 5000);
    assert_true(ft_stats_is_free(&e.call));

    edge_close(&e);
}


/* Before the opening, also before the first request has laid out the line. */
static void
test_closed(void **unused)
{
    edge_t       e;
    unsigned     i;
    ft_stats_t   s;
    ft_ticket_t  ticket;

    (void) unused;

    stats_open(&e);
    e.call.limits.inflight = 5;
    e.rules.opens_ms = e.call.now_ms + 10000;

    for (i = 0; i < 2; i++) {
        s = ft_stats_read(&e.call);
        assert_true(s.opens_ms == e.rules.opens_ms);
        assert_int_equal(s.free_capacity_milli, 0);
        assert_false(ft_stats_is_free(&e.call));
        assert_int_equal(edge_first(&e, &ticket).answer, FT_CLOSED);
    }

    assert_true(ft_capacity_free_milli(&e.call) == 0);

    e.call.now_ms = e.rules.opens_ms;
    s = ft_stats_read(&e.call);
    assert_true(s.opens_ms == 0);
    assert_int_equal(s.free_capacity_milli, 5000);

    edge_close(&e);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_inflight_only),
        cmocka_unit_test(test_expected_pages),
        cmocka_unit_test(test_sessions_only),
        cmocka_unit_test(test_rate_only),
        cmocka_unit_test(test_rate_of_a_period),
        cmocka_unit_test(test_no_limit_but_the_burst),
        cmocka_unit_test(test_all_limits),
        cmocka_unit_test(test_paused),
        cmocka_unit_test(test_closed)
    };

    return unit_tests(tests);
}
