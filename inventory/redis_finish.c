#include "redis_finish.h"
#include "redis_lua.h"
#include "redis_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event_struct.h>


#define CO_REDIS_FINISH_S  1


typedef struct co_redis_finish_claim_s  co_redis_finish_claim_t;

struct co_redis_finish_claim_s {
    TAILQ_ENTRY(co_redis_finish_claim_s)        link;
    char                                 id[CO_HOLD_ID_LEN + 1];
    char                                 parts[];
};


struct co_redis_finish_s {
    co_redis_client_t                   *client;
    const char                          *min_sold;
    co_redis_call_t                      call;
    struct event                         timer;
    int                                  busy;   /* queued or sent */
    TAILQ_HEAD(, co_redis_finish_claim_s)       claims;
};


static void co_redis_finish_run(evutil_socket_t fd, short events, void *data);
static void co_redis_finish_replied(void *data, const redisReply *reply);


co_redis_finish_t *
co_redis_finish_new(struct event_base *base, co_redis_client_t *client,
    const char *min_sold)
{
    co_redis_finish_t  *finish;

    finish = calloc(1, sizeof(*finish));
    if (finish == NULL) {
        return NULL;
    }

    finish->client = client;
    finish->min_sold = min_sold;
    TAILQ_INIT(&finish->claims);
    evtimer_assign(&finish->timer, base, co_redis_finish_run, finish);

    return finish;
}


void
co_redis_finish_clear(co_redis_finish_t *finish)
{
    co_redis_finish_claim_t  *claim;

    while ((claim = TAILQ_FIRST(&finish->claims)) != NULL) {
        TAILQ_REMOVE(&finish->claims, claim, link);
        free(claim);
    }
}


void
co_redis_finish_free(co_redis_finish_t *finish)
{
    co_redis_finish_clear(finish);
    event_del(&finish->timer);
    free(finish);
}


static void
co_redis_finish_later(co_redis_finish_t *finish)
{
    static const struct timeval  pause = { CO_REDIS_FINISH_S, 0 };

    evtimer_add(&finish->timer, &pause);
}


void
co_redis_finish_add(co_redis_finish_t *finish, const char *id,
    const char *parts)
{
    size_t                    size = strlen(parts) + 1;
    co_redis_finish_claim_t  *claim;

    claim = malloc(sizeof(*claim) + size);
    if (claim == NULL) {
        fprintf(stderr, "checkout: store: out of memory\n");
        return;
    }

    snprintf(claim->id, sizeof(claim->id), "%s", id);
    memcpy(claim->parts, parts, size);

    TAILQ_INSERT_TAIL(&finish->claims, claim, link);

    if (!finish->busy) {
        finish->busy = 1;
        co_redis_finish_later(finish);
    }
}


static void
co_redis_finish_run(evutil_socket_t fd, short events, void *data)
{
    co_redis_finish_claim_t  *claim;
    co_redis_finish_t        *finish = data;
    co_redis_command_t        command;

    (void) fd;
    (void) events;

    claim = TAILQ_FIRST(&finish->claims);
    if (claim == NULL) {
        finish->busy = 0;
        return;
    }

    co_redis_text_command(&command, CO_LUA_FINISH, finish->min_sold, claim->id,
                          claim->parts, NULL, NULL);
    co_redis_client_run(finish->client, &finish->call, &command,
                        co_redis_finish_replied, finish);
}


static void
co_redis_finish_replied(void *data, const redisReply *reply)
{
    co_redis_finish_claim_t  *claim;
    co_redis_finish_t        *finish = data;

    if (reply == NULL) {
        co_redis_finish_later(finish);
        return;
    }

    /* the list may have been cleared meanwhile */
    claim = TAILQ_FIRST(&finish->claims);

    if (claim != NULL) {
        TAILQ_REMOVE(&finish->claims, claim, link);
        free(claim);
    }

    co_redis_finish_run(-1, 0, finish);
}
