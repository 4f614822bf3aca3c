/*
 * The scripts that run in Redis; each is atomic.
 *
 * The KEYS of all scripts are four hashes by "item:location", with the sum in
 * field "all" (initial, stock, held, sold), the holds by id, a sorted set of
 * hold ids by expiry, and one of the ids sold lately.  The first argument is
 * the number of units that Redis must have sold at least; the arguments listed
 * below follow.  A reply is {code, available, held, sold, initial, parts},
 * followed by further values where listed.  Parts are written
 * "item:location:quantity", separated by commas.
 */

#ifndef CO_REDIS_LUA_H
#define CO_REDIS_LUA_H


#define CO_REDIS_KEYS  7


typedef enum {
    CO_LUA_RESERVE = 0,      /* id, expiry, "item:quantity,...", locations */
    CO_LUA_APPLY,            /* id, expiry, parts */
    CO_LUA_FINISH,           /* id: sell its units; with parts: also if the
                                hold is gone */
    CO_LUA_RELEASE,          /* id */
    CO_LUA_PARTS,            /* id, time: return the parts, expire not before
                                "time" */
    CO_LUA_EXPIRE,           /* now, maximum; replies units, id, ... */
    CO_LUA_LOOK,             /* "item:quantity,...", locations */
    CO_LUA_SELL,             /* parts */
    CO_LUA_COUNT,            /* replies "item:location", initial, stock, held,
                                sold, ... */
    CO_LUA_BEGIN,            /* "item:location:initial:sold,...", "1" to keep
                                the holds */
    CO_LUA_N
} co_lua_e;

/* The code of a reply. */
typedef enum {
    CO_LUA_OK = 0,
    CO_LUA_SOLD_OUT,
    CO_LUA_GONE,
    CO_LUA_DEBT
} co_lua_code_e;


extern const char *const  co_redis_lua_scripts[CO_LUA_N];

/* The names of the KEYS, in the order above. */
extern const char *const  co_redis_lua_keys[CO_REDIS_KEYS];


#endif /* CO_REDIS_LUA_H */
