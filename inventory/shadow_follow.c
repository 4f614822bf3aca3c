#include "shadow_follow.h"
#include "shadow_command.h"
#include "shadow_loss.h"
#include "clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>


/* Writes that may be queued or in progress; further writes are lost. */
#define CO_SHADOW_JOBS_MAX  20000

/*
 * A hold that a store still has this long after its expiry is an orphan: the
 * truth does not know it, because its reservation was made after a timeout.
 */
#define CO_SHADOW_GRACE_MS  5000

#define CO_SHADOW_CLOSE_MS  5000


static void co_shadow_follow_start(co_shadow_job_t *job);
static void co_shadow_follow_done(void *data, co_store_result_e result);
static void co_shadow_follow_end(co_shadow_job_t *job);


/* A random number from 0 to 1 (splitmix64). */
static double
co_shadow_follow_random(co_shadow_t *shadow)
{
    uint64_t  z;

    z = shadow->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;

    return (double) ((z ^ z >> 31) >> 11) / 9007199254740992.0;
}


static co_shadow_job_t *
co_shadow_follow_new(co_shadow_t *shadow, int at, co_store_action_e action)
{
    co_shadow_job_t  *job;

    if (shadow->jobs >= CO_SHADOW_JOBS_MAX) {
        return NULL;
    }

    job = calloc(1, sizeof(*job));
    if (job == NULL) {
        return NULL;
    }

    job->shadow = shadow;
    job->at = at;
    job->action = action;
    shadow->jobs++;
    shadow->jobs_at[at]++;

    return job;
}


void
co_shadow_follow(co_shadow_t *shadow, int at, co_store_action_e action,
    const co_hold_t *hold, const co_order_t *order, co_shadow_why_e why)
{
    co_shadow_job_t          *job, *before;
    struct co_shadow_jobs_s  *bucket;

    job = co_shadow_follow_new(shadow, at, action);

    if (job == NULL) {
        co_shadow_loss_add(shadow, at, action, hold, order);
        return;
    }

    job->why = why;
    job->hold = *hold;
    job->kept = *hold;

    if (order != NULL) {
        job->order = *order;
    }

    bucket = &shadow->buckets[co_shadow_bucket(hold->id)];

    TAILQ_FOREACH(before, bucket, link) {
        if (strcmp(before->kept.id, hold->id) == 0) {
            break;
        }
    }

    TAILQ_INSERT_TAIL(bucket, job, link);

    if (before == NULL) {
        co_shadow_follow_start(job);
    }
}


static void
co_shadow_follow_start(co_shadow_job_t *job)
{
    co_shadow_t  *shadow = job->shadow;
    co_store_t   *store = shadow->stores[job->at];

    if (job->why == CO_SHADOW_FOLLOWING && shadow->fault.kind == CO_FAULT_LOSE
        && co_shadow_follow_random(shadow) < shadow->fault.share)
    {
        shadow->counts.by_fault++;
        co_shadow_follow_done(job, CO_STORE_FAILED);
        return;
    }

    switch (job->action) {

    case CO_STORE_APPLY:
        co_store_apply(store, &job->call, &job->hold, co_shadow_follow_done,
                       job);
        return;

    case CO_STORE_CLAIM:
        co_store_claim(store, &job->call, &job->hold, &job->order,
                       co_shadow_follow_done, job);
        return;

    default:
        co_store_release(store, &job->call, &job->hold, co_shadow_follow_done,
                         job);
    }
}


static void
co_shadow_follow_differs(co_shadow_t *shadow, const char *id, int granted)
{
    uint64_t                *count;
    co_shadow_counts_t      *n = &shadow->counts;
    co_shadow_difference_t  *difference;

    difference = &shadow->differences[(n->would_have_denied
                                       + n->would_have_granted)
                                      % CO_SHADOW_LISTED];
    snprintf(difference->id, sizeof(difference->id), "%s", id);
    difference->granted = granted;
    difference->ms = co_wall_ms();

    count = granted ? &n->would_have_granted : &n->would_have_denied;
    (*count)++;
}


json_t *
co_shadow_follow_differences(const co_shadow_t *shadow)
{
    uint64_t                       i, n;
    json_t                        *list;
    const co_shadow_difference_t  *difference;

    list = json_array();
    n = shadow->counts.would_have_denied + shadow->counts.would_have_granted;

    for (i = 1; i <= n && i <= CO_SHADOW_LISTED; i++) {
        difference = &shadow->differences[(n - i) % CO_SHADOW_LISTED];

        json_array_append_new(list, json_pack("{s:s, s:s, s:I}",
            "hold", difference->id,
            "shadow_would_have", difference->granted ? "granted" : "denied",
            "at_ms", (json_int_t) difference->ms));
    }

    return list;
}


static void
co_shadow_follow_applied(co_shadow_job_t *job, co_store_result_e result)
{
    co_shadow_t       *shadow = job->shadow;
    co_shadow_loss_t  *loss;

    if (job->why != CO_SHADOW_FOLLOWING) {
        loss = co_shadow_loss_find(shadow, job->at, job->kept.id);

        if (loss != NULL && loss->wanted == CO_STORE_APPLY) {
            co_shadow_loss_remove(shadow, job->at, job->kept.id);
            shadow->counts.mended++;
        }

        return;
    }

    shadow->counts.decisions++;

    if (result == CO_STORE_DEBT) {
        co_shadow_follow_differs(shadow, job->kept.id, 0);

    } else {
        shadow->counts.agreed++;
    }
}


static void
co_shadow_follow_ended(co_shadow_job_t *job, co_store_result_e result)
{
    int           known;
    co_shadow_t  *shadow = job->shadow;

    known = co_shadow_loss_find(shadow, job->at, job->kept.id) != NULL;

    if (result == CO_STORE_GONE && job->why == CO_SHADOW_FOLLOWING && !known) {

        /* the APPLY of this hold was lost without an error */
        shadow->counts.unknown++;
        co_shadow_loss_add(shadow, job->at, CO_STORE_APPLY, &job->kept, NULL);
    }

    if (result != CO_STORE_GONE || job->action == CO_STORE_RELEASE) {
        shadow->counts.mended += job->why != CO_SHADOW_FOLLOWING && known;
        co_shadow_loss_remove(shadow, job->at, job->kept.id);
        return;
    }

    co_shadow_loss_sold(shadow, job->at, &job->kept, &job->order);

    if (job->why == CO_SHADOW_MENDING) {
        co_shadow_follow(shadow, job->at, CO_STORE_APPLY, &job->kept, NULL,
                         CO_SHADOW_RESTORING);
        co_shadow_follow(shadow, job->at, CO_STORE_CLAIM, &job->kept,
                         &job->order, CO_SHADOW_RESTORING);
    }
}


static void
co_shadow_follow_done(void *data, co_store_result_e result)
{
    co_shadow_job_t  *job = data;

    if (result == CO_STORE_FAILED || result == CO_STORE_BUSY
        || result == CO_STORE_REFUSED)
    {
        co_shadow_loss_add(job->shadow, job->at, job->action, &job->kept,
                           job->action == CO_STORE_CLAIM ? &job->order : NULL);

    } else if (job->action == CO_STORE_APPLY) {
        co_shadow_follow_applied(job, result);

    } else {
        co_shadow_follow_ended(job, result);
    }

    co_shadow_follow_end(job);
}


static void
co_shadow_follow_end(co_shadow_job_t *job)
{
    co_shadow_t              *shadow = job->shadow;
    co_shadow_job_t          *next;
    struct co_shadow_jobs_s  *bucket;

    bucket = &shadow->buckets[co_shadow_bucket(job->kept.id)];

    next = job->action == CO_STORE_LOOK ? NULL : TAILQ_NEXT(job, link);

    while (next != NULL && strcmp(next->kept.id, job->kept.id) != 0) {
        next = TAILQ_NEXT(next, link);
    }

    TAILQ_REMOVE(bucket, job, link);
    shadow->jobs--;
    shadow->jobs_at[job->at]--;
    free(job);

    if (next != NULL) {
        co_shadow_follow_start(next);
    }

    co_shadow_command_continue(shadow);
}


static void
co_shadow_follow_looked(void *data, co_store_result_e result)
{
    co_shadow_job_t  *job = data;
    co_shadow_t      *shadow = job->shadow;

    if (result == CO_STORE_OK) {
        shadow->counts.decisions++;
        co_shadow_follow_differs(shadow, job->kept.id, 1);

    } else if (result == CO_STORE_SOLD_OUT) {
        shadow->counts.decisions++;
        shadow->counts.agreed++;
    }

    co_shadow_follow_end(job);
}


void
co_shadow_follow_look(co_shadow_t *shadow, int at, const co_hold_t *hold,
    const co_cart_t *cart)
{
    co_shadow_job_t  *job;

    job = co_shadow_follow_new(shadow, at, CO_STORE_LOOK);
    if (job == NULL) {
        return;
    }

    /* no other job has this id: the hold was denied */
    job->cart = *cart;
    memcpy(job->kept.id, hold->id, sizeof(job->kept.id));
    TAILQ_INSERT_TAIL(&shadow->buckets[co_shadow_bucket(hold->id)], job, link);

    co_store_look(shadow->stores[at], &job->call, &job->cart,
                  co_shadow_follow_looked, job);
}


static void
co_shadow_follow_expired(void *data, co_store_result_e result)
{
    int           i;
    co_shadow_t  *shadow = data;

    for (i = 0; result == CO_STORE_OK && i < shadow->expired.n; i++) {
        co_shadow_loss_orphan(shadow, shadow->expiring - 1,
                              shadow->expired.ids[i]);
    }

    shadow->started += result == CO_STORE_OK && shadow->expired.n > 0;
    shadow->expiring = 0;
    shadow->jobs--;

    co_shadow_command_continue(shadow);
}


void
co_shadow_follow_expire(co_shadow_t *shadow, int at, int64_t now_ms)
{
    if (shadow->expiring != 0) {
        return;
    }

    shadow->expiring = at + 1;
    shadow->jobs++;

    co_store_expire(shadow->stores[at], &shadow->expire,
                    now_ms - CO_SHADOW_GRACE_MS, &shadow->expired,
                    co_shadow_follow_expired, shadow);
}


void
co_shadow_follow_drain(co_shadow_t *shadow)
{
    int64_t                      end;
    static const struct timeval  tick = { 0, 20000 };
    struct event_base           *base = co_store_port_base(shadow->port);

    end = co_steady_us() + CO_SHADOW_CLOSE_MS * 1000;

    while (shadow->jobs != 0 && co_steady_us() < end) {
        event_base_loopexit(base, &tick);
        event_base_dispatch(base);
    }

    if (shadow->jobs != 0) {
        fprintf(stderr, "checkout: store: %lld writes to the shadow were not"
                " made\n",
                (long long) shadow->jobs);
    }
}


void
co_shadow_follow_free(co_shadow_t *shadow)
{
    int               i;
    co_shadow_job_t  *job;

    for (i = 0; i < CO_SHADOW_BUCKETS; i++) {
        while ((job = TAILQ_FIRST(&shadow->buckets[i])) != NULL) {
            TAILQ_REMOVE(&shadow->buckets[i], job, link);
            free(job);
        }
    }
}
