/*
 * A connection to Redis on the event loop.  It runs scripts in the order of
 * the calls, and reconnects when the connection is lost.
 */

#ifndef CO_REDIS_CLIENT_H
#define CO_REDIS_CLIENT_H


#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include <event2/event.h>
#include <hiredis/hiredis.h>


/* Keys and other arguments of one script. */
#define CO_REDIS_ARGS_MAX  24


typedef struct co_redis_client_s  co_redis_client_t;


/* A script and its arguments; the first "keys" of them are KEYS. */
typedef struct {
    const char         *script;
    int                 keys;
    int                 n;
    const char         *args[CO_REDIS_ARGS_MAX];
} co_redis_command_t;


/*
 * "reply" is NULL if Redis is down, has timed out or has returned an error.
 * It is then unknown whether the script ran.
 */
typedef void (*co_redis_done_pt)(void *data, const redisReply *reply);

typedef struct co_redis_call_s  co_redis_call_t;

/* A call in progress; the caller keeps it until "done" is called. */
struct co_redis_call_s {
    co_redis_client_t             *client;
    co_redis_done_pt               done;
    void                          *data;
    int64_t                        sent_us;
    TAILQ_ENTRY(co_redis_call_s)   link;
};


/*
 * Connects to the Unix socket at "path", which must stay valid.  Returns NULL
 * on failure, with the reason in "error" (of "size" bytes).
 */
co_redis_client_t *co_redis_client_open(struct event_base *base,
    const char *path, char *error, size_t size);

/* Closes the connection.  Calls in progress end without their callbacks. */
void co_redis_client_close(co_redis_client_t *client);

/* Runs a script; "done" is never called before this returns. */
void co_redis_client_run(co_redis_client_t *client, co_redis_call_t *call,
    const co_redis_command_t *command, co_redis_done_pt done, void *data);

/*
 * Runs a script on a new connection and waits for the reply, which the caller
 * frees; for use before the event loop runs.
 */
redisReply *co_redis_client_run_now(const char *path,
    const co_redis_command_t *command, char *error, size_t size);


#endif /* CO_REDIS_CLIENT_H */
