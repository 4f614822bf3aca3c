/*
 * Arguments and replies of the scripts in Redis.
 */

#ifndef CO_REDIS_TEXT_H
#define CO_REDIS_TEXT_H


#include <hiredis/hiredis.h>

#include "redis_client.h"
#include "redis_lua.h"
#include "store.h"


/* One level, part or cart line as text, with a comma. */
#define CO_REDIS_TEXT_LEN   64

/* The largest cart or hold as text. */
#define CO_REDIS_TEXT_SIZE  (CO_HOLD_PARTS * CO_REDIS_TEXT_LEN + 1)


/*
 * Sets the script, its keys, "min_sold" and up to four further arguments; the
 * first NULL ends them.  A Redis that has sold fewer than "min_sold" units has
 * lost data.
 */
void co_redis_text_command(co_redis_command_t *command, co_lua_e script,
    const char *min_sold, const char *a, const char *b, const char *c,
    const char *d);

/*
 * Returns "item:location:initial:sold,...", which the caller frees, or NULL if
 * out of memory.
 */
char *co_redis_text_levels(const co_level_t *levels, int n);

/* Write and parse "item:location:quantity,..."; CO_REDIS_TEXT_SIZE bytes. */
void co_redis_text_parts(const co_hold_t *hold, char *text);
void co_redis_text_parse_parts(co_hold_t *hold, const char *text);

/* Writes "item:quantity,..."; CO_REDIS_TEXT_SIZE bytes. */
void co_redis_text_cart(const co_cart_t *cart, char *text);

/* Writes the locations that can deliver, as "1 3 4". */
void co_redis_text_locations(const co_cart_t *cart, char *text, size_t size);

/* Return element "i" of a reply; 0 or "" if it has another type. */
int64_t co_redis_text_number(const redisReply *reply, size_t i);
const char *co_redis_text_string(const redisReply *reply, size_t i);

/* Read what every script replies. */
co_store_result_e co_redis_text_result(const redisReply *reply);
void co_redis_text_stock(const redisReply *reply, co_stock_t *stock);

/* Read the further values of CO_LUA_EXPIRE and CO_LUA_COUNT. */
void co_redis_text_expired(const redisReply *reply, co_expired_t *expired);
void co_redis_text_read_levels(const redisReply *reply, co_level_t *levels,
    int n);


#endif /* CO_REDIS_TEXT_H */
