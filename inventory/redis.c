/*
 * A store with holds and counts in Redis, and orders in a ledger, which is
 * another store.  Every call except a claim is one script.
 */

#include "redis.h"
#include "redis_claim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>


static const char *co_redis_ledger_of(const char *place);
static int co_redis_begin(co_redis_t *store, co_store_found_t *found,
    char *error);
static void co_redis_close(void *backend);
static void co_redis_set_min_sold(co_redis_t *store, int64_t sold);
static void co_redis_sold(void *data, co_store_result_e result);
static void co_redis_reset(void *data, co_store_result_e result);
static void co_redis_counted(void *data, co_store_result_e result);


static const char *
co_redis_ledger_of(const char *place)
{
    const char  *plus;

    plus = strchr(place, '+');

    return plus != NULL && plus != place ? plus + 1 : NULL;
}


static int
co_redis_check(const char *place, char *error)
{
    const char  *ledger;

    ledger = co_redis_ledger_of(place);

    if (*place != '/' || ledger == NULL) {
        snprintf(error, CO_STORE_ERROR_LEN, "give redis:SOCKET+LEDGER, the"
                 " path of a Unix socket and another store, as"
                 " redis:/run/redis.sock+sqlite:/var/lib/shop.db");
        return -1;
    }

    if (strncmp(ledger, "redis:", 6) == 0
        || strncmp(ledger, "shadow:", 7) == 0)
    {
        snprintf(error, CO_STORE_ERROR_LEN, "the ledger must be an SQL store:"
                 " give sqlite:PATH or mysql:... after the +");
        return -1;
    }

    return co_store_check(ledger, error);
}


static void *
co_redis_open(co_store_port_t *port, const char *place,
    const co_store_conf_t *conf, co_store_found_t *found, char *error)
{
    co_redis_t      *store;
    const char      *ledger;
    co_store_conf_t  ledger_conf;

    ledger = co_redis_ledger_of(place);

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
        co_redis_close(store);
        return NULL;
    }

    (void) co_fault_read(&store->fault, conf->fault);
    co_redis_set_min_sold(store, 0);

    store->ledger = co_store_open(co_store_port_base(port), &ledger_conf,
                                  found, error);

    if (store->ledger == NULL || co_redis_begin(store, found, error) != 0) {
        co_redis_close(store);
        return NULL;
    }

    store->client = co_redis_client_open(co_store_port_base(port),
                                         store->path, error,
                                         CO_STORE_ERROR_LEN);
    if (store->client == NULL) {
        co_redis_close(store);
        return NULL;
    }

    store->finish = co_redis_finish_new(co_store_port_base(port),
                                        store->client, store->min_sold);
    if (store->finish == NULL) {
        snprintf(error, CO_STORE_ERROR_LEN, "out of memory");
        co_redis_close(store);
        return NULL;
    }

    return store;
}


static void
co_redis_close(void *backend)
{
    co_redis_t     *store = backend;
    co_redis_op_t  *op;

    if (store->client != NULL) {
        co_redis_client_close(store->client);
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


static void
co_redis_set_min_sold(co_redis_t *store, int64_t sold)
{
    store->sold = sold;
    snprintf(store->min_sold, sizeof(store->min_sold), "%lld",
             (long long) sold);
}


void
co_redis_stock(co_redis_t *store, const redisReply *reply, co_stock_t *stock)
{
    co_redis_text_stock(reply, stock);

    if (stock->sold > store->sold) {
        co_redis_set_min_sold(store, stock->sold);
    }
}


void
co_redis_run(co_redis_op_t *op, co_lua_e script, co_redis_done_pt done,
    const char *a, const char *b, const char *c, const char *d)
{
    co_redis_command_t  command;

    co_redis_text_command(&command, script, op->store->min_sold, a, b, c, d);
    co_redis_client_run(op->store->client, &op->redis, &command, done, op);
}


static void
co_redis_ledger_done(void *data, co_store_result_e result)
{
    int  *done = data;

    *done = result == CO_STORE_OK ? 1 : -1;
}


/*
 * Fills Redis from the ledger and keeps the holds in Redis.  Before that,
 * holds that interrupted claims have left in the ledger are released there:
 * either Redis still has them, or they will never be sold.
 */
static int
co_redis_begin(co_redis_t *store, co_store_found_t *found, char *error)
{
    int                 done;
    char               *text;
    redisReply         *reply;
    co_expired_t       *expired;
    co_store_call_t     call;
    struct event_base  *base = co_store_port_base(store->port);
    co_redis_command_t  command;

    expired = calloc(1, sizeof(*expired));
    if (expired == NULL) {
        snprintf(error, CO_STORE_ERROR_LEN, "out of memory");
        return -1;
    }

    do {
        done = 0;
        co_store_expire(store->ledger, &call, INT64_MAX, expired,
                        co_redis_ledger_done, &done);
        while (done == 0) {
            event_base_loop(base, EVLOOP_ONCE);
        }
    } while (done == 1 && expired->n == CO_EXPIRED_MAX);

    free(expired);

    if (done == 1) {
        done = 0;
        co_store_count(store->ledger, &call, store->levels,
                       co_redis_ledger_done, &done);
        while (done == 0) {
            event_base_loop(base, EVLOOP_ONCE);
        }
    }

    text = co_redis_text_levels(store->levels, store->levels_n);

    if (done != 1 || text == NULL) {
        snprintf(error, CO_STORE_ERROR_LEN, "reading the ledger failed");
        free(text);
        return -1;
    }

    co_redis_text_command(&command, CO_LUA_BEGIN, store->min_sold, text, "1",
                          NULL, NULL);
    reply = co_redis_client_run_now(store->path, &command, error,
                                    CO_STORE_ERROR_LEN);
    free(text);

    if (reply == NULL) {
        return -1;
    }

    co_redis_stock(store, reply, &found->stock);
    freeReplyObject(reply);

    return 0;
}


void
co_redis_end(co_redis_op_t *op, co_store_result_e result)
{
    op->call->result = result;
    op->call->next = NULL;

    co_store_answer(op->store->port, op->call);

    TAILQ_REMOVE(&op->store->ops, op, link);
    free(op);
}


static void
co_redis_submit(void *backend, co_store_call_t *call)
{
    char            at[24], locations[64], most[12];
    co_redis_t     *store = backend;
    co_redis_op_t  *op;

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
        co_redis_text_locations(call->cart, locations, sizeof(locations));
        co_redis_text_cart(call->cart, op->text);
        co_redis_run(op, CO_LUA_RESERVE, co_redis_replied, call->hold->id,
                     at, op->text, locations);
        return;

    case CO_STORE_APPLY:
        snprintf(at, sizeof(at), "%lld", (long long) call->hold->expires_ms);
        co_redis_text_parts(call->hold, op->text);
        co_redis_run(op, CO_LUA_APPLY, co_redis_replied, call->hold->id, at,
                     op->text, NULL);
        return;

    case CO_STORE_CLAIM:
        co_redis_claim(op);
        return;

    case CO_STORE_RELEASE:
        co_redis_run(op, CO_LUA_RELEASE, co_redis_replied, call->hold->id,
                     NULL, NULL, NULL);
        return;

    case CO_STORE_EXPIRE:
        snprintf(at, sizeof(at), "%lld", (long long) call->now_ms);
        snprintf(most, sizeof(most), "%d", CO_EXPIRED_MAX);
        co_redis_run(op, CO_LUA_EXPIRE, co_redis_replied, at, most, NULL,
                     NULL);
        return;

    case CO_STORE_LOOK:
        co_redis_text_locations(call->cart, locations, sizeof(locations));
        co_redis_text_cart(call->cart, op->text);
        co_redis_run(op, CO_LUA_LOOK, co_redis_replied, op->text, locations,
                     NULL, NULL);
        return;

    case CO_STORE_COUNT:
        co_redis_run(op, CO_LUA_COUNT, co_redis_replied, NULL, NULL, NULL,
                     NULL);
        return;

    case CO_STORE_SELL:
        co_store_sell(store->ledger, &op->ledger, call->cart, call->order,
                      co_redis_sold, op);
        return;

    case CO_STORE_RESET:
        co_store_reset(store->ledger, &op->ledger, co_redis_reset, op);
        return;

    default:
        co_redis_end(op, CO_STORE_FAILED);
    }
}


void
co_redis_replied(void *data, const redisReply *reply)
{
    co_redis_op_t    *op = data;
    co_store_call_t  *call = op->call;

    if (reply == NULL) {
        co_redis_end(op, CO_STORE_FAILED);
        return;
    }

    if (call->action == CO_STORE_RESET) {
        co_redis_set_min_sold(op->store, 0);
    }

    co_redis_stock(op->store, reply, &call->stock);
    call->stock_known = 1;

    switch (call->action) {

    case CO_STORE_RESERVE:
        co_redis_text_parse_parts(call->hold, co_redis_text_string(reply, 5));
        break;

    case CO_STORE_EXPIRE:
        co_redis_text_expired(reply, call->expired);
        break;

    case CO_STORE_COUNT:
        co_redis_text_read_levels(reply, call->levels, op->store->levels_n);
        break;

    default:
        break;
    }

    co_redis_end(op, co_redis_text_result(reply));
}


static void
co_redis_sold(void *data, co_store_result_e result)
{
    int               i, location;
    co_redis_op_t    *op = data;
    const co_cart_t  *cart = op->call->cart;

    if (result != CO_STORE_OK && result != CO_STORE_DEBT) {
        co_redis_end(op, result);
        return;
    }

    for (location = 1; !(cart->locations & (1u << (location - 1)));
         location++)
    {
        /* void */
    }

    for (i = 0; i < cart->lines_n; i++) {
        co_hold_add(&op->hold, cart->lines[i].item, location,
                    cart->lines[i].quantity);
    }

    co_redis_text_parts(&op->hold, op->text);

    co_redis_run(op, CO_LUA_SELL, co_redis_replied, op->text, NULL, NULL,
                 NULL);
}


static void
co_redis_reset(void *data, co_store_result_e result)
{
    co_redis_op_t  *op = data;

    if (result != CO_STORE_OK) {
        co_redis_end(op, result);
        return;
    }

    co_store_count(op->store->ledger, &op->ledger, op->store->levels,
                   co_redis_counted, op);
}


static void
co_redis_counted(void *data, co_store_result_e result)
{
    char           *text;
    co_redis_op_t  *op = data;

    text = co_redis_text_levels(op->store->levels, op->store->levels_n);

    if (result != CO_STORE_OK || text == NULL) {
        co_redis_end(op, CO_STORE_FAILED);
        free(text);
        return;
    }

    co_redis_finish_clear(op->store->finish);
    co_redis_set_min_sold(op->store, 0);
    co_redis_run(op, CO_LUA_BEGIN, co_redis_replied, text, "0", NULL, NULL);
    free(text);
}


static json_t *
co_redis_report(void *backend)
{
    co_redis_t        *store = backend;
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
    .check = co_redis_check,
    .open = co_redis_open,
    .submit = co_redis_submit,
    .close = co_redis_close,
    .report = co_redis_report
};
