
/*
 * The processes of a zone: each has a slot, the slots of dead ones are cleared,
 * and one that dies while it adds a key harms no other key.
 */

#include "process.h"
#include "core.h"


#define STABLE  8
#define KEYS    24


static ft_zone_t *
zone_of(uint32_t keys)
{
    ft_zone_t  *zone;

    zone = process_memory(ft_zone_size(keys));
    ft_zone_init(zone, keys, UINT64_C(0x1234567890abcdef), 1000,
                 UNIT_EPOCH_MS);

    return zone;
}


static void
zone_free(ft_zone_t *zone, uint32_t keys)
{
    munmap(zone, ft_zone_size(keys));
}


static ft_state_t *
zone_add(ft_zone_t *zone, const char *key)
{
    bool         evicted;
    ft_state_t  *state;

    state = ft_zone_add(zone, key, strlen(key), UNIT_EPOCH_MS, &evicted);
    assert_non_null(state);

    return state;
}


static void
slot_fill(ft_state_t *state, uint32_t slot)
{
    atomic_store(&state->worker[slot].inflight, 3);
    atomic_store(&state->worker[slot].held, 2);
    atomic_store(&state->worker[slot].head_us, UNIT_EPOCH_MS * 1000);
    atomic_store(&state->worker[slot].heartbeat_ms, UNIT_EPOCH_MS);
}


static bool
slot_is_empty(const ft_state_t *state, uint32_t slot)
{
    return atomic_load(&state->worker[slot].inflight) == 0
           && atomic_load(&state->worker[slot].held) == 0
           && atomic_load(&state->worker[slot].heartbeat_ms) == 0;
}


static void
test_each_process_has_a_slot(void **unused)
{
    unsigned    i;
    pid_t       pid[4];
    ft_zone_t  *zone;

    (void) unused;

    zone = zone_of(1);

    for (i = 0; i < 4; i++) {
        pid[i] = process_start(process_idle, NULL);
        assert_int_equal(ft_zone_join(zone, (uint32_t) pid[i]), i);
        assert_int_equal(ft_zone_workers(zone), i + 1);
    }

    /* joining again gives the same slot; a new process gets a dead one's */

    assert_int_equal(ft_zone_join(zone, (uint32_t) pid[2]), 2);

    process_kill(pid[1]);
    assert_int_equal(ft_zone_join(zone, (uint32_t) getpid()), 1);
    assert_int_equal(ft_zone_workers(zone), 4);

    /* the sums end at the last live process */

    process_kill(pid[2]);
    process_kill(pid[3]);
    assert_int_equal(ft_zone_join(zone, (uint32_t) getpid()), 1);
    assert_int_equal(ft_zone_workers(zone), 2);

    process_kill(pid[0]);
    zone_free(zone, 1);
}


static void
test_slots_of_dead_processes_are_cleared(void **unused)
{
    pid_t        dead, alive;
    uint32_t     slot_dead, slot_alive;
    ft_zone_t   *zone;
    ft_state_t  *a, *b;

    (void) unused;

    zone = zone_of(2);
    a = zone_add(zone, "a");
    b = zone_add(zone, "b");

    dead = process_start(process_idle, NULL);
    alive = process_start(process_idle, NULL);
    slot_dead = ft_zone_join(zone, (uint32_t) dead);
    slot_alive = ft_zone_join(zone, (uint32_t) alive);

    slot_fill(a, slot_dead);
    slot_fill(a, slot_alive);
    slot_fill(b, slot_dead);

    assert_int_equal(ft_state_inflight(a, ft_zone_workers(zone)), 6);

    process_kill(dead);
    (void) ft_zone_join(zone, (uint32_t) getpid());

    assert_true(slot_is_empty(a, slot_dead));
    assert_true(slot_is_empty(b, slot_dead));
    assert_int_equal(ft_state_inflight(a, ft_zone_workers(zone)), 3);
    assert_int_equal(ft_state_held(a, ft_zone_workers(zone)), 2);
    assert_int_equal(ft_state_inflight(b, ft_zone_workers(zone)), 0);

    process_kill(alive);
    zone_free(zone, 2);
}


/* A process with the process id of a dead one begins with an empty slot. */
static void
test_a_process_joins_again(void **unused)
{
    uint32_t     slot;
    ft_zone_t   *zone;
    ft_state_t  *state;

    (void) unused;

    zone = zone_of(1);
    state = zone_add(zone, "a");
    slot = ft_zone_join(zone, (uint32_t) getpid());
    slot_fill(state, slot);

    assert_int_equal(ft_zone_join(zone, (uint32_t) getpid()), slot);
    assert_true(slot_is_empty(state, slot));

    zone_free(zone, 1);
}


static void
test_no_slot_is_free(void **unused)
{
    pid_t       pid[FT_WORKERS];
    uint32_t    i;
    ft_zone_t  *zone;

    (void) unused;

    zone = zone_of(1);

    for (i = 0; i < FT_WORKERS; i++) {
        pid[i] = process_start(process_idle, NULL);
        assert_int_equal(ft_zone_join(zone, (uint32_t) pid[i]), i);
    }

    assert_int_equal(ft_zone_join(zone, (uint32_t) getpid()), FT_WORKERS);
    assert_int_equal(ft_zone_workers(zone), FT_WORKERS);

    process_kill(pid[200]);
    assert_int_equal(ft_zone_join(zone, (uint32_t) getpid()), 200);

    for (i = 0; i < FT_WORKERS; i++) {
        if (i != 200) {
            process_kill(pid[i]);
        }
    }

    zone_free(zone, 1);
}


typedef struct {
    ft_zone_t         *zone;
    ft_state_t        *stable[STABLE];
    uint64_t           seed;
    _Atomic uint64_t   adds;
    _Atomic uint64_t   finds;
    _Atomic uint64_t   wrong;
    _Atomic uint32_t   stop;
} keys_t;


static keys_t *
keys_create(uint64_t seed)
{
    char      key[16];
    unsigned  i;
    keys_t   *keys;

    keys = process_memory(sizeof(keys_t));
    keys->zone = zone_of(KEYS);
    keys->seed = seed;

    for (i = 0; i < STABLE; i++) {
        snprintf(key, sizeof(key), "stable %u", i);
        keys->stable[i] = zone_add(keys->zone, key);

        /* a request in flight protects a key */

        atomic_store(&keys->stable[i]->worker[0].inflight, 1);
    }

    (void) ft_zone_join(keys->zone, (uint32_t) getpid());

    for (i = 0; i < STABLE; i++) {
        atomic_store(&keys->stable[i]->worker[0].inflight, 1);
    }

    return keys;
}


static void
keys_free(keys_t *keys)
{
    zone_free(keys->zone, KEYS);
    munmap(keys, sizeof(keys_t));
}


static int
keys_add(void *data)
{
    char       key[32];
    keys_t    *keys = data;
    bool       evicted;
    uint64_t   n;

    for (n = 0; !atomic_load(&keys->stop); n++) {
        snprintf(key, sizeof(key), "passing %u",
                 (unsigned) (unit_random(&keys->seed) % (KEYS * 3)));
        (void) ft_zone_add(keys->zone, key, strlen(key), UNIT_EPOCH_MS + n,
                           &evicted);
        atomic_fetch_add(&keys->adds, 1);
    }

    return 0;
}


/* Finds the stable keys, without a lock. */
static int
keys_find(void *data)
{
    char         key[16];
    keys_t      *keys = data;
    unsigned     i;
    ft_state_t  *state;

    for (i = 0; !atomic_load(&keys->stop); i = (i + 1) % STABLE) {
        snprintf(key, sizeof(key), "stable %u", i);
        state = ft_zone_find(keys->zone, key, strlen(key), UNIT_EPOCH_MS);

        /* a walk during a change may find nothing, never another key */

        if (state != NULL && state != keys->stable[i]) {
            atomic_fetch_add(&keys->wrong, 1);
        }

        atomic_fetch_add(&keys->finds, 1);
    }

    return 0;
}


static void
wait_for(const _Atomic uint64_t *counter, uint64_t n)
{
    while (atomic_load(counter) < n) {
        sched_yield();
    }
}


static void
check_stable(keys_t *keys)
{
    char      key[16];
    unsigned  i;

    for (i = 0; i < STABLE; i++) {
        snprintf(key, sizeof(key), "stable %u", i);
        assert_ptr_equal(ft_zone_find(keys->zone, key, strlen(key),
                                      UNIT_EPOCH_MS),
                         keys->stable[i]);
    }
}


static void
test_find_while_keys_are_added(void **unused)
{
    pid_t    adder, finder;
    keys_t  *keys;

    (void) unused;

    keys = keys_create(1);
    finder = process_start(keys_find, keys);
    adder = process_start(keys_add, keys);

    wait_for(&keys->adds, 20000);
    wait_for(&keys->finds, 200000);
    atomic_store(&keys->stop, 1);

    assert_int_equal(process_end(adder), 0);
    assert_int_equal(process_end(finder), 0);
    assert_int_equal(atomic_load(&keys->wrong), 0);
    check_stable(keys);

    keys_free(keys);
}


/* Killed at any instruction: at worst a key is added again. */
static void
test_killed_while_adding(void **unused)
{
    char         key[32];
    pid_t        adder;
    keys_t      *keys;
    unsigned     round, i;
    uint64_t     seed;
    ft_state_t  *state;

    (void) unused;

    seed = 2;
    keys = keys_create(3);

    for (round = 0; round < 200; round++) {
        keys->seed = unit_random(&seed);
        adder = process_start(keys_add, keys);

        wait_for(&keys->adds,
                 atomic_load(&keys->adds) + unit_between(&seed, 1, 300));
        process_kill(adder);

        check_stable(keys);

        for (i = 0; i < KEYS - STABLE; i++) {
            snprintf(key, sizeof(key), "after %u", i);
            state = zone_add(keys->zone, key);
            assert_ptr_equal(ft_zone_find(keys->zone, key, strlen(key),
                                          UNIT_EPOCH_MS), state);
        }

        check_stable(keys);
    }

    keys_free(keys);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_each_process_has_a_slot),
        cmocka_unit_test(test_slots_of_dead_processes_are_cleared),
        cmocka_unit_test(test_a_process_joins_again),
        cmocka_unit_test(test_no_slot_is_free),
        cmocka_unit_test(test_find_while_keys_are_added),
        cmocka_unit_test(test_killed_while_adding)
    };

    /* ends a test that blocks */

    alarm(120);

    return unit_tests(tests);
}
