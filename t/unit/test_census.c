
/*
 * The census against a model that keeps a record of each shopper: each shopper
 * is counted once, wherever the threshold moves, and expires when overdue.
 */

#include "unit.h"
#include "core.h"


#define SHOPPERS  4000


typedef struct {
    uint64_t  timestamp_us;
    uint64_t  due_ms;
    uint8_t   place;
    bool      live;
} shopper_t;


typedef struct {
    ft_census_t  *census;
    shopper_t     shoppers[SHOPPERS];
    unsigned      n;
    uint64_t      seed;
    uint64_t      now_ms;
    uint64_t      threshold_us;
} model_t;


static model_t *
model_create(uint64_t seed)
{
    model_t  *m;

    m = calloc(1, sizeof(model_t));
    assert_non_null(m);

    m->census = unit_shared(sizeof(ft_census_t));
    m->seed = seed;
    m->now_ms = UNIT_EPOCH_MS;
    m->threshold_us = UNIT_EPOCH_MS * 1000;
    ft_census_reset(m->census, m->threshold_us, m->now_ms);

    return m;
}


static void
model_free(model_t *m)
{
    free(m->census);
    free(m);
}


/* The sum of all cells. */
static uint64_t
census_total(const ft_census_t *census)
{
    unsigned  level, row, slot;
    uint64_t  n;

    n = ft_census_called(census) + ft_census_fresh(census);

    for (level = 0; level < FT_LEVELS; level++) {
        for (row = 0; row < FT_DUES; row++) {
            for (slot = 0; slot < FT_SLOTS; slot++) {
                n += atomic_load(&census->cell[level][row][slot]);
            }
        }
    }

    return n;
}


static uint64_t
model_live(const model_t *m)
{
    unsigned  i;
    uint64_t  live;

    for (i = 0, live = 0; i < m->n; i++) {
        live += m->shoppers[i].live;
    }

    return live;
}


static void
model_count(model_t *m, shopper_t *s, uint64_t ahead_ms, bool fresh)
{
    s->due_ms = m->now_ms + ahead_ms;
    s->place = ft_census_increment(m->census, s->timestamp_us, s->due_ms,
                                   m->now_ms,
                               fresh);
    s->live = true;
}


/* Due times are mostly far ahead, up to the maximum. */
static uint64_t
model_ahead(model_t *m)
{
    switch (unit_random(&m->seed) % 4) {

    case 0:
        return unit_between(&m->seed, 300, 1500);

    case 1:
        return unit_between(&m->seed, 6500, 7500);

    default:
        return unit_between(&m->seed, 300, FT_CENSUS_AHEAD_MS);
    }
}


static void
model_arrive(model_t *m, uint64_t timestamp_us)
{
    shopper_t  *s;

    if (m->n < SHOPPERS) {
        s = &m->shoppers[m->n++];
        s->timestamp_us = timestamp_us;
        model_count(m, s, model_ahead(m), unit_random(&m->seed) % 4 == 0);
    }
}


/* A shopper returns in time: its count is there, and is removed once. */
static void
model_poll(model_t *m, shopper_t *s)
{
    bool      called, leaves;
    unsigned  lane;

    lane = s->place % FT_PLACE_COARSE;

    unit_check(ft_census_decrement(m->census, s->timestamp_us, s->due_ms,
                                   s->place,
                                 &called),
               "a live shopper's count is gone, lane %u", lane);

    if (lane == FT_LANE_FRESH) {
        assert_false(called);

    } else {
        assert_int_equal(called, s->timestamp_us <= m->threshold_us);
    }

    leaves = (called && unit_random(&m->seed) % 2)
             || unit_random(&m->seed) % 64 == 0;

    if (leaves) {
        s->live = false;

    } else {
        model_count(m, s, model_ahead(m), false);
    }
}


/* Rows expire as a whole. */
static bool
model_overdue(const model_t *m, const shopper_t *s)
{
    unsigned  shift;

    shift = s->place & FT_PLACE_COARSE ? 11 : 8;

    return s->due_ms >> shift < m->now_ms >> shift;
}


static void
model_pass_time(model_t *m, uint64_t ms)
{
    unsigned          i, places, fresh, lane;
    shopper_t        *s;
    ft_census_expired_t  expired;

    m->now_ms += ms;
    places = fresh = 0;

    for (i = 0; i < m->n; i++) {
        s = &m->shoppers[i];

        if (!s->live || !model_overdue(m, s)) {
            continue;
        }

        s->live = false;
        lane = s->place % FT_PLACE_COARSE;

        fresh += (lane == FT_LANE_FRESH);
        places += (lane != FT_LANE_FRESH);
    }

    expired = ft_census_expire(m->census, m->now_ms);

    assert_int_equal(expired.fresh, fresh);
    assert_int_equal(expired.called + expired.waiting, places);
}


static void
model_advance(model_t *m)
{
    uint64_t  to;

    to = m->threshold_us;

    switch (unit_random(&m->seed) % 8) {

    case 0:     /* to the timestamp of a shopper */
        if (m->n) {
            to = m->shoppers[unit_random(&m->seed) % m->n].timestamp_us;
        }
        break;

    case 1:     /* backwards: no effect */
        to -= unit_between(&m->seed, 0, 1000000);
        break;

    case 2:
        if (unit_random(&m->seed) % 16 == 0) {
            to = m->now_ms * 1000;
        }
        break;

    default:    /* by parts of slots */
        to += unit_between(&m->seed, 0, 300000);
        break;
    }

    ft_census_advance(m->census, to);

    if (to > m->threshold_us) {
        m->threshold_us = to;
    }

    assert_int_equal(atomic_load(&m->census->threshold_us), m->threshold_us);
}


static void
model_step(model_t *m, uint64_t spread_us)
{
    unsigned    i;
    shopper_t  *s;

    if (unit_random(&m->seed) % 4 == 0) {
        model_arrive(m, m->now_ms * 1000
                        + (spread_us ? unit_random(&m->seed) % spread_us : 0));
    }

    for (i = 0; i < 4 && m->n; i++) {
        s = &m->shoppers[unit_random(&m->seed) % m->n];

        if (s->live) {
            model_poll(m, s);
        }
    }

    if (unit_random(&m->seed) % 16 == 0) {
        model_advance(m);
    }
}


static void
check_conserved(uint64_t seed, uint64_t spread_us)
{
    unsigned   step;
    model_t   *m;

    m = model_create(seed);

    for (step = 0; step < 12000; step++) {
        model_step(m, spread_us);

        if (unit_random(&m->seed) % 8 == 0) {
            model_pass_time(m, unit_between(&m->seed, 1, 120));
        }

        if (step % 64 == 0) {
            assert_int_equal(census_total(m->census), model_live(m));
            ft_census_rank(m->census);
            assert_int_equal(ft_census_rank_waiting(m->census)
                             + ft_census_called(m->census)
                             + ft_census_fresh(m->census), model_live(m));
        }
    }

    unit_check(m->n > 1000, "only %u shoppers came", m->n);

    for (step = 0; step < 700; step++) {
        model_pass_time(m, 100);
    }

    assert_int_equal(model_live(m), 0);
    assert_int_equal(census_total(m->census), 0);

    model_free(m);
}


static void
test_counted_once(void **unused)
{
    uint64_t  seed;

    (void) unused;

    for (seed = 1; seed <= 8; seed++) {
        check_conserved(seed, 1000);
    }
}


/* Timestamps minutes and hours apart: the coarse levels, and beyond them. */
static void
test_counted_once_far_apart(void **unused)
{
    uint64_t  seed;

    (void) unused;

    for (seed = 11; seed <= 14; seed++) {
        check_conserved(seed, UINT64_C(600000000));
        check_conserved(seed, UINT64_C(86400000000));
    }
}


/* The second use of a place finds no count. */
static void
test_decremented_once(void **unused)
{
    bool          called;
    uint8_t       place;
    uint64_t      timestamp, due;
    ft_census_t  *census;

    (void) unused;

    census = unit_shared(sizeof(ft_census_t));
    ft_census_reset(census, UNIT_EPOCH_MS * 1000, UNIT_EPOCH_MS);

    timestamp = UNIT_EPOCH_MS * 1000 + 5000000;
    due = UNIT_EPOCH_MS + 3000;
    place = ft_census_increment(census, timestamp, due, UNIT_EPOCH_MS, false);

    assert_true(ft_census_decrement(census, timestamp, due, place, &called));
    assert_false(ft_census_decrement(census, timestamp, due, place, &called));
    assert_false(ft_census_decrement(census, timestamp, due, FT_LANE_NONE,
                                     &called));
    assert_int_equal(census_total(census), 0);

    free(census);
}


static void
test_the_overdue_expire(void **unused)
{
    bool               called;
    uint8_t            place;
    uint64_t           timestamp, due, now;
    ft_census_t       *census;
    ft_census_expired_t   expired;

    (void) unused;

    census = unit_shared(sizeof(ft_census_t));
    now = UNIT_EPOCH_MS;
    ft_census_reset(census, now * 1000, now);

    timestamp = now * 1000 + 1;
    due = now + 1000;
    place = ft_census_increment(census, timestamp, due, now, false);

    /* not before the due time, and at most a row after it */

    for ( /* void */ ; now < due; now += 50) {
        expired = ft_census_expire(census, now);
        assert_int_equal(expired.waiting, 0);
    }

    expired = ft_census_expire(census, due + 256);
    assert_int_equal(expired.waiting, 1);
    assert_false(ft_census_decrement(census, timestamp, due, place, &called));

    free(census);
}


/* Many turns of both due wheels: rows are reused. */
static void
test_turns_of_the_due_wheels(void **unused)
{
    bool               called;
    unsigned           step;
    uint8_t            place;
    uint64_t           now, timestamp, due, seed;
    ft_census_t       *census;
    ft_census_expired_t   expired;

    (void) unused;

    seed = 3;
    census = unit_shared(sizeof(ft_census_t));
    now = UNIT_EPOCH_MS;
    ft_census_reset(census, now * 1000, now);
    timestamp = now * 1000 + 1000000;

    for (step = 0; step < 500; step++) {
        due = now + unit_between(&seed, 256, FT_CENSUS_AHEAD_MS);
        place = ft_census_increment(census, timestamp, due, now, false);

        while (now + 100 < due) {
            now += 100;
            expired = ft_census_expire(census, now);
            assert_int_equal(expired.waiting + expired.called + expired.fresh,
                             0);
        }

        assert_true(ft_census_decrement(census, timestamp, due, place,
                                        &called));
        assert_int_equal(census_total(census), 0);
    }

    free(census);
}


/* After a long time without calls everything expires at once. */
static void
test_a_long_time_without_calls(void **unused)
{
    unsigned           i;
    uint64_t           seed, now, silence;
    ft_census_t       *census;
    ft_census_expired_t   expired;

    (void) unused;

    seed = 9;
    census = unit_shared(sizeof(ft_census_t));
    now = UNIT_EPOCH_MS;
    ft_census_reset(census, now * 1000, now);

    for (silence = 70000; silence < UINT64_C(40000000000); silence *= 7) {

        for (i = 0; i < 100; i++) {
            ft_census_increment(census, now * 1000 + 1 + i,
                            now + unit_between(&seed, 300, FT_CENSUS_AHEAD_MS),
                            now, i % 4 == 0);
        }

        now += silence;
        expired = ft_census_expire(census, now);

        assert_int_equal(expired.waiting + expired.fresh, 100);
        assert_int_equal(census_total(census), 0);
        assert_int_equal(ft_census_expire(census, now).waiting, 0);
    }

    free(census);
}


/* A reset removes the overdue only. */
static void
test_reset_removes_the_overdue(void **unused)
{
    unsigned    i, step;
    model_t    *m;
    shopper_t  *s;

    (void) unused;

    for (i = 1; i <= 20; i++) {
        m = model_create(i);

        for (step = 0; step < 400; step++) {
            model_step(m, 1000);
        }

        assert_true(census_total(m->census) > 0);

        m->now_ms += unit_between(&m->seed, 0, 70000);
        m->threshold_us = m->now_ms * 1000;
        ft_census_reset(m->census, m->threshold_us, m->now_ms);

        for (s = m->shoppers; s < m->shoppers + m->n; s++) {
            s->live = s->live && !model_overdue(m, s);
        }

        assert_int_equal(census_total(m->census), model_live(m));
        assert_int_equal(atomic_load(&m->census->threshold_us),
                         m->threshold_us);

        model_free(m);
    }
}


/* The zone's time was set back. */
static void
test_reset_after_time_was_set_back(void **unused)
{
    bool          called;
    uint8_t       place;
    uint64_t      now, timestamp, due;
    ft_census_t  *census;

    (void) unused;

    census = unit_shared(sizeof(ft_census_t));
    ft_census_reset(census, UNIT_EPOCH_MS * 1000, UNIT_EPOCH_MS);

    now = UNIT_EPOCH_MS - 3600000;
    ft_census_reset(census, now * 1000, now);

    timestamp = now * 1000 + 5000;
    due = now + 900;
    place = ft_census_increment(census, timestamp, due, now, false);

    assert_true(ft_census_decrement(census, timestamp, due, place, &called));

    (void) ft_census_increment(census, timestamp, due, now, false);
    assert_int_equal(ft_census_expire(census, due + 256).waiting, 1);

    free(census);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_counted_once),
        cmocka_unit_test(test_counted_once_far_apart),
        cmocka_unit_test(test_decremented_once),
        cmocka_unit_test(test_the_overdue_expire),
        cmocka_unit_test(test_turns_of_the_due_wheels),
        cmocka_unit_test(test_a_long_time_without_calls),
        cmocka_unit_test(test_reset_removes_the_overdue),
        cmocka_unit_test(test_reset_after_time_was_set_back)
    };

    return unit_tests(tests);
}
