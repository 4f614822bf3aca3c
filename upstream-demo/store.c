/*
 * The store's thread.
 *
 * SQLite lets one writer in at a time, and writers that wait on its lock
 * starve one another.  So there is one writer: a thread with a first-in
 * first-out queue.  Whatever has gathered while it worked becomes one
 * transaction, which lets a file be synced once for many orders, and keeps
 * the wait for the disk off the event loop.
 */

#include "store.h"
#include "store_sqlite.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/eventfd.h>


typedef struct {
    co_store_call_t    *first;
    co_store_call_t   **last;
} co_store_queue_t;


struct co_store_s {
    co_sqlite_t        *sqlite;
    co_stock_t          stock;

    pthread_t           thread;
    pthread_mutex_t     mutex;
    pthread_cond_t      wanted;
    co_store_queue_t    calls;
    co_store_queue_t    answers;
    int                 closing;

    int                 fd;                      /* eventfd: answers wait */
    struct event       *event;
};


static void *co_store_thread(void *data);
static void co_store_work(co_store_t *store, co_store_call_t *first);
static void co_store_answer(evutil_socket_t fd, short events, void *data);


static void
co_store_queue_init(co_store_queue_t *queue)
{
    queue->first = NULL;
    queue->last = &queue->first;
}


static co_store_call_t *
co_store_queue_take(co_store_queue_t *queue)
{
    co_store_call_t  *first;

    first = queue->first;
    co_store_queue_init(queue);

    return first;
}


co_store_t *
co_store_open(struct event_base *base, const co_store_conf_t *conf,
    co_store_found_t *found, char *error)
{
    co_store_t  *store;

    store = calloc(1, sizeof(*store));
    if (store == NULL) {
        snprintf(error, CO_STORE_ERROR_LEN, "out of memory");
        return NULL;
    }

    store->sqlite = co_sqlite_open(conf, found, error);
    if (store->sqlite == NULL) {
        free(store);
        return NULL;
    }

    store->stock = found->stock;
    co_store_queue_init(&store->calls);
    co_store_queue_init(&store->answers);
    pthread_mutex_init(&store->mutex, NULL);
    pthread_cond_init(&store->wanted, NULL);

    store->fd = eventfd(0, EFD_NONBLOCK|EFD_CLOEXEC);
    if (store->fd == -1) {
        goto failed;
    }

    store->event = event_new(base, store->fd, EV_READ|EV_PERSIST,
                             co_store_answer, store);
    if (store->event == NULL || event_add(store->event, NULL) != 0) {
        goto failed;
    }

    errno = pthread_create(&store->thread, NULL, co_store_thread, store);
    if (errno == 0) {
        return store;
    }

failed:

    snprintf(error, CO_STORE_ERROR_LEN, "cannot start the store's thread: %s",
             strerror(errno));

    if (store->event != NULL) {
        event_free(store->event);
    }

    if (store->fd != -1) {
        close(store->fd);
    }

    co_sqlite_close(store->sqlite);
    free(store);

    return NULL;
}


void
co_store_close(co_store_t *store)
{
    pthread_mutex_lock(&store->mutex);
    store->closing = 1;
    pthread_cond_signal(&store->wanted);
    pthread_mutex_unlock(&store->mutex);

    pthread_join(store->thread, NULL);

    event_free(store->event);
    close(store->fd);
    co_sqlite_close(store->sqlite);
    pthread_cond_destroy(&store->wanted);
    pthread_mutex_destroy(&store->mutex);
    free(store);
}


static void *
co_store_thread(void *data)
{
    co_store_t       *store = data;
    co_store_call_t  *first;

    for ( ;; ) {
        pthread_mutex_lock(&store->mutex);

        while (store->calls.first == NULL && !store->closing) {
            pthread_cond_wait(&store->wanted, &store->mutex);
        }

        first = co_store_queue_take(&store->calls);

        pthread_mutex_unlock(&store->mutex);

        if (first == NULL) {
            return NULL;
        }

        co_store_work(store, first);
    }
}


static void
co_store_work(co_store_t *store, co_store_call_t *first)
{
    int                failed;
    co_store_call_t   *call, **last;
    static const uint64_t  one = 1;

    failed = co_sqlite_begin(store->sqlite) != 0;

    if (!failed) {
        for (call = first; call != NULL; call = call->next) {
            co_sqlite_apply(store->sqlite, call);
        }

        failed = co_sqlite_commit(store->sqlite) != 0;
    }

    for (last = &first; *last != NULL; last = &(*last)->next) {
        if (failed) {
            (*last)->result = CO_STORE_FAILED;
        }
    }

    pthread_mutex_lock(&store->mutex);
    *store->answers.last = first;
    store->answers.last = last;
    pthread_mutex_unlock(&store->mutex);

    /* it cannot fail: the counter would have to overflow */
    if (write(store->fd, &one, sizeof(one)) != sizeof(one)) {
        perror("checkout: store: eventfd");
    }
}


static void
co_store_answer(evutil_socket_t fd, short events, void *data)
{
    co_store_t       *store = data;
    uint64_t          count;
    co_store_call_t  *call, *next;

    (void) events;

    /* resets the counter; what it stood at does not matter */
    if (read(fd, &count, sizeof(count)) != sizeof(count)) {
        return;
    }

    pthread_mutex_lock(&store->mutex);
    call = co_store_queue_take(&store->answers);
    pthread_mutex_unlock(&store->mutex);

    for ( /* void */ ; call != NULL; call = next) {

        /* the callback may free the call, or use it for the next one */
        next = call->next;

        if (call->result != CO_STORE_FAILED) {
            store->stock = call->stock;
        }

        call->done(call->data, call->result);
    }
}


static void
co_store_call(co_store_t *store, co_store_call_t *call,
    co_store_action_e action, int64_t quantity, const co_order_t *order,
    co_store_done_pt done, void *data)
{
    call->action = action;
    call->quantity = quantity;
    call->order = order;
    call->done = done;
    call->data = data;
    call->next = NULL;

    pthread_mutex_lock(&store->mutex);

    *store->calls.last = call;
    store->calls.last = &call->next;
    pthread_cond_signal(&store->wanted);

    pthread_mutex_unlock(&store->mutex);
}


void
co_store_reserve(co_store_t *store, co_store_call_t *call, int64_t quantity,
    co_store_done_pt done, void *data)
{
    co_store_call(store, call, CO_STORE_RESERVE, quantity, NULL, done, data);
}


void
co_store_claim(co_store_t *store, co_store_call_t *call, int64_t quantity,
    const co_order_t *order, co_store_done_pt done, void *data)
{
    co_store_call(store, call, CO_STORE_CLAIM, quantity, order, done, data);
}


void
co_store_release(co_store_t *store, co_store_call_t *call, int64_t quantity,
    co_store_done_pt done, void *data)
{
    co_store_call(store, call, CO_STORE_RELEASE, quantity, NULL, done, data);
}


void
co_store_look(co_store_t *store, co_store_call_t *call, int64_t quantity,
    co_store_done_pt done, void *data)
{
    co_store_call(store, call, CO_STORE_LOOK, quantity, NULL, done, data);
}


void
co_store_sell(co_store_t *store, co_store_call_t *call, int64_t quantity,
    const co_order_t *order, co_store_done_pt done, void *data)
{
    co_store_call(store, call, CO_STORE_SELL, quantity, order, done, data);
}


void
co_store_reset(co_store_t *store, co_store_call_t *call,
    co_store_done_pt done, void *data)
{
    co_store_call(store, call, CO_STORE_RESET, 0, NULL, done, data);
}


const co_stock_t *
co_store_stock(const co_store_t *store)
{
    return &store->stock;
}
