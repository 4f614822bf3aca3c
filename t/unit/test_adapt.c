
/*
 * Adaptation with a simulated checkout of payment slots: which answers move the
 * limits, and which do not.
 */

#include "core.h"
#include "unit.h"


#define SHOPPERS  256


typedef struct {
    ft_adapt_t        adapt;
    ft_adapt_rules_t  rules;
    ft_limits_t       limits;
    uint64_t          seed;
    uint64_t          now_ms;
    uint64_t          end_ms[SHOPPERS];     /* in flight; 0: none */
    uint64_t          from_ms[SHOPPERS];
    uint64_t          free_ms[SHOPPERS];
    uint64_t          factor_milli; /* a payment takes this times 250 ms */
    uint64_t          answers;
    uint64_t          admitted;
    uint64_t          fraction;     /* of an admission that the rate allows */
    uint32_t          slots;
    uint32_t          inflight;
    bool              fails;        /* fast answers with errors */
    bool              idle;         /* no requests */
} shop_t;


static shop_t *
shop_open(uint32_t inflight, uint32_t rate_milli)
{
    shop_t  *s;

    s = calloc(1, sizeof(shop_t));
    assert_non_null(s);

    s->rules.target_ms = 500;
    s->rules.min_milli = 1000;
    s->limits.inflight = inflight;
    s->limits.rate_milli = rate_milli;
    s->limits.burst = ft_config_burst_default(rate_milli);
    s->seed = 7;
    s->now_ms = UNIT_EPOCH_MS;
    s->factor_milli = 1000;
    s->slots = 8;

    return s;
}


static ft_limits_t
shop_limits(const shop_t *s)
{
    ft_limits_t  limits;

    limits = s->limits;
    ft_adapt_limits(&s->adapt, &s->rules, &limits);

    return limits;
}


/* Starts a payment, in the slot that is free first. */
static void
shop_admit(shop_t *s)
{
    unsigned  i, first;
    uint64_t  begins;

    for (i = first = 0; i < s->slots; i++) {
        if (s->free_ms[i] < s->free_ms[first]) {
            first = i;
        }
    }

    begins = s->free_ms[first] > s->now_ms ? s->free_ms[first] : s->now_ms;

    for (i = 0; s->end_ms[i]; i++) {
        assert_in_range(i, 0, SHOPPERS - 2);
    }

    s->from_ms[i] = s->now_ms;
    s->end_ms[i] = s->fails ? s->now_ms + 2
                   : begins + unit_between(&s->seed, 100, 400)
                              * s->factor_milli / 1000;

    if (!s->fails) {
        s->free_ms[first] = s->end_ms[i];
    }

    s->inflight++;
    s->admitted++;
}


/* Runs for a time; demand exceeds the limits unless it is idle. */
static void
shop_runs(shop_t *s, uint64_t ms)
{
    unsigned     i;
    uint64_t     until;
    ft_limits_t  limits;

    s->answers = 0;
    s->admitted = 0;

    for (until = s->now_ms + ms; s->now_ms < until; s->now_ms++) {

        for (i = 0; i < SHOPPERS; i++) {

            if (s->end_ms[i] && s->end_ms[i] <= s->now_ms) {
                s->end_ms[i] = 0;
                s->inflight--;
                s->answers++;
                ft_adapt_answer(&s->adapt, &s->rules, &s->limits,
                                s->fails ? FT_ANSWER_ERROR : FT_ANSWER_GOOD,
                                (uint32_t) (s->now_ms - s->from_ms[i]),
                                s->now_ms);
            }
        }

        limits = shop_limits(s);

        if (limits.rate_milli && s->fraction < 2000000) {
            s->fraction += limits.rate_milli;
        }

        while (!s->idle && (limits.rate_milli == 0 || s->fraction >= 1000000))
        {
            if (s->inflight >= limits.inflight) {
                atomic_store(&s->adapt.turned_away, 1);
                break;
            }

            shop_admit(s);

            s->fraction -= limits.rate_milli ? 1000000 : 0;
        }
    }
}


/* From any start the window reaches the target time and the throughput of
   checkout, and stays there. */
static void
test_converges_to_the_target(void **unused)
{
    shop_t    *s;
    unsigned   i, k;
    uint32_t   window, least, most;

    static const uint32_t  start[][2] = {
        { 0, 0 }, { 64, 0 }, { 200, 0 }, { 0, 100000 }, { 12, 0 }
    };

    (void) unused;

    for (k = 0; k < 5; k++) {
        s = shop_open(start[k][0], start[k][1]);
        shop_runs(s, 30000);

        least = UINT32_MAX;
        most = 0;

        for (i = 0; i < 30; i++) {
            shop_runs(s, 1000);
            window = shop_limits(s).inflight;
            least = window < least ? window : least;
            most = window > most ? window : most;
        }

        shop_runs(s, 30000);

        unit_check(s->answers >= 900, "start %u: %u of 960 answers", k,
                   (unsigned) s->answers);
        unit_check(least >= 10 && most <= 20, "start %u: window %u to %u", k,
                   least, most);
        assert_in_range(atomic_load(&s->adapt.mean_ms), 250, 560);

        free(s);
    }
}


/* 250 ms, 2 s, 250 ms: the slots stay busy, and few requests wait for one. */
static void
test_a_slow_provider_recovers(void **unused)
{
    shop_t    *s;
    uint64_t   seed, sum;

    (void) unused;

    sum = 0;

    for (seed = 1; seed <= 20; seed++) {
        s = shop_open(64, 0);
        s->seed = seed;
        shop_runs(s, 30000);

        s->factor_milli = 8000;
        shop_runs(s, 20000);
        assert_in_range(shop_limits(s).inflight, 3, 32);

        /* 4 a second is the maximum; probing costs a little */

        shop_runs(s, 60000);
        unit_check(s->answers >= 60, "seed %u: %u of 240 answers",
                   (unsigned) seed, (unsigned) s->answers);
        assert_in_range(shop_limits(s).inflight, 1, 20);
        sum += s->answers;

        s->factor_milli = 1000;
        shop_runs(s, 12000);
        shop_runs(s, 10000);
        unit_check(s->answers >= 270, "seed %u: %u of 320 answers",
                   (unsigned) seed, (unsigned) s->answers);

        free(s);
    }

    unit_check(sum >= 20 * 240 * 85 / 100, "%u of %u answers in all",
               (unsigned) sum, 20 * 240);
}


/* Fast errors free the window at once; they must not raise the rate. */
static void
test_many_errors(void **unused)
{
    shop_t  *s;

    (void) unused;

    s = shop_open(16, 0);
    shop_runs(s, 20000);

    s->fails = true;
    shop_runs(s, 5000);
    shop_runs(s, 10000);
    unit_check(s->admitted <= 60, "%u admitted while all fail, in 10 s",
               (unsigned) s->admitted);
    unit_check(s->admitted >= 8, "%u admitted to measure",
               (unsigned) s->admitted);

    s->fails = false;
    shop_runs(s, 20000);
    shop_runs(s, 10000);
    unit_check(s->answers >= 280, "%u of 320 answers after it",
               (unsigned) s->answers);
    assert_int_equal(atomic_load(&s->adapt.ceiling_milli), 0);

    free(s);
}


static void
test_no_change_without_requests(void **unused)
{
    shop_t    *s;
    unsigned   i;
    uint32_t   window;

    (void) unused;

    s = shop_open(0, 0);
    shop_runs(s, 20000);
    s->idle = true;
    shop_runs(s, 20000);
    window = atomic_load(&s->adapt.window_milli);
    shop_runs(s, 3600000);
    assert_int_equal(atomic_load(&s->adapt.window_milli), window);

    /* one a minute is too few to measure */

    for (i = 0; i < 60; i++) {
        s->now_ms += 60000;
        ft_adapt_answer(&s->adapt, &s->rules, &s->limits, FT_ANSWER_GOOD, 5000,
                        s->now_ms);
    }

    assert_int_equal(atomic_load(&s->adapt.window_milli), window);

    /* the window does not grow while no request finds it full */

    for (i = 0; i < 600; i++) {
        s->now_ms += 100;
        ft_adapt_answer(&s->adapt, &s->rules, &s->limits, FT_ANSWER_GOOD, 10,
                        s->now_ms);
    }

    assert_in_range(atomic_load(&s->adapt.window_milli), window - 500, window);

    free(s);
}


static void
test_which_answers_count(void **unused)
{
    shop_t    *s;
    unsigned   i;

    (void) unused;

    s = shop_open(16, 0);

    /* 4xx, and clients that leave soon, do not count */

    for (i = 0; i < 1000; i++) {
        s->now_ms += 50;
        ft_adapt_answer(&s->adapt, &s->rules, &s->limits,
                        i % 2 ? FT_ANSWER_REFUSAL : FT_ANSWER_LOST, 100,
                        s->now_ms);
    }

    assert_int_equal(atomic_load(&s->adapt.mean_ms), 0);
    assert_int_equal(shop_limits(s).inflight, 16);

    /* one answer in thirty that took a minute is an outlier */

    for (i = 0; i < 3000; i++) {
        s->now_ms += 30;
        ft_adapt_answer(&s->adapt, &s->rules, &s->limits, FT_ANSWER_GOOD,
                        i % 30 ? 250 : 60000, s->now_ms);
    }

    assert_in_range(shop_limits(s).inflight, 14, 16);

    /* a client that leaves late is a lower bound of the time */

    for (i = 0; i < 600; i++) {
        s->now_ms += 30;
        ft_adapt_answer(&s->adapt, &s->rules, &s->limits, FT_ANSWER_LOST, 5000,
                        s->now_ms);
    }

    assert_in_range(atomic_load(&s->adapt.mean_ms), 2000, 5000);
    assert_in_range(shop_limits(s).inflight, 1, 12);

    free(s);
}


static void
test_limits(void **unused)
{
    shop_t       *s;
    ft_limits_t   limits;

    (void) unused;

    /* the zone's limit and the highest rate */

    s = shop_open(4, 50000);
    s->rules.max_milli = 20000;
    limits = shop_limits(s);
    assert_int_equal(limits.inflight, 4);
    assert_int_equal(limits.rate_milli, 20000);
    assert_int_equal(limits.burst, ft_config_burst_default(20000));
    shop_runs(s, 20000);
    assert_int_equal(shop_limits(s).inflight, 4);
    free(s);

    /* the lowest rate, although answers are far too slow */

    s = shop_open(64, 0);
    s->rules.min_milli = 3000;
    s->slots = 100;
    s->factor_milli = 20000;
    shop_runs(s, 120000);
    shop_runs(s, 60000);
    unit_check(s->admitted >= 140, "%u of 180 admitted",
               (unsigned) s->admitted);
    free(s);

    /* a clock that was set back */

    s = shop_open(16, 0);
    shop_runs(s, 10000);
    s->now_ms -= 3600000;
    memset(s->end_ms, 0, sizeof(s->end_ms));
    memset(s->free_ms, 0, sizeof(s->free_ms));
    s->inflight = 0;
    s->factor_milli = 8000;
    shop_runs(s, 30000);
    assert_in_range(atomic_load(&s->adapt.mean_ms), 1000, 5000);
    free(s);
}


/* A rate override leaves nothing to adapt. */
static void
test_a_rate_override_wins(void **unused)
{
    ft_call_t         call = { 0 };
    ft_limits_t       limits = { .inflight = 9, .burst = 1 };
    ft_adapt_rules_t  rules = { .target_ms = 500, .min_milli = 1000 };

    (void) unused;

    call.state = unit_shared(sizeof(ft_state_t));
    ft_state_init(call.state, 7, UNIT_EPOCH_MS);

    atomic_store(&call.state->adapt.window_milli, 3000);
    call.limits = limits;
    ft_override_limits(call.state, &rules, &call.limits);
    assert_int_equal(call.limits.inflight, 3);

    atomic_store(&call.state->overrides.rate_milli, 5000);
    call.limits = limits;
    ft_override_limits(call.state, &rules, &call.limits);
    assert_int_equal(call.limits.inflight, 9);

    free(call.state);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_converges_to_the_target),
        cmocka_unit_test(test_a_slow_provider_recovers),
        cmocka_unit_test(test_many_errors),
        cmocka_unit_test(test_no_change_without_requests),
        cmocka_unit_test(test_which_answers_count),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_a_rate_override_wins)
    };

    return unit_tests(tests);
}
