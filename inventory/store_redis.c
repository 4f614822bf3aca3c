/*
 * A store as many a shop has it: holds and counts in Redis, what is sold in a
 * ledger, which is another store.
 *
 * A claim has two steps, one in each: see store_redis_claim.c.  Everything else
 * is one script in Redis each.
 */

#include "store_redis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>


static const char *co_rstore_ledger_of(const char *place);
static int co_rstore_begin(co_rstore_t *store, co_store_found_t *found,
    char *error);
static void co_rstore_close(void *backend);
static void co_rstore_least(co_rstore_t *store, int64_t sold);
static void co_rstore_sold(void *data, co_store_result_e result);
static void co_rstore_reset(void *data, co_store_result_e result);
static void co_rstore_counted(void *data, co_store_result_e result);


/* "SOCKET+LEDGER"; where the ledger begins, or NULL. */
static const char *
co_rstore_ledger_of(const char *place)
{
    const char  *plus;

    plus = strchr(place, '+');

    return plus != NULL && plus != place ? plus + 1 : NULL;
}


static int
co_rstore_check(const char *place, char *error)
{
    const char  *ledger;

    ledger = co_rstore_ledger_of(place);

    if (*place != '/' || ledger == NULL) {
        snprintf(error, CO_STORE_ERROR_LEN, "give redis:SOCKET+LEDGER, the path"
                 " of Redis's Unix socket and the store that is its ledger, as"
                 " redis:/run/redis.sock+sqlite:/var/lib/shop.db");
        return -1;
    }

    if (strncmp(ledger, "redis:", 6) == 0
        || strncmp(ledger, "shadow:", 7) == 0)
    {
        snprintf(error, CO_STORE_ERROR_LEN, "a ledger is a store of SQL: give"
                 " sqlite:PATH or mysql:... behind the +");
        return -1;
    }

    return co_store_check(ledger, error);
}


static void *
co_rstore_open(co_store_port_t *port, const char *place,
    const co_store_conf_t *conf, co_store_found_t *found, char *error)
{
    co_rstore_t      *store;
    const char       *ledger;
    co_store_conf_t   ledger_conf;

    ledger = co_rstore_ledger_of(place);

    ledger_conf = *conf;
    ledger_conf.spec = ledger;
    ledger_conf.guarded = 0;
    ledger_conf.callers_expiry = 1;

    store = calloc(1, sizeof(*store));
    if (store == NULL) {
        snprintf(error, CO_STORE_ERROR_LEN, "out of memory");
        return NULL;
    }

    TAILQ_INIT(&store->ops);
    store->port = port;
    store->levels_n = conf->items * conf->locations;
    store->levels = calloc((size_t) store->levels_n, sizeof(co_level_t));
    store->path = strndup(place, (size_t) (ledger - 1 - place));

    if (store->levels == NULL || store->path == NULL) {
        snprintf(error, CO_STORE_ERROR_LEN, "out of memory");
        co_rstore_close(store);
        return NULL;
    }

    (void) co_fault_read(&store->fault, conf->fault);
    co_rstore_least(store, 0);

    store->ledger = co_store_open(co_store_port_base(port), &ledger_conf,
                                  found, error);

    if (store->ledger == NULL || co_rstore_begin(store, found, error) != 0) {
        co_rstore_close(store);
        return NULL;
    }

    store->redis = co_redis_open(co_store_port_base(port), store->path, error,
                                 CO_STORE_ERROR_LEN);
    if (store->redis == NULL) {
        co_rstore_close(store);
        return NULL;
    }

    store->finish = co_redis_finish_new(co_store_port_base(port),
                                        store->redis, store->least);
    if (store->finish == NULL) {
        snprintf(error, CO_STORE_ERROR_LEN, "out of memory");
        co_rstore_close(store);
        return NULL;
    }

    return store;
}


static void
co_rstore_close(void *backend)
{
    co_rstore_t     *store = backend;
    co_rstore_op_t  *op;

    if (store->redis != NULL) {
        co_redis_close(store->redis);
    }

    if (store->finish != NULL) {
        co_redis_finish_free(store->finish);
    }

    if (store->ledger != NULL) {
        co_store_close(store->ledger);
    }

    while ((op = TAILQ_FIRST(&store->ops)) != NULL) {
        TAILQ_REMOVE(&store->ops, op, link);
        free(op);
    }

    free(store->levels);
    free(store->path);
    free(store);
}


/* What Redis has sold: it never becomes less, but by a reset. */
static void
co_rstore_least(co_rstore_t *store, int64_t sold)
{
    store->sold = sold;
    snprintf(store->least, sizeof(store->least), "%lld", (long long) sold);
}


void
co_rstore_stock(co_rstore_t *store, const redisReply *reply, co_stock_t *stock)
{
    co_redis_stock(reply, stock);

    if (stock->sold > store->sold) {
        co_rstore_least(store, stock->sold);
    }
}


void
co_rstore_run(co_rstore_op_t *op, co_lua_e script, co_redis_done_pt done,
    const char *a, const char *b, const char *c, const char *d)
{
    co_redis_command_t  command;

    co_redis_words_of(&command, script, op->store->least, a, b, c, d);
    co_redis_run(op->store->redis, &op->redis, &command, done, op);
}


static void
co_rstore_now(void *data, co_store_result_e result)
{
    int  *done = data;

    *done = result == CO_STORE_OK ? 1 : -1;
}


/*
 * Fills Redis from the ledger, which says what is sold; the holds of Redis
 * stay.  What a claim that was cut short left held in the ledger is put back
 * there first: its hold is still in Redis, or it never will be sold.
 */
static int
co_rstore_begin(co_rstore_t *store, co_store_found_t *found, char *error)
{
    int                  done;
    char                *text;
    redisReply          *reply;
    co_expired_t        *expired;
    co_store_call_t      call;
    struct event_base   *base = co_store_port_base(store->port);
    co_redis_command_t   command;

    expired = calloc(1, sizeof(*expired));
    if (expired == NULL) {
        snprintf(error, CO_STORE_ERROR_LEN, "out of memory");
        return -1;
    }

    do {
        done = 0;
        co_store_expire(store->ledger, &call, INT64_MAX, expired,
                        co_rstore_now, &done);
        while (done == 0) {
            event_base_loop(base, EVLOOP_ONCE);
        }
    } while (done == 1 && expired->n == CO_EXPIRED_MAX);

    free(expired);

    if (done == 1) {
        done = 0;
        co_store_count(store->ledger, &call, store->levels, co_rstore_now,
                       &done);
        while (done == 0) {
            event_base_loop(base, EVLOOP_ONCE);
        }
    }

    text = co_redis_levels_text(store->levels, store->levels_n);

    if (done != 1 || text == NULL) {
        snprintf(error, CO_STORE_ERROR_LEN, "the ledger cannot be read");
        free(text);
        return -1;
    }

    co_redis_words_of(&command, CO_LUA_BEGIN, store->least, text, "1", NULL,
                      NULL);
    reply = co_redis_run_now(store->path, &command, error, CO_STORE_ERROR_LEN);
    free(text);

    if (reply == NULL) {
        return -1;
    }

    co_rstore_stock(store, reply, &found->stock);
    freeReplyObject(reply);

    return 0;
}


void
co_rstore_end(co_rstore_op_t *op, co_store_result_e result)
{
    op->call->result = result;
    op->call->next = NULL;

    co_store_answer(op->store->port, op->call);

    TAILQ_REMOVE(&op->store->ops, op, link);
    free(op);
}


static void
co_rstore_submit(void *backend, co_store_call_t *call)
{
    char             at[24], locations[64], most[12];
    co_rstore_t     *store = backend;
    co_rstore_op_t  *op;

    op = calloc(1, sizeof(*op));
    if (op == NULL) {
        fprintf(stderr, "checkout: store: out of memory\n");
        call->result = CO_STORE_FAILED;
        call->next = NULL;
        co_store_answer(store->port, call);
        return;
    }

    op->store = store;
    op->call = call;
    TAILQ_INSERT_TAIL(&store->ops, op, link);
    call->stock_known = 0;

    switch (call->action) {

    case CO_STORE_RESERVE:
        snprintf(at, sizeof(at), "%lld", (long long) call->hold->expires_ms);
        co_redis_locations_text(call->cart, locations, sizeof(locations));
        co_redis_cart_text(call->cart, op->text);
        co_rstore_run(op, CO_LUA_RESERVE, co_rstore_replied, call->hold->id,
                      at, op->text, locations);
        return;

    case CO_STORE_APPLY:
        snprintf(at, sizeof(at), "%lld", (long long) call->hold->expires_ms);
        co_redis_parts_text(call->hold, op->text);
        co_rstore_run(op, CO_LUA_APPLY, co_rstore_replied, call->hold->id, at,
                      op->text, NULL);
        return;

    case CO_STORE_CLAIM:
        co_rstore_claim(op);
        return;

    case CO_STORE_RELEASE:
        co_rstore_run(op, CO_LUA_RELEASE, co_rstore_replied, call->hold->id,
                      NULL, NULL, NULL);
        return;

    case CO_STORE_EXPIRE:
        snprintf(at, sizeof(at), "%lld", (long long) call->now_ms);
        snprintf(most, sizeof(most), "%d", CO_EXPIRED_MAX);
        co_rstore_run(op, CO_LUA_EXPIRE, co_rstore_replied, at, most, NULL,
                      NULL);
        return;

    case CO_STORE_LOOK:
        co_redis_locations_text(call->cart, locations, sizeof(locations));
        co_redis_cart_text(call->cart, op->text);
        co_rstore_run(op, CO_LUA_LOOK, co_rstore_replied, op->text, locations,
                      NULL, NULL);
        return;

    case CO_STORE_COUNT:
        co_rstore_run(op, CO_LUA_COUNT, co_rstore_replied, NULL, NULL, NULL,
                      NULL);
        return;

    case CO_STORE_SELL:
        co_store_sell(store->ledger, &op->ledger, call->cart, call->order,
                      co_rstore_sold, op);
        return;

    case CO_STORE_RESET:
        co_store_reset(store->ledger, &op->ledger, co_rstore_reset, op);
        return;

    default:
        co_rstore_end(op, CO_STORE_FAILED);
    }
}


void
co_rstore_replied(void *data, const redisReply *reply)
{
    co_rstore_op_t   *op = data;
    co_store_call_t  *call = op->call;

    if (reply == NULL) {
        co_rstore_end(op, CO_STORE_FAILED);
        return;
    }

    if (call->action == CO_STORE_RESET) {
        co_rstore_least(op->store, 0);
    }

    co_rstore_stock(op->store, reply, &call->stock);
    call->stock_known = 1;

    switch (call->action) {

    case CO_STORE_RESERVE:
        co_redis_parts_read(call->hold, co_redis_string(reply, 5));
        break;

    case CO_STORE_EXPIRE:
        co_redis_expired(reply, call->expired);
        break;

    case CO_STORE_COUNT:
        co_redis_levels(reply, call->levels, op->store->levels_n);
        break;

    default:
        break;
    }

    co_rstore_end(op, co_redis_result(reply));
}


/* The ledger has sold what nobody held; Redis gets to know. */
static void
co_rstore_sold(void *data, co_store_result_e result)
{
    int               i, location;
    co_rstore_op_t   *op = data;
    const co_cart_t  *cart = op->call->cart;

    if (result != CO_STORE_OK && result != CO_STORE_DEBT) {
        co_rstore_end(op, result);
        return;
    }

    for (location = 1; !(cart->locations & (1u << (location - 1)));
         location++)
    {
        /* the first that can deliver */
    }

    for (i = 0; i < cart->lines_n; i++) {
        op->hold.parts[i].item = cart->lines[i].item;
        op->hold.parts[i].location = location;
        op->hold.parts[i].quantity = cart->lines[i].quantity;
    }

    op->hold.parts_n = cart->lines_n;
    co_redis_parts_text(&op->hold, op->text);

    co_rstore_run(op, CO_LUA_SELL, co_rstore_replied, op->text, NULL, NULL,
                  NULL);
}


static void
co_rstore_reset(void *data, co_store_result_e result)
{
    co_rstore_op_t  *op = data;

    if (result != CO_STORE_OK) {
        co_rstore_end(op, result);
        return;
    }

    co_store_count(op->store->ledger, &op->ledger, op->store->levels,
                   co_rstore_counted, op);
}


static void
co_rstore_counted(void *data, co_store_result_e result)
{
    char            *text;
    co_rstore_op_t  *op = data;

    text = co_redis_levels_text(op->store->levels, op->store->levels_n);

    if (result != CO_STORE_OK || text == NULL) {
        co_rstore_end(op, CO_STORE_FAILED);
        free(text);
        return;
    }

    co_redis_finish_none(op->store->finish);
    co_rstore_least(op->store, 0);
    co_rstore_run(op, CO_LUA_BEGIN, co_rstore_replied, text, "0", NULL, NULL);
    free(text);
}


/* Where the two differ, a claim was cut in two. */
static json_t *
co_rstore_report(void *backend)
{
    co_rstore_t       *store = backend;
    const co_stock_t  *ledger = co_store_stock(store->ledger);

    return json_pack("{s:{s:s, s:s, s:{s:I, s:I, s:I}}}",
        "redis",
        "socket", store->path,
        "claims", store->fault.kind == CO_FAULT_AFTER_REDIS
                  ? "redis first" : "ledger first",
        "ledger",
        "initial", (json_int_t) ledger->initial,
        "available", (json_int_t) ledger->available,
        "sold", (json_int_t) ledger->sold);
}


const co_store_backend_t  co_store_redis = {
    .scheme = "redis",
    .example = "redis:/run/redis.sock+sqlite:/var/lib/shop.db",
    .shared = 1,
    .check = co_rstore_check,
    .open = co_rstore_open,
    .submit = co_rstore_submit,
    .close = co_rstore_close,
    .report = co_rstore_report
};
