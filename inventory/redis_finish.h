/*
 * Claims that the ledger has recorded and Redis has not: Redis was down.
 * Without this list their holds would expire in Redis and the units would be
 * sold again.
 */

#ifndef CO_REDIS_FINISH_H
#define CO_REDIS_FINISH_H


#include "redis_client.h"


typedef struct co_redis_finish_s  co_redis_finish_t;


/*
 * "min_sold" as in co_redis_text_command(); it is read at every attempt.
 * Returns NULL if out of memory.
 */
co_redis_finish_t *co_redis_finish_new(struct event_base *base,
    co_redis_client_t *client, const char *min_sold);

/* The client must be closed before this. */
void co_redis_finish_free(co_redis_finish_t *finish);

/* Empties the list: the stock is reset. */
void co_redis_finish_clear(co_redis_finish_t *finish);

/*
 * Adds the claim of hold "id", with "parts" as written by
 * co_redis_text_parts().  It is retried until Redis has recorded it.
 */
void co_redis_finish_add(co_redis_finish_t *finish, const char *id,
    const char *parts);


#endif /* CO_REDIS_FINISH_H */
