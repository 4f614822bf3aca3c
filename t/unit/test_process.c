
/*
 * Worker processes: a process is distinguished from an earlier one with the same
 * process id.
 *
 * No test can force the reuse of a process id.  The file under test is included,
 * so that ft_zone_join() records the result of the test's ft_process_started().
 */

#include "process.h"
#include "zone.h"

#define ft_process_started  ft_process_read
#include "../../src/core/ft_process.c"
#undef ft_process_started


static uint32_t  reused_pid;        /* an earlier process had it, too */


uint64_t
ft_process_started(uint32_t pid)
{
    return pid == reused_pid ? ft_process_read(pid) - 1 : ft_process_read(pid);
}


static void
test_started(void **unused)
{
    pid_t     pid;
    uint64_t  started;

    (void) unused;

    started = ft_process_read((uint32_t) getpid());

    if (started == 0) {
        skip();
    }

    assert_true(ft_process_read((uint32_t) getpid()) == started);

    pid = process_start(process_idle, NULL);
    assert_true(ft_process_read((uint32_t) pid) > 0);
    process_kill(pid);
    assert_true(ft_process_read((uint32_t) pid) == 0);
}


static void
test_is_gone(void **unused)
{
    pid_t     pid;
    uint32_t  self;
    uint64_t  started;

    (void) unused;

    self = (uint32_t) getpid();
    started = ft_process_read(self);

    assert_false(ft_process_is_gone(self, started));
    assert_false(ft_process_is_gone(self, 0));

    if (started) {
        assert_true(ft_process_is_gone(self, started + 1));
    }

    /* a process that may be of another user */

    assert_false(ft_process_is_gone(1, ft_process_read(1)));

    pid = process_start(process_idle, NULL);
    started = ft_process_read((uint32_t) pid);
    assert_false(ft_process_is_gone((uint32_t) pid, started));
    process_kill(pid);
    assert_true(ft_process_is_gone((uint32_t) pid, started));
    assert_true(ft_process_is_gone((uint32_t) pid, 0));
}


/* A name with spaces and parentheses does not shift the fields. */
static void
test_name_of_the_command(void **unused)
{
    char      name[16];
    uint64_t  started;

    (void) unused;

    started = ft_process_read((uint32_t) getpid());

    assert_int_equal(prctl(PR_GET_NAME, name), 0);
    assert_int_equal(prctl(PR_SET_NAME, "a) b 1 2) 3 ("), 0);
    assert_true(ft_process_read((uint32_t) getpid()) == started);
    assert_int_equal(prctl(PR_SET_NAME, name), 0);
}


/* The slot is of an earlier process with the process id of a live one. */
static void
check_slot(bool reused, bool reap)
{
    pid_t        pid;
    uint32_t     slot, next;
    ft_zone_t   *zone;
    ft_state_t  *state;

    zone = zone_of(1);
    state = zone_add(zone, "sale", UNIT_EPOCH_MS);

    pid = process_start(process_idle, NULL);
    reused_pid = reused ? (uint32_t) pid : 0;
    slot = ft_zone_join(zone, (uint32_t) pid);
    atomic_store(&state->worker[slot].inflight, 3);
    atomic_store(&state->taking[slot / 64], UINT64_C(1) << (slot % 64));

    if (reap) {
        ft_zone_reap(zone);

    } else {
        next = ft_zone_join(zone, (uint32_t) getpid());
        assert_int_equal(next == slot, reused);
    }

    assert_int_equal(ft_state_inflight(state, ft_zone_workers(zone)),
                     reused ? 0 : 3);
    assert_int_equal(atomic_load(&state->taking[slot / 64]) != 0, !reused);

    process_kill(pid);
    free(zone);
}


static void
test_a_reused_process_id(void **unused)
{
    (void) unused;

    if (ft_process_read((uint32_t) getpid()) == 0) {
        skip();
    }

    check_slot(false, false);
    check_slot(false, true);
    check_slot(true, false);
    check_slot(true, true);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_started),
        cmocka_unit_test(test_is_gone),
        cmocka_unit_test(test_name_of_the_command),
        cmocka_unit_test(test_a_reused_process_id)
    };

    alarm(60);

    return unit_tests(tests);
}
