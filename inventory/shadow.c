/*
 * Two stores as one: the truth decides, the shadow follows.
 *
 * The caller gets the result when the truth has decided.  Then the shadow
 * takes the same units under the same id.  What the shadow would have decided
 * is only counted: near the end of the stock two correct stores differ,
 * because they get the reservations in a different order.
 *
 * Every hold records which stores have it.  A claim or a release goes to the
 * truth if it has the hold, else to the other store, so a switch of the truth
 * neither loses nor duplicates an open hold.
 */

#include "shadow.h"
#include "shadow_command.h"
#include "shadow_follow.h"
#include "shadow_loss.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>


typedef struct co_shadow_op_s {
    co_shadow_t        *shadow;
    TAILQ_ENTRY(co_shadow_op_s)  link;
    co_store_call_t    *call;
    co_store_call_t     own;
    co_hold_t           kept;                    /* the hold of the caller */
    int                 at;                      /* the store in use */
    int                 truth;                   /* at the start */
    int                 again;                   /* the other store now */
} co_shadow_op_t;


static void co_shadow_close(void *backend);
static void co_shadow_start(co_shadow_t *shadow, co_store_call_t *call);
static void co_shadow_ask(co_shadow_op_t *op, int at);
static void co_shadow_decided(void *data, co_store_result_e result);
static void co_shadow_after_reserve(co_shadow_op_t *op,
    co_store_result_e *result);
static void co_shadow_after_both(co_shadow_op_t *op,
    co_store_result_e *result);
static void co_shadow_after_end(co_shadow_op_t *op, co_store_result_e result);
static void co_shadow_after_expire(co_shadow_op_t *op);


/* Returns the second store of "FIRST,SECOND"; FIRST may have commas. */
static const char *
co_shadow_second(const char *place)
{
    char         error[CO_STORE_ERROR_LEN];
    const char  *comma;

    for (comma = strchr(place, ','); comma != NULL;
         comma = strchr(comma + 1, ','))
    {
        if (comma != place && co_store_check(comma + 1, error) == 0) {
            return comma + 1;
        }
    }

    return NULL;
}


static int
co_shadow_check(const char *place, char *error)
{
    char         first[CO_STORE_ERROR_LEN];
    const char  *second;

    second = co_shadow_second(place);

    if (second == NULL || strncmp(place, "shadow:", 7) == 0
        || strncmp(second, "shadow:", 7) == 0
        || (size_t) (second - place) > sizeof(first))
    {
        snprintf(error, CO_STORE_ERROR_LEN, "give two stores, the truth first:"
                 " shadow:FIRST,SECOND, as shadow:sqlite:a.db,sqlite:b.db");
        return -1;
    }

    snprintf(first, sizeof(first), "%.*s", (int) (second - 1 - place), place);

    return co_store_check(first, error);
}


static void *
co_shadow_open(co_store_port_t *port, const char *place,
    const co_store_conf_t *conf, co_store_found_t *found, char *error)
{
    int               i;
    co_shadow_t      *shadow;
    const char       *second;
    co_store_conf_t   own;
    co_store_found_t  other;

    shadow = calloc(1, sizeof(*shadow));
    if (shadow == NULL) {
        snprintf(error, CO_STORE_ERROR_LEN, "out of memory");
        return NULL;
    }

    shadow->port = port;
    shadow->last = &shadow->first;
    shadow->random = (uint64_t) conf->seed ^ 0x9e3779b97f4a7c15u;
    shadow->levels_n = conf->items * conf->locations;
    (void) co_fault_read(&shadow->fault, conf->fault);

    TAILQ_INIT(&shadow->ops);
    TAILQ_INIT(&shadow->losses);

    for (i = 0; i < CO_SHADOW_BUCKETS; i++) {
        TAILQ_INIT(&shadow->buckets[i]);
        TAILQ_INIT(&shadow->chains[i]);
    }

    second = co_shadow_second(place);
    shadow->specs[0] = strndup(place, (size_t) (second - 1 - place));
    shadow->specs[1] = strdup(second);

    if (shadow->specs[0] == NULL || shadow->specs[1] == NULL
        || co_shadow_command_init(shadow) != 0)
    {
        snprintf(error, CO_STORE_ERROR_LEN, "out of memory");
        co_shadow_close(shadow);
        return NULL;
    }

    for (i = 0; i < 2; i++) {
        own = *conf;
        own.spec = shadow->specs[i];

        /* a shadow may have to go below 0; the truth alone expires holds */
        own.guarded = 0;
        own.callers_expiry = 1;

        shadow->stores[i] = co_store_open(co_store_port_base(port), &own,
                                          i == 0 ? found : &other, error);
        if (shadow->stores[i] == NULL) {
            co_shadow_close(shadow);
            return NULL;
        }
    }

    if (found->stock.sold != other.stock.sold) {
        fprintf(stderr, "checkout: store: the stores have not sold the same:"
                " %s %lld, %s %lld\n",
                shadow->specs[0], (long long) found->stock.sold,
                shadow->specs[1], (long long) other.stock.sold);
    }

    shadow->started = 1;
    co_shadow_command_continue(shadow);

    return shadow;
}


static void
co_shadow_close(void *backend)
{
    int              i;
    co_shadow_t     *shadow = backend;
    co_shadow_op_t  *op;

    co_shadow_command_abort(shadow);
    co_shadow_follow_drain(shadow);

    for (i = 0; i < 2; i++) {
        if (shadow->stores[i] != NULL) {
            co_store_close(shadow->stores[i]);
        }

        free(shadow->specs[i]);
    }

    while ((op = TAILQ_FIRST(&shadow->ops)) != NULL) {
        TAILQ_REMOVE(&shadow->ops, op, link);
        free(op);
    }

    co_shadow_follow_free(shadow);
    co_shadow_loss_free(shadow);
    co_shadow_command_free(shadow);
    free(shadow);
}


static void
co_shadow_submit(void *backend, co_store_call_t *call)
{
    co_shadow_t  *shadow = backend;

    /* a reset must not overtake writes to the shadow */
    if (shadow->paused
        || (call->action == CO_STORE_RESET && shadow->jobs != 0))
    {
        call->next = NULL;
        *shadow->last = call;
        shadow->last = &call->next;
        return;
    }

    co_shadow_start(shadow, call);
}


void
co_shadow_resume(co_shadow_t *shadow)
{
    co_store_call_t  *call, *next;

    shadow->paused = 0;

    call = shadow->first;
    shadow->first = NULL;
    shadow->last = &shadow->first;

    for ( /* void */ ; call != NULL; call = next) {
        next = call->next;
        co_shadow_submit(shadow, call);
    }
}


static void
co_shadow_answer(co_shadow_t *shadow, co_store_call_t *call,
    co_store_result_e result)
{
    call->result = result;
    call->next = NULL;

    co_store_answer(shadow->port, call);
}


static void
co_shadow_start(co_shadow_t *shadow, co_store_call_t *call)
{
    int              at;
    co_shadow_op_t  *op;

    op = calloc(1, sizeof(*op));

    if (op == NULL) {
        fprintf(stderr, "checkout: store: out of memory\n");
        co_shadow_answer(shadow, call, CO_STORE_FAILED);
        return;
    }

    op->shadow = shadow;
    op->call = call;
    op->truth = shadow->truth;

    at = shadow->truth;

    if (call->hold != NULL && (call->action == CO_STORE_CLAIM
                               || call->action == CO_STORE_RELEASE))
    {
        op->kept = *call->hold;

        if (call->hold->stores != 0 && !(call->hold->stores & (1u << at))) {
            at = !at;
        }
    }

    shadow->deciding++;
    TAILQ_INSERT_TAIL(&shadow->ops, op, link);

    /* the other actions change no stock */
    shadow->started += call->action != CO_STORE_COUNT
                       && call->action != CO_STORE_LOOK
                       && call->action != CO_STORE_EXPIRE;

    co_shadow_ask(op, at);
}


static void
co_shadow_ask(co_shadow_op_t *op, int at)
{
    co_store_call_t  *call = op->call;

    op->at = at;
    op->own = *call;

    co_store_submit(op->shadow->stores[at], &op->own, co_shadow_decided, op);
}


static void
co_shadow_decided(void *data, co_store_result_e result)
{
    co_shadow_op_t   *op = data;
    co_shadow_t      *shadow = op->shadow;
    co_store_call_t  *call = op->call;

    switch (call->action) {

    case CO_STORE_RESERVE:
        co_shadow_after_reserve(op, &result);
        break;

    case CO_STORE_CLAIM:
    case CO_STORE_RELEASE:
        if (result == CO_STORE_GONE && !op->again
            && co_shadow_loss_find(shadow, op->at, op->kept.id) != NULL)
        {
            /* this store has lost the hold; the other store has it */
            op->again = 1;
            *call->hold = op->kept;
            co_shadow_ask(op, !op->at);
            return;
        }

        co_shadow_after_end(op, result);
        break;

    case CO_STORE_EXPIRE:
        if (result == CO_STORE_OK) {
            shadow->started += call->expired->n > 0;
            co_shadow_after_expire(op);
        }
        break;

    case CO_STORE_SELL:
    case CO_STORE_RESET:
        if (result == CO_STORE_OK && !op->again) {

            /* without a hold, the other store cannot follow by id */
            op->again = 1;
            call->stock = op->own.stock;
            call->stock_known = op->own.stock_known;
            co_shadow_ask(op, !op->at);
            return;
        }

        co_shadow_after_both(op, &result);
        break;

    default:
        break;
    }

    /* only the truth's stock is returned */
    if (op->at == shadow->truth) {
        call->stock = op->own.stock;
        call->stock_known = op->own.stock_known;
    }

    shadow->deciding--;
    TAILQ_REMOVE(&shadow->ops, op, link);
    co_shadow_answer(shadow, call, result);
    free(op);

    co_shadow_command_continue(shadow);
}


static void
co_shadow_after_reserve(co_shadow_op_t *op, co_store_result_e *result)
{
    int           other = !op->at;
    co_shadow_t  *shadow = op->shadow;
    co_hold_t    *hold = op->call->hold;

    if (*result == CO_STORE_SOLD_OUT) {
        co_shadow_follow_look(shadow, other, hold, op->call->cart);
        return;
    }

    if (*result == CO_STORE_FAILED) {

        /* the store may have taken the units: nobody will claim them */
        co_shadow_follow(shadow, op->at, CO_STORE_RELEASE, hold, NULL,
                         CO_SHADOW_MENDING);
        return;
    }

    if (*result != CO_STORE_OK) {
        return;
    }

    if (op->truth != shadow->truth) {

        /* granted after the kill switch: the first store decides now */
        shadow->counts.withdrawn++;
        co_shadow_follow(shadow, op->at, CO_STORE_RELEASE, hold, NULL,
                         CO_SHADOW_MENDING);
        *result = CO_STORE_FAILED;
        return;
    }

    hold->stores = 1u << op->at | 1u << other;
    co_shadow_follow(shadow, other, CO_STORE_APPLY, hold, NULL,
                     CO_SHADOW_FOLLOWING);
}


static void
co_shadow_after_both(co_shadow_op_t *op, co_store_result_e *result)
{
    co_shadow_t  *shadow = op->shadow;

    if (op->call->action == CO_STORE_RESET && *result == CO_STORE_OK) {
        memset(&shadow->counts, 0, sizeof(shadow->counts));
        memset(&shadow->audit, 0, sizeof(shadow->audit));
        co_shadow_loss_free(shadow);
        return;
    }

    if (op->call->action == CO_STORE_SELL && op->again
        && *result != CO_STORE_OK)
    {
        /* sold by the truth; this loss cannot be mended */
        shadow->counts.lost++;
        shadow->losses_n++;
        *result = CO_STORE_OK;
    }
}


static void
co_shadow_after_end(co_shadow_op_t *op, co_store_result_e result)
{
    int                 other = !op->at;
    co_shadow_t        *shadow = op->shadow;
    const co_order_t   *order = op->call->action == CO_STORE_CLAIM
                                ? op->call->order : NULL;

    if (result != CO_STORE_OK) {
        return;
    }

    op->kept.stores = op->call->hold->stores;

    if (!op->again) {
        co_shadow_follow(shadow, other, op->call->action, &op->kept, order,
                         CO_SHADOW_FOLLOWING);
        return;
    }

    /* the store that had lost the hold gets the result */
    if (op->call->action == CO_STORE_CLAIM) {
        co_shadow_follow(shadow, other, CO_STORE_APPLY, &op->kept, NULL,
                         CO_SHADOW_RESTORING);
        co_shadow_follow(shadow, other, CO_STORE_CLAIM, &op->kept, order,
                         CO_SHADOW_RESTORING);

    } else {
        co_shadow_loss_remove(shadow, other, op->kept.id);
    }
}


static void
co_shadow_after_expire(co_shadow_op_t *op)
{
    int            i;
    co_hold_t      hold;
    co_expired_t  *expired = op->call->expired;

    memset(&hold, 0, sizeof(hold));

    for (i = 0; i < expired->n; i++) {
        memcpy(hold.id, expired->ids[i], sizeof(hold.id));
        co_shadow_follow(op->shadow, !op->at, CO_STORE_RELEASE, &hold, NULL,
                         CO_SHADOW_FOLLOWING);
    }

    co_shadow_follow_expire(op->shadow, !op->at, op->call->now_ms);
}


static json_t *
co_shadow_stock_json(const co_stock_t *stock)
{
    return json_pack("{s:I, s:I, s:I, s:I}",
        "initial", (json_int_t) stock->initial,
        "available", (json_int_t) stock->available,
        "held", (json_int_t) stock->held,
        "sold", (json_int_t) stock->sold);
}


static json_t *
co_shadow_report(void *backend)
{
    int                        i;
    json_t                    *root, *own, *drift;
    co_shadow_t               *shadow = backend;
    static const char         *names[] = { "first", "second" };
    const co_shadow_counts_t  *n = &shadow->counts;
    const co_shadow_audit_t   *audit = &shadow->audit;

    drift = audit->known
            ? json_pack("{s:I, s:I, s:o, s:o}",
                  "at_ms", (json_int_t) audit->ms,
                  "levels", (json_int_t) audit->levels,
                  "units", co_shadow_stock_json(&audit->drift),
                  "explained", co_shadow_stock_json(&audit->explained))
            : json_null();

    root = json_pack("{s:{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I}}",
        "shadow",
        "truth", names[shadow->truth],
        "first", shadow->specs[0],
        "second", shadow->specs[1],
        "decisions", (json_int_t) n->decisions,
        "agreed", (json_int_t) n->agreed,
        "would_have_denied", (json_int_t) n->would_have_denied,
        "would_have_granted", (json_int_t) n->would_have_granted,
        "unknown", (json_int_t) n->unknown);

    if (root == NULL) {
        json_decref(drift);
        return NULL;
    }

    own = json_object_get(root, "shadow");

    json_object_update_new(own, json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o}",
        "writes_lost", (json_int_t) n->lost,
        "writes_lost_by_fault", (json_int_t) n->by_fault,
        "losses", (json_int_t) shadow->losses_n,
        "mended", (json_int_t) n->mended,
        "orphans", (json_int_t) n->orphans,
        "withdrawn", (json_int_t) n->withdrawn,
        "switches", (json_int_t) n->switches,
        "following", (json_int_t) shadow->jobs,
        "drift", drift,
        "listed", co_shadow_loss_json(shadow),
        "differences", co_shadow_follow_differences(shadow)));

    for (i = 0; i < 2; i++) {
        json_t  *report = co_store_report(shadow->stores[i]);

        if (report != NULL) {
            json_object_update_missing(root, report);
            json_decref(report);
        }
    }

    return root;
}


const co_store_backend_t  co_store_shadow = {
    .scheme = "shadow",
    .example = "shadow:FIRST,SECOND",
    .shared = 1,
    .check = co_shadow_check,
    .open = co_shadow_open,
    .submit = co_shadow_submit,
    .close = co_shadow_close,
    .report = co_shadow_report,
    .command = co_shadow_command
};
