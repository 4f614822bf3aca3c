
/*
 * The controller: one tick at a time, a threshold that moves forward only, and
 * the measured show-up rate.
 */

#include "crowd.h"
#include "core.h"


static uint64_t
threshold_us(const crowd_t *c)
{
    return atomic_load(&c->state->census.threshold_us);
}


static void
test_one_tick_in_100_ms(void **unused)
{
    unsigned    i, ticks;
    crowd_t    *c;
    uint64_t    last;
    ft_call_t   call;

    (void) unused;

    c = crowd_create(1, 4);
    last = 0;
    ticks = 0;

    for (i = 0; i < 10000; i++) {
        call = crowd_call(c, i % 4);
        ft_control_tick(&call);

        if (atomic_load(&c->state->control.ticked_ms) != last) {
            assert_true(atomic_load(&c->state->control.ticked_ms)
                        == c->now_ms);
            assert_true(last == 0 || c->now_ms >= last + FT_TICK_MS);
            last = c->now_ms;
            ticks++;
        }

        c->now_ms += i % 3;
    }

    /* 10 s, a request about every millisecond */

    assert_in_range(ticks, 98, 100);

    crowd_free(c);
}


/* A worker whose clock is behind does not tick. */
static void
test_late_workers_do_not_tick(void **unused)
{
    unsigned    i;
    crowd_t    *c;
    ft_call_t   call;

    (void) unused;

    c = crowd_create(1, 2);
    call = crowd_call(c, 0);
    ft_control_tick(&call);

    for (i = 0; i <= 1000; i++) {
        call.now_ms = c->now_ms + FT_TICK_MS - 1 - i;
        call.worker = 1;
        ft_control_tick(&call);
        assert_true(atomic_load(&c->state->control.ticked_ms) == c->now_ms);
    }

    crowd_free(c);
}


/* A line begins just before its first timestamp, once. */
static void
test_a_queue_begins_once(void **unused)
{
    crowd_t    *c;
    uint64_t    timestamp;
    ft_call_t   call;

    (void) unused;

    c = crowd_create(1, 2);
    call = crowd_call(c, 0);
    timestamp = c->now_ms * 1000 + 123;

    ft_queue_begin(&call, timestamp);
    assert_true(threshold_us(c) == timestamp - 1);
    assert_int_equal(atomic_load(&c->state->queueing), 1);

    ft_queue_begin(&call, timestamp - 5000000);
    assert_true(threshold_us(c) == timestamp - 1);
    ft_queue_begin(&call, timestamp + 5000000);
    assert_true(threshold_us(c) == timestamp - 1);

    crowd_free(c);
}


/* n shoppers at a rate a second; a share of them never returns. */
static crowd_t *
sale_of(unsigned n, unsigned a_second, uint32_t workers, unsigned no_shows)
{
    unsigned   i;
    crowd_t   *c;

    c = crowd_create(n, workers);

    for (i = 0; i < n; i++) {
        crowd_arrive(c, i, c->now_ms + i * UINT64_C(1000) / a_second);

        if (unit_random(&c->seed) % 100 < no_shows) {
            c->shopper[i].patience_ms = unit_between(&c->seed, 1000, 20000);
        }
    }

    return c;
}


static void
check_threshold(crowd_t *c)
{
    uint64_t  end, last, at;

    last = 0;
    end = c->now_ms + 60000;

    while (c->now_ms < end) {
        crowd_run(c, c->now_ms + 20);
        at = threshold_us(c);

        if (!atomic_load(&c->state->queueing)) {
            last = 0;
            continue;
        }

        unit_check(at >= last, "back by %u us", (unsigned) (last - at));
        assert_true(at <= c->now_ms * 1000);
        last = at;
    }

    assert_true(c->admissions > 500);

    crowd_free(c);
}


static void
test_threshold_never_moves_back(void **unused)
{
    crowd_t  *c;

    (void) unused;

    check_threshold(sale_of(1500, 40, 1, 0));
    check_threshold(sale_of(1500, 60, 4, 50));
    check_threshold(sale_of(3000, 3000, 2, 20));

    c = sale_of(1500, 40, 2, 0);
    c->rules.policy = FT_POLICY_PROPORTIONAL;
    check_threshold(c);

    c = sale_of(1500, 40, 2, 30);
    c->rules.hold_ms = 0;
    check_threshold(c);

    c = sale_of(1500, 40, 2, 0);
    c->limits.rate_milli = 0;
    c->limits.inflight = 5;
    check_threshold(c);
}


/*
 * The proportional controller: 1.5 times the speed of the clock without demand,
 * half of it with too much demand, never beyond the present.
 */
static void
test_proportional_speed(void **unused)
{
    unsigned    i;
    crowd_t    *c;
    uint64_t    began, moved;
    ft_call_t   call;

    (void) unused;

    c = crowd_create(1, 1);
    c->rules.policy = FT_POLICY_PROPORTIONAL;
    c->limits.period_ms = 1000;
    call = crowd_call(c, 0);
    ft_queue_begin(&call, (c->now_ms - 60000) * 1000);

    /* somebody waits, so the queue does not end */

    (void) ft_census_increment(&c->state->census, c->now_ms * 1000,
                           c->now_ms + 60000, c->now_ms, false);

    for (i = 0, began = threshold_us(c); i < 200; i++) {
        c->now_ms += FT_TICK_MS;
        call = crowd_call(c, 0);
        ft_control_tick(&call);
    }

    moved = (threshold_us(c) - began) / 1000;
    assert_in_range(moved, 29000, 30000);

    for (i = 0, began = threshold_us(c); i < 200; i++) {
        c->now_ms += FT_TICK_MS;
        atomic_fetch_add(&c->state->period.passed_on, 10);
        call = crowd_call(c, 0);
        ft_control_tick(&call);
    }

    moved = (threshold_us(c) - began) / 1000;
    assert_in_range(moved, 10000, 11000);

    for (i = 0; i < 3000; i++) {
        c->now_ms += FT_TICK_MS;
        (void) ft_census_increment(&c->state->census, c->now_ms * 1000,
                               c->now_ms + 60000, c->now_ms, false);
        call = crowd_call(c, 0);
        ft_control_tick(&call);
        assert_true(threshold_us(c) <= c->now_ms * 1000);
    }

    assert_true(threshold_us(c) + 200000 > c->now_ms * 1000);

    crowd_free(c);
}


/* The queue ends when nobody waits, and the next one begins anew. */
static void
test_the_queue_ends(void **unused)
{
    crowd_t        *c;
    ft_stats_t   s;

    (void) unused;

    c = sale_of(200, 100, 2, 0);

    crowd_run(c, c->now_ms + 3000);
    assert_int_equal(crowd_stats(c).queueing, 1);

    crowd_run(c, c->now_ms + 15000);
    s = crowd_stats(c);

    assert_int_equal(crowd_count(c, CROWD_SERVED), 200);
    assert_int_equal(s.queueing, 0);
    assert_int_equal(s.waiting, 0);
    assert_int_equal(s.wait_ms, 0);
    assert_int_equal(s.threshold_age_ms, 0);
    assert_int_equal(s.inflight, 0);
    assert_int_equal(s.held, 0);

    crowd_free(c);
}


/* The measured share of the called who return. */
static void
check_show_up(unsigned came, unsigned missed)
{
    unsigned    i, k, says;
    crowd_t    *c;
    ft_call_t   call;

    c = crowd_create(1, 1);
    call = crowd_call(c, 0);
    ft_queue_begin(&call, c->now_ms * 1000);

    for (i = 0; i < 100; i++) {

        for (k = 0; k < missed; k++) {
            (void) ft_census_increment(&c->state->census,
                                   (c->now_ms - 60000) * 1000, c->now_ms + 300,
                                   c->now_ms, false);
        }

        atomic_fetch_add(&c->state->control.returned, came);
        c->now_ms += FT_TICK_MS;
        call = crowd_call(c, 0);
        ft_control_tick(&call);
    }

    says = crowd_stats(c).show_up_milli;

    unit_check(says + 60 > came * 1000 / (came + missed)
               && says < came * 1000 / (came + missed) + 60,
               "%u of 1000, where %u of %u came", says, came, came + missed);

    /* except those who are not overdue yet */

    assert_in_range(atomic_load(&c->state->totals.no_shows), missed * 93,
                    missed * 100);

    crowd_free(c);
}


static void
test_show_up_is_measured(void **unused)
{
    (void) unused;

    check_show_up(5, 5);
    check_show_up(2, 18);
    check_show_up(10, 1);
    check_show_up(3, 0);
}


/* A new queue starts without the show-up rate of the last one. */
static void
test_show_up_of_a_new_queue(void **unused)
{
    crowd_t    *c;
    ft_call_t   call;

    (void) unused;

    c = crowd_create(1, 1);
    call = crowd_call(c, 0);

    atomic_store(&c->state->control.returned_milli, 1000);
    atomic_store(&c->state->control.no_shows_milli, 99000);
    atomic_store(&c->state->control.boost_milli, 5000);
    ft_queue_begin(&call, c->now_ms * 1000);

    assert_int_equal(crowd_stats(c).show_up_milli, 1000);
    assert_int_equal(atomic_load(&c->state->control.boost_milli), 0);

    crowd_free(c);
}


/* Unused capacity calls more; called shoppers who are turned back, fewer. */
static void
test_boost_follows_the_free_capacity(void **unused)
{
    unsigned    i;
    crowd_t    *c;
    uint64_t    last;
    ft_call_t   call;

    (void) unused;

    c = crowd_create(1, 1);
    call = crowd_call(c, 0);
    ft_queue_begin(&call, c->now_ms * 1000);
    (void) ft_census_increment(&c->state->census, (c->now_ms - 1000) * 1000,
                           c->now_ms + 60000, c->now_ms, false);

    for (i = 0, last = 0; i < 5; i++) {
        c->now_ms += FT_TICK_MS;
        call = crowd_call(c, 0);
        ft_control_tick(&call);

        assert_true(atomic_load(&c->state->control.boost_milli) > last);
        last = atomic_load(&c->state->control.boost_milli);
    }

    for (i = 0; i < 20 && last; i++) {
        c->now_ms += FT_TICK_MS;
        atomic_fetch_add(&c->state->control.turned_back, 10);
        call = crowd_call(c, 0);
        ft_control_tick(&call);

        assert_true(atomic_load(&c->state->control.boost_milli) < last);
        last = atomic_load(&c->state->control.boost_milli);
    }

    assert_int_equal(last, 0);

    crowd_free(c);
}


/* No-shows leave no capacity unused. */
static void
test_no_capacity_is_lost_to_no_shows(void **unused)
{
    unsigned   before;
    crowd_t   *c;

    (void) unused;

    c = sale_of(3000, 60, 2, 60);
    crowd_run(c, c->now_ms + 10000);
    before = c->admissions;

    crowd_run(c, c->now_ms + 20000);

    unit_check(c->admissions - before >= 390, "%u of 400",
               c->admissions - before);

    crowd_free(c);
}


/* inflight without a rate: the flow is measured. */
static void
test_flow_is_measured(void **unused)
{
    unsigned    n;
    crowd_t    *c;
    uint64_t    sum;
    ft_call_t   call;

    (void) unused;

    c = sale_of(3000, 60, 2, 0);
    c->limits.rate_milli = 0;
    c->limits.inflight = 8;

    /* 8 at a time, 200 ms each: at most 40 a second */

    c->service_ms = 200;
    crowd_run(c, c->now_ms + 10000);

    for (n = 0, sum = 0; n < 100; n++) {
        crowd_run(c, c->now_ms + 100);
        call = crowd_call(c, 0);
        sum += ft_capacity_flow_milli(&call);
    }

    assert_int_equal(c->inside_max, 8);
    assert_in_range(sum / n, 34000, 42000);

    crowd_free(c);
}


static void
test_flow_within_the_rate(void **unused)
{
    crowd_t    *c;
    ft_call_t   call;

    (void) unused;

    c = crowd_create(1, 1);
    call = crowd_call(c, 0);

    assert_int_equal(ft_capacity_flow_milli(&call), 20000);

    call.limits.inflight = 3;
    atomic_store(&c->state->control.flow_milli, 90000);
    assert_int_equal(ft_capacity_flow_milli(&call), 20000);
    atomic_store(&c->state->control.flow_milli, 5000);
    assert_int_equal(ft_capacity_flow_milli(&call), 5000);

    call.limits.rate_milli = 0;
    atomic_store(&c->state->control.flow_milli, 0);
    assert_int_equal(ft_capacity_flow_milli(&call), 3000);

    crowd_free(c);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_one_tick_in_100_ms),
        cmocka_unit_test(test_late_workers_do_not_tick),
        cmocka_unit_test(test_a_queue_begins_once),
        cmocka_unit_test(test_threshold_never_moves_back),
        cmocka_unit_test(test_proportional_speed),
        cmocka_unit_test(test_the_queue_ends),
        cmocka_unit_test(test_show_up_is_measured),
        cmocka_unit_test(test_show_up_of_a_new_queue),
        cmocka_unit_test(test_boost_follows_the_free_capacity),
        cmocka_unit_test(test_no_capacity_is_lost_to_no_shows),
        cmocka_unit_test(test_flow_is_measured),
        cmocka_unit_test(test_flow_within_the_rate)
    };

    return unit_tests(tests);
}
