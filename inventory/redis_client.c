/*
 * A connection to Redis on the event loop.
 *
 * Scripts are sent as EVAL with their text: Redis caches them, and unlike
 * EVALSHA this has no error case for a flushed cache.
 */

#include "redis_client.h"
#include "clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event_struct.h>
#include <hiredis/async.h>
#include <hiredis/adapters/libevent.h>


#define CO_REDIS_TIMEOUT_MS   2000

#define CO_REDIS_WATCH_MS     100


TAILQ_HEAD(co_redis_calls_s, co_redis_call_s);


struct co_redis_client_s {
    struct event_base        *base;
    const char               *path;
    redisAsyncContext        *context;           /* NULL: not connected */
    struct co_redis_calls_s   sent;
    struct co_redis_calls_s   failed;            /* could not be sent */
    struct event              watch;
    struct event              fail;
    int                       closing;
    int                       reported;          /* that Redis is down */
};


static int co_redis_client_connect(co_redis_client_t *client);
static void co_redis_client_connected(const redisAsyncContext *context,
    int status);
static void co_redis_client_lost(const redisAsyncContext *context,
    int status);
static void co_redis_client_log(co_redis_client_t *client, const char *what);
static void co_redis_client_replied(redisAsyncContext *context, void *reply,
    void *data);
static void co_redis_client_end(co_redis_call_t *call,
    const redisReply *reply);
static void co_redis_client_watch(evutil_socket_t fd, short events,
    void *data);
static void co_redis_client_fail(evutil_socket_t fd, short events, void *data);


co_redis_client_t *
co_redis_client_open(struct event_base *base, const char *path, char *error,
    size_t size)
{
    co_redis_client_t           *client;
    static const struct timeval  tv = { 0, CO_REDIS_WATCH_MS * 1000 };

    client = calloc(1, sizeof(*client));
    if (client == NULL) {
        snprintf(error, size, "out of memory");
        return NULL;
    }

    client->base = base;
    client->path = path;
    TAILQ_INIT(&client->sent);
    TAILQ_INIT(&client->failed);

    event_assign(&client->watch, base, -1, EV_PERSIST, co_redis_client_watch,
                 client);
    evtimer_assign(&client->fail, base, co_redis_client_fail, client);

    if (co_redis_client_connect(client) != 0
        || event_add(&client->watch, &tv) != 0)
    {
        snprintf(error, size, "connect() to Redis at \"%s\" failed", path);
        co_redis_client_close(client);
        return NULL;
    }

    return client;
}


void
co_redis_client_close(co_redis_client_t *client)
{
    client->closing = 1;

    if (client->context != NULL) {
        redisAsyncFree(client->context);
    }

    co_redis_client_fail(-1, 0, client);

    event_del(&client->watch);
    event_del(&client->fail);
    free(client);
}


static int
co_redis_client_connect(co_redis_client_t *client)
{
    redisAsyncContext  *context;

    context = redisAsyncConnectUnix(client->path);
    if (context == NULL) {
        return -1;
    }

    if (context->err) {
        co_redis_client_log(client, context->errstr);
        redisAsyncFree(context);
        return -1;
    }

    context->data = client;

    if (redisLibeventAttach(context, client->base) != REDIS_OK) {
        redisAsyncFree(context);
        return -1;
    }

    redisAsyncSetConnectCallback(context, co_redis_client_connected);
    redisAsyncSetDisconnectCallback(context, co_redis_client_lost);
    client->context = context;

    return 0;
}


static void
co_redis_client_connected(const redisAsyncContext *context, int status)
{
    co_redis_client_t  *client = context->data;

    if (status != REDIS_OK) {
        co_redis_client_lost(context, status);
        return;
    }

    if (client->reported) {
        client->reported = 0;
        fprintf(stderr, "checkout: store: reconnected to Redis at \"%s\"\n",
                client->path);
    }
}


/* The library frees the context; co_redis_client_watch() reconnects. */
static void
co_redis_client_lost(const redisAsyncContext *context, int status)
{
    co_redis_client_t  *client = context->data;

    (void) status;

    client->context = NULL;

    if (!client->closing) {
        co_redis_client_log(client, context->err ? context->errstr
                                                 : "connection closed");
    }
}


static void
co_redis_client_log(co_redis_client_t *client, const char *what)
{
    if (!client->reported) {
        client->reported = 1;
        fprintf(stderr, "checkout: store: Redis at \"%s\" failed: %s\n",
                client->path, what);
    }
}


/* EVAL script number-of-keys arguments... */
static int
co_redis_client_argv(const co_redis_command_t *command, const char **argv,
    char *number, size_t size)
{
    snprintf(number, size, "%d", command->keys);

    argv[0] = "EVAL";
    argv[1] = command->script;
    argv[2] = number;
    memcpy(argv + 3, command->args,
           (size_t) command->n * sizeof(command->args[0]));

    return command->n + 3;
}


void
co_redis_client_run(co_redis_client_t *client, co_redis_call_t *call,
    const co_redis_command_t *command, co_redis_done_pt done, void *data)
{
    int          argc;
    char         number[12];
    const char  *argv[CO_REDIS_ARGS_MAX + 3];

    call->client = client;
    call->done = done;
    call->data = data;
    call->sent_us = co_steady_us();

    argc = co_redis_client_argv(command, argv, number, sizeof(number));

    if (client->context != NULL
        && redisAsyncCommandArgv(client->context, co_redis_client_replied,
                                 call, argc, argv, NULL)
           == REDIS_OK)
    {
        TAILQ_INSERT_TAIL(&client->sent, call, link);
        return;
    }

    TAILQ_INSERT_TAIL(&client->failed, call, link);
    event_active(&client->fail, EV_TIMEOUT, 0);
}


static void
co_redis_client_replied(redisAsyncContext *context, void *reply, void *data)
{
    co_redis_call_t  *call = data;
    redisReply       *got = reply;

    (void) context;

    TAILQ_REMOVE(&call->client->sent, call, link);

    if (got != NULL && got->type == REDIS_REPLY_ERROR) {
        fprintf(stderr, "checkout: store: Redis at \"%s\": %s\n",
                call->client->path, got->str);
        got = NULL;
    }

    co_redis_client_end(call, got);
}


static void
co_redis_client_end(co_redis_call_t *call, const redisReply *reply)
{
    if (!call->client->closing) {
        call->done(call->data, reply);
    }
}


static void
co_redis_client_watch(evutil_socket_t fd, short events, void *data)
{
    co_redis_client_t  *client = data;
    co_redis_call_t    *oldest;

    (void) fd;
    (void) events;

    oldest = TAILQ_FIRST(&client->sent);

    if (oldest != NULL
        && co_steady_us() - oldest->sent_us > CO_REDIS_TIMEOUT_MS * 1000)
    {
        co_redis_client_log(client, "timed out");

        /* ends all calls */
        redisAsyncFree(client->context);
        client->context = NULL;
    }

    if (client->context == NULL) {
        (void) co_redis_client_connect(client);
    }
}


static void
co_redis_client_fail(evutil_socket_t fd, short events, void *data)
{
    co_redis_client_t  *client = data;
    co_redis_call_t    *call;

    (void) fd;
    (void) events;

    while ((call = TAILQ_FIRST(&client->failed)) != NULL) {
        TAILQ_REMOVE(&client->failed, call, link);
        co_redis_client_end(call, NULL);
    }
}


redisReply *
co_redis_client_run_now(const char *path, const co_redis_command_t *command,
    char *error, size_t size)
{
    int                          argc;
    char                         number[12];
    const char                  *argv[CO_REDIS_ARGS_MAX + 3];
    redisReply                  *reply;
    redisContext                *context;
    static const struct timeval  timeout = { CO_REDIS_TIMEOUT_MS / 1000, 0 };

    context = redisConnectUnixWithTimeout(path, timeout);

    if (context == NULL || context->err
        || redisSetTimeout(context, timeout) != REDIS_OK)
    {
        snprintf(error, size, "connect() to Redis at \"%s\" failed: %s", path,
                 context ? context->errstr : "out of memory");
        redisFree(context);
        return NULL;
    }

    argc = co_redis_client_argv(command, argv, number, sizeof(number));
    reply = redisCommandArgv(context, argc, argv, NULL);

    if (reply == NULL || reply->type == REDIS_REPLY_ERROR) {
        snprintf(error, size, "Redis at \"%s\": %s", path,
                 reply ? reply->str : context->errstr);
        freeReplyObject(reply);
        reply = NULL;
    }

    redisFree(context);

    return reply;
}
