
/*
 * An opening: nobody is let in before it; the crowd that was there goes in by
 * lot, and whoever comes later behind it.
 */

#include "opening.h"
#include "core.h"


/* The latest place in order of admission of anybody of the first n. */
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
test_nobody_is_let_in_before(void **unused)
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


/* Of a line that waits nothing is told but who is there, and for how long. */
static void
test_the_figures_of_a_closed_sale(void **unused)
{
    crowd_t       *c;
    ft_call_t      call;
    ft_stats_t  s;

    (void) unused;

    c = sale(100, 0);

    /* nobody has come yet: as the rules say */

    assert_int_equal(figures(c).opens_ms, c->rules.opens_ms);

    crowd_run(c, c->rules.opens_ms - 100);
    s = figures(c);

    assert_int_equal(s.opens_ms, c->rules.opens_ms);
    assert_int_equal(s.waiting, 100);
    assert_int_equal(s.wait_ms, 0);
    assert_int_equal(s.free_capacity_milli, 0);
    assert_int_equal(s.threshold_age_ms, 0);

    /* nor is any unused in the last half hour */

    call = crowd_call(c, 0);
    assert_int_equal(ft_capacity_free_milli(&call), 0);

    /* the line's own opening counts where another place opens before */

    c->rules.opens_ms -= 1000;
    assert_int_equal(figures(c).opens_ms, c->rules.opens_ms + 1000);
    c->rules.opens_ms += 1000;

    crowd_run(c, c->rules.opens_ms + 1000);
    s = figures(c);

    assert_int_equal(s.opens_ms, 0);
    assert_true(s.queueing);
    assert_true(s.wait_ms > 0);

    sale_ends(c);
}


static void
test_the_order_is_the_lot(void **unused)
{
    double    tau;
    crowd_t  *c;

    (void) unused;

    c = sale(300, 100);
    crowd_run(c, c->rules.opens_ms + 40000);

    assert_int_equal(c->admissions, 400);

    tau = order(c, 0, 300);
    unit_check(tau > 0.99, "tau %f", tau);

    /* nobody who came later stands in their midst */

    unit_check(last_of(c, 300) < 310, "the last of them is the %uth",
               last_of(c, 300));

    sale_ends(c);
}


/* Room is used from the first second on. */
static void
test_the_room_is_used_at_once(void **unused)
{
    crowd_t  *c;

    (void) unused;

    c = sale(300, 0);
    crowd_run(c, c->rules.opens_ms + 1000);

    /* 20 a second, and 5 at once */

    unit_check(c->admissions >= 20, "%u admitted in the first second",
               c->admissions);

    sale_ends(c);
}


/*
 * Nobody asks more often than needed, all come back soon after the opening, and
 * not all at once.
 */
static void
test_all_come_back_at_the_opening_but_not_at_once(void **unused)
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

    /* once to be counted, then each quarter of a minute at most */

    unit_check(most <= 8 && polls <= 6000, "%u polls, %u of one", polls, most);

    for (i = 0; i < 4; i++) {
        unit_check(quarter[i] > 180 && quarter[i] < 320, "%u: %u", i,
                   quarter[i]);
    }

    sale_ends(c);
}


/* Those who have left before the opening are not waited for. */
static void
test_who_has_left_is_not_counted(void **unused)
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
        cmocka_unit_test(test_nobody_is_let_in_before),
        cmocka_unit_test(test_the_figures_of_a_closed_sale),
        cmocka_unit_test(test_the_order_is_the_lot),
        cmocka_unit_test(test_the_room_is_used_at_once),
        cmocka_unit_test(test_all_come_back_at_the_opening_but_not_at_once),
        cmocka_unit_test(test_who_has_left_is_not_counted),
        cmocka_unit_test(test_an_opening_in_the_past_is_open)
    };

    return unit_tests(tests);
}
