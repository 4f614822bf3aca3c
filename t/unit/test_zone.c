
/*
 * The zone: keys are found and told apart, the right one makes way, and its
 * clock follows neither a leap back nor one forward while somebody waits.
 */

#include "unit.h"
#include "ft_zone.h"


#define SEED  UINT64_C(0x7ea1c0ffee5eed01)


static ft_zone_t *
zone_of(uint32_t keys)
{
    ft_zone_t  *zone;

    zone = unit_shared(ft_zone_size(keys));
    ft_zone_init(zone, keys, SEED, 1000, UNIT_EPOCH_MS);

    return zone;
}


static ft_state_t *
zone_add(ft_zone_t *zone, const char *key, uint64_t now_ms)
{
    bool      evicted;

    return ft_zone_add(zone, key, strlen(key), now_ms, &evicted);
}


static ft_state_t *
zone_find(ft_zone_t *zone, const char *key, uint64_t now_ms)
{
    return ft_zone_find(zone, key, strlen(key), now_ms);
}


/* Adds a key that finds a place; whether another one made way. */
static bool
zone_evicting(ft_zone_t *zone, const char *key, uint64_t now_ms)
{
    bool      evicted;

    assert_non_null(ft_zone_add(zone, key, strlen(key), now_ms, &evicted));

    return evicted;
}


static void
test_find_what_was_added(void **unused)
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


/* Every length there is, each a prefix of the next, zero bytes among them. */
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

    /* each byte of the longest counts */

    for (len = 0; len < FT_KEY_MAX; len++) {
        key[len] = 1;
        assert_null(ft_zone_find(zone, key, FT_KEY_MAX, UNIT_EPOCH_MS));
        key[len] = 0;
    }

    free(zone);
}


/* What lies behind a key in the caller's memory is not part of it. */
static void
test_bytes_behind_a_key_do_not_count(void **unused)
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
test_epochs_name_lives(void **unused)
{
    uint32_t     i, epoch, last;
    ft_zone_t   *zone;
    char         key[16];

    (void) unused;

    /* a seed by which the first epoch would come out as 0, "none" */

    zone = unit_shared(ft_zone_size(1));
    ft_zone_init(zone, 1, UINT64_C(0xffffffff00000001), 1000, UNIT_EPOCH_MS);

    for (i = 0, last = 0; i < 10; i++) {
        snprintf(key, sizeof(key), "%u", i);
        epoch = atomic_load(&zone_add(zone, key, UNIT_EPOCH_MS + i)->epoch);
        assert_int_not_equal(epoch, 0);

        /* the one that would be 0 shares its name with the next */

        assert_true(epoch != last || i == 1);
        last = epoch;
    }

    free(zone);
}


/* Whoever was used longest ago makes way; looking one up is a use. */
static void
test_least_recently_used_makes_way(void **unused)
{
    uint64_t    now;
    ft_zone_t  *zone;

    (void) unused;

    now = UNIT_EPOCH_MS;
    zone = zone_of(3);

    zone_add(zone, "a", now);
    zone_add(zone, "b", now + 10000);
    zone_add(zone, "c", now + 20000);

    assert_non_null(zone_find(zone, "a", now + 30000));

    assert_int_equal(zone_evicting(zone, "d", now + 40000), 1);
    assert_null(zone_find(zone, "b", now + 40000));

    assert_int_equal(zone_evicting(zone, "e", now + 50000), 1);
    assert_null(zone_find(zone, "c", now + 50000));

    assert_non_null(zone_find(zone, "a", now + 50000));
    assert_non_null(zone_find(zone, "d", now + 50000));
    assert_non_null(zone_find(zone, "e", now + 50000));

    free(zone);
}


/* Never one with shoppers waiting while an idle one exists. */
static void
test_the_waiting_stay_while_one_is_idle(void **unused)
{
    uint64_t    now;
    ft_zone_t  *zone;

    (void) unused;

    now = UNIT_EPOCH_MS;
    zone = zone_of(3);

    atomic_store(&zone_add(zone, "old sale", now)->queueing, 1);
    atomic_store(&zone_add(zone, "new sale", now + 5000)->queueing, 1);
    zone_add(zone, "idle", now + 30000);

    assert_int_equal(zone_evicting(zone, "x", now + 31000), 1);
    assert_null(zone_find(zone, "idle", now + 31000));
    assert_non_null(zone_find(zone, "old sale", now));
    assert_non_null(zone_find(zone, "new sale", now + 5000));

    /* with waiting ones only, it is the new key that has to do without */

    atomic_store(&zone_find(zone, "x", now + 31000)->queueing, 1);
    assert_null(zone_add(zone, "y", now + 32000));
    assert_non_null(zone_find(zone, "old sale", now));

    /* nor does one make way whose bucket still remembers admissions */

    atomic_store(&zone_find(zone, "x", now + 31000)->queueing, 0);
    atomic_store(&zone_find(zone, "x", now + 31000)->bucket.empty_ns,
                 (now + 33000) * 1000000);
    assert_null(zone_add(zone, "y", now + 32000));
    assert_int_equal(zone_evicting(zone, "y", now + 33000), 1);
    assert_null(zone_find(zone, "x", now + 33000));

    /* nobody came for longer than anybody may wait: idle, whatever it says */

    assert_int_equal(zone_evicting(zone, "z", now + 66000), 1);
    assert_null(zone_find(zone, "old sale", now + 66000));

    free(zone);
}


static void
test_what_is_in_hand_stays(void **unused)
{
    bool         evicted;
    uint32_t     slot;
    uint64_t     now;
    ft_zone_t   *zone;
    ft_state_t  *held, *inflight;

    (void) unused;

    now = UNIT_EPOCH_MS;
    zone = zone_of(2);
    slot = ft_zone_join(zone, 1);

    held = zone_add(zone, "held", now);
    inflight = zone_add(zone, "in flight", now);
    atomic_store(&held->hand[slot].held, 1);
    atomic_store(&inflight->hand[slot].inflight, 1);

    assert_null(ft_zone_add(zone, "new", 3, now + 9000000, &evicted));
    assert_int_equal(evicted, 0);
    assert_null(zone_find(zone, "new", now));
    assert_ptr_equal(zone_find(zone, "held", now), held);

    atomic_store(&inflight->hand[slot].inflight, 0);
    assert_int_equal(zone_evicting(zone, "new", now + 9000000), 1);
    assert_ptr_equal(zone_find(zone, "held", now), held);

    free(zone);
}


/* The next owner finds nothing of the last one's. */
static void
test_an_evicted_state_is_new(void **unused)
{
    uint32_t            i, epoch;
    ft_zone_t          *zone;
    ft_state_t         *state, *fresh;
    unsigned char      *p;

    (void) unused;

    zone = zone_of(1);
    state = zone_add(zone, "a", UNIT_EPOCH_MS);
    epoch = atomic_load(&state->epoch);

    /* everything but what protects it is used */

    memset(state, 0x5a, sizeof(ft_state_t));
    memset(state->hand, 0, sizeof(state->hand));
    memset(&state->orders, 0, sizeof(state->orders));
    atomic_store(&state->queueing, 0);
    atomic_store(&state->bucket.empty_ns, 0);

    state = zone_add(zone, "b", UNIT_EPOCH_MS + 7);
    assert_non_null(state);
    assert_int_not_equal(atomic_load(&state->epoch), epoch);

    fresh = unit_shared(sizeof(ft_state_t));
    ft_state_init(fresh, atomic_load(&state->epoch), UNIT_EPOCH_MS + 7);

    for (i = 0, p = (unsigned char *) state; i < sizeof(ft_state_t); i++) {
        unit_check(p[i] == ((unsigned char *) fresh)[i], "byte %u", i);
    }

    free(fresh);
    free(zone);
}


/*
 * Random keys in a small zone, so that all chains are long, against an array
 * in which the least recently used is looked up plainly.
 */
static void
check_against_array(uint32_t keys, uint64_t seed)
{
    char         key[16];
    unsigned     step, i, k, oldest, name[64];
    bool         evicted;
    uint64_t     now, used[64];
    ft_zone_t   *zone;
    ft_state_t  *state, *at[64];

    zone = zone_of(keys);
    now = UNIT_EPOCH_MS;
    k = 0;

    for (step = 0; step < 3000; step++) {
        now += 2000;
        unsigned  want = (unsigned) (unit_random(&seed) % (keys * 2));

        snprintf(key, sizeof(key), "key %u", want);

        for (i = 0; i < k && name[i] != want; i++) {
            /* void */
        }

        state = zone_find(zone, key, now);

        if (i < k) {
            assert_ptr_equal(state, at[i]);
            used[i] = now;
            continue;
        }

        assert_null(state);
        state = ft_zone_add(zone, key, strlen(key), now, &evicted);
        assert_non_null(state);
        assert_int_equal(evicted, k == keys);

        if (k < keys) {
            oldest = k++;

        } else {
            for (oldest = 0, i = 1; i < k; i++) {
                oldest = used[i] < used[oldest] ? i : oldest;
            }

            assert_ptr_equal(state, at[oldest]);
        }

        at[oldest] = state;
        name[oldest] = want;
        used[oldest] = now;
    }

    assert_int_equal(ft_zone_keys(zone), keys);

    free(zone);
}


static void
test_random_keys(void **unused)
{
    (void) unused;

    check_against_array(1, 1);
    check_against_array(2, 2);
    check_against_array(3, 3);
    check_against_array(17, 4);
    check_against_array(64, 5);
}


/* An operator's arithmetic: what the documents promise of a zone's size. */
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


/* "One key takes about N KB": to the twentieth part. */
static void
test_memory_that_the_readme_states(void **unused)
{
    char       *p, line[1024];
    FILE       *file;
    long        size, stated;

    (void) unused;

    file = fopen("README.md", "r");
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

        /* a wall clock that is being slewed is left alone */

        assert_true(ft_zone_now(zone, 1000 + t, UNIT_EPOCH_MS + t + t / 20)
                    == UNIT_EPOCH_MS + t);
    }

    free(zone);
}


/* A second off is a clock that is slewed, a millisecond more one that stepped. */
static void
test_clock_of_a_second(void **unused)
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
    assert_true(ft_zone_now(zone, 1000, UNIT_EPOCH_MS)
                == UNIT_EPOCH_MS);

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

        /* for good, and for a worker whose wall clock is a little off */

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

    /* the line is gone: now it does */

    atomic_store(&state->queueing, 0);
    assert_true(ft_zone_now(zone, 1000 + t, wall + t) == wall + t);

    free(zone);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_find_what_was_added),
        cmocka_unit_test(test_keys_of_every_length),
        cmocka_unit_test(test_bytes_behind_a_key_do_not_count),
        cmocka_unit_test(test_epochs_name_lives),
        cmocka_unit_test(test_least_recently_used_makes_way),
        cmocka_unit_test(test_the_waiting_stay_while_one_is_idle),
        cmocka_unit_test(test_what_is_in_hand_stays),
        cmocka_unit_test(test_an_evicted_state_is_new),
        cmocka_unit_test(test_random_keys),
        cmocka_unit_test(test_memory_for_a_key),
        cmocka_unit_test(test_memory_that_the_readme_states),
        cmocka_unit_test(test_clock_follows_the_monotonic),
        cmocka_unit_test(test_clock_of_a_second),
        cmocka_unit_test(test_clock_steps_while_nobody_waits),
        cmocka_unit_test(test_clock_does_not_step_while_somebody_waits)
    };

    return unit_tests(tests);
}
