
/*
 * What the census says of the line: how many stand before a stamp, and which
 * stamp has so many before it.  Against stamps kept in full.
 *
 * The error that is allowed: a slot's shoppers are taken to be spread evenly
 * over it, so a figure may be off by those who share a slot, of whichever
 * level, with the stamp that is asked about or with the threshold.
 */

#include "unit.h"
#include "core.h"


#define SHOPPERS_MAX  1000000


typedef struct {
    ft_census_t  *census;
    uint64_t     *stamp_us;
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
    c->stamp_us = calloc(SHOPPERS_MAX, sizeof(uint64_t));
    c->due_ms = calloc(SHOPPERS_MAX, sizeof(uint64_t));
    c->place = calloc(SHOPPERS_MAX, sizeof(uint8_t));
    c->now_ms = UNIT_EPOCH_MS;
    c->threshold_us = UNIT_EPOCH_MS * 1000;

    assert_true(c->stamp_us && c->due_ms && c->place);
    ft_census_reset(c->census, c->threshold_us, c->now_ms);

    return c;
}


static void
crowd_free(crowd_t *c)
{
    free(c->census);
    free(c->stamp_us);
    free(c->due_ms);
    free(c->place);
    free(c);
}


/* Shopper i comes (back): counted, where the threshold stands now. */
static void
crowd_count(crowd_t *c, unsigned i, uint64_t ahead_ms)
{
    c->due_ms[i] = c->now_ms + ahead_ms;
    c->place[i] = ft_census_increment(c->census, c->stamp_us[i], c->due_ms[i],
                                  c->now_ms, false);
}


static void
crowd_come(crowd_t *c, uint64_t stamp_us, uint64_t ahead_ms)
{
    c->stamp_us[c->n] = stamp_us;
    crowd_count(c, c->n++, ahead_ms);
}


static void
crowd_poll(crowd_t *c, unsigned i, uint64_t ahead_ms)
{
    bool  called;

    assert_true(ft_census_decrement(c->census, c->stamp_us[i], c->due_ms[i],
                                  c->place[i], &called));
    crowd_count(c, i, ahead_ms);
}


static void
crowd_advance(crowd_t *c, uint64_t threshold_us)
{
    c->threshold_us = threshold_us;
    ft_census_advance(c->census, threshold_us);
}


/* Truly between the threshold and a stamp. */
static uint32_t
crowd_before(const crowd_t *c, uint64_t stamp_us)
{
    unsigned  i, n;

    for (i = 0, n = 0; i < c->n; i++) {
        n += c->stamp_us[i] > c->threshold_us && c->stamp_us[i] < stamp_us;
    }

    return n;
}


/* Those who share a slot of their level with a stamp. */
static uint32_t
crowd_beside(const crowd_t *c, uint64_t stamp_us)
{
    unsigned  i, n, level, shift;

    for (i = 0, n = 0; i < c->n; i++) {
        level = c->place[i] % FT_PLACE_COARSE;

        if (level < FT_LEVELS) {
            shift = 16 + 3 * level;
            n += (c->stamp_us[i] >> shift == stamp_us >> shift);
        }
    }

    return n;
}


static void
check_before(const crowd_t *c, uint64_t stamp_us)
{
    uint32_t  is, says, error;

    is = crowd_before(c, stamp_us);
    says = ft_census_rank_before(c->census, stamp_us);
    error = crowd_beside(c, stamp_us) + crowd_beside(c, c->threshold_us) + 1;

    unit_check(says <= is + error && says + error >= is,
               "%u stand before, not %u; allowed: %u off", is, says, error);
}


/* A thousand stamps over a span: what the census says of any of them. */
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
test_before_is_right(void **unused)
{
    uint64_t  span_us;

    (void) unused;

    /* from one slot to the hours that the widest level reaches */

    for (span_us = 20000; span_us < UINT64_C(16000000000); span_us *= 3) {
        check_span(span_us, span_us);
    }
}


/*
 * Near the threshold the census is fine: within 4 s a position is off by those
 * of one slot of 65 ms at most, where the shoppers were counted there.
 */
static void
test_near_the_threshold_it_is_fine(void **unused)
{
    unsigned   i, is, says;
    uint64_t   seed, stamp;
    crowd_t   *c;

    (void) unused;

    seed = 6;
    c = crowd_create();

    /* 32 come a second, evenly: two in a slot, or three */

    for (i = 1; i <= 128; i++) {
        crowd_come(c, c->threshold_us + i * 31250, 3000);
    }

    ft_census_rank(c->census);

    for (i = 0; i < 1000; i++) {
        stamp = c->threshold_us + unit_random(&seed) % 4000000;
        is = crowd_before(c, stamp);
        says = ft_census_rank_before(c->census, stamp);

        unit_check(says <= is + 3 && says + 3 >= is, "%u, not %u", is, says);
    }

    crowd_free(c);
}


/* Where they come evenly, within a slot too. */
static void
test_within_a_slot(void **unused)
{
    unsigned   i, is, says;
    uint64_t   seed, stamp;
    crowd_t   *c;

    (void) unused;

    seed = 7;
    c = crowd_create();

    for (i = 1; i <= 6000; i++) {
        crowd_come(c, c->threshold_us + i * 500, 3000);
    }

    ft_census_rank(c->census);

    for (i = 0; i < 1000; i++) {
        stamp = c->threshold_us + unit_random(&seed) % 3000000;
        is = crowd_before(c, stamp);
        says = ft_census_rank_before(c->census, stamp);

        unit_check(says <= is + 3 && says + 3 >= is, "%u, not %u", is, says);

        stamp = ft_census_rank_find(c->census, 1 + i * 5, UINT64_MAX);
        is = crowd_before(c, stamp);

        unit_check(is <= i * 5 + 4 && is + 3 >= i * 5,
                   "found a stamp that %u stand before, not %u", is, i * 5 + 1);
    }

    crowd_free(c);
}


/* The threshold moves on and shoppers poll: still right. */
static void
test_before_is_right_while_it_moves(void **unused)
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


/* Farther back nobody stands before fewer. */
static void
test_before_never_falls(void **unused)
{
    unsigned   i;
    uint32_t   last, says;
    uint64_t   seed, stamp;
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
    stamp = c->threshold_us - 1000000;

    assert_int_equal(ft_census_rank_before(c->census, stamp), 0);

    while (stamp < c->threshold_us + UINT64_C(20000000000)) {
        says = ft_census_rank_before(c->census, stamp);
        unit_check(says + 1 >= last, "%u after %u", says, last);
        last = says > last ? says : last;
        stamp += 1 + unit_random(&seed) % (stamp < c->threshold_us + 5000000
                                           ? 10000 : 50000000);
    }

    unit_check(last + 1 >= 5000, "in the end only %u stand before", last);

    crowd_free(c);
}


/* A stamp that has so many before it: the way back from before(). */
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
               "found a stamp that %u stand before, not %u; allowed: %u off",
               is, count, error);
}


static void
test_find_is_right(void **unused)
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

        /* more than wait: as far as it may go, and never farther */

        assert_int_equal(ft_census_rank_find(c->census, 2000,
                                        c->threshold_us + 77),
                         c->threshold_us + 77);
        assert_true(ft_census_rank_find(c->census, 900, c->threshold_us + 77)
                    <= c->threshold_us + 77);

        crowd_free(c);
    }
}


/* Advancing to what find() says calls as many as it was asked for. */
static void
test_find_then_advance_calls_so_many(void **unused)
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


/* A million shoppers in the memory that ten take, none lost, all ordered. */
static void
test_a_million(void **unused)
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

    /* over 50 minutes, two in three coarser than a slot of half a minute */

    for (i = 0; i < SHOPPERS_MAX; i += 99991) {
        check_before(c, c->stamp_us[i]);
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


/* Beyond the widest level: behind all others, and not lost. */
static void
test_far_stamps(void **unused)
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
        assert_int_equal(ft_census_rank_before(c->census, c->threshold_us + far),
                         c->n);
    }

    for (i = 0; i < c->n; i++) {
        crowd_poll(c, i, 40000);
    }

    ft_census_rank(c->census);
    assert_int_equal(ft_census_rank_waiting(c->census), c->n);

    crowd_free(c);
}


/* With nobody there nothing is summed up, and nothing is left of who was. */
static void
test_when_all_are_gone(void **unused)
{
    crowd_t  *c;

    (void) unused;

    c = crowd_create();
    c->stamp_us[0] = c->threshold_us + 300000;

    crowd_count(c, 0, 500);
    ft_census_rank(c->census);
    assert_int_equal(ft_census_rank_before(c->census, c->stamp_us[0] + 200000), 1);

    ft_census_expire(c->census, c->now_ms + 2000);
    ft_census_rank(c->census);
    assert_int_equal(ft_census_rank_waiting(c->census), 0);
    assert_int_equal(ft_census_rank_before(c->census, c->stamp_us[0] + 200000), 0);

    /* the ranks are of the threshold as it is, all the same */

    c->threshold_us += 250000;
    ft_census_advance(c->census, c->threshold_us);
    ft_census_rank(c->census);
    assert_int_equal(ft_census_rank_find(c->census, 1, c->threshold_us + 7000000),
                     c->threshold_us + 7000000);

    c->now_ms += 2000;
    crowd_count(c, 0, 500);
    ft_census_rank(c->census);
    assert_int_equal(ft_census_rank_before(c->census, c->stamp_us[0] + 200000), 1);

    crowd_free(c);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_before_is_right),
        cmocka_unit_test(test_near_the_threshold_it_is_fine),
        cmocka_unit_test(test_within_a_slot),
        cmocka_unit_test(test_before_is_right_while_it_moves),
        cmocka_unit_test(test_before_never_falls),
        cmocka_unit_test(test_find_is_right),
        cmocka_unit_test(test_find_then_advance_calls_so_many),
        cmocka_unit_test(test_a_million),
        cmocka_unit_test(test_far_stamps),
        cmocka_unit_test(test_when_all_are_gone)
    };

    return unit_tests(tests);
}
