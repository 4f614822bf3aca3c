
/*
 * A zone that is full: which key makes way for a new one, which does not, and
 * how many are looked at for it.
 */

#include "zone.h"


/* Adds a key that finds a place; whether another one made way. */
static bool
zone_evicting(ft_zone_t *zone, const char *key, uint64_t now_ms)
{
    bool      evicted;

    assert_non_null(ft_zone_add(zone, key, strlen(key), now_ms, &evicted));

    return evicted;
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


/* Keys with shoppers waiting, the longest unused first, and one that is idle. */
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


/* A new key is worth so many looks; the next one looks elsewhere. */
static void
test_a_new_key_is_worth_sixteen_looks(void **unused)
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

    /* a flood, while somebody waits everywhere but in one place */

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


/* More were used since than are looked at: one of the longest unused goes. */
static void
test_where_all_were_used_since(void **unused)
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

    /* of the first sixteen that were made, the first that was used again */

    assert_int_equal(zone_evicting(zone, "new", now), 1);
    assert_null(zone_find(zone, "0", now));
    assert_non_null(zone_find(zone, "99", now));

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
    epoch = atomic_load(&state->generation);

    /* everything but what protects it is used */

    memset(state, 0x5a, sizeof(ft_state_t));
    memset(state->worker, 0, sizeof(state->worker));
    memset(&state->overrides, 0, sizeof(state->overrides));
    atomic_store(&state->queueing, 0);
    atomic_store(&state->bucket.empty_ns, 0);

    state = zone_add(zone, "b", UNIT_EPOCH_MS + 7);
    assert_non_null(state);
    assert_int_not_equal(atomic_load(&state->generation), epoch);

    fresh = unit_shared(sizeof(ft_state_t));
    ft_state_init(fresh, atomic_load(&state->generation), UNIT_EPOCH_MS + 7);

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


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_least_recently_used_makes_way),
        cmocka_unit_test(test_the_waiting_stay_while_one_is_idle),
        cmocka_unit_test(test_a_new_key_is_worth_sixteen_looks),
        cmocka_unit_test(test_where_all_were_used_since),
        cmocka_unit_test(test_what_is_in_hand_stays),
        cmocka_unit_test(test_an_evicted_state_is_new),
        cmocka_unit_test(test_random_keys)
    };

    return unit_tests(tests);
}
