#ifndef CO_REDIS_CLAIM_H
#define CO_REDIS_CLAIM_H


#include "redis.h"


/* Executes a CLAIM call and ends it. */
void co_redis_claim(co_redis_op_t *op);


#endif /* CO_REDIS_CLAIM_H */
