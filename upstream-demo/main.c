/*
 * The checkout service: one event loop, and the threads of the store.
 */

#include "admin.h"
#include "checkout.h"
#include "http.h"
#include "options.h"
#include "store_sqlite.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <event2/event.h>


#define CO_EXIT_USAGE     2

/* Limits the wait for clients that do not read, and for the store. */
#define CO_STOP_GRACE_S   2


static const co_store_backend_t *const  co_stores[] = {
    &co_store_sqlite,
    &co_store_mysql,
    &co_store_redis,
    &co_store_shadow,
    NULL
};


typedef struct {
    co_options_t   options;
    co_shop_t      shop;
    co_http_t     *http;
    co_admin_t    *admin;
    struct event   terminate;
    struct event   interrupt;
    struct event   grace;

    int               counting;                  /* for the final statistics */
    int               counted;
    co_store_call_t   count;
    co_level_t        levels[CO_LOCATIONS_MAX];
} co_service_t;


static int co_service_start(co_service_t *service);
static void co_service_signal(evutil_socket_t fd, short events, void *data);
static void co_service_idle(void *data);
static void co_service_counted(void *data, co_store_result_e result);
static void co_service_grace(evutil_socket_t fd, short events, void *data);
static int co_service_report(co_service_t *service);
static void co_service_free(co_service_t *service);


int
main(int argc, char **argv)
{
    int            rc;
    co_service_t  *service;

    service = calloc(1, sizeof(*service));
    if (service == NULL) {
        fprintf(stderr, "checkout: out of memory\n");
        return EXIT_FAILURE;
    }

    co_store_register(co_stores);

    switch (co_options_parse(&service->options, argc, argv)) {

    case CO_OPTIONS_OK:
        break;

    case CO_OPTIONS_HELP:
        free(service);
        return EXIT_SUCCESS;

    case CO_OPTIONS_BAD:
        free(service);
        return CO_EXIT_USAGE;
    }

    rc = EXIT_FAILURE;

    if (co_service_start(service) == 0) {
        event_base_dispatch(service->shop.base);
        rc = co_service_report(service);
    }

    co_service_free(service);

    return rc;
}


/* Each request in progress uses a descriptor; the usual limit is 1,024. */
static void
co_service_raise_limit(void)
{
    struct rlimit  limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}


static struct event_base *
co_service_base(void)
{
    struct event_base    *base;
    struct event_config  *config;

    config = event_config_new();
    if (config == NULL) {
        return NULL;
    }

    /* without it, epoll rounds timers up to whole milliseconds */
    event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);

    /* EV_CLOSED, for co_client_watch() */
    event_config_require_features(config, EV_FEATURE_EARLY_CLOSE);

    base = event_base_new_with_config(config);
    event_config_free(config);

    return base;
}


static int
co_service_open_store(co_service_t *service)
{
    char               error[CO_STORE_ERROR_LEN];
    co_shop_t         *shop = &service->shop;
    co_options_t      *options = &service->options;
    co_store_conf_t    conf;
    co_store_found_t   found;

    memset(&conf, 0, sizeof(conf));

    conf.spec = options->store;
    conf.stock = options->stock;
    conf.items = 1;
    conf.seed = options->seed;
    conf.fault = options->fault;
    conf.locations = (int) options->locations;
    conf.slow_report_ms = options->slow_report_ms;
    conf.guarded = options->mode != CO_MODE_NAIVE;

    shop->store = co_store_open(shop->base, &conf, &found, error);

    if (shop->store == NULL) {
        fprintf(stderr, "checkout: --store=%s: %s\n", options->store, error);
        return -1;
    }

    if (found.existed) {
        fprintf(stderr, "checkout: existing store %s continued: %lld of %lld"
                " units left, %lld orders, %lld held units released, --stock"
                " ignored\n",
                options->store, (long long) found.stock.available,
                (long long) found.stock.initial, (long long) found.orders,
                (long long) found.given_back);
    }

    co_stats_init(&shop->stats, options, &found);

    return 0;
}


static int
co_service_start(co_service_t *service)
{
    co_shop_t           *shop = &service->shop;
    co_options_t        *options = &service->options;
    co_payments_conf_t   conf;

    /* handled as errors of write() */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);

    co_service_raise_limit();

    shop->options = options;
    shop->replies.sent = co_service_idle;
    shop->replies.data = service;
    TAILQ_INIT(&shop->in_progress);

    shop->base = co_service_base();
    if (shop->base == NULL) {
        fprintf(stderr, "checkout: creating the event loop failed (%d: %s)\n",
                errno, strerror(errno));
        return -1;
    }

    if (co_service_open_store(service) != 0) {
        return -1;
    }

    conf.slots = options->payment_slots;
    conf.min_ms = options->payment_min_ms;
    conf.max_ms = options->payment_max_ms;
    conf.decline = options->decline;
    conf.seed = options->seed;

    shop->payments = co_payments_create(shop->base, &conf);
    if (shop->payments == NULL) {
        fprintf(stderr, "checkout: out of memory\n");
        return -1;
    }

    service->http = co_http_create(shop);
    if (service->http == NULL) {
        return -1;
    }

    if (options->admin != NULL) {
        service->admin = co_admin_create(shop->base, options->admin,
                                         shop->store);
        if (service->admin == NULL) {
            return -1;
        }
    }

    evsignal_assign(&service->terminate, shop->base, SIGTERM,
                    co_service_signal, service);
    evsignal_assign(&service->interrupt, shop->base, SIGINT,
                    co_service_signal, service);
    evtimer_assign(&service->grace, shop->base, co_service_grace, service);

    event_add(&service->terminate, NULL);
    event_add(&service->interrupt, NULL);

    printf("checkout: listening on http://%s\n",
           co_http_address(service->http));
    fflush(stdout);

    return 0;
}


/* A second signal is ignored: running payments must be recorded. */
static void
co_service_signal(evutil_socket_t fd, short events, void *data)
{
    co_service_t  *service = data;

    (void) fd;
    (void) events;

    if (service->shop.closing) {
        return;
    }

    co_http_stop(service->http);
    co_checkout_close(&service->shop, co_service_idle, service);
}


/*
 * Stops when nothing is in progress, the stock is counted for the statistics,
 * and all answers are sent.
 */
static void
co_service_idle(void *data)
{
    co_shop_t                   *shop;
    co_service_t                *service = data;
    static const struct timeval  grace = { CO_STOP_GRACE_S, 0 };

    shop = &service->shop;

    if (!shop->closing || shop->stats.in_progress != 0) {
        return;
    }

    if (!evtimer_pending(&service->grace, NULL)) {
        evtimer_add(&service->grace, &grace);
    }

    if (!service->counting) {
        service->counting = 1;
        co_store_count(shop->store, &service->count, service->levels,
                       co_service_counted, service);

    } else if (service->counted && shop->replies.pending == 0) {
        event_base_loopexit(shop->base, NULL);
    }
}


static void
co_service_counted(void *data, co_store_result_e result)
{
    co_service_t  *service = data;

    (void) result;

    service->counted = 1;
    co_service_idle(service);
}


static void
co_service_grace(evutil_socket_t fd, short events, void *data)
{
    co_service_t  *service = data;

    (void) fd;
    (void) events;

    event_base_loopexit(service->shop.base, NULL);
}


static int
co_service_report(co_service_t *service)
{
    char       *line;
    co_shop_t  *shop = &service->shop;

    line = co_stats_json(&shop->stats, shop->store, 0, 0);

    if (line == NULL || printf("%s\n", line) < 0 || fflush(stdout) != 0) {
        fprintf(stderr, "checkout: writing the statistics to stdout"
                " failed\n");
        free(line);
        return EXIT_FAILURE;
    }

    free(line);

    return EXIT_SUCCESS;
}


static void
co_service_free(co_service_t *service)
{
    co_shop_t  *shop = &service->shop;

    if (service->admin != NULL) {
        co_admin_destroy(service->admin);
    }

    if (service->http != NULL) {
        co_http_destroy(service->http);
        event_del(&service->terminate);
        event_del(&service->interrupt);
        evtimer_del(&service->grace);
    }

    if (shop->payments != NULL) {
        co_payments_destroy(shop->payments);
    }

    if (shop->store != NULL) {
        co_store_close(shop->store);
        co_stats_free(&shop->stats);
    }

    if (shop->base != NULL) {
        event_base_free(shop->base);
    }

    libevent_global_shutdown();
    free(service);
}
