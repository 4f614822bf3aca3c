/*
 * What the Redis store has done inside Redis: scripts, each one step that
 * nothing comes between.
 *
 * KEYS of all of them: four hashes by "item:location", with the sum under
 * "all" (initial, stock, held, sold), the holds by name, a sorted set of the
 * holds' names by their end, and one of those that were sold lately.  Every
 * script is given what Redis must have sold at least, then its own words, and
 * replies {code, available, held, sold, initial, parts}, and some more behind
 * it.  Parts are written "item:location:quantity", with commas between them.
 */

#ifndef CO_STORE_REDIS_LUA_H
#define CO_STORE_REDIS_LUA_H


#define CO_REDIS_KEYS  7


typedef enum {
    CO_LUA_RESERVE = 0,      /* id, end, "item:quantity,...", locations */
    CO_LUA_APPLY,            /* id, end, parts */
    CO_LUA_FINISH,           /* id: its units are sold; id, parts: also if it
                                is there no more */
    CO_LUA_RELEASE,          /* id */
    CO_LUA_PARTS,            /* id, end: its parts, to be sold before that */
    CO_LUA_EXPIRE,           /* now, how many at most; more: units, id, ... */
    CO_LUA_LOOK,             /* "item:quantity,...", locations */
    CO_LUA_SELL,             /* parts */
    CO_LUA_COUNT,            /* more: "item:location", initial, stock, held,
                                sold, ... */
    CO_LUA_BEGIN,            /* "item:location:initial:sold,...", whether to
                                keep the holds */
    CO_LUA_N
} co_lua_e;

/* What a script replies first. */
typedef enum {
    CO_LUA_OK = 0,
    CO_LUA_SOLD_OUT,
    CO_LUA_GONE,
    CO_LUA_DEBT
} co_lua_code_e;


extern const char *const  co_lua_scripts[CO_LUA_N];

/* The names of the KEYS, in their order. */
extern const char *const  co_lua_keys[CO_REDIS_KEYS];


#endif /* CO_STORE_REDIS_LUA_H */
