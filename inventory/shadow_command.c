/*
 * Commands of the operator to a shadow store, and the audit.
 *
 * A command is executed when both stores are idle: new calls wait, calls in
 * progress end, and the shadow catches up.  At a switch, therefore, no
 * decision is on its way to the store that becomes the truth.
 */

#include "shadow_command.h"
#include "shadow_loss.h"
#include "clock.h"

#include <stdlib.h>
#include <string.h>


/* How long calls wait for a command.  The kill switch is for a dead store. */
#define CO_SHADOW_KILL_MS       1000
#define CO_SHADOW_RETRY_MS      20
#define CO_SHADOW_DRAIN_MS      2000
#define CO_SHADOW_MEND_MS       10000

/* After the last call, before the audit. */
#define CO_SHADOW_IDLE_MS       200


enum {
    CO_SHADOW_NO_COMMAND = 0,
    CO_SHADOW_DRAINING,
    CO_SHADOW_COUNTING
};


static void co_shadow_command_timeout(evutil_socket_t fd, short events,
    void *data);
static void co_shadow_command_audit(evutil_socket_t fd, short events,
    void *data);
static void co_shadow_command_count(co_shadow_t *shadow);
static void co_shadow_command_counted(void *data, co_store_result_e result);
static void co_shadow_command_run(co_shadow_t *shadow);
static void co_shadow_command_end(co_shadow_t *shadow, int status,
    const char *why);


int
co_shadow_command_init(co_shadow_t *shadow)
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

    shadow->timer = evtimer_new(base, co_shadow_command_timeout, shadow);
    shadow->idle = evtimer_new(base, co_shadow_command_audit, shadow);

    return shadow->timer != NULL && shadow->idle != NULL ? 0 : -1;
}


void
co_shadow_command_free(co_shadow_t *shadow)
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
co_shadow_command_timer(struct event *timer, int64_t ms)
{
    struct timeval  tv;

    tv.tv_sec = ms / 1000;
    tv.tv_usec = ms % 1000 * 1000;

    evtimer_add(timer, &tv);
}


void
co_shadow_command(void *backend, const co_store_command_t *command,
    co_store_command_done_pt done, void *data)
{
    co_shadow_t  *shadow = backend;

    if (shadow->phase != CO_SHADOW_NO_COMMAND) {
        if (command->kind != CO_STORE_COMMAND_KILL
            || shadow->command.kind == CO_STORE_COMMAND_KILL)
        {
            done(data, 409, "another command is in progress");
            return;
        }

        /* the current command may wait for a dead store */
        shadow->command_done(shadow->command_data, 503,
                             "interrupted by the kill switch");
    }

    shadow->command = *command;
    shadow->command_done = done;
    shadow->command_data = data;
    shadow->phase = CO_SHADOW_DRAINING;
    shadow->paused = 1;

    co_shadow_command_timer(shadow->timer,
                            command->kind == CO_STORE_COMMAND_KILL
                            ? CO_SHADOW_KILL_MS
                            : command->kind == CO_STORE_COMMAND_MEND
                            ? CO_SHADOW_MEND_MS
                            : CO_SHADOW_DRAIN_MS);

    if (command->kind == CO_STORE_COMMAND_MEND) {
        co_shadow_loss_mend(shadow);
    }

    co_shadow_command_continue(shadow);
}


void
co_shadow_command_continue(co_shadow_t *shadow)
{
    if (shadow->deciding != 0 || shadow->jobs != 0) {
        return;
    }

    if (shadow->phase == CO_SHADOW_DRAINING
        && shadow->command.kind == CO_STORE_COMMAND_KILL)
    {
        co_shadow_command_run(shadow);
        return;
    }

    if (shadow->auditing) {
        return;
    }

    if (shadow->phase == CO_SHADOW_DRAINING) {

        shadow->phase = CO_SHADOW_COUNTING;
        co_shadow_command_timer(shadow->timer, CO_SHADOW_DRAIN_MS);
        co_shadow_command_count(shadow);

        return;
    }

    if (shadow->phase == CO_SHADOW_NO_COMMAND) {
        if (shadow->first != NULL) {
            co_shadow_resume(shadow);
        }

        if (shadow->started != shadow->audited) {
            co_shadow_command_timer(shadow->idle, CO_SHADOW_IDLE_MS);
        }
    }
}


static void
co_shadow_command_timeout(evutil_socket_t fd, short events, void *data)
{
    co_shadow_t  *shadow = data;

    (void) fd;
    (void) events;

    if (shadow->command.kind == CO_STORE_COMMAND_KILL) {

        /* without all writes the first store would sell held units */
        if (shadow->jobs_at[0] == 0) {
            co_shadow_command_run(shadow);
        } else {
            co_shadow_command_timer(shadow->timer, CO_SHADOW_RETRY_MS);
        }

        return;
    }

    co_shadow_command_end(shadow, 503, "timed out: a store has calls"
                          " in progress");
}


static void
co_shadow_command_audit(evutil_socket_t fd, short events, void *data)
{
    co_shadow_t  *shadow = data;

    (void) fd;
    (void) events;

    if (shadow->deciding == 0 && shadow->jobs == 0 && !shadow->auditing
        && shadow->phase == CO_SHADOW_NO_COMMAND)
    {
        co_shadow_command_count(shadow);
    }
}


static void
co_shadow_command_count(co_shadow_t *shadow)
{
    int  i;

    shadow->auditing = 1;
    shadow->failed = 0;
    shadow->waiting = 2;
    shadow->audited = shadow->started;

    for (i = 0; i < 2; i++) {
        co_store_count(shadow->stores[i], &shadow->counting[i],
                       shadow->levels[i], co_shadow_command_counted, shadow);
    }
}


static void
co_shadow_command_compare(co_shadow_t *shadow)
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

    co_shadow_loss_explain(shadow, !shadow->truth, &audit->explained);
}


static void
co_shadow_command_counted(void *data, co_store_result_e result)
{
    co_shadow_t  *shadow = data;

    shadow->failed |= result != CO_STORE_OK;

    if (--shadow->waiting > 0) {
        return;
    }

    shadow->auditing = 0;

    /* counts taken while a call was in progress are of two moments */
    if (!shadow->failed && shadow->started == shadow->audited
        && shadow->deciding == 0 && shadow->jobs == 0)
    {
        co_shadow_command_compare(shadow);
    }

    if (shadow->phase == CO_SHADOW_COUNTING) {
        co_shadow_command_run(shadow);
        return;
    }

    co_shadow_command_continue(shadow);
}


static void
co_shadow_command_run(co_shadow_t *shadow)
{
    const co_store_command_t  *command = &shadow->command;

    switch (command->kind) {

    case CO_STORE_COMMAND_KILL:
        shadow->counts.switches += shadow->truth != 0;
        shadow->truth = 0;
        co_shadow_command_end(shadow, 200, "the first store is the truth");
        return;

    case CO_STORE_COMMAND_SWITCH:
        if (command->truth == shadow->truth) {
            co_shadow_command_end(shadow, 200, "already the truth");
            return;
        }

        if (!command->force && shadow->failed) {
            co_shadow_command_end(shadow, 503, "counting a store failed;"
                                  " force=1 overrides this");
            return;
        }

        if (!command->force
            && (shadow->audit.levels != 0 || shadow->losses_n != 0))
        {
            co_shadow_command_end(shadow, 409, "the stores differ; mend=1"
                                  " repeats lost writes, force=1 overrides"
                                  " this");
            return;
        }

        shadow->counts.switches++;
        shadow->truth = command->truth;
        co_shadow_command_end(shadow, 200, "switched");
        return;

    case CO_STORE_COMMAND_MEND:
        co_shadow_command_end(shadow, shadow->losses_n == 0 ? 200 : 503,
                              shadow->losses_n == 0
                              ? "no losses" : "some losses are left");
        return;

    case CO_STORE_COMMAND_CHECK:
        co_shadow_command_end(shadow, shadow->failed ? 503 : 200,
                              shadow->failed ? "counting a store failed"
                                             : "counted");
        return;
    }
}


void
co_shadow_command_abort(co_shadow_t *shadow)
{
    if (shadow->phase != CO_SHADOW_NO_COMMAND) {
        co_shadow_command_end(shadow, 503, "the checkout is shutting down");
    }
}


static void
co_shadow_command_end(co_shadow_t *shadow, int status, const char *why)
{
    evtimer_del(shadow->timer);
    shadow->phase = CO_SHADOW_NO_COMMAND;

    /* the drift is relative to the new truth: audit again */
    shadow->audited = shadow->started - 1;

    co_shadow_resume(shadow);
    shadow->command_done(shadow->command_data, status, why);
    co_shadow_command_continue(shadow);
}
