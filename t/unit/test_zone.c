
/*
 * The zone: finding keys, and its clock.
 */

#include "zone.h"


static void
test_find_and_add(void **unused)
{
    bool         evicted;
    ft_zone_t   *zone;
    ft_state_t  *state;

    (void) unused;

    zone = zone_of(4);

    assert_null(zone_find(zone, "shop", UNIT_EPOCH_MS));

    state = zone_add(zone, "shop", UNIT_EPOCH_MS);

    assert_non_null(state);
    assert_ptr_equal(zone_find(zone, "shop", UNIT_EPOCH_MS), state);
    assert_ptr_equal(ft_zone_add(zone, "shop", 4, UNIT_EPOCH_MS, &evicted),
                     state);
    assert_int_equal(evicted, 0);
    assert_null(zone_find(zone, "shops", UNIT_EPOCH_MS));
    assert_null(zone_find(zone, "sho", UNIT_EPOCH_MS));
    assert_null(zone_find(zone, "", UNIT_EPOCH_MS));
    assert_int_equal(atomic_load(&state->born_ms), UNIT_EPOCH_MS);

    free(zone);
}


/* All lengths, each key a prefix of the next, with zero bytes. */
static void
test_keys_of_every_length(void **unused)
{
    char         key[FT_KEY_MAX], back[FT_KEY_MAX];
    size_t       len;
    uint32_t     i;
    bool         evicted;
    ft_zone_t   *zone;
    ft_state_t  *state[FT_KEY_MAX + 1];

    (void) unused;

    zone = zone_of(FT_KEY_MAX + 1);
    memset(key, 0, sizeof(key));

    for (len = 0; len <= FT_KEY_MAX; len++) {
        state[len] = ft_zone_add(zone, key, len, UNIT_EPOCH_MS, &evicted);
        assert_non_null(state[len]);
        assert_int_equal(evicted, 0);
    }

    for (len = 0; len <= FT_KEY_MAX; len++) {
        assert_ptr_equal(ft_zone_find(zone, key, len, UNIT_EPOCH_MS),
                         state[len]);

        i = ft_zone_index(zone, state[len]);
        assert_int_equal(i, len);
        assert_ptr_equal(ft_zone_state(zone, i), state[len]);
        assert_int_equal(ft_zone_key(zone, i, back), len);
        assert_memory_equal(back, key, len);
    }

    for (len = 0; len < FT_KEY_MAX; len++) {
        key[len] = 1;
        assert_null(ft_zone_find(zone, key, FT_KEY_MAX, UNIT_EPOCH_MS));
        key[len] = 0;
    }

    free(zone);
}


/* Bytes after a key in the caller's memory do not belong to it. */
static void
test_bytes_after_a_key(void **unused)
{
    size_t       len;
    bool         evicted;
    ft_zone_t   *zone;
    ft_state_t  *state;
    char         a[] = "aaaaaaaaaaaaaaaaaaaa", b[] = "aaaaaaaaaaaaaaaaaaaa";

    (void) unused;

    zone = zone_of(20);

    for (len = 0; len < 20; len++) {
        memset(a + len, 'x', 20 - len);
        memset(b + len, 'y', 20 - len);
        state = ft_zone_add(zone, a, len, UNIT_EPOCH_MS, &evicted);
        assert_non_null(state);
        assert_ptr_equal(ft_zone_find(zone, b, len, UNIT_EPOCH_MS), state);
        memset(a, 'a', 20);
        memset(b, 'a', 20);
    }

    free(zone);
}


static void
test_generations(void **unused)
{
    uint32_t     i, generation, last;
    ft_zone_t   *zone;
    char         key[16];

    (void) unused;

    /* a seed whose first generation would be 0, "none" */

    zone = unit_shared(ft_zone_size(1));
    ft_zone_init(zone, 1, UINT64_C(0xffffffff00000001), 1000, UNIT_EPOCH_MS);

    for (i = 0, last = 0; i < 10; i++) {
        snprintf(key, sizeof(key), "%u", i);
        generation = atomic_load(&zone_add(zone, key,
                                           UNIT_EPOCH_MS + i)->generation);
        assert_int_not_equal(generation, 0);

        /* the generation that would be 0 is equal to the next */

        assert_true(generation != last || i == 1);
        last = generation;
    }

    free(zone);
}


/* The documented maximum. */
static void
test_memory_for_a_key(void **unused)
{
    size_t  one;

    (void) unused;

    one = (ft_zone_size(1001) - ft_zone_size(1)) / 1000;

    unit_check(one <= 256 * 1024, "%u bytes for a key", (unsigned) one);
    unit_check(ft_zone_size(1) <= 256 * 1024, "%u bytes for one key",
               (unsigned) ft_zone_size(1));
    assert_true(one >= sizeof(ft_state_t));
}


/* "One key takes about N KB": within 5 %. */
static void
test_documented_memory(void **unused)
{
    char       *p, line[1024];
    FILE       *file;
    long        size, stated;

    (void) unused;

    file = fopen("docs/directives.md", "r");

    if (file == NULL) {
        file = fopen("README.md", "r");
    }

    assert_non_null(file);

    for (p = NULL; p == NULL && fgets(line, sizeof(line), file); /* void */) {
        p = strstr(line, "One key takes about ");
    }

    fclose(file);
    assert_non_null(p);

    size = (long) (ft_zone_size(1001) - ft_zone_size(1)) / 1000;
    stated = strtol(p + strlen("One key takes about "), NULL, 10) * 1000;

    unit_check(labs(size - stated) <= size / 20,
               "README.md says %ld bytes for a key, it takes %ld", stated, size);
}


static void
test_clock_follows_the_monotonic(void **unused)
{
    uint64_t    t;
    ft_zone_t  *zone;

    (void) unused;

    zone = zone_of(1);

    for (t = 0; t < 10000; t += 7) {

        /* a slewed wall clock is ignored */

        assert_true(ft_zone_now(zone, 1000 + t, UNIT_EPOCH_MS + t + t / 20)
                    == UNIT_EPOCH_MS + t);
    }

    free(zone);
}


/* A difference of 1,000 ms is slew, 1,001 ms is a step. */
static void
test_clock_differs_by_a_second(void **unused)
{
    ft_zone_t  *zone;

    (void) unused;

    zone = zone_of(1);

    assert_true(ft_zone_now(zone, 1000, UNIT_EPOCH_MS + 1000)
                == UNIT_EPOCH_MS);
    assert_true(ft_zone_now(zone, 1000, UNIT_EPOCH_MS - 1000)
                == UNIT_EPOCH_MS);
    assert_true(ft_zone_now(zone, 1000, UNIT_EPOCH_MS - 1001)
                == UNIT_EPOCH_MS - 1001);

    assert_true(ft_zone_now(zone, 1999, UNIT_EPOCH_MS + 999)
                == UNIT_EPOCH_MS - 2);
    assert_true(ft_zone_now(zone, 2000, UNIT_EPOCH_MS + 1000)
                == UNIT_EPOCH_MS + 1000);

    free(zone);
}


static void
test_clock_steps_while_nobody_waits(void **unused)
{
    unsigned    i;
    ft_zone_t  *zone;
    const int64_t  steps[] = { 60000, -60000, -3600000, 86400000, 1001, -1001 };

    (void) unused;

    for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        zone = zone_of(1);
        zone_add(zone, "idle", UNIT_EPOCH_MS);

        assert_true(ft_zone_now(zone, 2000,
                                UNIT_EPOCH_MS + 1000 + (uint64_t) steps[i])
                    == UNIT_EPOCH_MS + 1000 + (uint64_t) steps[i]);

        /* also for a worker whose wall clock differs a little */

        assert_true(ft_zone_now(zone, 2500,
                                UNIT_EPOCH_MS + 1999 + (uint64_t) steps[i])
                    == UNIT_EPOCH_MS + 1500 + (uint64_t) steps[i]);

        free(zone);
    }
}


static void
test_clock_does_not_step_while_somebody_waits(void **unused)
{
    uint64_t     t, wall;
    ft_zone_t   *zone;
    ft_state_t  *state;

    (void) unused;

    zone = zone_of(2);
    zone_add(zone, "idle", UNIT_EPOCH_MS);
    state = zone_add(zone, "sale", UNIT_EPOCH_MS);
    atomic_store(&state->queueing, 1);

    wall = UNIT_EPOCH_MS - 3600000;

    for (t = 0; t < 100000; t += 500) {
        assert_true(ft_zone_now(zone, 1000 + t, wall + t)
                    == UNIT_EPOCH_MS + t);
        assert_non_null(zone_find(zone, "sale", UNIT_EPOCH_MS + t));
    }

    atomic_store(&state->queueing, 0);
    assert_true(ft_zone_now(zone, 1000 + t, wall + t) == wall + t);

    free(zone);
}


/*
 * A step is pending while one of 3,000 keys has a queue.  The zone searches for
 * a queue at most once a second: it notices the end of the queue at the next
 * search, however often the clock is read before.
 */
static void
test_clock_searches_once_a_second(void **unused)
{
    char         key[16];
    uint64_t     t, wall;
    unsigned     i, k, late;
    ft_zone_t   *zone;
    ft_state_t  *state;

    (void) unused;

    zone = zone_of(3000);
    state = NULL;

    for (i = 0; i < 3000; i++) {
        snprintf(key, sizeof(key), "%u", i);
        state = zone_add(zone, key, UNIT_EPOCH_MS);
        assert_non_null(state);
    }

    wall = UNIT_EPOCH_MS + 3600000;

    for (i = 0, t = 0; i < 20; i++) {
        atomic_store(&state->queueing, 1);
        atomic_store(&state->used_ms, UNIT_EPOCH_MS + t);

        /* this search finds the queue */

        assert_true(ft_zone_now(zone, 1000 + t, wall + t) == UNIT_EPOCH_MS + t);

        /* the queue ends; there is no search in the next 999 ms */

        atomic_store(&state->queueing, 0);

        for (k = 0, late = 0; k < 999; k++) {
            late += ft_zone_now(zone, 1000 + t + k, wall + t + k)
                    != UNIT_EPOCH_MS + t + k;
        }

        assert_int_equal(late, 0);
        t += 1000;
    }

    assert_true(ft_zone_now(zone, 1000 + t, wall + t) == wall + t);

    free(zone);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_clock_searches_once_a_second),
        cmocka_unit_test(test_find_and_add),
        cmocka_unit_test(test_keys_of_every_length),
        cmocka_unit_test(test_bytes_after_a_key),
        cmocka_unit_test(test_generations),
        cmocka_unit_test(test_memory_for_a_key),
        cmocka_unit_test(test_documented_memory),
        cmocka_unit_test(test_clock_follows_the_monotonic),
        cmocka_unit_test(test_clock_differs_by_a_second),
        cmocka_unit_test(test_clock_steps_while_nobody_waits),
        cmocka_unit_test(test_clock_does_not_step_while_somebody_waits)
    };

    return unit_tests(tests);
}
