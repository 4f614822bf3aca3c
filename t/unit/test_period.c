
/*
 * Accounting by periods: the budget of policy=proportional, and the admissions
 * in the last complete period.
 */

#include "edge.h"


#define PERIOD_MS  5000
#define BUDGET     50       /* 10 a second, in 5 s */


static void
period_open(edge_t *e)
{
    edge_open(e);

    e->rules.policy = FT_POLICY_PROPORTIONAL;
    e->call.limits.rate_milli = 10000;
    e->call.limits.period_ms = PERIOD_MS;

    /* a period begins */

    e->call.now_ms -= e->call.now_ms % PERIOD_MS;
}


/* Takes as much as there is, at most most. */
static unsigned
period_take(edge_t *e, unsigned most)
{
    unsigned  n;

    for (n = 0; n < most && ft_period_take(&e->call); n++) {
        /* void */
    }

    return n;
}


static void
test_budget_of_a_period(void **unused)
{
    edge_t    e;
    unsigned  i;

    (void) unused;

    period_open(&e);

    for (i = 0; i < 20; i++) {
        assert_int_equal(ft_period_free_milli(&e.call), BUDGET * 1000);

        assert_int_equal(period_take(&e, 20), 20);
        assert_int_equal(ft_period_free_milli(&e.call), (BUDGET - 20) * 1000);

        /* the last millisecond of the period */

        e.call.now_ms += PERIOD_MS - 1;
        assert_int_equal(period_take(&e, 1000), BUDGET - 20);
        assert_int_equal(ft_period_free_milli(&e.call), 0);

        e.call.now_ms++;
    }

    edge_close(&e);
}


/* At least 1, and no overflow of rate x period. */
static void
test_extreme_budgets(void **unused)
{
    edge_t  e;

    (void) unused;

    period_open(&e);

    e.call.limits.rate_milli = 1;
    assert_int_equal(period_take(&e, 1000), 1);

    e.call.now_ms += PERIOD_MS;
    e.call.limits.rate_milli = UINT32_MAX;
    e.call.limits.period_ms = 60000;
    assert_true(ft_period_free_milli(&e.call)
                == (uint64_t) UINT32_MAX * 60000 / 1000000 * 1000);
    assert_int_equal(period_take(&e, 1000), 1000);

    e.call.limits.rate_milli = 0;
    assert_int_equal(period_take(&e, 1000), 1000);

    edge_close(&e);
}


static void
test_a_rate_lowered_within_a_period(void **unused)
{
    edge_t  e;

    (void) unused;

    period_open(&e);

    assert_int_equal(period_take(&e, 30), 30);
    e.call.limits.rate_milli = 4000;
    assert_int_equal(ft_period_free_milli(&e.call), 0);
    assert_int_equal(period_take(&e, 1000), 0);

    e.call.limits.rate_milli = 8000;
    assert_int_equal(period_take(&e, 1000), 10);

    edge_close(&e);
}


/* A worker whose clock is behind takes of the period that the others are in. */
static void
test_a_late_clock_does_not_reset_the_budget(void **unused)
{
    edge_t    e;
    unsigned  i, n;

    (void) unused;

    period_open(&e);

    for (i = 0, n = 0; i < 100; i++) {
        e.call.now_ms += i % 2 ? -1 : 1;
        e.call.now_ms -= (i == 0);
        n += period_take(&e, 3);
    }

    assert_int_equal(n, BUDGET);

    edge_close(&e);
}


/* After a step back by periods the budget begins anew, and holds. */
static void
test_a_clock_set_back(void **unused)
{
    edge_t  e;

    (void) unused;

    period_open(&e);

    assert_int_equal(period_take(&e, 1000), BUDGET);
    e.call.now_ms -= 60000;
    assert_int_equal(period_take(&e, 1000), BUDGET);
    assert_int_equal(period_take(&e, 1000), 0);

    e.call.now_ms += PERIOD_MS;
    assert_int_equal(period_take(&e, 1000), BUDGET);

    edge_close(&e);
}


/* Through ft_admission_decide(), over an hour, with more demand than budget. */
static void
test_a_period_admits_its_budget(void **unused)
{
    edge_t       e;
    unsigned     period, admitted;
    uint64_t     end;
    ft_ticket_t  ticket;

    (void) unused;

    period_open(&e);
    e.rules.hold_ms = 0;

    for (period = 0; period < 100; period++) {
        admitted = 0;
        end = e.call.now_ms + PERIOD_MS;

        for ( /* void */ ; e.call.now_ms < end; e.call.now_ms += 50) {
            admitted += (edge_first(&e, &ticket).answer == FT_ADMIT);
        }

        unit_check(admitted <= BUDGET, "%u admissions in period %u", admitted,
                   period);
    }

    edge_close(&e);
}


static uint64_t
period_last(edge_t *e)
{
    return ft_stats_read(&e->call).admitted_last_period;
}


static void
test_admitted_last_period(void **unused)
{
    edge_t       e;
    unsigned     i;
    ft_ticket_t  ticket;

    (void) unused;

    period_open(&e);
    e.rules.policy = FT_POLICY_FAIR;
    e.call.limits.rate_milli = 0;
    e.call.limits.inflight = 1000;

    assert_int_equal(period_last(&e), 0);

    for (i = 0; i < 7; i++) {
        e.call.now_ms += 100;
        assert_int_equal(edge_first(&e, &ticket).answer, FT_ADMIT);
    }

    /* complete at its end only */

    assert_int_equal(period_last(&e), 0);
    e.call.now_ms += PERIOD_MS;
    assert_int_equal(period_last(&e), 7);

    assert_int_equal(edge_first(&e, &ticket).answer, FT_ADMIT);
    e.call.now_ms += 1000;
    assert_int_equal(period_last(&e), 7);
    e.call.now_ms += PERIOD_MS;
    assert_int_equal(period_last(&e), 1);
    e.call.now_ms += PERIOD_MS;
    assert_int_equal(period_last(&e), 0);

    /* without a request for more than a period, the last one had none */

    assert_int_equal(edge_first(&e, &ticket).answer, FT_ADMIT);
    e.call.now_ms += 10 * PERIOD_MS;
    assert_int_equal(period_last(&e), 0);

    /* a clock set back ends the period */

    assert_int_equal(edge_first(&e, &ticket).answer, FT_ADMIT);
    e.call.now_ms -= 10 * PERIOD_MS;
    assert_int_equal(period_last(&e), 0);
    assert_int_equal(edge_first(&e, &ticket).answer, FT_ADMIT);
    e.call.now_ms += PERIOD_MS;
    assert_int_equal(period_last(&e), 1);

    edge_close(&e);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_budget_of_a_period),
        cmocka_unit_test(test_extreme_budgets),
        cmocka_unit_test(test_a_rate_lowered_within_a_period),
        cmocka_unit_test(test_a_late_clock_does_not_reset_the_budget),
        cmocka_unit_test(test_a_clock_set_back),
        cmocka_unit_test(test_a_period_admits_its_budget),
        cmocka_unit_test(test_admitted_last_period)
    };

    return unit_tests(tests);
}
