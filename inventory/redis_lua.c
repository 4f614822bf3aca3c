/*
 * The scripts that run in Redis.
 *
 * A reservation decrements the stock, a release increments it.  The script
 * checks the stock first, because a decrement alone goes below 0, and records
 * the hold.
 */

#include "redis_lua.h"


/* One hash tag: a cluster keeps all keys on one node. */
#define CO_KEY(name)  "{flash-throttle}:" name


const char *const  co_redis_lua_keys[CO_REDIS_KEYS] = {
    CO_KEY("initial"), CO_KEY("stock"), CO_KEY("held"), CO_KEY("sold"),
    CO_KEY("holds"), CO_KEY("ends"), CO_KEY("done")
};


#define CO_LUA_DONE_S  "3600"


#define CO_LUA_FUNCTIONS                                                      \
    "local initial, stock, held, sold, holds, ends, done = unpack(KEYS)\n"    \
    "local min_sold = tonumber(table.remove(ARGV, 1))\n"                      \
    "local call = redis.call\n"                                               \
    "local function number(key, field)\n"                                     \
    "  return tonumber(call('HGET', key, field)) or 0\n"                      \
    "end\n"                                                                   \
    "local function add(key, place, n)\n"                                     \
    "  call('HINCRBY', key, 'all', n)\n"                                      \
    "  return call('HINCRBY', key, place, n)\n"                               \
    "end\n"                                                                   \
    "local function each(parts, from, to)\n"                                  \
    "  local least = 0\n"                                                     \
    "  for place, n in parts:gmatch('(%d+:%d+):(%d+)') do\n"                  \
    "    least = math.min(least, add(from, place, -n))\n"                     \
    "    add(to, place, n)\n"                                                 \
    "  end\n"                                                                 \
    "  return least\n"                                                        \
    "end\n"                                                                   \
    "local function hold(id, at, parts)\n"                                    \
    "  call('HSET', holds, id, parts)\n"                                      \
    "  call('ZADD', ends, at, id)\n"                                          \
    "  return each(parts, stock, held)\n"                                     \
    "end\n"                                                                   \
    "local function take(id, to)\n"                                           \
    "  local parts = call('HGET', holds, id)\n"                               \
    "  if parts then\n"                                                       \
    "    call('HDEL', holds, id)\n"                                           \
    "    call('ZREM', ends, id)\n"                                            \
    "    each(parts, held, to)\n"                                             \
    "  end\n"                                                                 \
    "  return parts\n"                                                        \
    "end\n"                                                                   \
    "local function answer(code, parts)\n"                                    \
    "  return {code, number(stock, 'all'), number(held, 'all'),\n"            \
    "          number(sold, 'all'), number(initial, 'all'), parts or ''}\n"   \
    "end\n"

/*
 * An empty Redis is not sold out, and a Redis with older data would sell units
 * twice: both are refused.
 */
#define CO_LUA_FILLED                                                         \
    "if call('EXISTS', initial) == 0 or number(sold, 'all') < min_sold then\n"\
    "  return redis.error_reply('stock lost: empty, or older than the'\n"     \
    "                           .. ' ledger')\n"                              \
    "end\n"

#define CO_LUA_COMMON  CO_LUA_FUNCTIONS CO_LUA_FILLED

/* One location for a line if possible, else the first ones with stock. */
#define CO_LUA_FIND                                                           \
    "local function find(cart, locations)\n"                                  \
    "  local parts = {}\n"                                                    \
    "  for item, wanted in cart:gmatch('(%d+):(%d+)') do\n"                   \
    "    local left = tonumber(wanted)\n"                                     \
    "    for location in locations:gmatch('%d+') do\n"                        \
    "      local place = item .. ':' .. location\n"                           \
    "      if number(stock, place) >= left then\n"                            \
    "        parts[#parts + 1] = place .. ':' .. left\n"                      \
    "        left = 0\n"                                                      \
    "        break\n"                                                         \
    "      end\n"                                                             \
    "    end\n"                                                               \
    "    if left > 0 then\n"                                                  \
    "      for location in locations:gmatch('%d+') do\n"                      \
    "        local place = item .. ':' .. location\n"                         \
    "        local n = math.min(number(stock, place), left)\n"                \
    "        if n > 0 then\n"                                                 \
    "          parts[#parts + 1] = place .. ':' .. n\n"                       \
    "          left = left - n\n"                                             \
    "        end\n"                                                           \
    "      end\n"                                                             \
    "    end\n"                                                               \
    "    if left > 0 then return nil end\n"                                   \
    "  end\n"                                                                 \
    "  return table.concat(parts, ',')\n"                                     \
    "end\n"


const char *const  co_redis_lua_scripts[CO_LUA_N] = {

    [CO_LUA_RESERVE] =
        CO_LUA_COMMON CO_LUA_FIND
        "local id, at, cart, locations = unpack(ARGV)\n"
        "local parts = call('HGET', holds, id)\n"
        "if parts then return answer(0, parts) end\n"
        "parts = find(cart, locations)\n"
        "if not parts then return answer(1) end\n"
        "hold(id, at, parts)\n"
        "return answer(0, parts)\n",

    [CO_LUA_APPLY] =
        CO_LUA_COMMON
        "local id, at, parts = unpack(ARGV)\n"
        "if call('HEXISTS', holds, id) == 1 or call('ZSCORE', done, id) then\n"
        "  return answer(0)\n"
        "end\n"
        "if hold(id, at, parts) < 0 then return answer(3) end\n"
        "return answer(0)\n",

    /* with parts: the ledger has sold them, even if the hold is gone */
    [CO_LUA_FINISH] =
        CO_LUA_COMMON
        "local parts = take(ARGV[1], sold)\n"
        "local known = call('ZSCORE', done, ARGV[1])\n"
        "if not parts and not known and ARGV[2] then\n"
        "  parts = ARGV[2]\n"
        "  each(parts, stock, sold)\n"
        "end\n"
        "local now = tonumber(call('TIME')[1])\n"
        "call('ZREMRANGEBYSCORE', done, '-inf', now - " CO_LUA_DONE_S ")\n"
        "if parts then call('ZADD', done, now, ARGV[1]) end\n"
        "return answer((parts or known and ARGV[2]) and 0 or 2, parts)\n",

    [CO_LUA_RELEASE] =
        CO_LUA_COMMON
        "local parts = take(ARGV[1], stock)\n"
        "return answer(parts and 0 or 2, parts)\n",

    /* the hold must not expire while the ledger sells it */
    [CO_LUA_PARTS] =
        CO_LUA_COMMON
        "local parts = call('HGET', holds, ARGV[1])\n"
        "if parts then\n"
        "  local at = tonumber(call('ZSCORE', ends, ARGV[1])) or 0\n"
        "  call('ZADD', ends, math.max(at, tonumber(ARGV[2])), ARGV[1])\n"
        "end\n"
        "return answer(parts and 0 or 2, parts)\n",

    [CO_LUA_EXPIRE] =
        CO_LUA_COMMON
        "local ids = call('ZRANGEBYSCORE', ends, '-inf', ARGV[1],\n"
        "                 'LIMIT', 0, ARGV[2])\n"
        "local before = number(stock, 'all')\n"
        "for _, id in ipairs(ids) do take(id, stock) end\n"
        "local reply = answer(0)\n"
        "reply[7] = number(stock, 'all') - before\n"
        "for _, id in ipairs(ids) do reply[#reply + 1] = id end\n"
        "return reply\n",

    [CO_LUA_LOOK] =
        CO_LUA_COMMON CO_LUA_FIND
        "return answer(find(ARGV[1], ARGV[2]) and 0 or 1)\n",

    [CO_LUA_SELL] =
        CO_LUA_COMMON
        "each(ARGV[1], stock, sold)\n"
        "return answer(0)\n",

    [CO_LUA_COUNT] =
        CO_LUA_COMMON
        "local reply = answer(0)\n"
        "for _, place in ipairs(call('HKEYS', initial)) do\n"
        "  if place ~= 'all' then\n"
        "    for _, value in ipairs({place, number(initial, place),\n"
        "        number(stock, place), number(held, place),\n"
        "        number(sold, place)}) do\n"
        "      reply[#reply + 1] = value\n"
        "    end\n"
        "  end\n"
        "end\n"
        "return reply\n",

    /* available = what the ledger has not sold, minus the holds */
    [CO_LUA_BEGIN] =
        CO_LUA_FUNCTIONS
        "call('DEL', initial, stock, held, sold)\n"
        "if ARGV[2] ~= '1' then call('DEL', holds, ends, done) end\n"
        "for place, all, gone in ARGV[1]:gmatch('(%d+:%d+):(%d+):(%d+)') do\n"
        "  add(initial, place, all)\n"
        "  add(sold, place, gone)\n"
        "  add(held, place, 0)\n"
        "  add(stock, place, all - gone)\n"
        "end\n"
        "for _, parts in ipairs(call('HVALS', holds)) do\n"
        "  each(parts, stock, held)\n"
        "end\n"
        "return answer(0)\n"
};
