
/*
 * Overrides during a sale, by the operator and by the upstream.
 */

#include "crowd.h"
#include "ft_feedback.h"
#include "core.h"


#define N  600


/* 20 r/s, N shoppers within two seconds; 10 s later. */
static crowd_t *
sale_under_way(uint32_t workers)
{
    unsigned   i;
    crowd_t   *c;

    c = crowd_create(N, workers);

    for (i = 0; i < N; i++) {
        crowd_arrive(c, i, UNIT_EPOCH_MS + i * 2000 / N + 1);
    }

    crowd_run(c, UNIT_EPOCH_MS + 10000);

    unit_check(crowd_count(c, CROWD_WAITING) > 100, "nobody waits");

    return c;
}


static void
run_for(crowd_t *c, uint64_t ms)
{
    crowd_run(c, c->now_ms + ms);
}


static void
test_a_rate_replaces_the_rate_of_the_zone(void **unused)
{
    unsigned   before;
    crowd_t   *c;

    (void) unused;

    c = sale_under_way(2);

    ft_override_rate(c->state, FT_OVERRIDE_OPERATOR, 40000);
    run_for(c, 1000);
    before = c->admissions;
    run_for(c, 3000);
    unit_check(c->admissions - before >= 114 && c->admissions - before <= 122,
               "%u admitted in 3 s at 40 r/s", c->admissions - before);

    /* the upstream's rate applies when the operator sets none */

    ft_override_rate(c->state, FT_OVERRIDE_UPSTREAM, 5000);
    assert_true(ft_override_is_set(c->state));
    ft_override_rate(c->state, FT_OVERRIDE_OPERATOR, 0);
    assert_false(ft_override_is_set(c->state));
    run_for(c, 4000);
    before = c->admissions;
    run_for(c, 4000);
    unit_check(c->admissions - before >= 18 && c->admissions - before <= 21,
               "%u admitted in 4 s at 5 r/s", c->admissions - before);

    ft_override_reset(c->state, c->now_ms);
    run_for(c, 1000);
    before = c->admissions;
    run_for(c, 3000);
    unit_check(c->admissions - before >= 55 && c->admissions - before <= 63,
               "%u admitted in 3 s at 20 r/s", c->admissions - before);

    assert_int_equal(crowd_overtaken(c), 0);
    crowd_free(c);
}


/* The content of the bucket at a slow rate, of minutes, does not stop
   admissions. */
static void
test_a_rate_applies_at_once(void **unused)
{
    crowd_t    *c;
    ft_call_t   call;

    (void) unused;

    c = crowd_create(2, 1);
    c->limits.rate_milli = 16;
    c->limits.burst = 1;

    assert_int_equal(crowd_request(c, 0, 0).answer, FT_ADMIT);

    ft_override_rate(c->state, FT_OVERRIDE_OPERATOR, 20000);
    call = crowd_call(c, 0);
    ft_override_limits(call.state, NULL, &call.limits);
    ft_bucket_settle(&c->state->bucket, &call.limits, c->now_ms);
    assert_int_equal(ft_bucket_free_milli(&c->state->bucket, &call.limits,
                                          c->now_ms), 0);

    c->now_ms += 50;
    assert_int_equal(crowd_request(c, 1, 0).answer, FT_ADMIT);

    c->now_ms += 10000;
    ft_bucket_settle(&c->state->bucket, &call.limits, c->now_ms);
    assert_int_equal(ft_bucket_free_milli(&c->state->bucket, &call.limits,
                                          c->now_ms),
                     call.limits.burst * 1000);

    crowd_free(c);
}


static void
test_only_a_default_burst_follows_the_rate(void **unused)
{
    ft_call_t    call;
    ft_state_t  *state;
    ft_limits_t  limits = { .rate_milli = 80000, .burst = 20, .inflight = 3 };

    (void) unused;

    state = unit_shared(sizeof(ft_state_t));
    call.state = state;

    call.limits = limits;
    ft_override_limits(call.state, NULL, &call.limits);
    assert_memory_equal(&call.limits, &limits, sizeof(limits));

    ft_override_rate(state, FT_OVERRIDE_OPERATOR, 8000);
    ft_override_limits(call.state, NULL, &call.limits);
    assert_int_equal(call.limits.rate_milli, 8000);
    assert_int_equal(call.limits.burst, 2);
    assert_int_equal(call.limits.inflight, 3);

    limits.burst = 7;
    call.limits = limits;
    ft_override_limits(call.state, NULL, &call.limits);
    assert_int_equal(call.limits.burst, 7);

    ft_override_rate(state, FT_OVERRIDE_OPERATOR, UINT32_MAX);
    call.limits = limits;
    ft_override_limits(call.state, NULL, &call.limits);
    assert_int_equal(call.limits.rate_milli, FT_RATE_MAX_MILLI);

    free(state);
}


/* The burst is 1 without a rate: an override of the rate sets the default
   burst. */
static void
test_a_rate_for_a_zone_without_one(void **unused)
{
    ft_call_t    call;
    ft_state_t  *state;
    ft_limits_t  limits = { .burst = 1, .inflight = 3 };

    (void) unused;

    state = unit_shared(sizeof(ft_state_t));
    call.state = state;
    call.limits = limits;

    ft_override_rate(state, FT_OVERRIDE_UPSTREAM, 40000);
    ft_override_limits(call.state, NULL, &call.limits);
    assert_int_equal(call.limits.rate_milli, 40000);
    assert_int_equal(call.limits.burst, 10);

    free(state);
}


static void
test_pause_stops_admissions(void **unused)
{
    unsigned       before;
    crowd_t       *c;
    ft_stats_t  s;

    (void) unused;

    c = sale_under_way(2);
    before = c->admissions;

    ft_override_pause(c->state);
    assert_true(ft_override_is_set(c->state));

    /* the held requests are turned back */

    run_for(c, 200);
    assert_int_equal(crowd_count(c, CROWD_HELD), 0);

    run_for(c, 60000);
    assert_int_equal(c->admissions, before);

    s = crowd_stats(c);
    assert_true(s.queueing);
    assert_int_equal(s.free_capacity_milli, 0);
    assert_in_range(s.wait_ms, 3600001, UINT64_MAX);
    unit_check(s.waiting == N - before, "%u of %u wait", s.waiting, N - before);

    /* after that all are admitted in order, and no capacity is unused */

    assert_true(ft_override_resume(c->state, FT_OVERRIDE_OPERATOR, c->now_ms));
    assert_false(ft_override_is_set(c->state));
    run_for(c, 5000);
    unit_check(c->admissions - before >= 80, "%u admitted in 5 s",
               c->admissions - before);

    crowd_run(c, c->now_ms + 40000);
    assert_int_equal(c->admissions, N);
    assert_int_equal(crowd_overtaken(c), 0);

    crowd_free(c);
}


static void
test_pause_without_a_queue(void **unused)
{
    crowd_t       *c;
    ft_verdict_t   v;

    (void) unused;

    c = crowd_create(2, 1);

    ft_override_pause(c->state);

    /* the end is unknown: over an hour, and max_wait refuses nobody */

    c->rules.max_wait_ms = 1000;
    v = crowd_request(c, 0, 0);
    assert_int_equal(v.answer, FT_WAIT);
    assert_in_range(v.wait_ms, 3600001, UINT64_MAX);

    c->rules.policy = FT_POLICY_REJECT;
    assert_int_equal(crowd_request(c, 1, 0).answer, FT_REJECT);

    assert_int_equal(crowd_stats(c).inflight, 0);
    crowd_free(c);
}


/* A newcomer waits for those before it, whenever the pause ends. */
static void
test_max_wait_counts_the_line_in_a_pause(void **unused)
{
    crowd_t   *c;
    unsigned   last;

    (void) unused;

    c = sale_under_way(1);
    last = N - 1;
    ft_override_pause(c->state);

    c->rules.max_wait_ms = 60000;
    crowd_arrive(c, last, c->now_ms);
    c->shopper[last].ticket.kind = 0;
    assert_int_equal(crowd_request(c, last, 0).answer, FT_WAIT);

    c->rules.max_wait_ms = 5000;
    c->shopper[last].ticket.kind = 0;
    assert_int_equal(crowd_request(c, last, 0).answer, FT_REJECT);

    crowd_free(c);
}


static void
test_all_who_wait_get_sold_out(void **unused)
{
    unsigned   waiting, inside;
    crowd_t   *c;

    (void) unused;

    c = sale_under_way(4);
    inside = c->admissions;
    waiting = N - inside;

    assert_true(ft_override_sold_out(c->state, FT_OVERRIDE_UPSTREAM));
    assert_false(ft_override_sold_out(c->state, FT_OVERRIDE_UPSTREAM));
    assert_false(ft_override_is_set(c->state));

    run_for(c, 200);
    assert_int_equal(crowd_count(c, CROWD_HELD), 0);

    /* no poll was advised later than this */

    run_for(c, FT_POLL_MAX_DEFAULT_MS * 12 / 10);

    assert_int_equal(crowd_count(c, CROWD_WAITING), 0);
    assert_int_equal(crowd_count(c, CROWD_SOLD_OUT), waiting);
    assert_int_equal(c->admissions, inside);
    assert_true(atomic_load(&c->state->totals.sold_out) >= waiting);
    assert_int_equal(crowd_stats(c).waiting, 0);
    assert_false(crowd_stats(c).queueing);

    crowd_free(c);
}


/*
 * All have expired from the census; each returns to its timestamp's place.
 * Nobody waits for shoppers who have not returned.
 */
static void
test_sold_out_shoppers_keep_their_places(void **unused)
{
    unsigned   before, back;
    crowd_t   *c;

    (void) unused;

    c = sale_under_way(2);
    before = c->admissions;

    (void) ft_override_sold_out(c->state, FT_OVERRIDE_OPERATOR);
    run_for(c, 90000);
    assert_int_equal(c->admissions, before);

    assert_true(ft_override_resume(c->state, FT_OVERRIDE_OPERATOR, c->now_ms));
    run_for(c, FT_POLL_MAX_DEFAULT_MS + 2000);
    back = c->admissions;
    unit_check(back - before >= 300, "%u admitted in 17 s", back - before);

    run_for(c, 40000);
    assert_int_equal(c->admissions, N);
    unit_check(crowd_overtaken(c) <= N / 5, "%u were overtaken",
               crowd_overtaken(c));

    c->order += back;
    c->admissions -= back;
    assert_int_equal(crowd_overtaken(c), 0);
    c->order -= back;

    crowd_free(c);
}


/* A short sold out, which most shoppers did not get. */
static void
test_a_short_sold_out(void **unused)
{
    crowd_t  *c;

    (void) unused;

    c = sale_under_way(2);

    (void) ft_override_sold_out(c->state, FT_OVERRIDE_UPSTREAM);
    run_for(c, 500);
    assert_true(ft_override_resume(c->state, FT_OVERRIDE_UPSTREAM, c->now_ms));

    crowd_run(c, c->now_ms + 30000);
    assert_int_equal(c->admissions, N);
    unit_check(crowd_overtaken(c) <= N / 50, "%u were overtaken",
               crowd_overtaken(c));

    crowd_free(c);
}


static void
test_a_lost_pass_is_given_again_while_sold_out(void **unused)
{
    crowd_t      *c;
    ft_ticket_t   ticket;

    (void) unused;

    c = crowd_create(2, 1);

    assert_int_equal(crowd_request(c, 0, 0).answer, FT_ADMIT);
    ticket = c->shopper[0].ticket;
    ticket.kind = FT_TICKET_WAIT;

    (void) ft_override_sold_out(c->state, FT_OVERRIDE_UPSTREAM);

    c->shopper[0].ticket = ticket;
    c->shopper[0].where = CROWD_WAITING;
    assert_int_equal(crowd_request(c, 0, 0).answer, FT_SPENT);
    assert_int_equal(crowd_request(c, 1, 0).answer, FT_ALL_SOLD);

    assert_int_equal(c->shopper[1].ticket.first_ms, c->now_ms);
    assert_int_equal(c->shopper[1].ticket.kind, FT_TICKET_WAIT);
    assert_int_equal(c->shopper[1].ticket.generation, 0);

    crowd_free(c);
}


static void
test_the_upstream_withdraws_only_its_own(void **unused)
{
    ft_state_t  *state;

    (void) unused;

    state = unit_shared(sizeof(ft_state_t));

    (void) ft_override_sold_out(state, FT_OVERRIDE_OPERATOR);
    (void) ft_override_sold_out(state, FT_OVERRIDE_UPSTREAM);
    ft_override_pause(state);

    assert_true(ft_override_resume(state, FT_OVERRIDE_UPSTREAM, 5));
    assert_false(ft_override_resume(state, FT_OVERRIDE_UPSTREAM, 5));
    assert_true(ft_override_is_sold_out(state));
    assert_true(ft_override_is_stopped(state));
    assert_int_equal(atomic_load(&state->born_ms), 0);

    (void) ft_override_sold_out(state, FT_OVERRIDE_UPSTREAM);
    assert_true(ft_override_resume(state, FT_OVERRIDE_OPERATOR, 7));
    assert_false(ft_override_is_stopped(state));
    assert_int_equal(atomic_load(&state->born_ms), 7);

    free(state);
}


static void
test_open_and_reset(void **unused)
{
    ft_state_t  *state;

    (void) unused;

    state = unit_shared(sizeof(ft_state_t));

    ft_override_pause(state);
    ft_override_open(state, 50);
    assert_false(ft_override_is_stopped(state));
    assert_true(ft_override_is_set(state));
    assert_int_equal(atomic_load(&state->overrides.opens_ms), 50);

    ft_override_rate(state, FT_OVERRIDE_OPERATOR, 7);
    ft_override_rate(state, FT_OVERRIDE_UPSTREAM, 8);
    ft_override_pause(state);
    ft_override_reset(state, 60);
    assert_false(ft_override_is_stopped(state));
    assert_false(ft_override_is_set(state));
    assert_int_equal(atomic_load(&state->overrides.rate_upstream_milli), 0);
    assert_int_equal(atomic_load(&state->overrides.opens_ms), 0);

    free(state);
}


/* A key with an override of the operator is not evicted. */
static void
test_a_key_with_an_override_is_not_evicted(void **unused)
{
    bool         evicted;
    ft_zone_t   *zone;
    ft_state_t  *state;

    (void) unused;

    zone = unit_shared(ft_zone_size(1));
    ft_zone_init(zone, 1, 1, 0, UNIT_EPOCH_MS);

    state = ft_zone_add(zone, "a", 1, UNIT_EPOCH_MS, &evicted);
    ft_override_pause(state);
    assert_null(ft_zone_add(zone, "b", 1, UNIT_EPOCH_MS + 1000000, &evicted));

    (void) ft_override_resume(state, FT_OVERRIDE_OPERATOR, UNIT_EPOCH_MS);
    assert_non_null(ft_zone_add(zone, "b", 1, UNIT_EPOCH_MS + 1000000,
                                &evicted));
    assert_true(evicted);

    free(zone);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_a_rate_replaces_the_rate_of_the_zone),
        cmocka_unit_test(test_a_rate_applies_at_once),
        cmocka_unit_test(test_only_a_default_burst_follows_the_rate),
        cmocka_unit_test(test_a_rate_for_a_zone_without_one),
        cmocka_unit_test(test_pause_stops_admissions),
        cmocka_unit_test(test_pause_without_a_queue),
        cmocka_unit_test(test_max_wait_counts_the_line_in_a_pause),
        cmocka_unit_test(test_all_who_wait_get_sold_out),
        cmocka_unit_test(test_sold_out_shoppers_keep_their_places),
        cmocka_unit_test(test_a_short_sold_out),
        cmocka_unit_test(test_a_lost_pass_is_given_again_while_sold_out),
        cmocka_unit_test(test_the_upstream_withdraws_only_its_own),
        cmocka_unit_test(test_open_and_reset),
        cmocka_unit_test(test_a_key_with_an_override_is_not_evicted),
    };

    return unit_tests(tests);
}
