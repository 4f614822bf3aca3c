/*
 * The front of a store: finds the backend by its scheme, returns results to
 * the event loop, and counts the stock and expires holds at intervals.
 */

#include "store_backend.h"
#include "store_valid.h"
#include "clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/eventfd.h>


#define CO_STORE_COUNT_US   250000
#define CO_STORE_EXPIRE_US  1000000


struct co_store_port_s {
    struct event_base         *base;
    pthread_mutex_t            mutex;
    co_store_call_t           *first;
    co_store_call_t          **last;
    int                        fd;               /* eventfd */
    struct event              *event;
};


typedef struct {
    co_store_call_t            call;
    struct event              *timer;
    struct timeval             every;
} co_store_timer_t;


struct co_store_s {
    const co_store_backend_t  *backend;
    void                      *data;
    co_store_port_t            port;
    int                        items;
    int                        locations;
    co_level_t                *levels;
    co_stock_t                 stock;
    co_store_timer_t           counting;
    co_store_timer_t           expiring;
    co_expired_t               expired;
    int64_t                    expired_units;
};


static const co_store_backend_t *const  *co_store_backends;


static int co_store_port_open(co_store_port_t *port, struct event_base *base);
static void co_store_port_close(co_store_port_t *port);
static void co_store_port_event(evutil_socket_t fd, short events, void *data);
static int co_store_timers_start(co_store_t *store,
    const co_store_conf_t *conf);
static int co_store_timer_add(co_store_t *store, co_store_timer_t *timer,
    event_callback_fn run, int64_t every_us);
static void co_store_run_count(evutil_socket_t fd, short events, void *data);
static void co_store_counted(void *data, co_store_result_e result);
static void co_store_run_expire(evutil_socket_t fd, short events, void *data);
static void co_store_expired(void *data, co_store_result_e result);


void
co_store_register(const co_store_backend_t *const *backends)
{
    co_store_backends = backends;
}


static const co_store_backend_t *
co_store_find(const char *spec, const char **place)
{
    size_t                            len;
    const co_store_backend_t *const  *backend;

    for (backend = co_store_backends; *backend != NULL; backend++) {
        len = strlen((*backend)->scheme);

        if (strncmp(spec, (*backend)->scheme, len) == 0 && spec[len] == ':') {
            *place = spec + len + 1;
            return *backend;
        }
    }

    return NULL;
}


int
co_store_check(const char *spec, char *error)
{
    int                               len;
    const char                       *place;
    const co_store_backend_t         *backend;
    const co_store_backend_t *const  *each;

    backend = co_store_find(spec, &place);

    if (backend != NULL) {
        return backend->check(place, error);
    }

    len = snprintf(error, CO_STORE_ERROR_LEN, "give ");

    for (each = co_store_backends; *each != NULL; each++) {
        len += snprintf(error + len, CO_STORE_ERROR_LEN - (size_t) len,
                        "%s%s", each == co_store_backends ? "" : ", or ",
                        (*each)->example);
    }

    return -1;
}


co_store_t *
co_store_open(struct event_base *base, const co_store_conf_t *conf,
    co_store_found_t *found, char *error)
{
    const char  *place;
    co_store_t  *store;

    memset(found, 0, sizeof(*found));

    if (co_store_check(conf->spec, error) != 0) {
        return NULL;
    }

    store = calloc(1, sizeof(*store));
    if (store == NULL) {
        snprintf(error, CO_STORE_ERROR_LEN, "out of memory");
        return NULL;
    }

    store->backend = co_store_find(conf->spec, &place);
    store->items = conf->items;
    store->locations = conf->locations;
    store->levels = calloc((size_t) conf->items * (size_t) conf->locations,
                           sizeof(co_level_t));

    if (store->levels == NULL || co_store_port_open(&store->port, base) != 0) {
        snprintf(error, CO_STORE_ERROR_LEN, "initialization failed: %s",
                 strerror(errno));
        free(store->levels);
        free(store);
        return NULL;
    }

    store->data = store->backend->open(&store->port, place, conf, found,
                                       error);

    if (store->data == NULL) {
        co_store_port_close(&store->port);
        free(store->levels);
        free(store);
        return NULL;
    }

    store->stock = found->stock;

    if (co_store_timers_start(store, conf) != 0) {
        snprintf(error, CO_STORE_ERROR_LEN, "out of memory");
        co_store_close(store);
        return NULL;
    }

    return store;
}


void
co_store_close(co_store_t *store)
{
    store->backend->close(store->data);

    if (store->counting.timer != NULL) {
        event_free(store->counting.timer);
    }

    if (store->expiring.timer != NULL) {
        event_free(store->expiring.timer);
    }

    co_store_port_close(&store->port);
    free(store->levels);
    free(store);
}


static int
co_store_port_open(co_store_port_t *port, struct event_base *base)
{
    port->base = base;
    port->first = NULL;
    port->last = &port->first;

    port->fd = eventfd(0, EFD_NONBLOCK|EFD_CLOEXEC);
    if (port->fd == -1) {
        return -1;
    }

    port->event = event_new(base, port->fd, EV_READ|EV_PERSIST,
                            co_store_port_event, port);

    if (port->event == NULL || event_add(port->event, NULL) != 0) {
        if (port->event != NULL) {
            event_free(port->event);
        }

        close(port->fd);
        return -1;
    }

    pthread_mutex_init(&port->mutex, NULL);

    return 0;
}


static void
co_store_port_close(co_store_port_t *port)
{
    event_free(port->event);
    close(port->fd);
    pthread_mutex_destroy(&port->mutex);
}


struct event_base *
co_store_port_base(co_store_port_t *port)
{
    return port->base;
}


void
co_store_answer(co_store_port_t *port, co_store_call_t *first)
{
    co_store_call_t      **last;
    static const uint64_t  one = 1;

    for (last = &first; *last != NULL; last = &(*last)->next) { /* void */ }

    pthread_mutex_lock(&port->mutex);
    *port->last = first;
    port->last = last;
    pthread_mutex_unlock(&port->mutex);

    if (write(port->fd, &one, sizeof(one)) != sizeof(one)) {
        perror("checkout: store: write() to eventfd failed");
    }
}


static void
co_store_port_event(evutil_socket_t fd, short events, void *data)
{
    uint64_t          count;
    co_store_t       *store;
    co_store_port_t  *port = data;
    co_store_call_t  *call, *next;

    (void) events;

    if (read(fd, &count, sizeof(count)) != sizeof(count)) {
        return;
    }

    store = (co_store_t *) ((char *) port - offsetof(co_store_t, port));

    pthread_mutex_lock(&port->mutex);
    call = port->first;
    port->first = NULL;
    port->last = &port->first;
    pthread_mutex_unlock(&port->mutex);

    for ( /* void */ ; call != NULL; call = next) {

        /* the callback may free or reuse the call */
        next = call->next;

        if (call->stock_known) {
            store->stock = call->stock;
        }

        call->done(call->data, call->result);
    }
}


void
co_store_submit(co_store_t *store, co_store_call_t *call,
    co_store_done_pt done, void *data)
{
    call->done = done;
    call->data = data;
    call->now_ms = call->action == CO_STORE_EXPIRE ? call->now_ms
                                                   : co_wall_ms();
    call->result = CO_STORE_FAILED;
    call->stock_known = 0;
    call->next = NULL;

    if (!co_store_valid(call, store->items, store->locations)) {
        call->result = CO_STORE_REFUSED;
        co_store_answer(&store->port, call);
        return;
    }

    store->backend->submit(store->data, call);
}


void
co_store_reserve(co_store_t *store, co_store_call_t *call, co_hold_t *hold,
    const co_cart_t *cart, co_store_done_pt done, void *data)
{
    call->action = CO_STORE_RESERVE;
    call->hold = hold;
    call->cart = cart;

    co_store_submit(store, call, done, data);
}


void
co_store_apply(co_store_t *store, co_store_call_t *call, co_hold_t *hold,
    co_store_done_pt done, void *data)
{
    call->action = CO_STORE_APPLY;
    call->hold = hold;

    co_store_submit(store, call, done, data);
}


void
co_store_claim(co_store_t *store, co_store_call_t *call, co_hold_t *hold,
    const co_order_t *order, co_store_done_pt done, void *data)
{
    call->action = CO_STORE_CLAIM;
    call->hold = hold;
    call->order = order;

    co_store_submit(store, call, done, data);
}


void
co_store_release(co_store_t *store, co_store_call_t *call, co_hold_t *hold,
    co_store_done_pt done, void *data)
{
    call->action = CO_STORE_RELEASE;
    call->hold = hold;

    co_store_submit(store, call, done, data);
}


void
co_store_expire(co_store_t *store, co_store_call_t *call, int64_t now_ms,
    co_expired_t *expired, co_store_done_pt done, void *data)
{
    call->action = CO_STORE_EXPIRE;
    call->now_ms = now_ms;
    call->expired = expired;

    expired->n = 0;
    expired->units = 0;

    co_store_submit(store, call, done, data);
}


void
co_store_look(co_store_t *store, co_store_call_t *call, const co_cart_t *cart,
    co_store_done_pt done, void *data)
{
    call->action = CO_STORE_LOOK;
    call->cart = cart;

    co_store_submit(store, call, done, data);
}


void
co_store_sell(co_store_t *store, co_store_call_t *call, const co_cart_t *cart,
    const co_order_t *order, co_store_done_pt done, void *data)
{
    call->action = CO_STORE_SELL;
    call->cart = cart;
    call->order = order;

    co_store_submit(store, call, done, data);
}


void
co_store_reset(co_store_t *store, co_store_call_t *call,
    co_store_done_pt done, void *data)
{
    call->action = CO_STORE_RESET;

    co_store_submit(store, call, done, data);
}


void
co_store_count(co_store_t *store, co_store_call_t *call, co_level_t *levels,
    co_store_done_pt done, void *data)
{
    call->action = CO_STORE_COUNT;
    call->levels = levels;

    co_store_submit(store, call, done, data);
}


static int
co_store_timers_start(co_store_t *store, const co_store_conf_t *conf)
{
    if (store->backend->shared
        && co_store_timer_add(store, &store->counting, co_store_run_count,
                              CO_STORE_COUNT_US)
           != 0)
    {
        return -1;
    }

    if (!conf->callers_expiry
        && co_store_timer_add(store, &store->expiring, co_store_run_expire,
                              CO_STORE_EXPIRE_US)
           != 0)
    {
        return -1;
    }

    return 0;
}


static int
co_store_timer_add(co_store_t *store, co_store_timer_t *timer,
    event_callback_fn run, int64_t every_us)
{
    timer->every.tv_sec = every_us / 1000000;
    timer->every.tv_usec = every_us % 1000000;
    timer->timer = evtimer_new(store->port.base, run, store);

    if (timer->timer == NULL) {
        return -1;
    }

    return evtimer_add(timer->timer, &timer->every);
}


static void
co_store_run_count(evutil_socket_t fd, short events, void *data)
{
    co_store_t  *store = data;

    (void) fd;
    (void) events;

    co_store_count(store, &store->counting.call, store->levels,
                   co_store_counted, store);
}


static void
co_store_counted(void *data, co_store_result_e result)
{
    co_store_t  *store = data;

    (void) result;

    evtimer_add(store->counting.timer, &store->counting.every);
}


static void
co_store_run_expire(evutil_socket_t fd, short events, void *data)
{
    co_store_t  *store = data;

    (void) fd;
    (void) events;

    co_store_expire(store, &store->expiring.call, co_wall_ms(),
                    &store->expired, co_store_expired, store);
}


static void
co_store_expired(void *data, co_store_result_e result)
{
    co_store_t                  *store = data;
    static const struct timeval  at_once = { 0, 0 };

    if (result == CO_STORE_OK) {
        store->expired_units += store->expired.units;
    }

    evtimer_add(store->expiring.timer,
                result == CO_STORE_OK && store->expired.n == CO_EXPIRED_MAX
                ? &at_once : &store->expiring.every);
}


const co_stock_t *
co_store_stock(const co_store_t *store)
{
    return &store->stock;
}


int64_t
co_store_expired_units(const co_store_t *store)
{
    return store->expired_units;
}


json_t *
co_store_report(co_store_t *store)
{
    return store->backend->report != NULL ? store->backend->report(store->data)
                                          : NULL;
}


int
co_store_command(co_store_t *store, const co_store_command_t *command,
    co_store_command_done_pt done, void *data)
{
    if (store->backend->command == NULL) {
        return -1;
    }

    store->backend->command(store->data, command, done, data);

    return 0;
}


int64_t
co_store_share(const co_store_conf_t *conf, int location)
{
    return conf->stock / conf->locations
           + (location <= conf->stock % conf->locations);
}
