/*
 * Claims that the ledger has and of which Redis could not be told: it would
 * let their holds end, and sell the units again.
 */

#ifndef CO_STORE_REDIS_FINISH_H
#define CO_STORE_REDIS_FINISH_H


#include "store_redis_client.h"


typedef struct co_redis_finish_s  co_redis_finish_t;


/* "least" as co_redis_words_of() has it, at any time.  NULL: out of memory. */
co_redis_finish_t *co_redis_finish_new(struct event_base *base,
    co_redis_t *redis, const char *least);

/* When Redis is closed already. */
void co_redis_finish_free(co_redis_finish_t *finish);

/* Forgets them: everything begins anew. */
void co_redis_finish_none(co_redis_finish_t *finish);

/*
 * Tells Redis of the claim of hold "id", "parts" as co_redis_parts_text() has
 * them, once it answers again.
 */
void co_redis_finish_add(co_redis_finish_t *finish, const char *id,
    const char *parts);


#endif /* CO_STORE_REDIS_FINISH_H */
