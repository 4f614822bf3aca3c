
/*
 * The bucket: no window of any length admits more than burst + rate x length,
 * at any rate and after any reload.
 */

#include "unit.h"
#include "core.h"


#define ADMITTED_MAX  3000


/* 1r/m to 100000r/s; some do not divide a second evenly */
static const uint32_t  rates_milli[] = {
    16, 17, 500, 1000, 3000, 7777, 32000, 99999, 333333, 1000000, 7000001,
    95000001, 99999999, 100000000
};

#define RATES  (sizeof(rates_milli) / sizeof(rates_milli[0]))


static ft_limits_t
limits_of(uint32_t rate_milli, uint32_t burst)
{
    ft_limits_t  limits = { .rate_milli = rate_milli,
                            .period_ms = FT_PERIOD_DEFAULT_MS, .burst = burst };

    return limits;
}


/*
 * Requests at random times, some by workers whose clock is up to late_ms
 * behind.  The times of the admissions must satisfy the limit.
 */
static void
check_random(uint64_t *seed, const ft_limits_t *limits, uint64_t late_ms)
{
    unsigned     n, attempts;
    uint64_t     now, claimed, gap, at[ADMITTED_MAX];
    ft_bucket_t  bucket = { 0 };

    n = 0;
    now = UNIT_EPOCH_MS;

    /* most intervals are about the leak of one admission, some are far
       longer */

    gap = UINT64_C(1000000) / limits->rate_milli;

    for (attempts = 0; attempts < 4000 && n < ADMITTED_MAX; attempts++) {
        claimed = now - (late_ms ? unit_random(seed) % late_ms : 0);

        if (ft_bucket_take(&bucket, limits, claimed)) {
            at[n++] = claimed;
        }

        switch (unit_random(seed) % 16) {

        case 0:
            now += unit_random(seed) % (gap * limits->burst * 2 + 2);
            break;

        case 1: case 2: case 3: case 4: case 5: case 6: case 7:
            now += unit_random(seed) % (gap + 2);
            break;

        default:
            break;
        }
    }

    unit_check(n >= limits->burst || n == ADMITTED_MAX,
               "only %u admitted, burst %u", n, limits->burst);

    qsort(at, n, sizeof(at[0]), unit_by_time);

    unit_check(unit_excess(at, n, limits->rate_milli, limits->burst) <= 0,
               "a window of more than %u + %u r/1000s", limits->burst,
               limits->rate_milli);
}


static void
test_every_window_is_limited(void **unused)
{
    unsigned     i;
    uint64_t     seed;
    ft_limits_t  limits;

    (void) unused;

    for (seed = 1; seed <= 3; seed++) {
        for (i = 0; i < RATES; i++) {
            uint64_t  s = seed * 1000 + i;

            limits = limits_of(rates_milli[i],
                               (uint32_t) unit_between(&s, 1, 60));
            check_random(&s, &limits, 0);
        }
    }
}


static void
test_workers_with_late_clocks(void **unused)
{
    unsigned     i;
    uint64_t     seed;
    ft_limits_t  limits;

    (void) unused;

    for (i = 0; i < RATES; i++) {
        seed = 77 + i;
        limits = limits_of(rates_milli[i], (uint32_t) unit_between(&seed, 1,
                                                                   9));
        check_random(&seed, &limits, 200);
    }
}


/* A period at the full rate: neither more nor less than the limit. */
static void
test_a_period_at_full_rate(void **unused)
{
    unsigned     i;
    uint64_t     now, end, n, most;
    ft_limits_t  limits;

    (void) unused;

    for (i = 0; i < RATES; i++) {
        ft_bucket_t  bucket = { 0 };

        limits = limits_of(rates_milli[i],
                           ft_config_burst_default(rates_milli[i]));

        n = 0;
        end = UNIT_EPOCH_MS + (rates_milli[i] < 1000 ? 600000 : 5000);

        for (now = UNIT_EPOCH_MS; now <= end; now++) {
            while (ft_bucket_take(&bucket, &limits, now)) {
                n++;
            }
        }

        most = limits.burst
               + (end - UNIT_EPOCH_MS) * limits.rate_milli / 1000000;

        unit_check(n <= most, "%u instead of %u at %u r/1000s", (unsigned) n,
                   (unsigned) most, limits.rate_milli);

        /* the leak of one admission is a whole number of ns: an error of at
           most 1 in 10,000 */

        unit_check(n + 1 + most / 10000 >= most,
                   "only %u of %u at %u r/1000s", (unsigned) n,
                   (unsigned) most, limits.rate_milli);
    }
}


static void
test_a_clock_that_stands_still(void **unused)
{
    unsigned     i, n;
    ft_bucket_t  bucket = { 0 };
    ft_limits_t  limits = limits_of(20000, 5);

    (void) unused;

    for (i = 0, n = 0; i < 1000; i++) {
        n += ft_bucket_take(&bucket, &limits, UNIT_EPOCH_MS);
    }

    assert_int_equal(n, 5);
    assert_false(ft_bucket_take(&bucket, &limits, UNIT_EPOCH_MS + 49));
    assert_true(ft_bucket_take(&bucket, &limits, UNIT_EPOCH_MS + 50));
}


/* Any idle time earns at most a burst. */
static void
test_idle_time_earns_one_burst(void **unused)
{
    unsigned     n;
    uint64_t     idle;
    ft_bucket_t  bucket = { 0 };
    ft_limits_t  limits = limits_of(10000, 7);

    (void) unused;

    for (idle = 1000; idle < UINT64_C(4000000000000); idle *= 10) {
        n = 0;

        while (ft_bucket_take(&bucket, &limits, UNIT_EPOCH_MS + idle)) {
            n++;
        }

        assert_int_equal(n, 7);
    }
}


static void
test_no_rate_no_limit(void **unused)
{
    unsigned     i;
    ft_bucket_t  bucket = { 0 };
    ft_limits_t  limits = limits_of(0, 1);

    (void) unused;

    for (i = 0; i < 1000; i++) {
        assert_true(ft_bucket_take(&bucket, &limits, UNIT_EPOCH_MS));
    }

    assert_int_equal(ft_bucket_free_milli(&bucket, &limits, UNIT_EPOCH_MS),
                     1000);
    assert_int_equal(ft_bucket_ready_ms(&bucket, &limits, UNIT_EPOCH_MS),
                     UNIT_EPOCH_MS);
}


/* Free capacity, ready time and taking agree. */
static void
test_free_and_ready_agree_with_take(void **unused)
{
    bool         taken;
    unsigned     i, step;
    uint64_t     seed, now, capacity, ready;
    ft_bucket_t  bucket, copy;
    ft_limits_t  limits;

    (void) unused;

    for (i = 0; i < RATES; i++) {
        seed = 5 + i;
        limits = limits_of(rates_milli[i],
                           (uint32_t) unit_between(&seed, 1, 2000));
        atomic_store(&bucket.empty_ns, 0);
        now = UNIT_EPOCH_MS;

        for (step = 0; step < 3000; step++) {
            capacity = ft_bucket_free_milli(&bucket, &limits, now);
            ready = ft_bucket_ready_ms(&bucket, &limits, now);

            assert_in_range(capacity, 0, limits.burst * UINT64_C(1000));

            if (ready > now) {
                atomic_store(&copy.empty_ns, atomic_load(&bucket.empty_ns));
                assert_false(ft_bucket_take(&copy, &limits, ready - 1));
                assert_true(ft_bucket_take(&copy, &limits, ready));
            }

            taken = ft_bucket_take(&bucket, &limits, now);

            assert_int_equal(taken, capacity >= 1000);
            assert_int_equal(taken, ready <= now);

            if (unit_random(&seed) % 3 == 0) {
                now += unit_random(&seed)
                       % (UINT64_C(2000000) / limits.rate_milli + 2);
            }
        }
    }
}


/* A reload with another rate or burst. */
static void
test_a_reload_takes_effect(void **unused)
{
    unsigned     n;
    uint64_t     now, waited;
    ft_bucket_t  bucket = { 0 };
    ft_limits_t  slow = limits_of(16, 10);
    ft_limits_t  fast = limits_of(100000, 10);
    ft_limits_t  small = limits_of(100000, 2);

    (void) unused;

    now = UNIT_EPOCH_MS;

    while (ft_bucket_take(&bucket, &slow, now)) {
        /* void */
    }

    /* a full bucket at the old rate does not stop admissions for ten minutes */

    for (waited = 0; !ft_bucket_take(&bucket, &fast, now + waited); waited++) {
        unit_check(waited < 6000, "no admission %u ms after the reload",
                   (unsigned) waited);
    }

    now += waited + 10000;

    for (n = 0; ft_bucket_take(&bucket, &fast, now); n++) {
        /* void */
    }

    assert_int_equal(n, 10);

    /* a smaller burst: the bucket is over-full until it leaks */

    assert_false(ft_bucket_take(&bucket, &small, now));
    assert_false(ft_bucket_take(&bucket, &small, now + 80));
    assert_true(ft_bucket_take(&bucket, &small, now + 90));
}


/* Limits that change at random: at most the highest rate, and one burst more
   for each change. */
static void
test_reloads_are_limited(void **unused)
{
    unsigned     i, n, rate, burst, bursts;
    uint64_t     seed, now, began;
    ft_bucket_t  bucket = { 0 };
    ft_limits_t  limits;

    (void) unused;

    n = 0;
    seed = 42;
    rate = 200000;
    burst = bursts = 40;
    began = now = UNIT_EPOCH_MS;
    limits = limits_of(rate, burst);

    for (i = 0; i < 200000; i++) {

        if (unit_random(&seed) % 20000 == 0) {
            bursts += burst;
            limits = limits_of((uint32_t) unit_between(&seed, 1000, rate),
                               (uint32_t) unit_between(&seed, 1, burst));
        }

        n += ft_bucket_take(&bucket, &limits, now);
        now += unit_random(&seed) % 4 == 0;

        unit_check(n * UINT64_C(1000000)
                   <= bursts * UINT64_C(1000000) + (now - began) * rate,
                   "%u admitted in %u ms", n, (unsigned) (now - began));
    }

    unit_check(n > 1000, "only %u admitted", n);
}


/* The zone's time may be set back while nobody waits: admissions continue. */
static void
test_clock_set_back(void **unused)
{
    uint64_t     now, waited;
    ft_bucket_t  bucket = { 0 };
    ft_limits_t  limits = limits_of(100000, 10);

    (void) unused;

    while (ft_bucket_take(&bucket, &limits, UNIT_EPOCH_MS)) {
        /* void */
    }

    now = UNIT_EPOCH_MS - 3600000;

    for (waited = 0; !ft_bucket_take(&bucket, &limits, now + waited);
         waited++)
    {
        unit_check(waited < 6000, "no admission %u ms after the step",
                   (unsigned) waited);
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_every_window_is_limited),
        cmocka_unit_test(test_workers_with_late_clocks),
        cmocka_unit_test(test_a_period_at_full_rate),
        cmocka_unit_test(test_a_clock_that_stands_still),
        cmocka_unit_test(test_idle_time_earns_one_burst),
        cmocka_unit_test(test_no_rate_no_limit),
        cmocka_unit_test(test_free_and_ready_agree_with_take),
        cmocka_unit_test(test_a_reload_takes_effect),
        cmocka_unit_test(test_reloads_are_limited),
        cmocka_unit_test(test_clock_set_back)
    };

    return unit_tests(tests);
}
