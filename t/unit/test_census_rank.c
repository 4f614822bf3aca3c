
/*
 * Ranks: the number of shoppers before a timestamp, and the timestamp with a
 * given number before it, against a sorted list of all timestamps.  Shoppers
 * are assumed to be spread evenly within a slot, so a rank may be off by the
 * number of shoppers in the slot of the timestamp or of the threshold.
 */

#include "unit.h"
#include "core.h"


#define SHOPPERS_MAX  1000000


typedef struct {
    ft_census_t  *census;
    uint64_t     *timestamp_us;
    uint64_t     *due_ms;
    uint8_t      *place;
    unsigned      n;
    uint64_t      now_ms;
    uint64_t      threshold_us;
} crowd_t;


static crowd_t *
crowd_create(void)
{
    crowd_t  *c;

    c = calloc(1, sizeof(crowd_t));
    assert_non_null(c);

    c->census = unit_shared(sizeof(ft_census_t));
    c->timestamp_us = calloc(SHOPPERS_MAX, sizeof(uint64_t));
    c->due_ms = calloc(SHOPPERS_MAX, sizeof(uint64_t));
    c->place = calloc(SHOPPERS_MAX, sizeof(uint8_t));
    c->now_ms = UNIT_EPOCH_MS;
    c->threshold_us = UNIT_EPOCH_MS * 1000;

    assert_true(c->timestamp_us && c->due_ms && c->place);
    ft_census_reset(c->census, c->threshold_us, c->now_ms);

    return c;
}


static void
crowd_free(crowd_t *c)
{
    free(c->census);
    free(c->timestamp_us);
    free(c->due_ms);
    free(c->place);
    free(c);
}


/* Shopper i polls: it is counted from the present threshold. */
static void
crowd_count(crowd_t *c, unsigned i, uint64_t ahead_ms)
{
    c->due_ms[i] = c->now_ms + ahead_ms;
    c->place[i] = ft_census_increment(c->census, c->timestamp_us[i],
                                      c->due_ms[i],
                                  c->now_ms, false);
}


static void
crowd_come(crowd_t *c, uint64_t timestamp_us, uint64_t ahead_ms)
{
    c->timestamp_us[c->n] = timestamp_us;
    crowd_count(c, c->n++, ahead_ms);
}


static void
crowd_poll(crowd_t *c, unsigned i, uint64_t ahead_ms)
{
    bool  called;

    assert_true(ft_census_decrement(c->census, c->timestamp_us[i], c->due_ms[i],
                                  c->place[i], &called));
    crowd_count(c, i, ahead_ms);
}


static void
crowd_advance(crowd_t *c, uint64_t threshold_us)
{
    c->threshold_us = threshold_us;
    ft_census_advance(c->census, threshold_us);
}


/* The true number between the threshold and a timestamp. */
static uint32_t
crowd_before(const crowd_t *c, uint64_t timestamp_us)
{
    unsigned  i, n;

    for (i = 0, n = 0; i < c->n; i++) {
        n += c->timestamp_us[i] > c->threshold_us
             && c->timestamp_us[i] < timestamp_us;
    }

    return n;
}


/* Shoppers in the same slot as a timestamp. */
static uint32_t
crowd_beside(const crowd_t *c, uint64_t timestamp_us)
{
    unsigned  i, n, level, shift;

    for (i = 0, n = 0; i < c->n; i++) {
        level = c->place[i] % FT_PLACE_COARSE;

        if (level < FT_LEVELS) {
            shift = 16 + 3 * level;
            n += (c->timestamp_us[i] >> shift == timestamp_us >> shift);
        }
    }

    return n;
}


static void
check_before(const crowd_t *c, uint64_t timestamp_us)
{
    uint32_t  is, says, error;

    is = crowd_before(c, timestamp_us);
    says = ft_census_rank_before(c->census, timestamp_us);
    error = crowd_beside(c, timestamp_us) + crowd_beside(c,
                                                         c->threshold_us) + 1;

    unit_check(says <= is + error && says + error >= is,
               "%u are before, not %u; allowed: %u off", is, says, error);
}


/* A thousand timestamps over a span. */
static void
check_span(uint64_t seed, uint64_t span_us)
{
    unsigned   i;
    crowd_t   *c;

    c = crowd_create();

    for (i = 0; i < 1000; i++) {
        crowd_come(c, c->threshold_us + 1 + unit_random(&seed) % span_us,
                   unit_between(&seed, 500, 60000));
    }

    ft_census_rank(c->census);
    assert_int_equal(ft_census_rank_waiting(c->census), 1000);

    for (i = 0; i < 300; i++) {
        check_before(c, c->threshold_us + unit_random(&seed) % span_us);
    }

    crowd_free(c);
}


static void
test_rank_before(void **unused)
{
    uint64_t  span_us;

    (void) unused;

    for (span_us = 20000; span_us < UINT64_C(16000000000); span_us *= 3) {
        check_span(span_us, span_us);
    }
}


/*
 * Within 4 s of the threshold a rank is off by at most the shoppers of one slot
 * of 65 ms.
 */
static void
test_ranks_near_the_threshold(void **unused)
{
    unsigned   i, is, says;
    uint64_t   seed, timestamp;
    crowd_t   *c;

    (void) unused;

    seed = 6;
    c = crowd_create();

    /* 32 a second, evenly: two or three in a slot */

    for (i = 1; i <= 128; i++) {
        crowd_come(c, c->threshold_us + i * 31250, 3000);
    }

    ft_census_rank(c->census);

    for (i = 0; i < 1000; i++) {
        timestamp = c->threshold_us + unit_random(&seed) % 4000000;
        is = crowd_before(c, timestamp);
        says = ft_census_rank_before(c->census, timestamp);

        unit_check(says <= is + 3 && says + 3 >= is, "%u, not %u", is, says);
    }

    crowd_free(c);
}


/* Evenly spread shoppers: exact within a slot, too. */
static void
test_ranks_within_a_slot(void **unused)
{
    unsigned   i, is, says;
    uint64_t   seed, timestamp;
    crowd_t   *c;

    (void) unused;

    seed = 7;
    c = crowd_create();

    for (i = 1; i <= 6000; i++) {
        crowd_come(c, c->threshold_us + i * 500, 3000);
    }

    ft_census_rank(c->census);

    for (i = 0; i < 1000; i++) {
        timestamp = c->threshold_us + unit_random(&seed) % 3000000;
        is = crowd_before(c, timestamp);
        says = ft_census_rank_before(c->census, timestamp);

        unit_check(says <= is + 3 && says + 3 >= is, "%u, not %u", is, says);

        timestamp = ft_census_rank_find(c->census, 1 + i * 5, UINT64_MAX);
        is = crowd_before(c, timestamp);

        unit_check(is <= i * 5 + 4 && is + 3 >= i * 5,
                   "found a timestamp with %u before it, not %u", is, i * 5 + 1);
    }

    crowd_free(c);
}


/* The threshold moves, and shoppers poll. */
static void
test_rank_before_while_the_threshold_moves(void **unused)
{
    unsigned   i, step;
    uint64_t   seed;
    crowd_t   *c;

    (void) unused;

    seed = 21;
    c = crowd_create();

    for (i = 0; i < 2000; i++) {
        crowd_come(c, c->threshold_us + 1 + unit_random(&seed) % 200000000,
                   50000);
    }

    for (step = 0; step < 300; step++) {
        crowd_advance(c, c->threshold_us + unit_random(&seed) % 1000000);

        for (i = 0; i < 40; i++) {
            crowd_poll(c, unit_random(&seed) % c->n,
                       unit_between(&seed, 20000, 60000));
        }

        ft_census_rank(c->census);

        for (i = 0; i < 5; i++) {
            check_before(c, c->threshold_us + unit_random(&seed) % 200000000);
        }
    }

    crowd_free(c);
}


/* Ranks never decrease along the line. */
static void
test_ranks_never_decrease(void **unused)
{
    unsigned   i;
    uint32_t   last, says;
    uint64_t   seed, timestamp;
    crowd_t   *c;

    (void) unused;

    seed = 8;
    c = crowd_create();

    for (i = 0; i < 5000; i++) {
        crowd_come(c, c->threshold_us + 1
                      + (unit_random(&seed) % 4 ? unit_random(&seed) % 3000000
                                                : unit_random(&seed)
                                                  % UINT64_C(3600000000)),
                   unit_between(&seed, 500, 60000));
    }

    ft_census_rank(c->census);

    last = 0;
    timestamp = c->threshold_us - 1000000;

    assert_int_equal(ft_census_rank_before(c->census, timestamp), 0);

    while (timestamp < c->threshold_us + UINT64_C(20000000000)) {
        says = ft_census_rank_before(c->census, timestamp);
        unit_check(says + 1 >= last, "%u after %u", says, last);
        last = says > last ? says : last;
        timestamp += 1 + unit_random(&seed) % (timestamp < c->threshold_us + 5000000
                                           ? 10000 : 50000000);
    }

    unit_check(last + 1 >= 5000, "only %u are before the last", last);

    crowd_free(c);
}


/* The inverse of ft_census_rank_before(). */
static void
check_find(const crowd_t *c, uint32_t count)
{
    uint32_t  is, error;
    uint64_t  found;

    found = ft_census_rank_find(c->census, count, UINT64_MAX);
    is = crowd_before(c, found);
    error = crowd_beside(c, found) + crowd_beside(c, c->threshold_us) + 1;

    unit_check(found >= c->threshold_us, "found behind the threshold");
    unit_check(is <= count + error && is + error >= count,
               "found a timestamp with %u before it, not %u; allowed: %u off",
               is, count, error);
}


static void
test_rank_find(void **unused)
{
    unsigned   i, count;
    uint64_t   seed, span_us;
    crowd_t   *c;

    (void) unused;

    for (span_us = 30000; span_us < UINT64_C(10000000000); span_us *= 5) {
        seed = span_us;
        c = crowd_create();

        for (i = 0; i < 1000; i++) {
            crowd_come(c, c->threshold_us + 1 + unit_random(&seed) % span_us,
                       unit_between(&seed, 500, 60000));
        }

        ft_census_rank(c->census);

        for (count = 0; count <= 1000; count += 7) {
            check_find(c, count);
        }

        /* more than wait: the limit */

        assert_int_equal(ft_census_rank_find(c->census, 2000,
                                        c->threshold_us + 77),
                         c->threshold_us + 77);
        assert_true(ft_census_rank_find(c->census, 900, c->threshold_us + 77)
                    <= c->threshold_us + 77);

        crowd_free(c);
    }
}


/* Advancing to the found timestamp calls the number that was asked for. */
static void
test_find_then_advance(void **unused)
{
    unsigned   i, step, before, more;
    uint64_t   seed;
    crowd_t   *c;

    (void) unused;

    seed = 4;
    c = crowd_create();

    for (i = 0; i < 20000; i++) {
        crowd_come(c, c->threshold_us + 1 + unit_random(&seed) % 300000000,
                   unit_between(&seed, 30000, 60000));
    }

    for (step = 1; step <= 100; step++) {
        before = ft_census_called(c->census);

        ft_census_rank(c->census);
        crowd_advance(c, ft_census_rank_find(c->census, 100, UINT64_MAX));

        more = ft_census_called(c->census) - before;

        unit_check(more >= 97 && more <= 103, "%u called, not 100", more);

        for (i = 0; i < 2000; i++) {
            crowd_poll(c, unit_random(&seed) % c->n,
                       unit_between(&seed, 30000, 60000));
        }
    }

    crowd_free(c);
}


/* A million shoppers in the memory of ten. */
static void
test_a_million_shoppers(void **unused)
{
    unsigned   i;
    uint64_t   seed;
    crowd_t   *c;

    (void) unused;

    seed = 99;
    c = crowd_create();

    for (i = 0; i < SHOPPERS_MAX; i++) {
        crowd_come(c, c->threshold_us + 1 + i * UINT64_C(3000),
                   unit_between(&seed, 15000, 60000));
    }

    ft_census_rank(c->census);
    assert_int_equal(ft_census_rank_waiting(c->census), SHOPPERS_MAX);

    /* over 50 minutes; slots of 33 s and more for two of three */

    for (i = 0; i < SHOPPERS_MAX; i += 99991) {
        check_before(c, c->timestamp_us[i]);
        check_find(c, i);
    }

    for (i = 0; i < SHOPPERS_MAX; i++) {
        crowd_poll(c, i, unit_between(&seed, 300, 60000));
    }

    ft_census_rank(c->census);
    assert_int_equal(ft_census_rank_waiting(c->census), SHOPPERS_MAX);

    c->now_ms += 65000;
    assert_int_equal(ft_census_expire(c->census, c->now_ms).waiting,
                     SHOPPERS_MAX);

    crowd_free(c);
}


/* Beyond the widest level: behind all others, and counted. */
static void
test_timestamps_beyond_the_levels(void **unused)
{
    unsigned   i;
    uint64_t   far;
    crowd_t   *c;

    (void) unused;

    c = crowd_create();

    for (i = 0; i < 100; i++) {
        crowd_come(c, c->threshold_us + 1000 + i * 1000, 30000);
    }

    for (far = UINT64_C(20000000000); far < UINT64_C(864000000000); far *= 2) {
        crowd_come(c, c->threshold_us + far, 30000);

        ft_census_rank(c->census);
        assert_int_equal(ft_census_rank_waiting(c->census), c->n);
        assert_int_equal(ft_census_rank_before(c->census,
                                               c->threshold_us + far),
                         c->n);
    }

    for (i = 0; i < c->n; i++) {
        crowd_poll(c, i, 40000);
    }

    ft_census_rank(c->census);
    assert_int_equal(ft_census_rank_waiting(c->census), c->n);

    crowd_free(c);
}


/* An empty census has no ranks left. */
static void
test_an_empty_census(void **unused)
{
    crowd_t  *c;

    (void) unused;

    c = crowd_create();
    c->timestamp_us[0] = c->threshold_us + 300000;

    crowd_count(c, 0, 500);
    ft_census_rank(c->census);
    assert_int_equal(ft_census_rank_before(c->census,
                                           c->timestamp_us[0] + 200000), 1);

    ft_census_expire(c->census, c->now_ms + 2000);
    ft_census_rank(c->census);
    assert_int_equal(ft_census_rank_waiting(c->census), 0);
    assert_int_equal(ft_census_rank_before(c->census,
                                           c->timestamp_us[0] + 200000), 0);

    c->threshold_us += 250000;
    ft_census_advance(c->census, c->threshold_us);
    ft_census_rank(c->census);
    assert_int_equal(ft_census_rank_find(c->census, 1,
                                         c->threshold_us + 7000000),
                     c->threshold_us + 7000000);

    c->now_ms += 2000;
    crowd_count(c, 0, 500);
    ft_census_rank(c->census);
    assert_int_equal(ft_census_rank_before(c->census,
                                           c->timestamp_us[0] + 200000), 1);

    crowd_free(c);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_rank_before),
        cmocka_unit_test(test_ranks_near_the_threshold),
        cmocka_unit_test(test_ranks_within_a_slot),
        cmocka_unit_test(test_rank_before_while_the_threshold_moves),
        cmocka_unit_test(test_ranks_never_decrease),
        cmocka_unit_test(test_rank_find),
        cmocka_unit_test(test_find_then_advance),
        cmocka_unit_test(test_a_million_shoppers),
        cmocka_unit_test(test_timestamps_beyond_the_levels),
        cmocka_unit_test(test_an_empty_census)
    };

    return unit_tests(tests);
}
