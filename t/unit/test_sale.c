
/*
 * Whole sales in virtual time: admissions in order of timestamp, whatever
 * happens to workers, edges and shoppers.
 */

#include "crowd.h"


/* n shoppers, evenly within a time. */
static crowd_t *
sale_of(unsigned n, uint64_t over_ms, uint32_t workers)
{
    unsigned   i;
    crowd_t   *c;

    c = crowd_create(n, workers);

    for (i = 0; i < n; i++) {
        crowd_arrive(c, i, c->now_ms + over_ms * i / n);
    }

    return c;
}


/* Until all have been served, or a time limit. */
static void
run_out(crowd_t *c, uint64_t within_ms)
{
    uint64_t  end;

    end = c->now_ms + within_ms;

    while (c->now_ms < end && crowd_count(c, CROWD_SERVED) < c->n) {
        crowd_run(c, c->now_ms + 1000);
    }

    unit_check(crowd_count(c, CROWD_SERVED) == c->n, "%u of %u were served",
               crowd_count(c, CROWD_SERVED), c->n);
}


static void
check_order(crowd_t *c, unsigned percent)
{
    unsigned  overtaken;

    overtaken = crowd_overtaken(c);

    unit_check(overtaken * 100 <= c->n * percent, "%u of %u were overtaken",
               overtaken, c->n);
}


/* Twice the capacity, within half a minute. */
static void
test_order_is_kept(void **unused)
{
    uint32_t   workers;
    crowd_t   *c;

    (void) unused;

    for (workers = 1; workers <= CROWD_WORKERS; workers++) {
        c = sale_of(1200, 30000, workers);
        run_out(c, 80000);
        check_order(c, 1);
        crowd_free(c);
    }
}


static void
test_lottery_has_no_order(void **unused)
{
    crowd_t  *c;

    (void) unused;

    c = sale_of(1200, 30000, 2);
    c->rules.policy = FT_POLICY_LOTTERY;
    run_out(c, 80000);

    unit_check(crowd_overtaken(c) * 2 > c->n, "only %u of %u were overtaken",
               crowd_overtaken(c), c->n);

    crowd_free(c);
}


/* No window of any length has more admissions than the bucket allows. */
static void
test_rate_is_kept(void **unused)
{
    unsigned   i;
    crowd_t   *c;
    uint64_t   at[1000];

    (void) unused;

    c = sale_of(1000, 5000, 4);
    run_out(c, 80000);

    for (i = 0; i < c->admissions; i++) {
        at[i] = c->shopper[c->order[i]].admitted_ms;
    }

    assert_int_equal(c->admissions, 1000);
    assert_true(unit_excess(at, 1000, 20000, 5) <= 0);

    crowd_free(c);
}


static void
test_inflight_is_kept(void **unused)
{
    crowd_t  *c;

    (void) unused;

    c = sale_of(600, 5000, 4);
    c->limits.inflight = 6;
    c->limits.rate_milli = 0;
    run_out(c, 80000);

    assert_int_equal(c->inside_max, 6);
    check_order(c, 1);

    crowd_free(c);
}


/* About once a second a worker dies and is replaced. */
static void
test_workers_die(void **unused)
{
    crowd_t   *c;
    uint64_t   seed, end;
    uint32_t   worker;

    (void) unused;

    seed = 17;
    c = sale_of(1200, 30000, 4);
    c->limits.inflight = 12;
    end = c->now_ms + 40000;

    while (c->now_ms < end) {
        worker = (uint32_t) (unit_random(&seed) % 4);
        crowd_run(c, c->now_ms + unit_between(&seed, 500, 1500));
        crowd_kill(c, worker);
        crowd_run(c, c->now_ms + unit_between(&seed, 5, 100));
        crowd_replace(c, worker);

        /* requests of dead workers are not counted */

        assert_int_equal(ft_state_inflight(c->state, 4), c->inside);
    }

    run_out(c, 80000);
    check_order(c, 2);

    assert_int_equal(ft_state_inflight(c->state, 4), 0);
    assert_int_equal(ft_state_held(c->state, 4), 0);

    crowd_free(c);
}


typedef enum {
    FIRST_ANY,
    FIRST_LAST,         /* the last in line polls first */
    FIRST_NEWCOMERS     /* more newcomers than the bucket holds poll first */
} first_t;


/* The edge restarts: only the shoppers' tickets are left of the line. */
static void
check_restart(uint64_t after_ms, first_t first, uint64_t seed)
{
    unsigned   i, last, new, before;
    crowd_t   *c;

    c = sale_of(1200, 30000, 2);
    c->seed = seed;
    crowd_run(c, c->now_ms + after_ms);

    for (i = 0; i < c->workers; i++) {
        crowd_kill(c, i);
        c->dead[i] = false;
    }

    c->now_ms += 500;
    ft_state_init(c->state, 2, c->now_ms);

    for (i = 0, last = 0; i < c->n; i++) {
        last = c->shopper[i].where == CROWD_WAITING ? i : last;
    }

    if (first == FIRST_LAST) {
        (void) crowd_request(c, last, 0);
    }

    if (first == FIRST_NEWCOMERS) {
        before = c->admissions;

        for (new = last + 1; new < last + 12; new++) {
            (void) crowd_request(c, new, 0);
        }

        /* a burst was admitted before the edge knew of the queue */

        assert_int_equal(c->admissions - before, 5);
        c->admissions = before;
    }

    run_out(c, 80000);
    check_order(c, 2);

    crowd_free(c);
}


static void
test_restart_keeps_the_order(void **unused)
{
    uint64_t  seed;

    (void) unused;

    for (seed = 1; seed <= 5; seed++) {
        check_restart(10000, FIRST_ANY, seed);
        check_restart(25000, FIRST_ANY, seed);
    }
}


static void
test_restart_with_the_last_one_first(void **unused)
{
    uint64_t  seed;

    (void) unused;

    for (seed = 1; seed <= 3; seed++) {
        check_restart(10000, FIRST_LAST, seed);
        check_restart(25000, FIRST_LAST, seed);
    }
}


static void
test_restart_with_newcomers_first(void **unused)
{
    uint64_t  seed;

    (void) unused;

    for (seed = 1; seed <= 3; seed++) {
        check_restart(10000, FIRST_NEWCOMERS, seed);
        check_restart(25000, FIRST_NEWCOMERS, seed);
    }
}


/* All arrive at once, at the opening. */
static void
test_all_at_once(void **unused)
{
    crowd_t  *c;

    (void) unused;

    c = sale_of(1000, 1000, 2);
    run_out(c, 80000);

    /* within a second of timestamps the order may differ */

    assert_int_equal(crowd_overtaken(c), 0);
    crowd_free(c);

    c = sale_of(1000, 5000, 2);
    run_out(c, 80000);
    check_order(c, 2);
    crowd_free(c);
}


/* No requests for longer than any due time: all keep their places. */
static void
test_no_requests_for_a_long_time(void **unused)
{
    unsigned   i;
    crowd_t   *c;

    (void) unused;

    c = sale_of(600, 10000, 2);
    crowd_run(c, c->now_ms + 8000);

    /* the network fails; all expire, and all return */

    c->now_ms += 600000;

    for (i = 0; i < c->n; i++) {
        c->shopper[i].next_ms += c->shopper[i].where == CROWD_WAITING
                                 || c->shopper[i].where == CROWD_AWAY
                                 ? 600000 : 0;
    }

    run_out(c, 80000);

    crowd_free(c);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_order_is_kept),
        cmocka_unit_test(test_lottery_has_no_order),
        cmocka_unit_test(test_rate_is_kept),
        cmocka_unit_test(test_inflight_is_kept),
        cmocka_unit_test(test_workers_die),
        cmocka_unit_test(test_restart_keeps_the_order),
        cmocka_unit_test(test_restart_with_the_last_one_first),
        cmocka_unit_test(test_restart_with_newcomers_first),
        cmocka_unit_test(test_all_at_once),
        cmocka_unit_test(test_no_requests_for_a_long_time)
    };

    return unit_tests(tests);
}
