/*
 * The store in Redis.
 *
 *   redis.c          the backend, and all calls except claims
 *   redis_claim.c    claims, which have a step in Redis and one in the ledger
 *   redis_finish.c   claims that Redis has not recorded yet
 *   redis_client.c   the connection
 *   redis_lua.c      the scripts
 *   redis_text.c     arguments and replies of the scripts
 */

#ifndef CO_REDIS_H
#define CO_REDIS_H


#include "fault.h"
#include "redis_client.h"
#include "redis_finish.h"
#include "redis_lua.h"
#include "redis_text.h"
#include "store_backend.h"

#include <sys/queue.h>


typedef struct co_redis_op_s  co_redis_op_t;

TAILQ_HEAD(co_redis_ops_s, co_redis_op_s);


typedef struct {
    co_store_port_t          *port;
    struct co_redis_ops_s     ops;               /* in progress */
    char                     *path;              /* of the socket */
    co_redis_client_t        *client;
    co_redis_finish_t        *finish;
    co_store_t               *ledger;
    co_level_t               *levels;            /* of the ledger */
    int                       levels_n;
    co_fault_t                fault;
    int64_t                   claims;
    int64_t                   sold;              /* only a reset lowers it */
    char                      min_sold[24];      /* "sold" as text */
} co_redis_t;


struct co_redis_op_s {
    co_redis_t               *store;
    co_store_call_t          *call;
    TAILQ_ENTRY(co_redis_op_s)  link;
    co_redis_call_t           redis;
    co_store_call_t           ledger;
    co_hold_t                 hold;              /* as Redis has it */
    char                      text[CO_REDIS_TEXT_SIZE];
};


/* Runs a script with up to four arguments; the first NULL ends them. */
void co_redis_run(co_redis_op_t *op, co_lua_e script, co_redis_done_pt done,
    const char *a, const char *b, const char *c, const char *d);

/* Reads the stock from the reply, and raises "sold". */
void co_redis_stock(co_redis_t *store, const redisReply *reply,
    co_stock_t *stock);

/* Ends the call with the reply of its last script: a co_redis_done_pt. */
void co_redis_replied(void *data, const redisReply *reply);

/* Returns the result of the call and frees the operation. */
void co_redis_end(co_redis_op_t *op, co_store_result_e result);


#endif /* CO_REDIS_H */
