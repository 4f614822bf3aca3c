/*
 * The store in Redis: what its calls share with its claims.
 */

#ifndef CO_STORE_REDIS_H
#define CO_STORE_REDIS_H


#include "store_backend.h"
#include "store_fault.h"
#include "store_redis_client.h"
#include "store_redis_finish.h"
#include "store_redis_lua.h"
#include "store_redis_text.h"

#include <sys/queue.h>


typedef struct co_rstore_op_s  co_rstore_op_t;

TAILQ_HEAD(co_rstore_ops_s, co_rstore_op_s);


typedef struct {
    co_store_port_t    *port;
    struct co_rstore_ops_s  ops;                 /* under way */
    char               *path;                    /* of the socket */
    co_redis_t         *redis;
    co_redis_finish_t  *finish;
    co_store_t         *ledger;
    co_level_t         *levels;                  /* of the ledger */
    int                 levels_n;
    co_fault_t          fault;
    int64_t             claims;
    int64_t             sold;                    /* the most that Redis has
                                                    told, since a reset */
    char                least[24];               /* that, for the scripts */
} co_rstore_t;


/* A call under way, and what it takes to do it. */
struct co_rstore_op_s {
    co_rstore_t        *store;
    co_store_call_t    *call;
    TAILQ_ENTRY(co_rstore_op_s)  link;
    co_redis_call_t     redis;
    co_store_call_t     ledger;
    co_hold_t           hold;                    /* as Redis has it */
    char                text[CO_REDIS_TEXT_SIZE];
};


/* Does a claim, and ends the call. */
void co_rstore_claim(co_rstore_op_t *op);

/* Runs a script with up to four words; the first NULL ends them. */
void co_rstore_run(co_rstore_op_t *op, co_lua_e script, co_redis_done_pt done,
    const char *a, const char *b, const char *c, const char *d);

/* The stock of the reply, and what can never be less from then on. */
void co_rstore_stock(co_rstore_t *store, const redisReply *reply,
    co_stock_t *stock);

/* The one script of the call, or the last, has been run: ends the call. */
void co_rstore_replied(void *data, const redisReply *reply);

/* Answers the call, and frees it. */
void co_rstore_end(co_rstore_op_t *op, co_store_result_e result);


#endif /* CO_STORE_REDIS_H */
