/*
 * A connection to Redis on the event loop.
 *
 * Scripts go as EVAL with their text rather than as EVALSHA: Redis finds them
 * in its cache all the same, and there is no case of a cache that was flushed.
 */

#include "store_redis_client.h"
#include "clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event_struct.h>
#include <hiredis/async.h>
#include <hiredis/adapters/libevent.h>


/* A Redis that keeps a call waiting for this long is given up. */
#define CO_REDIS_PATIENCE_MS  2000

/* How often it is looked at, and how soon a lost one is tried again. */
#define CO_REDIS_WATCH_MS     100


TAILQ_HEAD(co_redis_calls_s, co_redis_call_s);


struct co_redis_s {
    struct event_base        *base;
    const char               *path;
    redisAsyncContext        *context;           /* NULL: not connected */
    struct co_redis_calls_s   sent;
    struct co_redis_calls_s   failed;            /* could not be sent */
    struct event              watch;
    struct event              fail;
    int                       closing;
    int                       said;              /* that it is away */
};


static int co_redis_connect(co_redis_t *redis);
static void co_redis_connected(const redisAsyncContext *context, int status);
static void co_redis_lost(const redisAsyncContext *context, int status);
static void co_redis_say(co_redis_t *redis, const char *what);
static void co_redis_replied(redisAsyncContext *context, void *reply,
    void *data);
static void co_redis_end(co_redis_call_t *call, const redisReply *reply);
static void co_redis_watch(evutil_socket_t fd, short events, void *data);
static void co_redis_fail(evutil_socket_t fd, short events, void *data);


co_redis_t *
co_redis_open(struct event_base *base, const char *path, char *error,
    size_t size)
{
    co_redis_t                  *redis;
    static const struct timeval  tv = { 0, CO_REDIS_WATCH_MS * 1000 };

    redis = calloc(1, sizeof(*redis));
    if (redis == NULL) {
        snprintf(error, size, "out of memory");
        return NULL;
    }

    redis->base = base;
    redis->path = path;
    TAILQ_INIT(&redis->sent);
    TAILQ_INIT(&redis->failed);

    event_assign(&redis->watch, base, -1, EV_PERSIST, co_redis_watch, redis);
    evtimer_assign(&redis->fail, base, co_redis_fail, redis);

    if (co_redis_connect(redis) != 0 || event_add(&redis->watch, &tv) != 0) {
        snprintf(error, size, "cannot connect to Redis at %s", path);
        co_redis_close(redis);
        return NULL;
    }

    return redis;
}


void
co_redis_close(co_redis_t *redis)
{
    redis->closing = 1;

    if (redis->context != NULL) {
        redisAsyncFree(redis->context);
    }

    co_redis_fail(-1, 0, redis);

    event_del(&redis->watch);
    event_del(&redis->fail);
    free(redis);
}


static int
co_redis_connect(co_redis_t *redis)
{
    redisAsyncContext  *context;

    context = redisAsyncConnectUnix(redis->path);
    if (context == NULL) {
        return -1;
    }

    if (context->err) {
        co_redis_say(redis, context->errstr);
        redisAsyncFree(context);
        return -1;
    }

    context->data = redis;

    if (redisLibeventAttach(context, redis->base) != REDIS_OK) {
        redisAsyncFree(context);
        return -1;
    }

    redisAsyncSetConnectCallback(context, co_redis_connected);
    redisAsyncSetDisconnectCallback(context, co_redis_lost);
    redis->context = context;

    return 0;
}


static void
co_redis_connected(const redisAsyncContext *context, int status)
{
    co_redis_t  *redis = context->data;

    if (status != REDIS_OK) {
        co_redis_lost(context, status);
        return;
    }

    if (redis->said) {
        redis->said = 0;
        fprintf(stderr, "checkout: store: Redis at %s is back\n", redis->path);
    }
}


/* The library frees the context; the watch connects anew. */
static void
co_redis_lost(const redisAsyncContext *context, int status)
{
    co_redis_t  *redis = context->data;

    (void) status;

    redis->context = NULL;

    if (!redis->closing) {
        co_redis_say(redis, context->err ? context->errstr : "closed");
    }
}


static void
co_redis_say(co_redis_t *redis, const char *what)
{
    if (!redis->said) {
        redis->said = 1;
        fprintf(stderr, "checkout: store: Redis at %s is away: %s\n",
                redis->path, what);
    }
}


/* As the protocol has it: EVAL script number-of-keys words ... */
static int
co_redis_words(const co_redis_command_t *command, const char **argv,
    char *number, size_t size)
{
    snprintf(number, size, "%d", command->keys);

    argv[0] = "EVAL";
    argv[1] = command->script;
    argv[2] = number;
    memcpy(argv + 3, command->words,
           (size_t) command->n * sizeof(command->words[0]));

    return command->n + 3;
}


void
co_redis_run(co_redis_t *redis, co_redis_call_t *call,
    const co_redis_command_t *command, co_redis_done_pt done, void *data)
{
    int          argc;
    char         number[12];
    const char  *argv[CO_REDIS_WORDS_MAX + 3];

    call->redis = redis;
    call->done = done;
    call->data = data;
    call->sent_us = co_steady_us();

    argc = co_redis_words(command, argv, number, sizeof(number));

    if (redis->context != NULL
        && redisAsyncCommandArgv(redis->context, co_redis_replied, call, argc,
                                 argv, NULL)
           == REDIS_OK)
    {
        TAILQ_INSERT_TAIL(&redis->sent, call, link);
        return;
    }

    TAILQ_INSERT_TAIL(&redis->failed, call, link);
    event_active(&redis->fail, EV_TIMEOUT, 0);
}


static void
co_redis_replied(redisAsyncContext *context, void *reply, void *data)
{
    co_redis_call_t  *call = data;
    redisReply       *got = reply;

    (void) context;

    TAILQ_REMOVE(&call->redis->sent, call, link);

    if (got != NULL && got->type == REDIS_REPLY_ERROR) {
        fprintf(stderr, "checkout: store: Redis at %s: %s\n",
                call->redis->path, got->str);
        got = NULL;
    }

    co_redis_end(call, got);
}


static void
co_redis_end(co_redis_call_t *call, const redisReply *reply)
{
    if (!call->redis->closing) {
        call->done(call->data, reply);
    }
}


/* Gives up a Redis that hangs, and tries one that was lost. */
static void
co_redis_watch(evutil_socket_t fd, short events, void *data)
{
    co_redis_t       *redis = data;
    co_redis_call_t  *oldest;

    (void) fd;
    (void) events;

    oldest = TAILQ_FIRST(&redis->sent);

    if (oldest != NULL
        && co_steady_us() - oldest->sent_us > CO_REDIS_PATIENCE_MS * 1000)
    {
        co_redis_say(redis, "it does not answer");

        /* ends all calls, and then says that the connection is lost */
        redisAsyncFree(redis->context);
        redis->context = NULL;
    }

    if (redis->context == NULL) {
        (void) co_redis_connect(redis);
    }
}


static void
co_redis_fail(evutil_socket_t fd, short events, void *data)
{
    co_redis_t       *redis = data;
    co_redis_call_t  *call;

    (void) fd;
    (void) events;

    while ((call = TAILQ_FIRST(&redis->failed)) != NULL) {
        TAILQ_REMOVE(&redis->failed, call, link);
        co_redis_end(call, NULL);
    }
}


redisReply *
co_redis_run_now(const char *path, const co_redis_command_t *command,
    char *error, size_t size)
{
    int                          argc;
    char                         number[12];
    const char                  *argv[CO_REDIS_WORDS_MAX + 3];
    redisReply                  *reply;
    redisContext                *context;
    static const struct timeval  patience = { CO_REDIS_PATIENCE_MS / 1000, 0 };

    context = redisConnectUnixWithTimeout(path, patience);

    if (context == NULL || context->err
        || redisSetTimeout(context, patience) != REDIS_OK)
    {
        snprintf(error, size, "%s: %s (give the path of the Unix socket of a"
                 " Redis that runs)", path,
                 context ? context->errstr : "out of memory");
        redisFree(context);
        return NULL;
    }

    argc = co_redis_words(command, argv, number, sizeof(number));
    reply = redisCommandArgv(context, argc, argv, NULL);

    if (reply == NULL || reply->type == REDIS_REPLY_ERROR) {
        snprintf(error, size, "%s: %s", path,
                 reply ? reply->str : context->errstr);
        freeReplyObject(reply);
        reply = NULL;
    }

    redisFree(context);

    return reply;
}
