/*
 * A connection to Redis on the event loop: runs scripts in the order of the
 * calls, and connects anew when the connection is lost.
 */

#ifndef CO_STORE_REDIS_CLIENT_H
#define CO_STORE_REDIS_CLIENT_H


#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include <event2/event.h>
#include <hiredis/hiredis.h>


/* Keys and other words of one call. */
#define CO_REDIS_WORDS_MAX  24


typedef struct co_redis_s  co_redis_t;


/* A script and what it is given: "keys" of the words are its KEYS. */
typedef struct {
    const char         *script;
    int                 keys;
    int                 n;
    const char         *words[CO_REDIS_WORDS_MAX];
} co_redis_command_t;


/*
 * "reply" is NULL where none came that can be used: Redis is away, too slow,
 * or complains.  Whether the script ran is then not known.
 */
typedef void (*co_redis_done_pt)(void *data, const redisReply *reply);

typedef struct co_redis_call_s  co_redis_call_t;

/* A call under way: part of the caller, who keeps it until "done". */
struct co_redis_call_s {
    co_redis_t                    *redis;
    co_redis_done_pt               done;
    void                          *data;
    int64_t                        sent_us;
    TAILQ_ENTRY(co_redis_call_s)   link;
};


/*
 * Connects to the Unix socket at "path", which must stay where it is.  NULL on
 * failure, with what is wrong in "error" (of "size" bytes).
 */
co_redis_t *co_redis_open(struct event_base *base, const char *path,
    char *error, size_t size);

/* Closes; calls under way end without their callbacks. */
void co_redis_close(co_redis_t *redis);

/* Runs a script; "done" is called later, never before this returns. */
void co_redis_run(co_redis_t *redis, co_redis_call_t *call,
    const co_redis_command_t *command, co_redis_done_pt done, void *data);

/*
 * The same on a connection of its own, waiting for the reply (to be freed):
 * for what comes before the event loop.
 */
redisReply *co_redis_run_now(const char *path,
    const co_redis_command_t *command, char *error, size_t size);


#endif /* CO_STORE_REDIS_CLIENT_H */
