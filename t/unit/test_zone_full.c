
/*
 * A full zone: which key is evicted, which is not, and how many are examined.
 */

#include "zone.h"


/* Adds a key.  Returns whether another one was evicted. */
static bool
zone_evicting(ft_zone_t *zone, const char *key, uint64_t now_ms)
{
    bool      evicted;

    assert_non_null(ft_zone_add(zone, key, strlen(key), now_ms, &evicted));

    return evicted;
}


/* The least recently used key is evicted; finding a key is a use. */
static void
test_least_recently_used_is_evicted(void **unused)
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


/* No key with waiting shoppers is evicted while an idle one exists. */
static void
test_busy_keys_stay_while_one_is_idle(void **unused)
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

    /* only busy keys: the new key gets no state */

    atomic_store(&zone_find(zone, "x", now + 31000)->queueing, 1);
    assert_null(zone_add(zone, "y", now + 32000));
    assert_non_null(zone_find(zone, "old sale", now));

    /* a bucket that is not empty protects a key */

    atomic_store(&zone_find(zone, "x", now + 31000)->queueing, 0);
    atomic_store(&zone_find(zone, "x", now + 31000)->bucket.empty_ns,
                 (now + 33000) * 1000000);
    assert_null(zone_add(zone, "y", now + 32000));
    assert_int_equal(zone_evicting(zone, "y", now + 33000), 1);
    assert_null(zone_find(zone, "x", now + 33000));

    /* no request for longer than any wait: idle */

    assert_int_equal(zone_evicting(zone, "z", now + 66000), 1);
    assert_null(zone_find(zone, "old sale", now + 66000));

    free(zone);
}


/* Keys with waiting shoppers, the least recently used first, and an idle
   one. */
static ft_zone_t *
zone_of_lines(uint32_t lines, uint64_t now_ms)
{
    char         key[16];
    uint32_t     i;
    ft_zone_t   *zone;

    zone = zone_of(lines + 1);

    for (i = 0; i < lines; i++) {
        snprintf(key, sizeof(key), "line %u", i);
        atomic_store(&zone_add(zone, key, now_ms + i)->queueing, 1);
    }

    zone_add(zone, "idle", now_ms + lines);

    return zone;
}


/* One new key examines 16 keys; the next one examines others. */
static void
test_sixteen_keys_are_examined(void **unused)
{
    char         key[16];
    uint32_t     i;
    uint64_t     now;
    ft_zone_t   *zone;

    (void) unused;

    now = UNIT_EPOCH_MS + 1000;

    zone = zone_of_lines(15, UNIT_EPOCH_MS);
    assert_int_equal(zone_evicting(zone, "new", now), 1);
    free(zone);

    zone = zone_of_lines(48, UNIT_EPOCH_MS);
    assert_null(zone_add(zone, "new", now));
    assert_null(zone_add(zone, "new", now));
    assert_null(zone_add(zone, "new", now));
    assert_int_equal(zone_evicting(zone, "new", now), 1);
    assert_null(zone_find(zone, "idle", now));

    /* many new keys, while all keys but one are busy */

    for (i = 0; i < 1000; i++) {
        snprintf(key, sizeof(key), "new %u", i);
        now += i % 8 == 0;
        zone_add(zone, key, now);
    }

    for (i = 0; i < 48; i++) {
        snprintf(key, sizeof(key), "line %u", i);
        assert_non_null(zone_find(zone, key, now));
    }

    free(zone);
}


/* More keys were used since than are examined: an old one is evicted. */
static void
test_all_used_since(void **unused)
{
    char         key[16];
    uint32_t     i;
    uint64_t     now;
    ft_zone_t   *zone;

    (void) unused;

    now = UNIT_EPOCH_MS;
    zone = zone_of(100);

    for (i = 0; i < 100; i++) {
        snprintf(key, sizeof(key), "%u", i);
        zone_add(zone, key, now + i);
    }

    for (i = 0; i < 100; i++) {
        snprintf(key, sizeof(key), "%u", i);
        now += 2000;
        assert_non_null(zone_find(zone, key, now));
    }

    /* of the first sixteen that were made, the least recently used */

    assert_int_equal(zone_evicting(zone, "new", now), 1);
    assert_null(zone_find(zone, "0", now));
    assert_non_null(zone_find(zone, "99", now));

    free(zone);
}


static void
test_keys_in_use_stay(void **unused)
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
    atomic_store(&held->worker[slot].held, 1);
    atomic_store(&inflight->worker[slot].inflight, 1);

    assert_null(ft_zone_add(zone, "new", 3, now + 9000000, &evicted));
    assert_int_equal(evicted, 0);
    assert_null(zone_find(zone, "new", now));
    assert_ptr_equal(zone_find(zone, "held", now), held);

    atomic_store(&inflight->worker[slot].inflight, 0);
    assert_int_equal(zone_evicting(zone, "new", now + 9000000), 1);
    assert_ptr_equal(zone_find(zone, "held", now), held);

    free(zone);
}


/* An evicted state is empty for its next key. */
static void
test_an_evicted_state_is_new(void **unused)
{
    uint32_t            i, generation;
    ft_zone_t          *zone;
    ft_state_t         *state, *fresh;
    unsigned char      *p;

    (void) unused;

    zone = zone_of(1);
    state = zone_add(zone, "a", UNIT_EPOCH_MS);
    generation = atomic_load(&state->generation);

    /* all except what protects a key */

    memset(state, 0x5a, sizeof(ft_state_t));
    memset(state->worker, 0, sizeof(state->worker));
    memset(&state->overrides, 0, sizeof(state->overrides));
    atomic_store(&state->queueing, 0);
    atomic_store(&state->bucket.empty_ns, 0);

    state = zone_add(zone, "b", UNIT_EPOCH_MS + 7);
    assert_non_null(state);
    assert_int_not_equal(atomic_load(&state->generation), generation);

    fresh = unit_shared(sizeof(ft_state_t));
    ft_state_init(fresh, atomic_load(&state->generation), UNIT_EPOCH_MS + 7);

    for (i = 0, p = (unsigned char *) state; i < sizeof(ft_state_t); i++) {
        unit_check(p[i] == ((unsigned char *) fresh)[i], "byte %u", i);
    }

    free(fresh);
    free(zone);
}


/*
 * Random keys in a small zone with long chains, against an array that is
 * searched for the least recently used.
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


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_least_recently_used_is_evicted),
        cmocka_unit_test(test_busy_keys_stay_while_one_is_idle),
        cmocka_unit_test(test_sixteen_keys_are_examined),
        cmocka_unit_test(test_all_used_since),
        cmocka_unit_test(test_keys_in_use_stay),
        cmocka_unit_test(test_an_evicted_state_is_new),
        cmocka_unit_test(test_random_keys)
    };

    return unit_tests(tests);
}
