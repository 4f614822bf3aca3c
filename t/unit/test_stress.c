
/*
 * Four worker processes on one zone, one of them killed again and again at
 * whatever instruction it is.
 */

#include "process.h"
#include "stress.h"
#include "core.h"


#define KILLS      300
#define OPS_APART  4000     /* between two kills, at the most */
#define OPS_MORE   4000     /* that may be done until the signal comes */


typedef struct {
    stress_t           stress;
    ft_zone_t         *zone;
    uint64_t           seed;
    _Atomic uint32_t   joined;
} house_t;


/* joins, one at a time, and works */
static int
house_worker(void *data)
{
    house_t   *house = data;
    uint32_t   slot;
    uint64_t   seed;

    seed = house->seed;
    slot = ft_zone_join(house->zone, (uint32_t) getpid());
    atomic_fetch_add(&house->joined, 1);

    if (slot >= STRESS_WORKERS) {
        return 1;
    }

    stress_work(&house->stress, ft_zone_state(house->zone, 0), slot, seed, 0);

    return 0;
}


static pid_t
house_start(house_t *house)
{
    pid_t     pid;
    uint32_t  joined;

    joined = atomic_load(&house->joined);
    house->seed++;
    pid = process_start(house_worker, house);

    while (atomic_load(&house->joined) == joined) {
        sched_yield();
    }

    return pid;
}


static void
house_work_on(house_t *house, uint64_t ops)
{
    uint64_t  until;

    until = atomic_load(&house->stress.ops) + ops;

    /* they go on beyond it: whoever is killed is in the midst of something */

    atomic_store(&house->stress.until, until + OPS_MORE);

    while (atomic_load(&house->stress.ops) < until) {
        sched_yield();
    }
}


static void
test_killed_again_and_again(void **unused)
{
    pid_t         pid[STRESS_WORKERS];
    house_t      *house;
    unsigned      i, k;
    bool          evicted;
    uint32_t      slot;
    uint64_t      seed;
    ft_state_t   *state;

    (void) unused;

    seed = 4;
    house = process_memory(sizeof(house_t));
    house->zone = process_memory(ft_zone_size(1));
    stress_init(&house->stress);

    ft_zone_init(house->zone, 1, seed, 1000, UNIT_EPOCH_MS);
    state = ft_zone_add(house->zone, "sale", 4, UNIT_EPOCH_MS, &evicted);
    assert_non_null(state);

    for (i = 0; i < STRESS_WORKERS; i++) {
        pid[i] = house_start(house);
    }

    for (k = 0; k < KILLS; k++) {
        house_work_on(house, unit_between(&seed, 1, OPS_APART));

        slot = (uint32_t) (unit_random(&seed) % STRESS_WORKERS);
        process_kill(pid[slot]);
        stress_forget(&house->stress, slot);

        /* the next process to join has the slot that became free */

        pid[slot] = house_start(house);
    }

    atomic_store(&house->stress.stop, 1);

    for (i = 0; i < STRESS_WORKERS; i++) {
        assert_int_equal(process_end(pid[i]), 0);
    }

    stress_check(&house->stress);

    slot = ft_zone_join(house->zone, (uint32_t) getpid());
    stress_check_rest(&house->stress, state, slot);

    munmap(house->zone, ft_zone_size(1));
    munmap(house, sizeof(house_t));
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_killed_again_and_again)
    };

    /* nothing of this blocks; should it, the alarm ends it */

    alarm(300);

    return unit_tests(tests);
}
