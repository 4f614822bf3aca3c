/*
 * Between the words of the store and those of the scripts in Redis.
 */

#ifndef CO_STORE_REDIS_TEXT_H
#define CO_STORE_REDIS_TEXT_H


#include <hiredis/hiredis.h>

#include "store.h"
#include "store_redis_client.h"
#include "store_redis_lua.h"


/* One level, part or line of a cart as text, with a comma behind it. */
#define CO_REDIS_TEXT_LEN   64

/* The largest cart or hold. */
#define CO_REDIS_TEXT_SIZE  (CO_HOLD_PARTS * CO_REDIS_TEXT_LEN + 1)


/*
 * The script, its keys, what Redis must have sold at least (or it has older
 * data than it had), and up to four other words, the last ones NULL.
 */
void co_redis_words_of(co_redis_command_t *command, co_lua_e script,
    const char *least, const char *a, const char *b, const char *c,
    const char *d);

/* Levels as "item:location:initial:sold,...", to be freed; NULL: no memory. */
char *co_redis_levels_text(const co_level_t *levels, int n);

/* Into CO_REDIS_TEXT_SIZE bytes: "item:location:quantity,...". */
void co_redis_parts_text(const co_hold_t *hold, char *text);
void co_redis_parts_read(co_hold_t *hold, const char *text);

/* Into CO_REDIS_TEXT_SIZE bytes: "item:quantity,...". */
void co_redis_cart_text(const co_cart_t *cart, char *text);

/* The locations that can deliver, "1 3 4". */
void co_redis_locations_text(const co_cart_t *cart, char *text, size_t size);

/* Element number "i" of a reply; 0 and "" where it is something else. */
int64_t co_redis_number(const redisReply *reply, size_t i);
const char *co_redis_string(const redisReply *reply, size_t i);

/* What every script replies. */
co_store_result_e co_redis_result(const redisReply *reply);
void co_redis_stock(const redisReply *reply, co_stock_t *stock);

/* What CO_LUA_EXPIRE and CO_LUA_COUNT reply besides. */
void co_redis_expired(const redisReply *reply, co_expired_t *expired);
void co_redis_levels(const redisReply *reply, co_level_t *levels, int n);


#endif /* CO_STORE_REDIS_TEXT_H */
