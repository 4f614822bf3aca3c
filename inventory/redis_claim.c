/*
 * Claims of the store in Redis.
 *
 * A claim has two steps, one in Redis and one in the ledger, that cannot be
 * one transaction.  A process that dies between them leaves a unit that is
 * sold but still held (ledger first: too few units are sold), or a payment
 * that the ledger does not have (Redis first: units are sold twice after Redis
 * is filled from the ledger).  --fault ends the process at this point.
 */

#include "redis_claim.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>


/* The hold does not expire for this time, while the ledger sells it. */
#define CO_REDIS_CLAIM_MS   900000


static void co_redis_claim_found(void *data, const redisReply *reply);
static void co_redis_claim_apply(co_redis_op_t *op);
static void co_redis_claim_applied(void *data, co_store_result_e result);
static void co_redis_claim_claimed(void *data, co_store_result_e result);
static void co_redis_claim_finished(void *data, const redisReply *reply);
static void co_redis_claim_earlier(void *data, co_store_result_e result);


void
co_redis_claim(co_redis_op_t *op)
{
    char              until[24];
    co_store_call_t  *call = op->call;

    if (op->store->fault.kind == CO_FAULT_AFTER_REDIS) {
        co_redis_run(op, CO_LUA_FINISH, co_redis_claim_found, call->hold->id,
                     NULL, NULL, NULL);
        return;
    }

    snprintf(until, sizeof(until), "%lld",
             (long long) call->now_ms + CO_REDIS_CLAIM_MS);
    co_redis_run(op, CO_LUA_PARTS, co_redis_claim_found, call->hold->id,
                 until, NULL, NULL);
}


static void
co_redis_claim_fault(co_redis_t *store, co_fault_e kind)
{
    store->claims++;

    if (store->fault.kind == kind && store->fault.claim == store->claims) {
        fprintf(stderr, "checkout: --fault: killed between the two steps of"
                " claim %lld\n", (long long) store->claims);
        raise(SIGKILL);
    }
}


static void
co_redis_claim_found(void *data, const redisReply *reply)
{
    co_redis_op_t  *op = data;
    co_redis_t     *store = op->store;

    if (reply == NULL) {
        co_redis_end(op, CO_STORE_FAILED);
        return;
    }

    if (co_redis_text_number(reply, 0) == CO_LUA_GONE) {

        /* the ledger decides: it may be claimed already */
        co_store_claim(store->ledger, &op->ledger, op->call->hold,
                       op->call->order, co_redis_claim_earlier, op);
        return;
    }

    memcpy(op->hold.id, op->call->hold->id, sizeof(op->hold.id));
    op->hold.expires_ms = op->call->hold->expires_ms;
    co_redis_text_parse_parts(&op->hold, co_redis_text_string(reply, 5));

    if (store->fault.kind == CO_FAULT_AFTER_REDIS) {
        co_redis_claim_fault(store, CO_FAULT_AFTER_REDIS);
        co_redis_stock(store, reply, &op->call->stock);
        op->call->stock_known = 1;
    }

    co_redis_claim_apply(op);
}


static void
co_redis_claim_apply(co_redis_op_t *op)
{
    co_store_apply(op->store->ledger, &op->ledger, &op->hold,
                   co_redis_claim_applied, op);
}


static void
co_redis_claim_applied(void *data, co_store_result_e result)
{
    co_redis_op_t  *op = data;

    if (result != CO_STORE_OK && result != CO_STORE_DEBT) {
        co_redis_end(op, result);
        return;
    }

    co_store_claim(op->store->ledger, &op->ledger, &op->hold, op->call->order,
                   co_redis_claim_claimed, op);
}


static void
co_redis_claim_claimed(void *data, co_store_result_e result)
{
    co_redis_op_t  *op = data;

    if (result != CO_STORE_OK
        || op->store->fault.kind == CO_FAULT_AFTER_REDIS)
    {
        co_redis_end(op, result);
        return;
    }

    co_redis_claim_fault(op->store, CO_FAULT_AFTER_LEDGER);

    co_redis_text_parts(&op->hold, op->text);
    co_redis_run(op, CO_LUA_FINISH, co_redis_claim_finished, op->hold.id,
                 op->text, NULL, NULL);
}


/* The ledger has the order: the result is OK even if Redis has failed. */
static void
co_redis_claim_finished(void *data, const redisReply *reply)
{
    co_redis_op_t  *op = data;

    if (reply != NULL) {
        co_redis_replied(op, reply);
        return;
    }

    fprintf(stderr, "checkout: store: hold %s is sold, but Redis has not"
            " recorded it; retrying\n", op->hold.id);
    co_redis_finish_add(op->store->finish, op->hold.id, op->text);
    co_redis_end(op, CO_STORE_OK);
}


static void
co_redis_claim_earlier(void *data, co_store_result_e result)
{
    co_redis_end(data, result);
}
