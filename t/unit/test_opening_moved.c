
/*
 * An opening that changes: opened by the operator, put off, brought forward or
 * removed, with a restart, or with a location of early access.
 */

#include "opening.h"
#include "core.h"


static void
test_a_sale_opened_by_the_operator(void **unused)
{
    crowd_t  *c;

    (void) unused;

    c = sale(100, 0);
    crowd_run(c, c->rules.opens_ms - 20000);

    ft_override_pause(c->state);
    assert_int_equal(crowd_stats(c).opens_ms, c->rules.opens_ms);

    ft_override_open(c->state, c->now_ms);
    assert_int_equal(crowd_stats(c).opens_ms, 0);

    ft_override_reset(c->state, c->now_ms);
    assert_int_equal(crowd_stats(c).opens_ms, c->rules.opens_ms);

    sale_ends(c);
}


static void
test_opened_by_the_operator_in_shuffled_order(void **unused)
{
    double     tau;
    crowd_t   *c;
    unsigned   i, k, late;

    (void) unused;

    /* slower than after an announced opening */

    c = sale(300, 0);
    c->limits.rate_milli = 3000;
    crowd_run(c, c->now_ms + 40000);

    late = crowd_count(c, CROWD_AWAY);
    assert_true(late > 50);

    ft_override_open(c->state, c->now_ms);
    crowd_run(c, c->rules.opens_ms + 5000);

    /* at the configured time nothing changes */

    ft_override_reset(c->state, c->now_ms);
    crowd_run(c, c->rules.opens_ms + 90000);

    for (i = 300 - late; i < 300; i++) {
        for (k = 0; k < 300 - late; k++) {
            assert_true(place(c, i) > place(c, k));
        }
    }

    assert_int_equal(c->admissions, 300);
    /* in the first 15 s nobody waits for those who return later */

    tau = order(c, 0, 300 - late);
    unit_check(tau > 0.75, "tau %f", tau);
    unit_check(order(c, 0, 300) > 0.75, "tau %f", order(c, 0, 300));

    sale_ends(c);
}


static void
test_a_withdrawn_override_closes_again(void **unused)
{
    double     tau;
    crowd_t   *c;
    unsigned   early;

    (void) unused;

    c = sale(300, 0);
    crowd_run(c, c->now_ms + 20000);
    ft_override_open(c->state, c->now_ms);
    crowd_run(c, c->now_ms + 2000);

    early = c->admissions;
    assert_true(early > 0);

    ft_override_reset(c->state, c->now_ms);
    crowd_run(c, c->rules.opens_ms - 1);
    unit_check(c->admissions == early, "%u, %u", c->admissions, early);

    c->admissions = 0;
    crowd_run(c, c->rules.opens_ms + 30000);
    assert_int_equal(c->admissions, 300 - early);

    tau = order(c, 0, 300);
    unit_check(tau > 0.99, "tau %f", tau);

    sale_ends(c);
}


static void
test_an_opening_is_put_off(void **unused)
{
    double     tau;
    crowd_t   *c;

    (void) unused;

    c = sale(300, 0);
    crowd_run(c, c->rules.opens_ms - 3000);

    c->rules.opens_ms += 120000;
    crowd_run(c, c->rules.opens_ms - 1);
    assert_int_equal(c->admissions, 0);

    crowd_run(c, c->rules.opens_ms + 30000);
    assert_int_equal(c->admissions, 300);

    tau = order(c, 0, 300);
    unit_check(tau > 0.99, "tau %f", tau);

    sale_ends(c);
}


static void
test_an_opening_is_brought_forward(void **unused)
{
    double     tau;
    crowd_t   *c;

    (void) unused;

    c = sale(300, 0);
    c->rules.opens_ms += 600000;
    crowd_run(c, c->now_ms + 60000);

    c->rules.opens_ms = c->now_ms + 20000;
    crowd_run(c, c->rules.opens_ms + 40000);
    assert_int_equal(c->admissions, 300);

    tau = order(c, 0, 300);
    unit_check(tau > 0.99, "tau %f", tau);

    sale_ends(c);
}


/* Without an opening first attempts count. */
static void
test_an_opening_is_removed(void **unused)
{
    double     tau;
    crowd_t   *c;

    (void) unused;

    /* slower than after an announced opening */

    c = sale(300, 0);
    c->limits.rate_milli = 3000;
    c->rules.opens_ms += 600000;
    crowd_run(c, c->now_ms + 70000);
    assert_int_equal(c->admissions, 0);

    c->rules.opens_ms = 0;
    crowd_run(c, c->now_ms + 2000);
    assert_true(c->state->census.threshold_us <= c->now_ms * 1000);

    crowd_run(c, c->now_ms + 108000);
    assert_int_equal(c->admissions, 300);

    /* as after a restart, some had not returned when it began */

    tau = order(c, 0, 300);
    unit_check(tau > 0.5, "tau %f", tau);

    sale_ends(c);
}


static void
restart(crowd_t *c)
{
    unsigned  i;

    memset(c->state, 0, sizeof(ft_state_t));
    ft_state_init(c->state, (uint32_t) unit_random(&c->seed) | 1, c->now_ms);

    for (i = 0; i < c->workers; i++) {
        memset(&c->line[i], 0, sizeof(ft_line_t));
        c->wake_ms[i] = 0;
    }

    for (i = 0; i < c->n; i++) {
        if (c->shopper[i].where == CROWD_HELD) {
            c->shopper[i].where = CROWD_WAITING;
            c->shopper[i].next_ms = c->now_ms + 200;
        }
    }
}


static void
test_a_restart_keeps_the_shuffle(void **unused)
{
    int64_t       at;
    double        tau;
    crowd_t      *c;

    (void) unused;

    for (at = -30000; at <= 5000; at += 5000) {
        c = sale(300, 0);
        crowd_run(c, c->rules.opens_ms + (uint64_t) at);
        restart(c);
        crowd_run(c, c->rules.opens_ms + 45000);

        assert_int_equal(c->admissions, 300);

        tau = order(c, 0, 300);
        unit_check(tau > 0.97, "%d ms: tau %f", (int) at, tau);

        sale_ends(c);
    }
}


/* Two locations use one key: the open one ignores the pre-queue of the
   other. */
static void
test_an_open_location_beside_a_closed_one(void **unused)
{
    crowd_t   *c;
    unsigned   i;
    uint64_t   opens, end;

    (void) unused;

    c = sale(200, 0);
    opens = c->rules.opens_ms;
    end = c->now_ms + 50000;

    for (i = 0; i < 200; i++) {
        c->shopper[i].next_ms = c->now_ms + 1 + i;
    }

    /* even ones at the open location, odd ones at the other */

    while (c->now_ms < end) {
        c->now_ms += 5;

        for (i = 0; i < 200; i++) {
            if (c->shopper[i].next_ms > c->now_ms
                || c->shopper[i].where > CROWD_WAITING)
            {
                continue;
            }

            c->rules.opens_ms = i % 2 ? opens : 0;
            (void) crowd_request(c, i, 0);
        }

        c->rules.opens_ms = 0;
        crowd_pump(c, 0);
    }

    assert_int_equal(c->admissions, 100);

    for (i = 0; i < c->admissions; i++) {
        assert_int_equal(c->order[i] % 2, 0);
    }

    unit_check(crowd_overtaken(c) == 0, "%u overtaken", crowd_overtaken(c));

    /* the line was laid out once */

    unit_check(c->state->opening.turn <= 2, "%u times",
               (unsigned) c->state->opening.turn);

    c->admissions = 0;
    c->rules.opens_ms = opens;
    crowd_run(c, opens + 30000);
    assert_int_equal(c->admissions, 100);

    sale_ends(c);
}


/* A monitor reads the stats under the rules of either location: the line
   stays. */
static void
test_reading_stats_does_not_move_the_line(void **unused)
{
    unsigned     i;
    crowd_t     *c;
    ft_call_t    call;
    ft_rules_t   rules;

    (void) unused;

    c = sale(300, 0);
    rules = c->rules;
    rules.opens_ms = 0;

    for (i = 0; i < 59; i++) {
        crowd_run(c, c->now_ms + 1000);
        call = crowd_call(c, 0);
        call.rules = &rules;
        (void) ft_stats_read(&call);
    }

    assert_int_equal(ft_census_called(&c->state->census), 0);
    crowd_run(c, c->rules.opens_ms + 30000);
    unit_check(order(c, 0, 300) > 0.99, "tau %f", order(c, 0, 300));

    sale_ends(c);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_a_sale_opened_by_the_operator),
        cmocka_unit_test(test_opened_by_the_operator_in_shuffled_order),
        cmocka_unit_test(test_a_withdrawn_override_closes_again),
        cmocka_unit_test(test_an_opening_is_put_off),
        cmocka_unit_test(test_an_opening_is_brought_forward),
        cmocka_unit_test(test_an_opening_is_removed),
        cmocka_unit_test(test_a_restart_keeps_the_shuffle),
        cmocka_unit_test(
                      test_an_open_location_beside_a_closed_one),
        cmocka_unit_test(test_reading_stats_does_not_move_the_line)
    };

    return unit_tests(tests);
}
