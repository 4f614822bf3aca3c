
/*
 * An early poll gets the remaining retry interval, and changes nothing else.
 */

#include <string.h>
#include "crowd.h"
#include "core.h"


static ft_verdict_t
ask(crowd_t *c, ft_ticket_t *ticket, bool whole_seconds)
{
    ft_call_t       call;
    ft_line_node_t  node;

    call = crowd_call(c, 0);

    return ft_admission_decide(&call, ticket, NULL, &node, whole_seconds);
}


static uint32_t
waiting(crowd_t *c)
{
    ft_call_t  call;

    call = crowd_call(c, 0);

    return ft_stats_read(&call).waiting;
}


/* n shoppers, timestamps 50 ms apart, who have all returned once. */
static crowd_t *
line_of(unsigned n)
{
    unsigned   i;
    crowd_t   *c;

    c = crowd_create(n, 1);
    c->limits.rate_milli = 5000;

    for (i = 0; i < n; i++) {
        crowd_arrive(c, i, c->now_ms + 50 * i);
    }

    crowd_run(c, c->now_ms + 50 * n + c->rules.poll_max_ms);

    return c;
}


/* The last in line: far from its call. */
static crowd_shopper_t *
last_of(crowd_t *c)
{
    crowd_shopper_t  *last;

    last = &c->shopper[c->n - 1];
    assert_int_equal(last->where, CROWD_WAITING);
    assert_true(last->next_ms > c->now_ms + 2 * c->rules.poll_min_ms);

    return last;
}


static void
test_an_early_poll_changes_nothing(void **unused)
{
    unsigned          i;
    crowd_t          *c;
    uint32_t          before;
    ft_ticket_t       ticket;
    ft_verdict_t      v;
    crowd_shopper_t  *last;

    (void) unused;

    c = line_of(800);
    last = last_of(c);
    ticket = last->ticket;
    before = waiting(c);

    for (i = 0; i < 100; i++) {
        v = ask(c, &ticket, false);

        assert_int_equal(v.answer, FT_WAIT);
        assert_true(v.same);
        assert_false(v.replay);
        assert_memory_equal(&ticket, &last->ticket, sizeof(ticket));
        assert_true(v.position > 0 && v.wait_ms > 0);

        /* the advised time stays, or becomes earlier */

        assert_true(v.retry_ms >= c->rules.poll_min_ms);
        assert_true(c->now_ms + v.retry_ms <= last->next_ms);
    }

    c->now_ms += FT_TICK_MS;
    assert_int_equal(waiting(c), before);

    crowd_free(c);
}


/* A poll as advised gets a new ticket; the old version is used. */
static void
test_a_poll_in_time_gets_a_new_ticket(void **unused)
{
    crowd_t          *c;
    ft_ticket_t       ticket;
    ft_verdict_t      v;
    crowd_shopper_t  *last;

    (void) unused;

    c = line_of(800);
    last = last_of(c);
    c->now_ms = last->next_ms;

    ticket = last->ticket;
    v = ask(c, &ticket, false);

    assert_int_equal(v.answer, FT_WAIT);
    assert_false(v.same);
    assert_false(v.replay);
    assert_true(ticket.due_ms > last->ticket.due_ms);

    ticket = last->ticket;
    v = ask(c, &ticket, false);

    assert_int_equal(v.answer, FT_WAIT);
    assert_false(v.same);
    assert_true(v.replay);

    crowd_free(c);
}


/* The first return is counted, however early. */
static void
test_the_first_return_counts(void **unused)
{
    crowd_t       *c;
    uint32_t       before;
    ft_ticket_t    ticket = { .id = 4711 };
    ft_verdict_t   v;

    (void) unused;

    c = line_of(800);

    v = ask(c, &ticket, false);
    assert_int_equal(v.answer, FT_WAIT);

    c->now_ms += FT_TICK_MS;
    before = waiting(c);

    v = ask(c, &ticket, false);
    assert_int_equal(v.answer, FT_WAIT);
    assert_false(v.same);

    c->now_ms += FT_TICK_MS;
    assert_int_equal(waiting(c), before + 1);

    v = ask(c, &ticket, false);
    assert_true(v.same);

    crowd_free(c);
}


/* A page polls after whole seconds, never after the advised time. */
static void
test_whole_seconds_are_rounded_down(void **unused)
{
    crowd_t          *c;
    uint64_t          left;
    ft_ticket_t       ticket;
    ft_verdict_t      v;
    crowd_shopper_t  *last;

    (void) unused;

    c = line_of(800);
    last = last_of(c);
    left = last->next_ms - c->now_ms;
    assert_true(left > 1000);

    ticket = last->ticket;
    v = ask(c, &ticket, true);

    assert_true(v.same);
    assert_true((v.retry_ms + 999) / 1000 * 1000 <= left);

    /* less than a second is left: no whole second */

    c->now_ms = last->next_ms - 900;

    v = ask(c, &ticket, true);
    assert_int_equal(v.answer, FT_WAIT);
    assert_false(v.same);

    crowd_free(c);
}


/*
 * A page with less than a second left has got a newer ticket.  A poll with the
 * old version must not replace it in the cookie.
 */
static crowd_shopper_t *
due_soon(crowd_t *c, bool across)
{
    unsigned          i;
    crowd_shopper_t  *s;

    for (i = c->n; i-- > 0; /* void */) {
        s = &c->shopper[i];

        if (s->where == CROWD_WAITING && s->next_ms >= c->now_ms + 900
            && ((s->next_ms - 900) >> 14 != (s->next_ms - 400) >> 14)
               == across)
        {
            return s;
        }
    }

    return NULL;
}


/* Uses of a version in one span of 16 s, and in two. */
static void
used_is_not_given_back(bool across)
{
    crowd_t          *c;
    ft_ticket_t       ticket;
    ft_verdict_t      v;
    crowd_shopper_t  *s;

    c = line_of(800);
    s = due_soon(c, across);
    assert_non_null(s);

    c->now_ms = s->next_ms - 900;
    ticket = s->ticket;
    v = ask(c, &ticket, true);
    assert_int_equal(v.answer, FT_WAIT);
    assert_false(v.same);
    assert_false(v.replay);

    c->now_ms = s->next_ms - 400;
    ticket = s->ticket;
    v = ask(c, &ticket, false);
    assert_int_equal(v.answer, FT_WAIT);
    assert_false(v.same);
    assert_true(v.replay || across);

    crowd_free(c);
}


static void
test_a_used_version_is_not_sent_back(void **unused)
{
    (void) unused;

    used_is_not_given_back(false);
    used_is_not_given_back(true);
}


/* An early poll does not miss its call, a sold-out sale, or another edge. */
static void
test_early_polls_that_are_answered_in_full(void **unused)
{
    crowd_t          *c;
    ft_ticket_t       ticket;
    ft_verdict_t      v;
    crowd_shopper_t  *last;

    (void) unused;

    c = line_of(800);
    last = last_of(c);

    ticket = last->ticket;
    atomic_store(&c->state->census.threshold_us,
                 (last->ticket.first_ms + 1) * 1000);
    v = ask(c, &ticket, false);
    assert_false(v.same);

    crowd_free(c);

    c = line_of(800);
    last = last_of(c);

    ticket = last->ticket;
    ticket.generation++;
    v = ask(c, &ticket, false);
    assert_false(v.same);

    ticket = last->ticket;
    atomic_fetch_add(&c->state->opening.turn, 1);
    v = ask(c, &ticket, false);
    assert_false(v.same);

    ticket = last->ticket;
    atomic_store(&c->state->overrides.flags, FT_OVERRIDE_SOLD_OUT);
    v = ask(c, &ticket, false);
    assert_int_equal(v.answer, FT_ALL_SOLD);

    crowd_free(c);
}


/*
 * Shoppers who got "sold out" are not counted: after a resume the first one,
 * however early, makes the edge listen for the others.
 */
static void
test_a_resumed_sale_listens(void **unused)
{
    crowd_t          *c;
    ft_call_t         call;
    ft_ticket_t       ticket;
    ft_verdict_t      v;
    crowd_shopper_t  *last;

    (void) unused;

    c = line_of(800);
    last = last_of(c);

    (void) ft_override_sold_out(c->state, FT_OVERRIDE_OPERATOR);
    c->now_ms += 200;
    (void) ft_override_resume(c->state, FT_OVERRIDE_OPERATOR, c->now_ms);

    ticket = last->ticket;
    v = ask(c, &ticket, false);
    assert_int_equal(v.answer, FT_WAIT);
    assert_false(v.same);

    call = crowd_call(c, 0);
    assert_true(ft_restart_is_listening(&call));

    crowd_free(c);
}


/* The sum of the census now, not at the last tick. */
static unsigned
counted(const ft_census_t *census)
{
    unsigned  n, level, due, slot;

    n = ft_census_called(census) + ft_census_fresh(census);

    for (level = 0; level < FT_LEVELS; level++) {
        for (due = 0; due < FT_DUES; due++) {
            for (slot = 0; slot < FT_SLOTS; slot++) {
                n += atomic_load(&census->cell[level][due][slot]);
            }
        }
    }

    return n;
}


/*
 * A crowd that polls every 0.3 to 1 s, whatever the advice, is counted right at
 * every tick (except in the slot of the threshold), is admitted in order, and
 * has hardly any no-shows.
 */
static void
test_a_crowd_that_ignores_the_advice(void **unused)
{
    crowd_t   *c;
    uint64_t   end, missed;
    unsigned   served, there;

    (void) unused;

    c = line_of(800);
    c->hurry = true;
    served = c->admissions;
    missed = atomic_load(&c->state->totals.no_shows);

    crowd_run(c, c->now_ms + c->rules.poll_max_ms * 5 / 4);

    for (end = c->now_ms + 30000; c->now_ms < end; /* void */) {
        crowd_run(c, c->now_ms + FT_TICK_MS);

        there = crowd_count(c, CROWD_WAITING);
        assert_true(there > 100);
        assert_in_range(counted(&c->state->census), there - 3, there + 3);
    }

    served = c->admissions - served;
    assert_true(served > 200);
    assert_int_equal(crowd_overtaken(c), 0);
    missed = atomic_load(&c->state->totals.no_shows) - missed;
    assert_true(missed * 20 < served);

    crowd_free(c);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_an_early_poll_changes_nothing),
        cmocka_unit_test(test_a_poll_in_time_gets_a_new_ticket),
        cmocka_unit_test(test_the_first_return_counts),
        cmocka_unit_test(test_whole_seconds_are_rounded_down),
        cmocka_unit_test(test_a_used_version_is_not_sent_back),
        cmocka_unit_test(test_early_polls_that_are_answered_in_full),
        cmocka_unit_test(test_a_resumed_sale_listens),
        cmocka_unit_test(test_a_crowd_that_ignores_the_advice)
    };

    return unit_tests(tests);
}
