/*
 * What operators order of a shadow store, and the audit.
 *
 * An order is carried out when both stores are at rest: new calls wait for
 * the moment that takes, those under way end, and the shadow catches up.  So
 * at the switch no decision is on its way to a store that decides already.
 */

#include "store_shadow.h"
#include "clock.h"

#include <stdlib.h>
#include <string.h>


/*
 * For how long new calls may have to wait: a store may be dead when the kill
 * switch is needed, and a long list takes a while to mend.
 */
#define CO_SHADOW_KILL_MS       1000
#define CO_SHADOW_AGAIN_MS      20
#define CO_SHADOW_REST_MS       2000
#define CO_SHADOW_MEND_MS       10000

/* After the last call, before the two are compared. */
#define CO_SHADOW_IDLE_MS       200


enum {
    CO_SHADOW_NO_ORDER = 0,
    CO_SHADOW_RESTING,
    CO_SHADOW_COUNTING
};


static void co_shadow_timeout(evutil_socket_t fd, short events, void *data);
static void co_shadow_idle(evutil_socket_t fd, short events, void *data);
static void co_shadow_count(co_shadow_t *shadow);
static void co_shadow_counted(void *data, co_store_result_e result);
static void co_shadow_carry_out(co_shadow_t *shadow);
static void co_shadow_ordered(co_shadow_t *shadow, int status,
    const char *why);


int
co_shadow_orders_init(co_shadow_t *shadow)
{
    int                 i;
    struct event_base  *base = co_store_port_base(shadow->port);

    for (i = 0; i < 2; i++) {
        shadow->levels[i] = calloc((size_t) shadow->levels_n,
                                   sizeof(co_level_t));
        if (shadow->levels[i] == NULL) {
            return -1;
        }
    }

    shadow->timer = evtimer_new(base, co_shadow_timeout, shadow);
    shadow->idle = evtimer_new(base, co_shadow_idle, shadow);

    return shadow->timer != NULL && shadow->idle != NULL ? 0 : -1;
}


void
co_shadow_orders_free(co_shadow_t *shadow)
{
    if (shadow->timer != NULL) {
        event_free(shadow->timer);
    }

    if (shadow->idle != NULL) {
        event_free(shadow->idle);
    }

    free(shadow->levels[0]);
    free(shadow->levels[1]);
}


static void
co_shadow_in(struct event *timer, int64_t ms)
{
    struct timeval  tv;

    tv.tv_sec = ms / 1000;
    tv.tv_usec = ms % 1000 * 1000;

    evtimer_add(timer, &tv);
}


void
co_shadow_order(void *backend, const co_store_order_t *order,
    co_store_ordered_pt done, void *data)
{
    co_shadow_t  *shadow = backend;

    if (shadow->phase != CO_SHADOW_NO_ORDER) {
        if (order->kind != CO_STORE_ORDER_KILL
            || shadow->order.kind == CO_STORE_ORDER_KILL)
        {
            done(data, 409, "another order is being carried out; try again");
            return;
        }

        /* it may be the one that hangs */
        shadow->ordered(shadow->ordered_data, 503,
                        "the kill switch came in between");
    }

    shadow->order = *order;
    shadow->ordered = done;
    shadow->ordered_data = data;
    shadow->phase = CO_SHADOW_RESTING;
    shadow->paused = 1;

    co_shadow_in(shadow->timer,
                 order->kind == CO_STORE_ORDER_KILL ? CO_SHADOW_KILL_MS
                 : order->kind == CO_STORE_ORDER_MEND ? CO_SHADOW_MEND_MS
                 : CO_SHADOW_REST_MS);

    if (order->kind == CO_STORE_ORDER_MEND) {
        co_shadow_mend(shadow);
    }

    co_shadow_rest(shadow);
}


void
co_shadow_rest(co_shadow_t *shadow)
{
    if (shadow->deciding != 0 || shadow->jobs != 0) {
        return;
    }

    if (shadow->phase == CO_SHADOW_RESTING
        && shadow->order.kind == CO_STORE_ORDER_KILL)
    {
        co_shadow_carry_out(shadow);
        return;
    }

    if (shadow->auditing) {
        return;
    }

    if (shadow->phase == CO_SHADOW_RESTING) {

        /* it may hang now, as well */
        shadow->phase = CO_SHADOW_COUNTING;
        co_shadow_in(shadow->timer, CO_SHADOW_REST_MS);
        co_shadow_count(shadow);

        return;
    }

    if (shadow->phase == CO_SHADOW_NO_ORDER) {
        if (shadow->first != NULL) {
            co_shadow_resume(shadow);
        }

        if (shadow->started != shadow->audited) {
            co_shadow_in(shadow->idle, CO_SHADOW_IDLE_MS);
        }
    }
}


/* A store hangs. */
static void
co_shadow_timeout(evutil_socket_t fd, short events, void *data)
{
    co_shadow_t  *shadow = data;

    (void) fd;
    (void) events;

    if (shadow->order.kind == CO_STORE_ORDER_KILL) {

        /* the first store must know what has been decided so far, or it
         * would give away what is held */
        if (shadow->jobs_at[0] == 0) {
            co_shadow_carry_out(shadow);
        } else {
            co_shadow_in(shadow->timer, CO_SHADOW_AGAIN_MS);
        }

        return;
    }

    co_shadow_ordered(shadow, 503, "a store does not come to rest; try again,"
                      " or use the kill switch, which does not wait");
}


static void
co_shadow_idle(evutil_socket_t fd, short events, void *data)
{
    co_shadow_t  *shadow = data;

    (void) fd;
    (void) events;

    if (shadow->deciding == 0 && shadow->jobs == 0 && !shadow->auditing
        && shadow->phase == CO_SHADOW_NO_ORDER)
    {
        co_shadow_count(shadow);
    }
}


static void
co_shadow_count(co_shadow_t *shadow)
{
    int  i;

    shadow->auditing = 1;
    shadow->failed = 0;
    shadow->waiting = 2;
    shadow->audited = shadow->started;

    for (i = 0; i < 2; i++) {
        co_store_count(shadow->stores[i], &shadow->counting[i],
                       shadow->levels[i], co_shadow_counted, shadow);
    }
}


static void
co_shadow_compare_levels(co_shadow_t *shadow)
{
    int                 i;
    co_stock_t          off, *drift;
    const co_stock_t   *truth, *other;
    co_shadow_audit_t  *audit = &shadow->audit;

    memset(audit, 0, sizeof(*audit));

    audit->known = 1;
    audit->ms = co_wall_ms();
    drift = &audit->drift;

    for (i = 0; i < shadow->levels_n; i++) {
        truth = &shadow->levels[shadow->truth][i].stock;
        other = &shadow->levels[!shadow->truth][i].stock;

        off.initial = other->initial - truth->initial;
        off.available = other->available - truth->available;
        off.held = other->held - truth->held;
        off.sold = other->sold - truth->sold;

        drift->initial += off.initial;
        drift->available += off.available;
        drift->held += off.held;
        drift->sold += off.sold;

        audit->levels += off.initial != 0 || off.available != 0
                         || off.held != 0 || off.sold != 0;
    }

    co_shadow_explain(shadow, !shadow->truth, &audit->explained);
}


static void
co_shadow_counted(void *data, co_store_result_e result)
{
    co_shadow_t  *shadow = data;

    shadow->failed |= result != CO_STORE_OK;

    if (--shadow->waiting > 0) {
        return;
    }

    shadow->auditing = 0;

    /* what was counted while somebody bought compares two moments */
    if (!shadow->failed && shadow->started == shadow->audited
        && shadow->deciding == 0 && shadow->jobs == 0)
    {
        co_shadow_compare_levels(shadow);
    }

    if (shadow->phase == CO_SHADOW_COUNTING) {
        co_shadow_carry_out(shadow);
        return;
    }

    co_shadow_rest(shadow);
}


static void
co_shadow_carry_out(co_shadow_t *shadow)
{
    const co_store_order_t  *order = &shadow->order;

    switch (order->kind) {

    case CO_STORE_ORDER_KILL:
        shadow->counts.switches += shadow->truth != 0;
        shadow->truth = 0;
        co_shadow_ordered(shadow, 200, "the first store is the truth");
        return;

    case CO_STORE_ORDER_SWITCH:
        if (order->truth == shadow->truth) {
            co_shadow_ordered(shadow, 200, "it is the truth already");
            return;
        }

        if (!order->force && shadow->failed) {
            co_shadow_ordered(shadow, 503, "a store cannot be counted;"
                              " force=1 switches nevertheless");
            return;
        }

        if (!order->force
            && (shadow->audit.levels != 0 || shadow->losses_n != 0))
        {
            co_shadow_ordered(shadow, 409, "the stores differ: what the shadow"
                              " has lost would be sold twice or never; mend=1"
                              " does it again, force=1 switches nevertheless");
            return;
        }

        shadow->counts.switches++;
        shadow->truth = order->truth;
        co_shadow_ordered(shadow, 200, "switched");
        return;

    case CO_STORE_ORDER_MEND:
        co_shadow_ordered(shadow, shadow->losses_n == 0 ? 200 : 503,
                          shadow->losses_n == 0 ? "nothing is missing"
                          : "not all could be mended; try again");
        return;

    case CO_STORE_ORDER_CHECK:
        co_shadow_ordered(shadow, shadow->failed ? 503 : 200,
                          shadow->failed ? "a store cannot be counted"
                                         : "counted");
        return;
    }
}


void
co_shadow_orders_end(co_shadow_t *shadow)
{
    if (shadow->phase != CO_SHADOW_NO_ORDER) {
        co_shadow_ordered(shadow, 503, "the checkout ends");
    }
}


static void
co_shadow_ordered(co_shadow_t *shadow, int status, const char *why)
{
    evtimer_del(shadow->timer);
    shadow->phase = CO_SHADOW_NO_ORDER;

    /* what is missing is seen from the new truth */
    shadow->audited = shadow->started - 1;

    co_shadow_resume(shadow);
    shadow->ordered(shadow->ordered_data, status, why);
    co_shadow_rest(shadow);
}
