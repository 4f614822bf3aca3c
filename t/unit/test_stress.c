
/*
 * Four worker processes on one zone; one after another is killed at any
 * instruction.
 */

#include "process.h"
#include "stress.h"
#include "core.h"


#define KILLS      300
#define OPS_APART  4000     /* maximum between two kills */
#define OPS_MORE   4000     /* the others continue until the signal arrives */


typedef struct {
    stress_t           stress;
    ft_zone_t         *zone;
    uint64_t           seed;
    _Atomic uint32_t   slot;        /* of the process that starts, plus 1 */
} edge_t;


static int
edge_worker(void *data)
{
    edge_t    *edge = data;
    uint32_t   slot;
    uint64_t   seed;

    seed = edge->seed;

    do {
        slot = atomic_exchange(&edge->slot, 0);
        sched_yield();
    } while (slot == 0);

    stress_work(&edge->stress, ft_zone_state(edge->zone, 0), slot - 1,
                seed, 0);

    return 0;
}


/*
 * The parent joins for the new process: an emulator shows a process another
 * start time of itself than the kernel shows to others.
 */
static pid_t
edge_start(edge_t *edge)
{
    pid_t     pid;
    uint32_t  slot;

    edge->seed++;
    pid = process_start(edge_worker, edge);

    slot = ft_zone_join(edge->zone, (uint32_t) pid);
    assert_in_range(slot, 0, STRESS_WORKERS - 1);
    atomic_store(&edge->slot, slot + 1);

    while (atomic_load(&edge->slot)) {
        sched_yield();
    }

    return pid;
}


static void
edge_work_on(edge_t *edge, uint64_t ops)
{
    uint64_t  until;

    until = atomic_load(&edge->stress.ops) + ops;

    /* a process that is killed has not reached its end */

    atomic_store(&edge->stress.until, until + OPS_MORE);

    while (atomic_load(&edge->stress.ops) < until) {
        sched_yield();
    }
}


static void
test_killed_workers(void **unused)
{
    pid_t         pid[STRESS_WORKERS];
    edge_t      *edge;
    unsigned      i, k;
    bool          evicted;
    uint32_t      slot;
    uint64_t      seed;
    ft_state_t   *state;

    (void) unused;

    seed = 4;
    edge = process_memory(sizeof(edge_t));
    edge->zone = process_memory(ft_zone_size(1));
    stress_init(&edge->stress);

    ft_zone_init(edge->zone, 1, seed, 1000, UNIT_EPOCH_MS);
    state = ft_zone_add(edge->zone, "sale", 4, UNIT_EPOCH_MS, &evicted);
    assert_non_null(state);

    for (i = 0; i < STRESS_WORKERS; i++) {
        pid[i] = edge_start(edge);
    }

    for (k = 0; k < KILLS; k++) {
        edge_work_on(edge, unit_between(&seed, 1, OPS_APART));

        slot = (uint32_t) (unit_random(&seed) % STRESS_WORKERS);
        process_kill(pid[slot]);
        stress_forget(&edge->stress, slot);

        pid[slot] = edge_start(edge);
    }

    atomic_store(&edge->stress.stop, 1);

    for (i = 0; i < STRESS_WORKERS; i++) {
        assert_int_equal(process_end(pid[i]), 0);
    }

    stress_check(&edge->stress);

    slot = ft_zone_join(edge->zone, (uint32_t) getpid());
    stress_check_rest(&edge->stress, state, slot);

    munmap(edge->zone, ft_zone_size(1));
    munmap(edge, sizeof(edge_t));
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_killed_workers)
    };

    /* ends a test that blocks */

    alarm(300);

    return unit_tests(tests);
}
