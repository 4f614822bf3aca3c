
/*
 * The limit on requests at the upstream: no admission exceeds it, all workers
 * count, and capacity is reserved for pages of admitted polls.
 */

#include "crowd.h"


static crowd_t *
crowd_of(uint32_t inflight, uint32_t workers)
{
    crowd_t  *c;

    c = crowd_create(400, workers);
    c->limits.inflight = inflight;
    c->limits.rate_milli = 0;
    c->limits.burst = 1;
    c->rules.hold_ms = 0;

    return c;
}


static uint32_t
inflight(const crowd_t *c)
{
    ft_call_t  call;

    call = crowd_call(c, 0);

    return ft_stats_read(&call).inflight;
}


static void
done(crowd_t *c, unsigned i)
{
    ft_inflight_done(c->state, atomic_load(&c->state->generation),
                      c->shopper[i].worker);
}


static void
test_limit_over_all_workers(void **unused)
{
    unsigned   i;
    crowd_t   *c;

    (void) unused;

    c = crowd_of(7, 4);
    c->rules.policy = FT_POLICY_REJECT;

    for (i = 0; i < 20; i++) {
        assert_int_equal(crowd_request(c, i, i % 4).answer,
                         i < 7 ? FT_ADMIT : FT_REJECT);
    }

    assert_int_equal(inflight(c), 7);

    /* for each that ends one is admitted, at any worker */

    for (i = 0; i < 7; i++) {
        done(c, i);
        assert_int_equal(crowd_request(c, 20 + i, 3).answer, FT_ADMIT);
        assert_int_equal(crowd_request(c, 40 + i, 0).answer, FT_REJECT);
    }

    crowd_free(c);
}


/* Refused by the bucket: nothing is left in flight. */
static void
test_refused_by_the_bucket(void **unused)
{
    unsigned   i;
    crowd_t   *c;

    (void) unused;

    c = crowd_of(100, 1);
    c->rules.policy = FT_POLICY_REJECT;
    c->limits.rate_milli = 1000;
    c->limits.burst = 3;

    for (i = 0; i < 50; i++) {
        assert_int_equal(crowd_request(c, i, 0).answer,
                         i < 3 ? FT_ADMIT : FT_REJECT);
    }

    assert_int_equal(inflight(c), 3);

    crowd_free(c);
}


/* A pass is never refused, and uses capacity. */
static void
test_passes_count(void **unused)
{
    unsigned      i;
    crowd_t      *c;
    ft_call_t     call;
    ft_ticket_t   pass;

    (void) unused;

    c = crowd_of(5, 2);
    c->rules.policy = FT_POLICY_REJECT;
    call = crowd_call(c, 1);
    memset(&pass, 0, sizeof(pass));
    ft_pass_make(&call, &pass);

    for (i = 0; i < 8; i++) {
        ft_inflight_enter(&call, &pass);
    }

    assert_int_equal(inflight(c), 8);
    assert_int_equal(atomic_load(&c->state->totals.passed), 8);
    assert_int_equal(crowd_request(c, 0, 0).answer, FT_REJECT);

    for (i = 0; i < 4; i++) {
        ft_inflight_done(c->state, pass.generation, 1);
    }

    assert_int_equal(crowd_request(c, 1, 0).answer, FT_ADMIT);
    assert_int_equal(crowd_request(c, 2, 0).answer, FT_REJECT);

    crowd_free(c);
}


/*
 * Capacity is reserved until the page of an admitted poll arrives, in any part
 * of a second.
 */
static void
check_promised(uint64_t phase_ms)
{
    unsigned   i;
    crowd_t   *c;
    uint64_t   admitted_ms;
    ft_call_t  call;

    c = crowd_of(3, 2);
    c->rules.policy = FT_POLICY_REJECT;
    c->now_ms += phase_ms;
    admitted_ms = c->now_ms;

    for (i = 0; i < 3; i++) {
        assert_int_equal(crowd_request(c, i, 0).answer, FT_ADMIT);
        call = crowd_call(c, 0);
        ft_pass_make(&call, &c->shopper[i].ticket);
        ft_inflight_expect(&call, &c->shopper[i].ticket);
        assert_int_equal(inflight(c), i + 1);
    }

    for ( /* void */ ; c->now_ms < admitted_ms + 1700; c->now_ms += 100) {
        assert_int_equal(crowd_request(c, 10, 1).answer, FT_REJECT);
        assert_int_equal(inflight(c), 3);
    }

    /* the first page arrives at another worker, then another page */

    call = crowd_call(c, 1);
    ft_inflight_enter(&call, &c->shopper[0].ticket);
    assert_int_equal(inflight(c), 3);
    ft_inflight_enter(&call, &c->shopper[0].ticket);
    assert_int_equal(inflight(c), 4);
    ft_inflight_done(c->state, c->shopper[0].ticket.generation, 1);
    ft_inflight_done(c->state, c->shopper[0].ticket.generation, 1);
    assert_int_equal(inflight(c), 2);

    assert_int_equal(atomic_load(&c->state->totals.done), 2);

    /* the other pages do not arrive: their reservations expire */

    c->now_ms = admitted_ms + 2500;
    assert_int_equal(inflight(c), 0);
    assert_int_equal(crowd_request(c, 11, 1).answer, FT_ADMIT);

    /* a late page counts as any request with a pass */

    call = crowd_call(c, 1);
    ft_inflight_enter(&call, &c->shopper[1].ticket);
    assert_int_equal(inflight(c), 2);

    crowd_free(c);
}


static void
test_expected_pages_reserve_capacity(void **unused)
{
    uint64_t  phase_ms;

    (void) unused;

    for (phase_ms = 0; phase_ms < 1100; phase_ms += 7) {
        check_promised(phase_ms);
    }
}


/* Rows are reused: old reservations do not count. */
static void
test_expected_pages_expire(void **unused)
{
    unsigned    i;
    crowd_t    *c;
    ft_call_t   call;
    ft_ticket_t pass;

    (void) unused;

    c = crowd_of(0, 1);

    for (i = 0; i < 3000; i++) {
        c->now_ms += 97;
        call = crowd_call(c, 0);
        memset(&pass, 0, sizeof(pass));
        pass.id = i;
        atomic_fetch_add(&c->state->worker[0].inflight, 1);
        ft_pass_make(&call, &pass);
        ft_inflight_expect(&call, &pass);
        assert_in_range(inflight(c), 1, 2300 / 97 + 1);
    }

    c->now_ms += 3000;
    assert_int_equal(inflight(c), 0);

    crowd_free(c);
}


/* A request of another generation of the state ends. */
static void
test_done_of_another_generation(void **unused)
{
    crowd_t  *c;

    (void) unused;

    c = crowd_of(0, 1);
    c->limits.rate_milli = 20000;
    (void) crowd_request(c, 0, 0);
    assert_int_equal(inflight(c), 1);

    ft_inflight_done(c->state, 12345, 0);
    assert_int_equal(inflight(c), 1);

    /* a request does not end twice */

    done(c, 0);
    done(c, 0);
    assert_int_equal(inflight(c), 0);

    crowd_free(c);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_limit_over_all_workers),
        cmocka_unit_test(test_refused_by_the_bucket),
        cmocka_unit_test(test_passes_count),
        cmocka_unit_test(test_expected_pages_reserve_capacity),
        cmocka_unit_test(test_expected_pages_expire),
        cmocka_unit_test(test_done_of_another_generation)
    };

    return unit_tests(tests);
}
