
/*
 * Workers under stress: see stress.h.
 */

#include <sched.h>
#include "stress.h"


#define STRESS_OPS_PER_MS  16
#define STRESS_LATE_MS     2000     /* no worker's clock is later than this */
#define STRESS_HELD        64
#define STRESS_INSIDE      64


typedef struct {
    ft_line_node_t     node;        /* first: a node is its request */
    stress_shopper_t  *shopper;     /* NULL: unused */
} stress_request_t;


typedef struct {
    stress_t          *stress;
    ft_call_t          call;
    uint64_t           seed;
    ft_line_t          line;
    stress_request_t   held[STRESS_HELD];
    uint32_t           inside;
    uint32_t           entered;     /* requests with a pass */
    ft_ticket_t        pass;        /* the last one given, kind 0: none */
} stress_worker_t;


void
stress_init(stress_t *stress)
{
    stress->limits.rate_milli = 500000;
    stress->limits.period_ms = FT_PERIOD_DEFAULT_MS;
    stress->limits.burst = 20;
    stress->limits.inflight = 30;

    atomic_store(&stress->until, UINT64_MAX);

    stress->rules.hold_ms = 200;
    stress->rules.poll_min_ms = 100;
    stress->rules.poll_max_ms = 2000;
    stress->rules.session_ms = 60000;
}


uint64_t
stress_now(const stress_t *stress)
{
    return UNIT_EPOCH_MS + atomic_load(&stress->ops) / STRESS_OPS_PER_MS;
}


/* The count of the test is incremented after the core's, and decremented
   before. */
static void
stress_enter(stress_worker_t *w)
{
    uint32_t   i, n;
    stress_t  *stress;

    stress = w->stress;
    w->inside++;
    atomic_fetch_add(&stress->inside[w->call.worker], 1);

    for (i = 0, n = 0; i < STRESS_WORKERS; i++) {
        n += atomic_load(&stress->inside[i]);
    }

    if (n > stress->limits.inflight) {
        atomic_fetch_add(&stress->too_many_inside, 1);
    }

    i = atomic_fetch_add(&stress->logged, 1);

    if (i < STRESS_LOG) {
        stress->log_ms[i] = w->call.now_ms;
    }
}


static void
stress_leave(stress_worker_t *w)
{
    w->inside--;
    atomic_fetch_sub(&w->stress->inside[w->call.worker], 1);
}


/* One in four is a poll, whose page comes later. */
static void
stress_admitted(stress_worker_t *w, stress_shopper_t *shopper)
{
    stress_enter(w);
    ft_pass_make(&w->call, &shopper->ticket);

    if (unit_random(&w->seed) % 4 == 0) {
        stress_leave(w);
        ft_inflight_expect(&w->call, &shopper->ticket);
        w->pass = shopper->ticket;
    }

    shopper->ticket.kind = 0;
    atomic_store(&shopper->owner, 0);
}


static void
stress_pump(stress_worker_t *w)
{
    bool               admitted;
    uint64_t           wake_ms;
    ft_line_node_t    *node;
    stress_request_t  *request;
    stress_shopper_t  *shopper;

    for ( ;; ) {
        node = ft_hold_next(&w->call, &w->line, &admitted, &wake_ms);

        if (node == NULL) {
            return;
        }

        request = (stress_request_t *) node;
        shopper = request->shopper;
        request->shopper = NULL;

        if (admitted) {
            stress_admitted(w, shopper);
            continue;
        }

        (void) ft_admission_turn_back(&w->call, &shopper->ticket, false);
        atomic_store(&shopper->owner, 0);
    }
}


static stress_request_t *
stress_request(stress_worker_t *w)
{
    unsigned  i;

    for (i = 0; i < STRESS_HELD; i++) {
        if (w->held[i].shopper == NULL) {
            return &w->held[i];
        }
    }

    return NULL;
}


static stress_shopper_t *
stress_take(stress_worker_t *w)
{
    uint32_t           nobody;
    stress_shopper_t  *shopper;

    nobody = 0;
    shopper = &w->stress->shopper[unit_random(&w->seed) % STRESS_SHOPPERS];

    return atomic_compare_exchange_strong(&shopper->owner, &nobody,
                                          w->call.worker + 1)
           ? shopper : NULL;
}


static void
stress_try(stress_worker_t *w)
{
    ft_verdict_t       v;
    stress_shopper_t  *shopper;
    stress_request_t  *request;

    shopper = stress_take(w);

    if (shopper == NULL) {
        return;
    }

    if (shopper->ticket.kind == 0) {
        shopper->ticket.id = unit_random(&w->seed);
    }

    request = w->inside < STRESS_INSIDE ? stress_request(w) : NULL;

    v = ft_admission_decide(&w->call, &shopper->ticket,
                            request ? &w->line : NULL,
                            request ? &request->node : NULL, false);

    switch (v.answer) {

    case FT_ADMIT:
        stress_admitted(w, shopper);
        return;

    case FT_HOLD:
        request->shopper = shopper;
        return;

    default:
        atomic_store(&shopper->owner, 0);
        return;
    }
}


static void
stress_hang_up(stress_worker_t *w)
{
    stress_request_t  *request;

    request = &w->held[unit_random(&w->seed) % STRESS_HELD];

    if (request->shopper) {
        ft_hold_leave(&w->call, &w->line, &request->node);
        atomic_store(&request->shopper->owner, 0);
        request->shopper = NULL;
    }
}


static void
stress_end_one(stress_worker_t *w)
{
    uint32_t  generation;

    generation = atomic_load(&w->call.state->generation);

    if (w->inside) {
        stress_leave(w);
        ft_inflight_done(w->call.state, generation, w->call.worker);
    }

    if (w->entered) {
        w->entered--;
        ft_inflight_done(w->call.state, generation, w->call.worker);
    }
}


static void
stress_use_pass(stress_worker_t *w)
{
    if (w->pass.kind == FT_TICKET_PASS && w->entered < STRESS_INSIDE) {
        ft_inflight_enter(&w->call, &w->pass);
        w->entered++;
    }
}


static void
stress_look(stress_worker_t *w)
{
    w->call.now_ms = stress_now(w->stress);
    atomic_store(&w->stress->looked_ms[w->call.worker], w->call.now_ms);
}


/* At `until`, or too far ahead of the slowest worker. */
static bool
stress_must_rest(stress_t *stress)
{
    unsigned  i;
    uint64_t  now, looked;

    if (atomic_load(&stress->ops) >= atomic_load(&stress->until)) {
        return true;
    }

    now = stress_now(stress);

    for (i = 0; i < STRESS_WORKERS; i++) {
        looked = atomic_load(&stress->looked_ms[i]);

        if (looked && now > looked + STRESS_LATE_MS) {
            return true;
        }
    }

    return false;
}


static void
stress_op(stress_worker_t *w)
{
    /* an event loop reads the clock now and then */

    if (unit_random(&w->seed) % 8 == 0) {
        stress_look(w);
    }

    switch (unit_random(&w->seed) % 16) {

    case 0:
    case 1:
        stress_end_one(w);
        break;

    case 2:
        stress_use_pass(w);
        break;

    case 3:
        stress_hang_up(w);
        break;

    case 4:
        (void) ft_stats_read(&w->call);
        break;

    case 5:
    case 6:
    case 7:
        stress_pump(w);
        break;

    default:
        stress_try(w);
        break;
    }
}


void
stress_work(stress_t *stress, ft_state_t *state, uint32_t worker,
    uint64_t seed, uint64_t most)
{
    unsigned          i;
    uint64_t          n;
    stress_worker_t  *w;

    w = calloc(1, sizeof(stress_worker_t));

    if (w == NULL) {
        return;
    }

    w->stress = stress;
    w->seed = seed;
    w->call.state = state;
    w->call.limits = stress->limits;
    w->call.rules = &stress->rules;
    w->call.worker = worker;
    w->call.workers = STRESS_WORKERS;

    stress_look(w);

    for (n = 0; !atomic_load(&stress->stop) && (most == 0 || n < most); n++) {

        while (stress_must_rest(stress) && !atomic_load(&stress->stop)) {
            stress_look(w);
            sched_yield();
        }

        atomic_fetch_add(&stress->ops, 1);
        stress_op(w);
    }

    while (w->inside || w->entered) {
        stress_end_one(w);
    }

    for (i = 0; i < STRESS_HELD; i++) {
        if (w->held[i].shopper) {
            ft_hold_leave(&w->call, &w->line, &w->held[i].node);
        }
    }

    atomic_store(&stress->looked_ms[worker], 0);

    free(w);
}


void
stress_forget(stress_t *stress, uint32_t worker)
{
    unsigned  i;

    for (i = 0; i < STRESS_SHOPPERS; i++) {
        if (atomic_load(&stress->shopper[i].owner) == worker + 1) {

            /* its ticket may be half written */

            memset(&stress->shopper[i].ticket, 0, sizeof(ft_ticket_t));
            atomic_store(&stress->shopper[i].owner, 0);
        }
    }

    atomic_store(&stress->inside[worker], 0);
    atomic_store(&stress->looked_ms[worker], 0);
}


void
stress_check(stress_t *stress)
{
    uint32_t  n;

    n = atomic_load(&stress->logged);

    assert_in_range(n, 1000, STRESS_LOG);
    assert_int_equal(atomic_load(&stress->too_many_inside), 0);

    qsort(stress->log_ms, n, sizeof(uint64_t), unit_by_time);
    assert_true(unit_excess(stress->log_ms, n, stress->limits.rate_milli,
                            stress->limits.burst) <= 0);
}


void
stress_check_rest(stress_t *stress, ft_state_t *state, uint32_t worker)
{
    unsigned       i;
    ft_call_t      call;
    ft_stats_t  s;

    call.state = state;
    call.limits = stress->limits;
    call.rules = &stress->rules;
    call.now_ms = stress_now(stress);
    call.worker = worker;
    call.workers = STRESS_WORKERS;

    for (i = 0; i < 700; i++) {
        call.now_ms += 100;
        s = ft_stats_read(&call);
    }

    assert_int_equal(s.queueing, 0);
    assert_int_equal(s.waiting, 0);
    assert_int_equal(s.called, 0);
    assert_int_equal(s.fresh, 0);
    assert_int_equal(s.held, 0);
    assert_int_equal(s.inflight, 0);
    assert_int_equal(s.free_capacity_milli, stress->limits.burst * 1000);
}
