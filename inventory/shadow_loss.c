#include "shadow_loss.h"
#include "shadow_follow.h"
#include "clock.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>


/* Losses in memory; further losses are only counted, and cannot be mended. */
#define CO_SHADOW_LOSSES_MAX  100000


co_shadow_loss_t *
co_shadow_loss_find(co_shadow_t *shadow, int at, const char *id)
{
    co_shadow_loss_t  *loss;

    TAILQ_FOREACH(loss, &shadow->chains[co_shadow_bucket(id)], chain) {
        if (loss->at == at && strcmp(loss->hold.id, id) == 0) {
            return loss;
        }
    }

    return NULL;
}


static co_shadow_loss_t *
co_shadow_loss_new(co_shadow_t *shadow, int at, co_store_action_e action,
    const co_hold_t *hold)
{
    size_t             size;
    co_shadow_loss_t  *loss;

    if (shadow->losses_n++ >= CO_SHADOW_LOSSES_MAX) {
        return NULL;
    }

    /* only the parts in use */
    size = offsetof(co_hold_t, parts)
           + (size_t) hold->parts_n * sizeof(hold->parts[0]);

    loss = malloc(offsetof(co_shadow_loss_t, hold) + sizeof(co_hold_t)
                  - sizeof(hold->parts) + size);
    if (loss == NULL) {
        return NULL;
    }

    memset(loss, 0, offsetof(co_shadow_loss_t, hold));
    memcpy(&loss->hold, hold, size);

    loss->at = at;
    loss->action = action;
    loss->there = action != CO_STORE_APPLY;
    loss->ms = co_wall_ms();

    TAILQ_INSERT_TAIL(&shadow->losses, loss, link);
    TAILQ_INSERT_TAIL(&shadow->chains[co_shadow_bucket(hold->id)], loss,
                      chain);

    return loss;
}


static void
co_shadow_loss_want(co_shadow_t *shadow, co_shadow_loss_t *loss,
    co_store_action_e wanted, const co_order_t *order)
{
    loss->wanted = wanted;

    if (order != NULL) {
        loss->order = *order;
    }

    /* nothing to release */
    if (wanted == CO_STORE_RELEASE && !loss->there) {
        co_shadow_loss_remove(shadow, loss->at, loss->hold.id);
    }
}


void
co_shadow_loss_add(co_shadow_t *shadow, int at, co_store_action_e action,
    const co_hold_t *hold, const co_order_t *order)
{
    co_shadow_loss_t  *loss;

    shadow->counts.lost++;

    loss = co_shadow_loss_find(shadow, at, hold->id);

    if (loss == NULL) {
        loss = co_shadow_loss_new(shadow, at, action, hold);
    }

    if (loss != NULL) {
        co_shadow_loss_want(shadow, loss, action, order);
    }
}


void
co_shadow_loss_sold(co_shadow_t *shadow, int at, const co_hold_t *hold,
    const co_order_t *order)
{
    co_shadow_loss_t  *loss;

    loss = co_shadow_loss_find(shadow, at, hold->id);

    if (loss != NULL) {
        loss->there = 0;
        co_shadow_loss_want(shadow, loss, CO_STORE_CLAIM, order);
    }
}


void
co_shadow_loss_orphan(co_shadow_t *shadow, int at, const char *id)
{
    co_shadow_loss_t  *loss;

    shadow->counts.orphans++;

    loss = co_shadow_loss_find(shadow, at, id);

    if (loss != NULL) {
        loss->there = 0;
        co_shadow_loss_want(shadow, loss, loss->wanted, NULL);
    }
}


void
co_shadow_loss_remove(co_shadow_t *shadow, int at, const char *id)
{
    co_shadow_loss_t  *loss;

    loss = co_shadow_loss_find(shadow, at, id);

    if (loss != NULL) {
        shadow->losses_n--;
        TAILQ_REMOVE(&shadow->losses, loss, link);
        TAILQ_REMOVE(&shadow->chains[co_shadow_bucket(id)], loss, chain);
        free(loss);
    }
}


static void
co_shadow_loss_mend_one(co_shadow_t *shadow, const co_shadow_loss_t *loss)
{
    co_hold_t   hold;
    co_order_t  order = loss->order;

    memset(&hold, 0, sizeof(hold));
    memcpy(&hold, &loss->hold, offsetof(co_hold_t, parts)
           + (size_t) loss->hold.parts_n * sizeof(hold.parts[0]));

    /* a claim may have succeeded: co_shadow_follow_ended() continues */
    co_shadow_follow(shadow, loss->at, loss->wanted, &hold,
                     loss->wanted == CO_STORE_CLAIM ? &order : NULL,
                     CO_SHADOW_MENDING);
}


void
co_shadow_loss_mend(co_shadow_t *shadow)
{
    co_shadow_loss_t  *loss, *next;

    for (loss = TAILQ_FIRST(&shadow->losses); loss != NULL; loss = next) {
        next = TAILQ_NEXT(loss, link);
        co_shadow_loss_mend_one(shadow, loss);
    }
}


void
co_shadow_loss_explain(co_shadow_t *shadow, int at, co_stock_t *off)
{
    int64_t            units;
    co_shadow_loss_t  *loss;

    memset(off, 0, sizeof(*off));

    TAILQ_FOREACH(loss, &shadow->losses, link) {
        if (loss->at != at) {
            continue;
        }

        units = co_hold_units(&loss->hold);

        /* the state in the store */
        if (loss->there) {
            off->held += units;
        } else {
            off->available += units;
        }

        /* the correct state */
        if (loss->wanted == CO_STORE_APPLY) {
            off->held -= units;
        } else if (loss->wanted == CO_STORE_CLAIM) {
            off->sold -= units;
        } else {
            off->available -= units;
        }
    }
}


static const char *
co_shadow_loss_name(co_store_action_e action)
{
    return action == CO_STORE_APPLY ? "reserve"
           : action == CO_STORE_CLAIM ? "claim" : "release";
}


json_t *
co_shadow_loss_json(co_shadow_t *shadow)
{
    int                 n = 0;
    json_t             *list;
    co_shadow_loss_t   *loss;
    static const char  *names[] = { "first", "second" };

    list = json_array();

    TAILQ_FOREACH_REVERSE(loss, &shadow->losses, co_shadow_losses_s, link) {
        if (n++ == CO_SHADOW_LISTED) {
            break;
        }

        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:I}",
            "hold", loss->hold.id,
            "store", names[loss->at],
            "lost", co_shadow_loss_name(loss->action),
            "missing", co_shadow_loss_name(loss->wanted),
            "at_ms", (json_int_t) loss->ms));
    }

    return list;
}


void
co_shadow_loss_free(co_shadow_t *shadow)
{
    co_shadow_loss_t  *loss;

    while ((loss = TAILQ_FIRST(&shadow->losses)) != NULL) {
        co_shadow_loss_remove(shadow, loss->at, loss->hold.id);
    }

    shadow->losses_n = 0;
}
