
/*
 * Workers, as threads, that take the last free capacity at the same time: as
 * many are admitted as the tightest limit allows, neither more nor fewer.
 */

#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>
#include "unit.h"
#include "core.h"


#define RACERS  4
#define ROUNDS  20000
#define VISITS  600000
#define SPINS   200         /* for threads on another core, before it yields */


typedef struct {
    ft_state_t        *state;
    ft_limits_t        limits;
    ft_rules_t         rules;
    uint64_t           now_ms;
    uint32_t           racers;

    _Atomic uint32_t   round;       /* begun; UINT32_MAX: no more */
    _Atomic uint32_t   ready;
    _Atomic uint32_t   finished;
    _Atomic uint32_t   admitted;
} race_t;


typedef struct {
    race_t            *race;
    uint32_t           worker;
} racer_t;


static race_t *
race_of(uint32_t racers, ft_policy_t policy)
{
    race_t  *race;

    race = unit_shared(sizeof(race_t));
    race->state = unit_shared(sizeof(ft_state_t));
    race->racers = racers;
    race->now_ms = UNIT_EPOCH_MS;
    race->limits.period_ms = FT_PERIOD_DEFAULT_MS;
    race->rules.policy = policy;
    race->rules.poll_min_ms = FT_POLL_MIN_DEFAULT_MS;
    race->rules.poll_max_ms = FT_POLL_MAX_DEFAULT_MS;
    race->rules.session_ms = 600000;

    return race;
}


static void
race_free(race_t *race)
{
    free(race->state);
    free(race);
}


static void
race_pause(unsigned *n)
{
    if (++*n > SPINS) {
        sched_yield();
    }
}


static ft_call_t
race_call(race_t *race, uint32_t worker)
{
    ft_call_t  call;

    memset(&call, 0, sizeof(ft_call_t));

    call.state = race->state;
    call.limits = race->limits;
    call.rules = &race->rules;
    call.now_ms = race->now_ms;
    call.worker = worker;
    call.workers = race->racers;

    return call;
}


static void *
race_run(void *data)
{
    racer_t  *racer = data;

    race_t       *race;
    unsigned      n;
    uint32_t      round;
    ft_call_t     call;
    ft_ticket_t   ticket;

    race = racer->race;

    for (round = 1; /* void */; round++) {

        for (n = 0; atomic_load(&race->round) < round; race_pause(&n)) {
            /* void */
        }

        if (atomic_load(&race->round) == UINT32_MAX) {
            return NULL;
        }

        call = race_call(race, racer->worker);
        memset(&ticket, 0, sizeof(ft_ticket_t));
        ticket.id = (uint64_t) round * RACERS + racer->worker;

        atomic_fetch_add(&race->ready, 1);

        for (n = 0; atomic_load(&race->ready) < race->racers; race_pause(&n)) {
            /* void */
        }

        if (ft_admission_decide(&call, &ticket, NULL, NULL, false).answer
            == FT_ADMIT)
        {
            atomic_fetch_add(&race->admitted, 1);
        }

        atomic_fetch_add(&race->finished, 1);
    }
}


/* Runs a round.  Returns the number of admissions. */
static uint32_t
race_round(race_t *race)
{
    unsigned    n;
    ft_call_t   call;

    race->now_ms += 1000;
    ft_state_init(race->state, 1, race->now_ms);

    /* no tick is due */

    call = race_call(race, 0);
    (void) ft_stats_read(&call);

    atomic_store(&race->ready, 0);
    atomic_store(&race->finished, 0);
    atomic_store(&race->admitted, 0);
    atomic_fetch_add(&race->round, 1);

    for (n = 0; atomic_load(&race->finished) < race->racers; race_pause(&n)) {
        /* void */
    }

    return atomic_load(&race->admitted);
}


/* Random limits of 1 .. racers, or none; *free: the least of them. */
static void
race_limit(race_t *race, uint64_t *seed, uint32_t *capacity)
{
    uint32_t  i, limit[3];

    *capacity = race->racers;

    for (i = 0; i < 3; i++) {
        limit[i] = (uint32_t) unit_between(seed, 1, 2 * race->racers);

        if (limit[i] > race->racers) {
            limit[i] = 0;

        } else if (limit[i] < *capacity) {
            *capacity = limit[i];
        }
    }

    race->limits.inflight = limit[0];
    race->limits.sessions = limit[1];

    /* so slow that nothing leaks within a round */

    race->limits.rate_milli = limit[2] ? 1 : 0;
    race->limits.burst = limit[2] ? limit[2] : 1;
}


static void
check_races(uint32_t racers, ft_policy_t policy)
{
    race_t      *race;
    racer_t      racer[RACERS];
    unsigned     i;
    uint32_t     capacity, admitted, more, fewer;
    uint64_t     seed;
    pthread_t    id[RACERS];

    seed = racers;
    more = fewer = 0;

    race = race_of(racers, policy);

    for (i = 0; i < racers; i++) {
        racer[i].race = race;
        racer[i].worker = i;
        assert_int_equal(pthread_create(&id[i], NULL, race_run, &racer[i]), 0);
    }

    for (i = 0; i < ROUNDS; i++) {
        race_limit(race, &seed, &capacity);
        admitted = race_round(race);
        more += admitted > capacity;
        fewer += admitted < capacity;
    }

    atomic_store(&race->round, UINT32_MAX);

    for (i = 0; i < racers; i++) {
        assert_int_equal(pthread_join(id[i], NULL), 0);
    }

    unit_check(more == 0 && fewer == 0,
               "of %u rounds %u admitted too many, and %u too few", ROUNDS, more,
               fewer);

    race_free(race);
}


static void
test_two_take_the_last_capacity(void **unused)
{
    (void) unused;

    check_races(2, FT_POLICY_REJECT);
}


static void
test_four_take_the_last_capacity(void **unused)
{
    (void) unused;

    check_races(4, FT_POLICY_REJECT);
}


/* Polls whose pages arrive at once. */
static void *
race_visit(void *data)
{
    racer_t  *racer = data;

    race_t       *race;
    uint32_t      n, inside;
    uint64_t      id;
    ft_call_t     call;
    ft_ticket_t   ticket;

    race = racer->race;
    call = race_call(race, racer->worker);
    call.workers = FT_WORKERS;
    id = (uint64_t) racer->worker << 32;

    for (n = 0; n < VISITS; n++) {
        memset(&ticket, 0, sizeof(ft_ticket_t));
        ticket.id = ++id;

        if (ft_admission_decide(&call, &ticket, NULL, NULL, false).answer
            != FT_ADMIT)
        {
            continue;
        }

        inside = atomic_fetch_add(&race->admitted, 1) + 1;

        if (inside > race->limits.inflight) {
            atomic_fetch_add(&race->finished, 1);
        }

        ft_pass_make(&call, &ticket);
        ft_inflight_expect(&call, &ticket);
        ft_inflight_enter(&call, &ticket);

        atomic_fetch_sub(&race->admitted, 1);
        ft_inflight_done(race->state, 1, racer->worker);
    }

    return NULL;
}


/*
 * A page is counted while it moves from "expected" to "in flight", although the
 * sum over many workers takes a while.
 */
static void
test_expected_pages_are_never_missed(void **unused)
{
    race_t     *race;
    racer_t     racer[RACERS];
    unsigned    i;
    pthread_t   id[RACERS];

    (void) unused;

    race = race_of(2, FT_POLICY_REJECT);
    race->limits.inflight = 1;
    race->limits.burst = 1;
    ft_state_init(race->state, 1, race->now_ms);

    for (i = 0; i < 2; i++) {
        racer[i].race = race;
        racer[i].worker = i;
        assert_int_equal(pthread_create(&id[i], NULL, race_visit, &racer[i]),
                         0);
    }

    for (i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(id[i], NULL), 0);
    }

    unit_check(race->finished == 0, "%u times too many in flight",
               race->finished);

    race_free(race);
}


static bool
race_take(race_t *race, uint32_t worker)
{
    ft_call_t  call;

    call = race_call(race, worker);

    return ft_capacity_take(&call, race->now_ms);
}


static uint64_t
race_cpu_ms(void)
{
    struct timespec  t;

    assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t), 0);

    return (uint64_t) t.tv_sec * 1000 + (uint64_t) t.tv_nsec / 1000000;
}


/*
 * A worker is killed while it takes.  The others get all capacity but the last,
 * which they give up after a bounded time, until the slot is cleared.
 */
static void
test_killed_while_it_takes(void **unused)
{
    race_t    *race;
    uint32_t   killed, other;
    uint64_t   began;

    (void) unused;

    for (killed = 0; killed < RACERS; killed++) {
        race = race_of(RACERS, FT_POLICY_FAIR);
        race->limits.inflight = 2 * RACERS + 2;
        race->limits.burst = 1;
        ft_state_init(race->state, 1, race->now_ms);
        atomic_store(&race->state->taking[killed / 64],
                     UINT64_C(1) << (killed % 64));

        for (other = 0; other < RACERS; other++) {
            if (other != killed) {
                assert_true(race_take(race, other));
                assert_true(race_take(race, other));
            }
        }

        assert_true(race_take(race, (killed + 1) % RACERS));
        assert_true(race_take(race, (killed + 1) % RACERS));
        assert_true(race_take(race, (killed + 1) % RACERS));

        /* one is left, some microseconds are needed */

        began = race_cpu_ms();

        for (other = 0; other < RACERS; other++) {
            if (other != killed) {
                assert_false(race_take(race, other));
                assert_true(atomic_load(&race->state->taking[other / 64])
                            == UINT64_C(1) << (killed % 64));
            }
        }

        unit_check(race_cpu_ms() - began < 1000, "%u ms",
                   (unsigned) (race_cpu_ms() - began));

        ft_state_forget(race->state, killed);

        assert_true(race_take(race, (killed + 1) % RACERS));
        assert_false(race_take(race, (killed + 1) % RACERS));

        race_free(race);
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_killed_while_it_takes),
        cmocka_unit_test(test_two_take_the_last_capacity),
        cmocka_unit_test(test_four_take_the_last_capacity),
        cmocka_unit_test(test_expected_pages_are_never_missed)
    };

    /* ends a test that blocks */

    alarm(1800);

    return unit_tests(tests);
}
