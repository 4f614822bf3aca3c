
/*
 * The hold: how many requests, for how long, and in which order, over several
 * workers.
 */

#include "crowd.h"
#include "core.h"


/*
 * All are called: the threshold has passed their timestamps, 100 ms apart, and
 * the bucket is full.
 */
static crowd_t *
called_crowd(unsigned n, uint32_t workers)
{
    unsigned   i;
    crowd_t   *c;

    c = crowd_create(n, workers);

    for (i = 0; i < n; i++) {
        c->shopper[i].where = CROWD_WAITING;
        c->shopper[i].ticket.id = unit_random(&c->seed);
        c->shopper[i].ticket.kind = FT_TICKET_WAIT;
        c->shopper[i].ticket.first_ms = c->now_ms + i * 100;
        c->shopper[i].ticket.place = FT_LANE_NONE;
    }

    c->now_ms += n * 100;

    atomic_store(&c->state->queueing, 1);
    ft_census_reset(&c->state->census, c->now_ms * 1000, c->now_ms);
    atomic_store(&c->state->control.ticked_ms, c->now_ms);

    while (ft_bucket_take(&c->state->bucket, &c->limits, c->now_ms)) {
        /* void */
    }

    return c;
}


/* Numbers 0 .. n - 1 in a random order. */
static void
shuffle(uint64_t *seed, unsigned *order, unsigned n)
{
    unsigned  i, k, t;

    for (i = 0; i < n; i++) {
        order[i] = i;
    }

    for (i = n - 1; i > 0; i--) {
        k = (unsigned) (unit_random(seed) % (i + 1));
        t = order[i];
        order[i] = order[k];
        order[k] = t;
    }
}


static uint32_t
held(const crowd_t *c)
{
    return ft_state_held(c->state, c->workers);
}


static void
test_number_of_held_requests(void **unused)
{
    unsigned   i, most;
    crowd_t   *c;

    (void) unused;

    c = called_crowd(100, 4);

    /* 20 r/s admit 40 in 2 s */

    most = 40;

    for (i = 0; i < 100; i++) {
        assert_int_equal(crowd_request(c, i, i % 4).answer,
                         i < most ? FT_HOLD : FT_WAIT);
    }

    assert_int_equal(held(c), most);
    assert_int_equal(atomic_load(&c->state->totals.held), most);
    assert_int_equal(atomic_load(&c->state->totals.turned_back), 100 - most);

    crowd_free(c);
}


static void
test_not_held(void **unused)
{
    crowd_t    *c;
    ft_call_t   call;

    (void) unused;

    /* hold=0 */

    c = called_crowd(2, 1);
    c->rules.hold_ms = 0;
    assert_int_equal(crowd_request(c, 0, 0).answer, FT_WAIT);

    /* a request that cannot be held */

    c->rules.hold_ms = FT_HOLD_DEFAULT_MS;
    call = crowd_call(c, 0);
    assert_int_equal(ft_admission_decide(&call, &c->shopper[1].ticket, NULL,
                                         NULL, false).answer,
                     FT_WAIT);
    assert_int_equal(held(c), 0);

    assert_int_equal(atomic_load(&c->state->control.turned_back), 2);

    crowd_free(c);
}


static void
test_held_is_published(void **unused)
{
    crowd_t    *c;
    ft_call_t   call;

    (void) unused;

    c = called_crowd(3, 3);
    call = crowd_call(c, 1);

    assert_int_equal(ft_admission_decide(&call, &c->shopper[1].ticket,
                                         &c->line[1], &c->shopper[1].node,
                                         false).answer,
                     FT_HOLD);
    assert_int_equal(held(c), 1);
    assert_int_equal(atomic_load(&c->state->worker[1].held), 1);

    /* capacity for one: the earlier one */

    atomic_store(&c->state->bucket.empty_ns, 0);
    assert_int_equal(crowd_request(c, 2, 2).answer, FT_HOLD);
    assert_int_equal(c->shopper[2].where, CROWD_HELD);
    assert_int_equal(crowd_request(c, 0, 0).answer, FT_ADMIT);

    crowd_free(c);
}


/* Held in random order by random workers, admitted by timestamp. */
static void
check_order(uint32_t workers, uint64_t seed)
{
    unsigned   i, order[40];
    crowd_t   *c;

    c = called_crowd(40, workers);
    c->seed = seed;
    shuffle(&seed, order, 40);

    for (i = 0; i < 40; i++) {
        assert_int_equal(crowd_request(c, order[i],
                                       (uint32_t) (unit_random(&seed)
                                                   % workers)).answer,
                         FT_HOLD);
    }

    crowd_run(c, c->now_ms + 2500);

    assert_int_equal(c->admissions, 40);
    assert_int_equal(held(c), 0);

    for (i = 0; i < 40; i++) {
        unit_check(c->order[i] == i, "shopper %u was admitted as number %u",
                   c->order[i], i);
    }

    crowd_free(c);
}


static void
test_earliest_timestamp_first(void **unused)
{
    uint64_t  seed;
    uint32_t  workers;

    (void) unused;

    for (workers = 1; workers <= CROWD_WORKERS; workers++) {
        for (seed = 1; seed <= 10; seed++) {
            check_order(workers, seed * 100 + workers);
        }
    }
}


/* A request does not overtake an earlier one that is held. */
static void
test_nobody_overtakes_the_held(void **unused)
{
    crowd_t  *c;

    (void) unused;

    c = called_crowd(3, 2);

    assert_int_equal(crowd_request(c, 1, 0).answer, FT_HOLD);

    /* capacity is free, and the first has not noticed yet */

    c->now_ms += 50;
    assert_int_equal(crowd_request(c, 2, 1).answer, FT_HOLD);
    assert_int_equal(c->shopper[2].where, CROWD_HELD);

    assert_int_equal(crowd_request(c, 0, 1).answer, FT_ADMIT);

    crowd_free(c);
}


/* Without polls the held requests use all capacity. */
static void
test_no_capacity_is_unused(void **unused)
{
    unsigned   i;
    crowd_t   *c;
    uint64_t   began;

    (void) unused;

    c = called_crowd(40, 4);

    for (i = 0; i < 40; i++) {
        (void) crowd_request(c, i, i % 4);
    }

    began = c->now_ms;
    crowd_run(c, c->now_ms + 2500);

    for (i = 0; i < 40; i++) {
        assert_in_range(c->shopper[c->order[i]].admitted_ms,
                        began + (i + 1) * 50, began + (i + 1) * 50 + 15);
    }

    crowd_free(c);
}


/* No capacity: all are turned back when their hold ends, in order of
   arrival. */
static void
test_hold_ends(void **unused)
{
    bool             admitted;
    unsigned         i;
    crowd_t         *c;
    uint64_t         wake;
    ft_call_t        call;
    ft_line_node_t  *node;

    (void) unused;

    c = called_crowd(10, 1);
    c->limits.inflight = 1;
    atomic_store(&c->state->worker[0].inflight, 1);
    atomic_store(&c->state->control.flow_milli, 20000);

    for (i = 0; i < 10; i++) {
        assert_int_equal(crowd_request(c, 9 - i, 0).answer, FT_HOLD);
        c->now_ms += 10;
    }

    for (i = 0; i < 10; i++) {
        c->now_ms = c->shopper[9 - i].node.until_ms - 1;
        call = crowd_call(c, 0);
        assert_null(ft_hold_next(&call, &c->line[0], &admitted, &wake));

        /* it asks to be woken for that */

        assert_int_equal(wake, c->now_ms + 1);

        c->now_ms++;
        call = crowd_call(c, 0);
        node = ft_hold_next(&call, &c->line[0], &admitted, &wake);

        assert_ptr_equal(node, &c->shopper[9 - i].node);
        assert_false(admitted);
        assert_int_equal(ft_admission_turn_back(&call,
                                                &c->shopper[9 - i].ticket,
                                           false).answer, FT_WAIT);
    }

    assert_int_equal(held(c), 0);
    assert_null(ft_hold_next(&call, &c->line[0], &admitted, &wake));
    assert_int_equal(wake, 0);

    crowd_free(c);
}


/* A worker with held requests wakes at least every 100 ms. */
static void
test_wake_time(void **unused)
{
    unsigned   i;
    crowd_t   *c;
    uint64_t   seed;

    (void) unused;

    seed = 5;
    c = called_crowd(40, 4);

    for (i = 0; i < 40; i++) {
        (void) crowd_request(c, i, (uint32_t) (unit_random(&seed) % 4));
    }

    for (i = 0; i < 2000; i++) {
        uint32_t  worker = (uint32_t) (unit_random(&seed) % 4);

        c->now_ms += unit_random(&seed) % 3;
        crowd_pump(c, worker);

        if (c->line[worker].len) {
            assert_in_range(c->wake_ms[worker], c->now_ms + 1,
                            c->now_ms + 100);

        } else {
            assert_int_equal(c->wake_ms[worker], 0);
        }
    }

    crowd_free(c);
}


static void
test_clients_that_leave(void **unused)
{
    unsigned   i, order[40];
    crowd_t   *c;
    uint64_t   seed;
    ft_call_t  call;

    (void) unused;

    seed = 3;
    c = called_crowd(40, 2);

    for (i = 0; i < 40; i++) {
        assert_int_equal(crowd_request(c, i, i % 2).answer, FT_HOLD);
    }

    shuffle(&seed, order, 40);

    for (i = 0; i < 30; i++) {
        call = crowd_call(c, order[i] % 2);
        ft_hold_leave(&call, &c->line[order[i] % 2],
                      &c->shopper[order[i]].node);
        c->shopper[order[i]].where = CROWD_GONE;
        assert_int_equal(held(c), 39 - i);
    }

    assert_int_equal(atomic_load(&c->state->totals.left), 30);

    crowd_run(c, c->now_ms + 600);
    assert_int_equal(c->admissions, 10);

    for (i = 1; i < 10; i++) {
        assert_true(c->order[i] > c->order[i - 1]);
    }

    crowd_free(c);
}


/* A worker is killed that holds the first in line. */
static void
test_a_dead_worker_blocks_nobody(void **unused)
{
    unsigned   i;
    crowd_t   *c;

    (void) unused;

    c = called_crowd(40, 2);

    for (i = 0; i < 40; i++) {
        assert_int_equal(crowd_request(c, i, i >= 20).answer, FT_HOLD);
    }

    crowd_kill(c, 0);

    /* its shoppers return, to the other worker */

    crowd_run(c, c->now_ms + 190);
    assert_int_equal(c->admissions, 0);
    crowd_run(c, c->now_ms + 2500);
    unit_check(c->admissions >= 36, "only %u admitted", c->admissions);

    /* a process takes the slot: it holds nothing */

    crowd_replace(c, 0);
    crowd_run(c, c->now_ms + 1500);

    assert_int_equal(c->admissions, 40);
    assert_int_equal(held(c), 0);
    assert_int_equal(ft_state_inflight(c->state, 2), 0);

    crowd_free(c);
}


/* Capacity in flight becomes free when a request ends, at any worker. */
static void
test_free_capacity_in_flight(void **unused)
{
    unsigned   i;
    crowd_t   *c;

    (void) unused;

    c = called_crowd(20, 3);
    c->limits.rate_milli = 0;
    c->limits.inflight = 4;
    c->service_ms = 100;

    /* measured while these four were admitted: 40 a second */

    atomic_store(&c->state->control.flow_milli, 40000);

    for (i = 0; i < 20; i++) {
        assert_int_equal(crowd_request(c, i, i % 3).answer,
                         i < 4 ? FT_ADMIT : FT_HOLD);
    }

    crowd_run(c, c->now_ms + 1000);

    assert_int_equal(c->inside_max, 4);
    assert_int_equal(crowd_count(c, CROWD_SERVED), 20);

    for (i = 0; i < 20; i++) {
        assert_int_equal(c->order[i], i);
    }

    crowd_free(c);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(test_number_of_held_requests),
        cmocka_unit_test(test_not_held),
        cmocka_unit_test(test_held_is_published),
        cmocka_unit_test(test_earliest_timestamp_first),
        cmocka_unit_test(test_nobody_overtakes_the_held),
        cmocka_unit_test(test_no_capacity_is_unused),
        cmocka_unit_test(test_hold_ends),
        cmocka_unit_test(test_wake_time),
        cmocka_unit_test(test_clients_that_leave),
        cmocka_unit_test(test_a_dead_worker_blocks_nobody),
        cmocka_unit_test(test_free_capacity_in_flight)
    };

    return unit_tests(tests);
}
