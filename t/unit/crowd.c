
/*
 * A crowd in virtual time: see crowd.h.
 */

#include "crowd.h"
#include "core.h"


#define CROWD_STEP_MS   5
#define CROWD_AGAIN_MS  200     /* after a broken connection */


static const ft_ticket_context_t  crowd_context = {
    .zone = "sale", .zone_len = 4, .key = "shop", .key_len = 4
};


crowd_t *
crowd_create(unsigned n, uint32_t workers)
{
    crowd_t  *c;

    c = calloc(1, sizeof(crowd_t));
    assert_non_null(c);

    c->state = unit_shared(sizeof(ft_state_t));
    c->shopper = calloc(n, sizeof(crowd_shopper_t));
    c->order = calloc(n, sizeof(unsigned));
    assert_true(c->shopper && c->order);

    c->n = n;
    c->workers = workers;
    c->seed = 1;
    c->now_ms = UNIT_EPOCH_MS;
    c->service_ms = 250;

    c->limits.rate_milli = 20000;
    c->limits.period_ms = FT_PERIOD_DEFAULT_MS;
    c->limits.burst = 5;

    c->rules.hold_ms = FT_HOLD_DEFAULT_MS;
    c->rules.poll_min_ms = FT_POLL_MIN_DEFAULT_MS;
    c->rules.poll_max_ms = FT_POLL_MAX_DEFAULT_MS;
    c->rules.session_ms = 600000;

    ft_state_init(c->state, 1, c->now_ms);

    return c;
}


void
crowd_free(crowd_t *c)
{
    free(c->state);
    free(c->shopper);
    free(c->order);
    free(c);
}


ft_call_t
crowd_call(const crowd_t *c, uint32_t worker)
{
    ft_call_t  call = {
        .state = c->state,
        .limits = c->limits,
        .rules = &c->rules,
        .now_ms = c->now_ms,
        .worker = worker,
        .workers = c->workers
    };

    return call;
}


ft_stats_t
crowd_stats(const crowd_t *c)
{
    ft_call_t  call;

    call = crowd_call(c, 0);
    ft_override_limits(call.state, NULL, &call.limits);

    return ft_stats_read(&call);
}


static void
crowd_admit(crowd_t *c, crowd_shopper_t *s)
{
    s->where = CROWD_INSIDE;
    s->admitted_ms = c->now_ms;
    s->next_ms = c->now_ms + c->service_ms;

    c->order[c->admissions++] = (unsigned) (s - c->shopper);
    c->inside++;

    if (c->inside > c->inside_max) {
        c->inside_max = c->inside;
    }
}


static void
crowd_wait(crowd_t *c, crowd_shopper_t *s, const ft_verdict_t *v)
{
    s->where = v->answer == FT_ALL_SOLD ? CROWD_SOLD_OUT : CROWD_WAITING;
    s->next_ms = c->now_ms + (c->hurry ? unit_between(&c->seed, 300, 1000)
                                       : v->retry_ms);
}


ft_verdict_t
crowd_request(crowd_t *c, unsigned i, uint32_t worker)
{
    ft_call_t         call;
    ft_verdict_t      v;
    crowd_shopper_t  *s;

    s = &c->shopper[i];
    call = crowd_call(c, worker);

    if (s->where == CROWD_AWAY) {
        s->ticket.id = unit_random(&c->seed);
        s->ticket.kind = 0;
    }

    if (c->ring) {
        s->ticket.shuffle = ft_ticket_shuffle(c->ring, &crowd_context,
                                        c->rules.opens_ms, s->ticket.id);
    }

    ft_override_limits(call.state, NULL, &call.limits);

    s->polls++;
    s->worker = worker;

    v = ft_admission_decide(&call, &s->ticket, &c->line[worker], &s->node,
                            c->hurry && (unit_random(&c->seed) & 1));

    switch (v.answer) {

    case FT_ADMIT:
        crowd_admit(c, s);
        break;

    case FT_HOLD:
        s->where = CROWD_HELD;
        crowd_pump(c, worker);
        break;

    case FT_WAIT:
    case FT_CLOSED:
    case FT_ALL_SOLD:
        crowd_wait(c, s, &v);
        break;

    case FT_REJECT:
        s->where = CROWD_REJECTED;
        break;

    case FT_SPENT:
        break;
    }

    return v;
}


void
crowd_pump(crowd_t *c, uint32_t worker)
{
    bool              admitted;
    ft_call_t         call;
    ft_verdict_t      v;
    ft_line_node_t   *node;
    crowd_shopper_t  *s;

    call = crowd_call(c, worker);
    ft_override_limits(call.state, NULL, &call.limits);

    for ( ;; ) {
        node = ft_hold_next(&call, &c->line[worker], &admitted,
                            &c->wake_ms[worker]);

        if (node == NULL) {
            return;
        }

        s = (crowd_shopper_t *) node;

        if (admitted) {
            crowd_admit(c, s);

        } else {
            v = ft_admission_turn_back(&call, &s->ticket, false);
            crowd_wait(c, s, &v);
        }
    }
}


void
crowd_arrive(crowd_t *c, unsigned i, uint64_t at_ms)
{
    c->shopper[i].next_ms = at_ms;
}


static bool
crowd_leaves(crowd_t *c, crowd_shopper_t *s)
{
    ft_call_t  call;

    if (s->patience_ms == 0
        || (s->where != CROWD_WAITING && s->where != CROWD_HELD)
        || c->now_ms < s->ticket.first_ms + s->patience_ms)
    {
        return false;
    }

    if (s->where == CROWD_HELD) {
        call = crowd_call(c, s->worker);
        ft_hold_leave(&call, &c->line[s->worker], &s->node);
    }

    s->where = CROWD_GONE;

    return true;
}


/* A random live worker. */
static uint32_t
crowd_worker(crowd_t *c)
{
    uint32_t  worker;

    do {
        worker = (uint32_t) (unit_random(&c->seed) % c->workers);
    } while (c->dead[worker]);

    return worker;
}


static void
crowd_step(crowd_t *c, unsigned i)
{
    crowd_shopper_t  *s;

    s = &c->shopper[i];

    if (crowd_leaves(c, s) || s->next_ms == 0 || s->next_ms > c->now_ms) {
        return;
    }

    switch (s->where) {

    case CROWD_AWAY:
    case CROWD_WAITING:
    case CROWD_SOLD_OUT:
        (void) crowd_request(c, i, crowd_worker(c));
        break;

    case CROWD_INSIDE:
        s->where = CROWD_SERVED;
        c->inside--;
        ft_inflight_done(c->state, atomic_load(&c->state->generation),
                         s->worker);
        crowd_pump(c, s->worker);
        break;

    default:
        break;
    }
}


void
crowd_run(crowd_t *c, uint64_t until_ms)
{
    unsigned  i;

    for ( /* void */ ; c->now_ms < until_ms; c->now_ms += CROWD_STEP_MS) {

        for (i = 0; i < c->workers; i++) {
            if (c->wake_ms[i] && c->wake_ms[i] <= c->now_ms && !c->dead[i]) {
                crowd_pump(c, i);
            }
        }

        for (i = 0; i < c->n; i++) {
            crowd_step(c, i);
        }
    }
}


void
crowd_kill(crowd_t *c, uint32_t worker)
{
    unsigned          i;
    crowd_shopper_t  *s;

    c->dead[worker] = true;
    c->wake_ms[worker] = 0;
    memset(&c->line[worker], 0, sizeof(ft_line_t));

    for (i = 0; i < c->n; i++) {
        s = &c->shopper[i];

        if (s->worker != worker) {
            continue;
        }

        if (s->where == CROWD_HELD) {
            s->where = CROWD_WAITING;
            s->next_ms = c->now_ms + CROWD_AGAIN_MS;

        } else if (s->where == CROWD_INSIDE) {
            s->where = CROWD_SERVED;
            c->inside--;
        }
    }
}


void
crowd_replace(crowd_t *c, uint32_t worker)
{
    /* as ft_zone_join() does */

    ft_state_forget(c->state, worker);
    c->dead[worker] = false;
}


unsigned
crowd_count(const crowd_t *c, crowd_where_t where)
{
    unsigned  i, n;

    for (i = 0, n = 0; i < c->n; i++) {
        n += (c->shopper[i].where == where);
    }

    return n;
}


unsigned
crowd_overtaken(const crowd_t *c)
{
    unsigned  i, n;
    uint64_t  timestamp, latest;

    latest = 0;

    for (i = 0, n = 0; i < c->admissions; i++) {
        timestamp = c->shopper[c->order[i]].ticket.first_ms;
        n += (latest > timestamp + 1000);
        latest = timestamp > latest ? timestamp : latest;
    }

    return n;
}
