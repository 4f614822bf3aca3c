
/*
 * One ticket several times: in ten tabs, after a lost answer, or shared.  It is
 * one shopper with one place and one admission.
 */

#include "edge.h"


/* 10 a second, burst 1. */
static void
again_open(edge_t *e)
{
    edge_open(e);
    e->call.limits.rate_milli = 10000;
}


/* A shopper who has waited, and is due now. */
static ft_ticket_t
again_waiter(edge_t *e, uint64_t id)
{
    ft_ticket_t  ticket = { .id = id };

    assert_int_equal(edge_request(e, &ticket, NULL).answer, FT_WAIT);
    e->call.now_ms += 300;

    return ticket;
}


static void
again_fill(edge_t *e)
{
    ft_ticket_t  ticket = { .id = 1 };

    assert_int_equal(edge_request(e, &ticket, NULL).answer, FT_ADMIT);
}


static void
test_an_admitted_ticket_is_admitted_once(void **unused)
{
    edge_t       e;
    unsigned     i;
    uint64_t     ends;
    ft_ticket_t  ticket, shown;

    (void) unused;

    again_open(&e);
    again_fill(&e);
    ticket = again_waiter(&e, 4711);

    shown = ticket;
    assert_int_equal(edge_request(&e, &shown, NULL).answer, FT_ADMIT);
    ft_pass_make(&e.call, &shown);
    ends = shown.due_ms;

    for (i = 0; i < 100; i++) {
        e.call.now_ms += 1000;
        shown = ticket;
        assert_int_equal(edge_request(&e, &shown, NULL).answer, FT_SPENT);
        assert_true(ft_pass_again(&e.call, &shown));
        assert_int_equal(shown.kind, FT_TICKET_PASS);
        assert_in_range(shown.due_ms, ends - 1000, ends);
    }

    assert_int_equal(atomic_load(&e.state->totals.admitted), 2);

    /* after the end of its pass the ticket is not usable */

    e.call.now_ms += 600000;
    assert_false(ft_pass_again(&e.call, &shown));

    edge_close(&e);
}


static void
test_ten_tabs_are_held_once(void **unused)
{
    edge_t          e;
    bool            admitted;
    unsigned        i;
    uint64_t        wake;
    ft_ticket_t     ticket, shown;
    ft_line_node_t  node[10];

    (void) unused;

    again_open(&e);
    e.call.limits.rate_milli = 0;
    e.call.limits.inflight = 1;
    again_fill(&e);
    ticket = again_waiter(&e, 4711);

    for (i = 0; i < 10; i++) {
        shown = ticket;
        assert_int_equal(edge_request(&e, &shown, &node[i]).answer,
                         i == 0 ? FT_HOLD : FT_WAIT);
    }

    assert_int_equal(e.line.len, 1);
    assert_int_equal(ft_state_held(e.state, 1), 1);

    /* a reload closes the request and sends it again */

    ft_hold_leave(&e.call, &e.line, &node[0]);
    shown = ticket;
    assert_int_equal(edge_request(&e, &shown, &node[1]).answer, FT_HOLD);

    /* after the admission the other tabs get its pass */

    ft_inflight_done(e.state, EDGE_GENERATION, 0);
    assert_ptr_equal(ft_hold_next(&e.call, &e.line, &admitted, &wake),
                     &node[1]);
    assert_true(admitted);

    shown = ticket;
    assert_int_equal(edge_request(&e, &shown, &node[2]).answer, FT_SPENT);

    edge_close(&e);
}


static void
test_two_tickets_in_turn_count_as_two(void **unused)
{
    edge_t       e;
    unsigned     i;
    ft_ticket_t  a, b, shown;

    (void) unused;

    again_open(&e);
    e.call.limits.rate_milli = 0;
    e.call.limits.inflight = 1;
    e.rules.hold_ms = 0;
    again_fill(&e);
    a = again_waiter(&e, 4711);
    b = again_waiter(&e, 4711 + FT_SPENT_VERSIONS);

    for (i = 0; i < 500; i++) {
        shown = i % 2 ? a : b;
        (void) edge_request(&e, &shown, NULL);
    }

    e.call.now_ms += 100;
    assert_in_range(ft_stats_read(&e.call).waiting, 1, 2);

    edge_close(&e);
}


/* Clients that never return with their ticket: the queue ends. */
static void
test_a_queue_of_clients_without_cookies_ends(void **unused)
{
    edge_t       e;
    unsigned     i;
    ft_ticket_t  ticket;

    (void) unused;

    again_open(&e);
    e.call.limits.rate_milli = 50000;
    e.call.limits.burst = 5;

    for (i = 0; i < 12; i++) {
        ticket = (ft_ticket_t) { .id = 100 + i };
        (void) edge_request(&e, &ticket, NULL);
    }

    assert_int_equal(atomic_load(&e.state->queueing), 1);

    for (i = 0; i < 4; i++) {
        e.call.now_ms += 800;
        ticket = (ft_ticket_t) { .id = 200 + i };
        (void) edge_request(&e, &ticket, NULL);
    }

    e.call.now_ms += 100;
    ticket = (ft_ticket_t) { .id = 300 };
    assert_int_equal(edge_request(&e, &ticket, NULL).answer, FT_ADMIT);

    edge_close(&e);
}


/* The timestamp of another edge, whose clock is ahead. */
static void
test_a_timestamp_ahead_of_the_clock(void **unused)
{
    char                 text[FT_TICKET_LEN];
    edge_t               e;
    ft_secret_t          secret = { "0123456789abcdef", 16 };
    ft_ticket_t          ticket;
    ft_keyring_t        *ring;
    ft_ticket_context_t  context = { "z", 1, "k", 1, "", 0 };

    (void) unused;

    again_open(&e);
    ring = ft_keyring_create(&secret, 1);
    assert_non_null(ring);

    ticket = (ft_ticket_t) { .id = 5, .kind = FT_TICKET_WAIT,
                             .first_ms = e.call.now_ms + 3000,
                             .seen_ms = e.call.now_ms + 3000,
                             .due_ms = e.call.now_ms + 4000 };
    assert_true(ft_ticket_usable(&ticket, e.call.now_ms));
    assert_int_equal(edge_request(&e, &ticket, NULL).answer, FT_ADMIT);

    ft_pass_make(&e.call, &ticket);
    ft_ticket_sign(ring, &context, &ticket, text);
    assert_true(ft_ticket_verify(ring, &context, text, FT_TICKET_LEN,
                                 &ticket));
    assert_true(ft_ticket_usable(&ticket, e.call.now_ms));
    assert_false(ft_ticket_usable(&ticket, e.call.now_ms + 604000));

    ft_keyring_free(ring);
    edge_close(&e);
}


/* At one admission a minute polls are rare. */
static void
test_retry_at_a_slow_rate(void **unused)
{
    edge_t        e;
    ft_ticket_t   ticket;
    ft_verdict_t  v;

    (void) unused;

    again_open(&e);
    e.call.limits.rate_milli = 16;
    again_fill(&e);

    ticket = (ft_ticket_t) { .id = 9 };
    v = edge_request(&e, &ticket, NULL);

    assert_int_equal(v.answer, FT_WAIT);
    assert_in_range(v.wait_ms, 60000, 64000);
    assert_in_range(v.retry_ms, 14000, FT_POLL_MAX_DEFAULT_MS);

    edge_close(&e);
}


/* A restarted edge counts each ticket once. */
static void
test_a_restarted_edge_counts_a_ticket_once(void **unused)
{
    edge_t          e;
    unsigned        i;
    ft_ticket_t     ticket, again;
    ft_verdict_t    v;

    (void) unused;

    again_open(&e);
    ticket = (ft_ticket_t) {
        .id = 5, .kind = FT_TICKET_WAIT, .generation = 6,
        .first_ms = UNIT_EPOCH_MS - 60000, .seen_ms = UNIT_EPOCH_MS - 9000,
        .due_ms = UNIT_EPOCH_MS + 1000
    };

    e.call.now_ms = UNIT_EPOCH_MS + 10;

    for (i = 0; i < 4; i++) {
        again = ticket;
        v = edge_request(&e, &again, NULL);

        assert_int_equal(v.answer, FT_WAIT);
        assert_int_equal(v.replay, i > 0);
    }

    e.call.now_ms += 200;
    assert_int_equal(ft_stats_read(&e.call).waiting, 1);

    edge_close(&e);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_an_admitted_ticket_is_admitted_once),
        cmocka_unit_test(test_ten_tabs_are_held_once),
        cmocka_unit_test(test_two_tickets_in_turn_count_as_two),
        cmocka_unit_test(test_a_queue_of_clients_without_cookies_ends),
        cmocka_unit_test(test_a_timestamp_ahead_of_the_clock),
        cmocka_unit_test(test_retry_at_a_slow_rate),
        cmocka_unit_test(test_a_restarted_edge_counts_a_ticket_once)
    };

    return unit_tests(tests);
}
