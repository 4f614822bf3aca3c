/*
 * Claims of the store in Redis.
 *
 * A claim has two steps, one in Redis and one in the ledger, and nothing makes
 * them one.  Whoever dies between them leaves a unit that is sold and still held
 * (the ledger first: too little is sold), or a payment of which the ledger knows
 * nothing (Redis first: too much is sold once Redis is filled from the ledger
 * again).  --fault dies there.
 */

#include "store_redis.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>


/* A ledger that takes longer for a claim than this has given it up. */
#define CO_RSTORE_CLAIM_MS  900000


static void co_rstore_claim_found(void *data, const redisReply *reply);
static void co_rstore_claim_apply(co_rstore_op_t *op);
static void co_rstore_claim_applied(void *data, co_store_result_e result);
static void co_rstore_claim_claimed(void *data, co_store_result_e result);
static void co_rstore_claim_finished(void *data, const redisReply *reply);
static void co_rstore_claim_earlier(void *data, co_store_result_e result);


void
co_rstore_claim(co_rstore_op_t *op)
{
    char              until[24];
    co_store_call_t  *call = op->call;

    if (op->store->fault.kind == CO_FAULT_AFTER_REDIS) {
        co_rstore_run(op, CO_LUA_FINISH, co_rstore_claim_found, call->hold->id,
                      NULL, NULL, NULL);
        return;
    }

    snprintf(until, sizeof(until), "%lld",
             (long long) call->now_ms + CO_RSTORE_CLAIM_MS);
    co_rstore_run(op, CO_LUA_PARTS, co_rstore_claim_found, call->hold->id,
                  until, NULL, NULL);
}


/* Between the two steps of a claim: here --fault dies. */
static void
co_rstore_between(co_rstore_t *store, co_fault_e kind)
{
    store->claims++;

    if (store->fault.kind == kind && store->fault.claim == store->claims) {
        fprintf(stderr, "checkout: --fault: dies between the two steps of"
                " claim %lld\n", (long long) store->claims);
        raise(SIGKILL);
    }
}


/* What the hold consists of; with Redis first, it is gone from there now. */
static void
co_rstore_claim_found(void *data, const redisReply *reply)
{
    co_rstore_op_t  *op = data;
    co_rstore_t     *store = op->store;

    if (reply == NULL) {
        co_rstore_end(op, CO_STORE_FAILED);
        return;
    }

    if (co_redis_number(reply, 0) == CO_LUA_GONE) {

        /* the ledger knows whether it has been claimed before */
        co_store_claim(store->ledger, &op->ledger, op->call->hold,
                       op->call->order, co_rstore_claim_earlier, op);
        return;
    }

    memcpy(op->hold.id, op->call->hold->id, sizeof(op->hold.id));
    op->hold.expires_ms = op->call->hold->expires_ms;
    co_redis_parts_read(&op->hold, co_redis_string(reply, 5));

    if (store->fault.kind == CO_FAULT_AFTER_REDIS) {
        co_rstore_between(store, CO_FAULT_AFTER_REDIS);
        co_rstore_stock(store, reply, &op->call->stock);
        op->call->stock_known = 1;
    }

    co_rstore_claim_apply(op);
}


static void
co_rstore_claim_apply(co_rstore_op_t *op)
{
    co_store_apply(op->store->ledger, &op->ledger, &op->hold,
                   co_rstore_claim_applied, op);
}


static void
co_rstore_claim_applied(void *data, co_store_result_e result)
{
    co_rstore_op_t  *op = data;

    if (result != CO_STORE_OK && result != CO_STORE_DEBT) {
        co_rstore_end(op, result);
        return;
    }

    co_store_claim(op->store->ledger, &op->ledger, &op->hold, op->call->order,
                   co_rstore_claim_claimed, op);
}


static void
co_rstore_claim_claimed(void *data, co_store_result_e result)
{
    co_rstore_op_t  *op = data;

    if (result != CO_STORE_OK
        || op->store->fault.kind == CO_FAULT_AFTER_REDIS)
    {
        co_rstore_end(op, result);
        return;
    }

    co_rstore_between(op->store, CO_FAULT_AFTER_LEDGER);

    co_redis_parts_text(&op->hold, op->text);
    co_rstore_run(op, CO_LUA_FINISH, co_rstore_claim_finished, op->hold.id,
                  op->text, NULL, NULL);
}


/* The ledger has it, so it is sold whatever Redis says. */
static void
co_rstore_claim_finished(void *data, const redisReply *reply)
{
    co_rstore_op_t  *op = data;

    if (reply != NULL) {
        co_rstore_replied(op, reply);
        return;
    }

    fprintf(stderr, "checkout: store: the hold %s is sold, and Redis may still"
            " have it; it is told when it is back, or a restart fills it from"
            " the ledger\n", op->hold.id);
    co_redis_finish_add(op->store->finish, op->hold.id, op->text);
    co_rstore_end(op, CO_STORE_OK);
}


static void
co_rstore_claim_earlier(void *data, co_store_result_e result)
{
    co_rstore_end(data, result);
}
