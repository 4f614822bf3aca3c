
/*
 * The decision: which requests are admitted, which wait, and which count.
 */

#include "crowd.h"
#include "core.h"


/* Shoppers 0 .. until - 1 make their first attempt now. */
static void
all_try(crowd_t *c, unsigned from, unsigned until)
{
    for ( /* void */ ; from < until; from++) {
        (void) crowd_request(c, from, 0);
    }
}


/* The stats after the next tick. */
static ft_stats_t
settled(crowd_t *c)
{
    c->now_ms += FT_TICK_MS;

    return crowd_stats(c);
}


static void
test_free_capacity_admits_at_once(void **unused)
{
    unsigned   i;
    crowd_t   *c;

    (void) unused;

    c = crowd_create(8, 1);

    for (i = 0; i < 5; i++) {
        assert_int_equal(crowd_request(c, i, 0).answer, FT_ADMIT);
        assert_int_equal(c->shopper[i].ticket.first_ms, c->now_ms);
    }

    for ( /* void */ ; i < 8; i++) {
        assert_int_equal(crowd_request(c, i, 0).answer, FT_WAIT);
    }

    assert_int_equal(atomic_load(&c->state->totals.first_attempts), 8);
    assert_int_equal(atomic_load(&c->state->totals.admitted), 5);
    assert_int_equal(atomic_load(&c->state->totals.queued), 3);
    assert_int_equal(crowd_stats(c).inflight, 5);

    crowd_free(c);
}


/* While anybody waits newcomers wait, even if capacity is free. */
static void
test_newcomers_wait_behind_the_queue(void **unused)
{
    unsigned   i;
    crowd_t   *c;

    (void) unused;

    c = crowd_create(40, 1);
    all_try(c, 0, 6);
    assert_int_equal(c->shopper[5].where, CROWD_WAITING);

    /* capacity becomes free before the sixth shopper returns */

    for (i = 6; i < 36; i++) {
        c->now_ms += 5;
        assert_int_equal(crowd_request(c, i, 0).answer, FT_WAIT);
    }

    assert_true(crowd_stats(c).free_capacity_milli >= 2000);

    c->now_ms = c->shopper[5].next_ms;
    assert_int_equal(crowd_request(c, 5, 0).answer, FT_ADMIT);

    crowd_free(c);
}


/* First attempts make newcomers wait, but have no place in line; then they
   expire. */
static void
test_clients_without_cookies_have_no_place(void **unused)
{
    unsigned       i;
    crowd_t       *c;
    ft_verdict_t   v;

    (void) unused;

    c = crowd_create(2000, 1);
    all_try(c, 0, 1000);

    assert_int_equal(crowd_stats(c).fresh, 995);
    assert_int_equal(crowd_stats(c).waiting, 0);

    /* only the last of them returns */

    c->now_ms = c->shopper[999].next_ms;
    v = crowd_request(c, 999, 0);
    unit_check(v.answer == FT_ADMIT || v.position == 0,
               "%u before it", v.position);

    /* the others expire, and the queue ends */

    for (i = 1000; i < 1600 && crowd_stats(c).queueing; i++) {
        c->now_ms += 100;
    }

    assert_int_equal(crowd_stats(c).queueing, 0);
    assert_int_equal(crowd_stats(c).fresh, 0);
    assert_int_equal(crowd_request(c, 1600, 0).answer, FT_ADMIT);

    crowd_free(c);
}


/* n shoppers, timestamps 50 ms apart, who have all returned once. */
static crowd_t *
line_of(unsigned n)
{
    unsigned   i;
    crowd_t   *c;

    c = crowd_create(n + 100, 1);

    /* no admissions, so only the first few are called */

    c->limits.rate_milli = 100;
    c->limits.burst = 1;
    c->rules.hold_ms = 0;

    /* nobody is due before all have arrived */

    c->rules.poll_min_ms = c->rules.poll_max_ms = 50000;

    (void) crowd_request(c, 0, 0);

    for (i = 1; i < n; i++) {
        c->now_ms += 25;
        (void) crowd_request(c, i, 0);
        c->now_ms += 25;
        (void) crowd_request(c, i, 0);
        assert_int_equal(c->shopper[i].where, CROWD_WAITING);
    }

    c->rules.poll_min_ms = FT_POLL_MIN_DEFAULT_MS;
    c->rules.poll_max_ms = FT_POLL_MAX_DEFAULT_MS;

    return c;
}


static void
test_stats_show_the_threshold(void **unused)
{
    crowd_t        *c;
    ft_stats_t   s;

    (void) unused;

    c = line_of(20);
    s = settled(c);

    assert_int_equal(s.queueing, 1);
    assert_true(s.threshold_ms
                == atomic_load(&c->state->census.threshold_us) / 1000);
    assert_true(s.threshold_age_ms == c->now_ms - s.threshold_ms);
    assert_true(s.wait_ms > 0);
    assert_int_equal(s.free_capacity_milli, (c->now_ms - UNIT_EPOCH_MS) / 10);

    /* the clock of this worker is behind */

    ft_census_advance(&c->state->census, c->now_ms * 1000);
    c->now_ms -= 10;
    assert_int_equal(crowd_stats(c).threshold_age_ms, 0);

    crowd_free(c);
}


static void
test_a_ticket_counts_when_it_returns(void **unused)
{
    unsigned   i;
    crowd_t   *c;

    (void) unused;

    c = line_of(20);
    assert_int_equal(crowd_stats(c).fresh, 0);
    assert_int_equal(settled(c).waiting, 19);

    for (i = 0; i < 500; i++) {
        c->now_ms += 10;
        (void) crowd_request(c, 1 + i % 19, 0);
    }

    assert_int_equal(settled(c).waiting, 19);
    assert_int_equal(crowd_stats(c).fresh, 0);

    crowd_free(c);
}


/* One ticket many times: ten tabs, the back button, a replay. */
static void
test_ten_tabs_are_one_shopper(void **unused)
{
    unsigned      tab;
    crowd_t      *c;
    ft_call_t     call;
    ft_ticket_t   copy, last;
    ft_verdict_t  v;

    (void) unused;

    c = line_of(30);
    assert_int_equal(settled(c).waiting, 29);

    for (tab = 0; tab < 10; tab++) {
        copy = c->shopper[29].ticket;
        call = crowd_call(c, 0);
        v = ft_admission_decide(&call, &copy, NULL, NULL, false);
        last = tab ? last : copy;

        assert_int_equal(v.answer, FT_WAIT);
        assert_int_equal(settled(c).waiting, 29);
    }

    /* the ticket of the counted poll is valid for the next poll */

    c->shopper[29].ticket = last;

    for (tab = 0; tab < 10; tab++) {
        (void) crowd_request(c, 29, 0);
        assert_int_equal(settled(c).waiting, 29);
        (void) crowd_request(c, 10 + tab, 0);
    }

    crowd_free(c);
}


/* An overdue shopper loses its count and keeps its place. */
static void
test_overdue_shoppers_keep_their_place(void **unused)
{
    unsigned       i, before, waiting;
    crowd_t       *c;
    ft_verdict_t   v;

    (void) unused;

    c = line_of(30);
    assert_int_equal(settled(c).waiting, 29);

    /* all but one poll as advised, until that one is overdue */

    while (c->now_ms < c->shopper[10].ticket.due_ms + 2100) {
        c->now_ms += 50;

        for (i = 1; i < 30; i++) {
            if (i != 10 && c->shopper[i].where == CROWD_WAITING
                && c->shopper[i].next_ms <= c->now_ms)
            {
                (void) crowd_request(c, i, 0);
            }
        }
    }

    for (i = 1, before = 0; i < 10; i++) {
        before += (c->shopper[i].where == CROWD_WAITING);
    }

    waiting = crowd_count(c, CROWD_WAITING);

    assert_int_equal(settled(c).waiting, waiting - 1);
    assert_int_equal(atomic_load(&c->state->totals.expired)
                     + atomic_load(&c->state->totals.no_shows), 1);

    v = crowd_request(c, 10, 0);

    assert_int_equal(v.answer, FT_WAIT);
    assert_in_range(v.position, before - 1, before + 1);

    /* it counts when it returns with the new ticket */

    assert_int_equal(settled(c).waiting, waiting - 1);
    (void) crowd_request(c, 10, 0);
    assert_int_equal(settled(c).waiting, waiting);

    crowd_free(c);
}


/* Positions and estimates grow along the line. */
static void
test_positions(void **unused)
{
    unsigned       i;
    crowd_t       *c;
    uint64_t       wait;
    ft_call_t      call;
    ft_ticket_t    copy;
    ft_verdict_t   v;

    (void) unused;

    c = line_of(400);
    (void) settled(c);
    call = crowd_call(c, 0);
    wait = 0;

    for (i = 10; i < 400; i += 10) {
        copy = c->shopper[i].ticket;
        v = ft_admission_decide(&call, &copy, NULL, NULL, false);

        assert_int_equal(v.answer, FT_WAIT);
        unit_check(v.position + 12 >= i && v.position <= i + 12,
                   "%u are before shopper %u", v.position, i);
        unit_check(v.wait_ms + 12000 >= wait, "%u ms after %u ms",
                   (unsigned) v.wait_ms, (unsigned) wait);
        wait = v.wait_ms;
    }

    /* one admission in ten seconds: about 400 x 10 s for the last */

    assert_in_range(wait, 3000000, 4200000);

    crowd_free(c);
}


static void
check_retry(crowd_t *c, unsigned i, bool whole)
{
    uint64_t       back;
    ft_call_t      call;
    ft_verdict_t   v;
    ft_ticket_t   *ticket;

    call = crowd_call(c, 0);
    ticket = &c->shopper[i].ticket;
    v = ft_admission_decide(&call, ticket, NULL, NULL, whole);

    assert_int_equal(v.answer, FT_WAIT);
    assert_true(v.retry_ms > 0);
    assert_in_range(v.retry_ms, c->rules.poll_min_ms * 9 / 10,
                    c->rules.poll_max_ms * 11 / 10);

    /* a poll as advised is not overdue */

    back = whole ? (v.retry_ms + 999) / 1000 * 1000 : v.retry_ms;
    unit_check(ticket->due_ms >= c->now_ms + back + 100, "due %u ms early",
               (unsigned) (c->now_ms + back - ticket->due_ms));
    assert_true(ticket->due_ms <= c->now_ms + FT_CENSUS_AHEAD_MS);
    assert_true(ticket->seen_ms == c->now_ms || v.same);
}


static void
test_retry_within_its_limits(void **unused)
{
    unsigned    i, k;
    crowd_t    *c;
    uint32_t    bounds[][2] = {
        { 300, 15000 }, { 100, 100 }, { 5000, 5000 }, { 100, 55000 },
        { 55000, 55000 }
    };

    (void) unused;

    for (k = 0; k < sizeof(bounds) / sizeof(bounds[0]); k++) {
        c = line_of(100);
        c->rules.poll_min_ms = bounds[k][0];
        c->rules.poll_max_ms = bounds[k][1];

        for (i = 5; i < 100; i++) {
            check_retry(c, i, i % 2);
            c->now_ms += 10;
        }

        crowd_free(c);
    }
}


/* Two polls of one shopper, and two shoppers, get different times. */
static void
test_retry_is_spread(void **unused)
{
    unsigned       i, same;
    crowd_t       *c;
    uint32_t       last;
    ft_call_t      call;
    ft_verdict_t   v;

    (void) unused;

    c = line_of(400);
    call = crowd_call(c, 0);
    same = 0;
    last = 0;

    for (i = 300; i < 400; i++) {
        v = ft_admission_decide(&call, &c->shopper[i].ticket, NULL, NULL,
                                false);
        same += (v.retry_ms == last);
        last = v.retry_ms;
    }

    unit_check(same < 5, "%u of 100 have the same time", same);

    crowd_free(c);
}


static void
test_max_wait_refuses_newcomers(void **unused)
{
    crowd_t       *c;
    ft_verdict_t   v;

    (void) unused;

    c = line_of(100);
    c->rules.max_wait_ms = 5000;
    (void) settled(c);

    v = crowd_request(c, 101, 0);
    assert_int_equal(v.answer, FT_REJECT);
    assert_true(v.wait_ms > 5000);
    assert_true(v.retry_ms >= 5000);
    assert_int_equal(crowd_stats(c).fresh, 0);

    /* shoppers in line are not refused */

    assert_int_equal(crowd_request(c, 99, 0).answer, FT_WAIT);

    c->rules.max_wait_ms = 24 * 3600 * 1000;
    assert_int_equal(crowd_request(c, 102, 0).answer, FT_WAIT);

    crowd_free(c);
}


static void
test_policy_reject(void **unused)
{
    unsigned       i;
    crowd_t       *c;
    ft_verdict_t   v;

    (void) unused;

    c = crowd_create(20, 1);
    c->rules.policy = FT_POLICY_REJECT;

    for (i = 0; i < 5; i++) {
        assert_int_equal(crowd_request(c, i, 0).answer, FT_ADMIT);
    }

    v = crowd_request(c, 5, 0);
    assert_int_equal(v.answer, FT_REJECT);
    assert_in_range(v.retry_ms, 1, 1000);
    assert_int_equal(crowd_stats(c).queueing, 0);
    assert_int_equal(crowd_stats(c).fresh, 0);
    assert_int_equal(atomic_load(&c->state->totals.rejected), 1);

    /* no line: free capacity goes to any request */

    c->now_ms += 50;
    assert_int_equal(crowd_request(c, 6, 0).answer, FT_ADMIT);

    /* even at a high rate the advice is not zero */

    c->limits.rate_milli = 5000000;
    c->limits.burst = 1;
    assert_int_equal(crowd_request(c, 7, 0).answer, FT_REJECT);
    assert_int_equal(c->shopper[7].where, CROWD_REJECTED);
    assert_true(crowd_request(c, 8, 0).retry_ms > 0);

    crowd_free(c);
}


/* Free capacity goes to any poll, whatever its timestamp. */
static void
test_policy_lottery(void **unused)
{
    unsigned   i;
    crowd_t   *c;

    (void) unused;

    c = crowd_create(100, 1);
    c->rules.policy = FT_POLICY_LOTTERY;
    all_try(c, 0, 50);

    for (i = 5; i < 50; i++) {
        assert_in_range(c->shopper[i].next_ms - c->now_ms, 500, 1500);
    }

    c->now_ms += 50;
    assert_int_equal(crowd_request(c, 50, 0).answer, FT_ADMIT);
    assert_int_equal(crowd_request(c, 10, 0).answer, FT_WAIT);

    crowd_free(c);
}


/* Counted by another generation of the state: not counted in this one. */
static void
test_a_ticket_of_another_generation(void **unused)
{
    crowd_t   *c;

    (void) unused;

    c = line_of(30);

    c->shopper[29].ticket.generation ^= 1;
    (void) crowd_request(c, 29, 0);

    assert_int_equal(settled(c).waiting, 30);
    assert_int_equal(c->shopper[29].ticket.generation,
                     atomic_load(&c->state->generation));

    crowd_free(c);
}


static void
test_pass(void **unused)
{
    crowd_t      *c;
    uint64_t      id;
    ft_call_t     call;
    ft_ticket_t  *ticket;

    (void) unused;

    c = crowd_create(1, 1);
    (void) crowd_request(c, 0, 0);

    ticket = &c->shopper[0].ticket;
    id = ticket->id;
    c->now_ms += 10;
    call = crowd_call(c, 0);
    ft_pass_make(&call, ticket);

    assert_int_equal(ticket->kind, FT_TICKET_PASS);
    assert_true(ticket->id == id);
    assert_true(ticket->first_ms == UNIT_EPOCH_MS);
    assert_true(ticket->seen_ms == c->now_ms);
    assert_true(ticket->due_ms == c->now_ms + 600000);
    assert_true(ft_ticket_usable(ticket, c->now_ms));

    crowd_free(c);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_free_capacity_admits_at_once),
        cmocka_unit_test(test_newcomers_wait_behind_the_queue),
        cmocka_unit_test(test_clients_without_cookies_have_no_place),
        cmocka_unit_test(test_stats_show_the_threshold),
        cmocka_unit_test(test_a_ticket_counts_when_it_returns),
        cmocka_unit_test(test_ten_tabs_are_one_shopper),
        cmocka_unit_test(test_overdue_shoppers_keep_their_place),
        cmocka_unit_test(test_positions),
        cmocka_unit_test(test_retry_within_its_limits),
        cmocka_unit_test(test_retry_is_spread),
        cmocka_unit_test(test_max_wait_refuses_newcomers),
        cmocka_unit_test(test_policy_reject),
        cmocka_unit_test(test_policy_lottery),
        cmocka_unit_test(test_a_ticket_of_another_generation),
        cmocka_unit_test(test_pass)
    };

    return unit_tests(tests);
}
