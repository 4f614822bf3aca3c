
/*
 * Four workers on one state, as threads, for a race detector.
 */

#include <pthread.h>
#include "stress.h"


#define OPS  60000


typedef struct {
    stress_t    *stress;
    ft_state_t  *state;
    uint32_t     worker;
} thread_t;


static void *
thread_run(void *data)
{
    thread_t  *thread = data;

    stress_work(thread->stress, thread->state, thread->worker,
                thread->worker + 1, OPS);

    return NULL;
}


static void
test_workers_as_threads(void **unused)
{
    uint32_t     i;
    stress_t    *stress;
    thread_t     thread[STRESS_WORKERS];
    pthread_t    id[STRESS_WORKERS];
    ft_state_t  *state;

    (void) unused;

    stress = unit_shared(sizeof(stress_t));
    state = unit_shared(sizeof(ft_state_t));

    stress_init(stress);
    ft_state_init(state, 1, UNIT_EPOCH_MS);

    for (i = 0; i < STRESS_WORKERS; i++) {
        thread[i].stress = stress;
        thread[i].state = state;
        thread[i].worker = i;
        assert_int_equal(pthread_create(&id[i], NULL, thread_run, &thread[i]),
                         0);
    }

    for (i = 0; i < STRESS_WORKERS; i++) {
        assert_int_equal(pthread_join(id[i], NULL), 0);
    }

    stress_check(stress);
    stress_check_rest(stress, state, 0);

    free(stress);
    free(state);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_workers_as_threads)
    };

    return unit_tests(tests);
}
