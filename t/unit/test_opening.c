
/*
 * An opening: no admission before it; the pre-queue is admitted in the order of
 * the shuffle, later shoppers after it.
 */

#include "opening.h"
#include "core.h"


/* The last admission of one of the first n. */
static unsigned
last_of(const crowd_t *c, unsigned n)
{
    unsigned  i, last;

    for (i = 0, last = 0; i < c->admissions; i++) {
        if (c->order[i] < n) {
            last = i;
        }
    }

    return last;
}


static void
test_no_admission_before_the_opening(void **unused)
{
    crowd_t  *c;

    (void) unused;

    c = sale(100, 0);
    crowd_run(c, c->rules.opens_ms - 1);

    assert_int_equal(c->admissions, 0);
    assert_int_equal(crowd_count(c, CROWD_WAITING), 100);
    assert_int_equal(c->state->totals.queued, 0);
    assert_true(c->state->totals.closed >= 200);

    sale_ends(c);
}


/* Before the opening the stats show the number of shoppers and the time
   left. */
static void
test_stats_of_a_closed_sale(void **unused)
{
    crowd_t       *c;
    ft_call_t      call;
    ft_stats_t  s;

    (void) unused;

    c = sale(100, 0);

    /* before the first request: from the rules */

    assert_int_equal(crowd_stats(c).opens_ms, c->rules.opens_ms);

    crowd_run(c, c->rules.opens_ms - 100);
    s = crowd_stats(c);

    assert_int_equal(s.opens_ms, c->rules.opens_ms);
    assert_int_equal(s.waiting, 100);
    assert_int_equal(s.wait_ms, 0);
    assert_int_equal(s.free_capacity_milli, 0);
    assert_int_equal(s.threshold_age_ms, 0);

    call = crowd_call(c, 0);
    assert_int_equal(ft_capacity_free_milli(&call), 0);

    /* the line's own opening counts where another location opens before */

    c->rules.opens_ms -= 1000;
    assert_int_equal(crowd_stats(c).opens_ms, c->rules.opens_ms + 1000);
    c->rules.opens_ms += 1000;

    crowd_run(c, c->rules.opens_ms + 1000);
    s = crowd_stats(c);

    assert_int_equal(s.opens_ms, 0);
    assert_true(s.queueing);
    assert_true(s.wait_ms > 0);

    sale_ends(c);
}


static void
test_admitted_in_the_order_of_the_shuffle(void **unused)
{
    double    tau;
    crowd_t  *c;

    (void) unused;

    c = sale(300, 100);
    crowd_run(c, c->rules.opens_ms + 40000);

    assert_int_equal(c->admissions, 400);

    tau = order(c, 0, 300);
    unit_check(tau > 0.99, "tau %f", tau);

    /* no later shopper is among them */

    unit_check(last_of(c, 300) < 310, "the last of them is the %uth",
               last_of(c, 300));

    sale_ends(c);
}


/* All capacity is used from the first second. */
static void
test_all_capacity_is_used_at_once(void **unused)
{
    crowd_t  *c;

    (void) unused;

    c = sale(300, 0);
    crowd_run(c, c->rules.opens_ms + 1000);

    /* 20 a second, and a burst of 5 */

    unit_check(c->admissions >= 20, "%u admitted in the first second",
               c->admissions);

    sale_ends(c);
}


/*
 * All poll rarely, and return soon after the opening, but not all at once.
 */
static void
test_returns_are_spread_after_the_opening(void **unused)
{
    crowd_t   *c;
    uint64_t   opens;
    unsigned   i, n, polls, most, quarter[4];

    (void) unused;

    c = sale(1000, 0);
    opens = c->rules.opens_ms;
    crowd_run(c, opens - 1);

    memset(quarter, 0, sizeof(quarter));
    polls = most = 0;

    for (i = 0; i < c->n; i++) {
        polls += c->shopper[i].polls;
        most = c->shopper[i].polls > most ? c->shopper[i].polls : most;

        assert_true(c->shopper[i].next_ms >= opens);
        unit_check(c->shopper[i].next_ms <= opens + 500 + 5, "%d ms after",
                   (int) (c->shopper[i].next_ms - opens));

        n = (unsigned) (c->shopper[i].next_ms - opens) / 125;
        quarter[n > 3 ? 3 : n]++;
    }

    /* one poll to be counted, then at most one in 15 s */

    unit_check(most <= 8 && polls <= 6000, "%u polls, %u of one", polls, most);

    for (i = 0; i < 4; i++) {
        unit_check(quarter[i] > 180 && quarter[i] < 320, "%u: %u", i,
                   quarter[i]);
    }

    sale_ends(c);
}


static void
test_shoppers_who_left_expire(void **unused)
{
    crowd_t   *c;
    unsigned   i;
    double     tau;

    (void) unused;

    c = sale(400, 0);
    crowd_run(c, c->rules.opens_ms - 20000);

    for (i = 0; i < 200; i += 2) {
        c->shopper[i].where = CROWD_GONE;
    }

    crowd_run(c, c->rules.opens_ms + 30000);

    assert_int_equal(c->admissions, 300);
    tau = order(c, 0, 400);
    unit_check(tau > 0.99, "tau %f", tau);

    sale_ends(c);
}


static void
test_an_opening_in_the_past_is_open(void **unused)
{
    crowd_t      *c;
    ft_verdict_t  v;

    (void) unused;

    c = sale(2, 0);
    c->now_ms = c->rules.opens_ms + 5000;
    v = crowd_request(c, 0, 0);
    assert_int_equal(v.answer, FT_ADMIT);

    sale_ends(c);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_no_admission_before_the_opening),
        cmocka_unit_test(test_stats_of_a_closed_sale),
        cmocka_unit_test(test_admitted_in_the_order_of_the_shuffle),
        cmocka_unit_test(test_all_capacity_is_used_at_once),
        cmocka_unit_test(test_returns_are_spread_after_the_opening),
        cmocka_unit_test(test_shoppers_who_left_expire),
        cmocka_unit_test(test_an_opening_in_the_past_is_open)
    };

    return unit_tests(tests);
}
