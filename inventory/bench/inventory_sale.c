/*
 * Pools that stay small in a big sale, and the table that tells who holds the
 * connections.
 */

#include "inventory.h"
#include "clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>


#define LOCATIONS    10
#define CONNECTIONS  64


/* Looks at the table of units while a sale goes on. */
typedef struct {
    pthread_t     thread;
    MYSQL        *mysql;
    int           shop;
    _Atomic int   ended;
    _Atomic int64_t  most_rows;                  /* of a location */
    _Atomic int64_t  most_together;
    _Atomic int64_t  looks;
} co_watch_t;


static void *
co_watch_thread(void *data)
{
    int64_t      rows;
    co_watch_t  *watch = data;

    mysql_thread_init();

    while (!watch->ended) {
        rows = co_bench_ask(watch->mysql, "SELECT COALESCE(MAX(n), 0) FROM"
                            " (SELECT COUNT(*) AS n FROM units WHERE shop = %d"
                            " GROUP BY item, location) t", watch->shop);
        watch->most_rows = rows > watch->most_rows ? rows : watch->most_rows;

        rows = co_bench_ask(watch->mysql, "SELECT COUNT(*) FROM units"
                            " WHERE shop = %d", watch->shop);
        watch->most_together = rows > watch->most_together
                               ? rows : watch->most_together;
        watch->looks++;
        usleep(20000);
    }

    mysql_thread_end();

    return NULL;
}


static int
co_pools_sale(co_bench_t *bench, const char *name, int64_t stock, int64_t pool,
    int64_t low)
{
    int               failed = 0;
    char              options[64];
    int64_t           rows;
    co_watch_t        watch = { .ended = 0 };
    co_bench_shop_t   shop;
    co_bench_loop_t  *loop;
    co_store_conf_t   conf = { .stock = stock, .items = 1,
                               .locations = LOCATIONS };
    const co_cart_t   one = { 1, { { 1, 1 } }, CO_ALL_LOCATIONS };

    loop = malloc(sizeof(*loop));
    snprintf(options, sizeof(options), "connections=%d;pool=%lld;low=%lld",
             CONNECTIONS, (long long) pool, (long long) low);
    co_bench_open(bench, &shop, &conf, "flash_throttle", options);

    watch.shop = shop.mysql->shop;
    watch.mysql = co_bench_connect(bench, "flash_throttle");
    pthread_create(&watch.thread, NULL, co_watch_thread, &watch);

    co_bench_loop(loop, shop.mysql, CONNECTIONS, NULL, &one, stock, 600);
    failed |= loop->done != stock || loop->failed != 0;

    printf("%-26s %8lld %8lld %9.0f %8.1f %8.1f %8.1f %8.1f %8lld %8lld\n",
           name, (long long) loop->done, (long long) loop->sold_out,
           co_bench_rate(loop), co_bench_ms(loop, 50), co_bench_ms(loop, 99),
           co_bench_filling_ms(loop, 50), co_bench_filling_ms(loop, 99),
           (long long) watch.most_rows, (long long) watch.most_together);

    /* all is held now, and one more is one too many */
    co_bench_loop(loop, shop.mysql, 1, NULL, &one, 1, 60);
    failed |= loop->sold_out != 1;

    watch.ended = 1;
    pthread_join(watch.thread, NULL);
    rows = watch.most_rows;
    failed |= rows > pool || watch.looks < 2;

    mysql_close(watch.mysql);
    co_bench_close(&shop);
    free(loop);

    return failed;
}


int
co_bench_pools(co_bench_t *bench)
{
    int      failed = 0;
    int64_t  stock, pool;

    /* 50,000 and 1,000, or both smaller */
    stock = bench->operations / 2;
    pool = stock / 50;

    printf("== %lld units at %d locations, behind pools of %lld rows; %d"
           " connections\n   (filling: reservations while a pool was being"
           " filled)\n\n%-26s %8s %8s %9s %8s %8s %8s %8s %8s %8s\n",
           (long long) stock, LOCATIONS, (long long) pool, CONNECTIONS, "",
           "reserved", "refused", "a second", "p50 ms", "p99 ms", "filling",
           "its p99", "rows", "in all");

    failed |= co_pools_sale(bench, "filled when empty", stock, pool, 0);
    failed |= co_pools_sale(bench, "filled in the background", stock, pool,
                            pool / 2);
    printf("\n");

    return co_bench_must(!failed, "nobody was refused while there was a unit,"
                         " the next was; no pool had more than %lld rows",
                         (long long) pool);
}


/* Shoppers who reserve and claim, through the store's front. */
typedef struct {
    struct event_base  *base;
    co_store_t         *store;
    int64_t             until_us;
    int                 busy;
    int64_t             reserved;
    co_histogram_t      latency;
} co_crowd_t;


typedef struct {
    co_crowd_t         *crowd;
    co_store_call_t     call;
    co_cart_t           cart;
    co_hold_t           hold;
    co_order_t          order;
    int64_t             began_us;
} co_crowd_shopper_t;


static void co_crowd_reserved(void *data, co_store_result_e result);
static void co_crowd_claimed(void *data, co_store_result_e result);


static void
co_crowd_come(co_crowd_shopper_t *shopper)
{
    co_crowd_t  *crowd = shopper->crowd;

    shopper->began_us = co_steady_us();

    if (shopper->began_us >= crowd->until_us) {
        if (--crowd->busy == 0) {
            event_base_loopexit(crowd->base, NULL);
        }

        return;
    }

    shopper->cart.lines_n = 1;
    shopper->cart.lines[0].item = 1;
    shopper->cart.lines[0].quantity = 1;
    shopper->cart.locations = CO_ALL_LOCATIONS;

    co_hold_new(&shopper->hold, 600000);
    co_store_reserve(crowd->store, &shopper->call, &shopper->hold,
                     &shopper->cart, co_crowd_reserved, shopper);
}


static void
co_crowd_reserved(void *data, co_store_result_e result)
{
    co_crowd_shopper_t  *shopper = data;

    if (result != CO_STORE_OK) {
        co_crowd_come(shopper);
        return;
    }

    shopper->crowd->reserved++;
    co_histogram_add(&shopper->crowd->latency,
                     co_steady_us() - shopper->began_us);

    snprintf(shopper->order.id, sizeof(shopper->order.id), "FT-%.16s",
             shopper->hold.id + 10);
    co_store_claim(shopper->crowd->store, &shopper->call, &shopper->hold,
                   &shopper->order, co_crowd_claimed, shopper);
}


static void
co_crowd_claimed(void *data, co_store_result_e result)
{
    (void) result;
    co_crowd_come(data);
}


static void
co_holders_print(const json_t *connections)
{
    size_t   index;
    json_t  *holder, *list;

    list = json_object_get(connections, "holders");

    printf("%-22s %8s %10s %7s %8s %8s %9s %9s\n", "conn_tag", "count",
           "held ms", "share", "p50 ms", "p99 ms", "waited", "its p99");

    json_array_foreach(list, index, holder) {
        printf("%-22s %8lld %10.0f %6.1f%% %8.2f %8.2f %9.2f %9.2f\n",
               json_string_value(json_object_get(holder, "conn_tag")),
               (long long) json_integer_value(json_object_get(holder,
                                                              "count")),
               json_real_value(json_object_get(holder, "total_ms")),
               json_real_value(json_object_get(holder, "share")) * 100,
               json_real_value(json_object_get(holder, "p50_ms")),
               json_real_value(json_object_get(holder, "p99_ms")),
               json_real_value(json_object_get(holder, "wait_p50_ms")),
               json_real_value(json_object_get(holder, "wait_p99_ms")));
    }
}


/* How long the slow report holds a connection, at the median. */
static double
co_holders_report_ms(const json_t *connections)
{
    size_t   index;
    json_t  *holder, *list;

    list = json_object_get(connections, "holders");

    json_array_foreach(list, index, holder) {
        if (strcmp(json_string_value(json_object_get(holder, "conn_tag")),
                   co_tag_name(CO_TAG_REPORT))
            == 0)
        {
            return json_real_value(json_object_get(holder, "p50_ms"));
        }
    }

    return 0;
}


/* What a sale of some seconds showed. */
typedef struct {
    char    first[64];                           /* who held the most */
    double  rate;                                /* reservations a second */
    double  p99_ms;
    double  report_ms;
} co_holders_t;


static void
co_holders_sale(co_bench_t *bench, int64_t report_ms, co_holders_t *holders)
{
    int                  i;
    char                 spec[600], error[CO_STORE_ERROR_LEN];
    json_t              *report, *connections;
    co_crowd_t          *crowd;
    co_store_conf_t      conf = { .stock = 10000000, .items = 1,
                                  .locations = 2,
                                  .slow_report_ms = report_ms };
    co_store_found_t     found;
    co_crowd_shopper_t  *shoppers;

    memcpy(spec, "mysql:", 6);
    co_bench_place(bench, spec + 6, sizeof(spec) - 6, "flash_throttle",
                   "connections=8");
    conf.spec = spec;

    crowd = calloc(1, sizeof(*crowd));
    shoppers = calloc(CONNECTIONS, sizeof(*shoppers));
    crowd->base = event_base_new();
    crowd->store = co_store_open(crowd->base, &conf, &found, error);

    if (crowd->store == NULL) {
        fprintf(stderr, "inventory: %s\n", error);
        exit(1);
    }

    crowd->busy = CONNECTIONS;
    crowd->until_us = co_steady_us() + (int64_t) (bench->seconds * 1e6);

    for (i = 0; i < CONNECTIONS; i++) {
        shoppers[i].crowd = crowd;
        co_crowd_come(&shoppers[i]);
    }

    event_base_dispatch(crowd->base);

    report = co_store_report(crowd->store);
    connections = json_object_get(report, "connections");
    holders->rate = (double) crowd->reserved / bench->seconds;
    holders->report_ms = co_holders_report_ms(connections);
    holders->p99_ms = (double) co_histogram_percentile(&crowd->latency, 99)
                      / 1000;

    co_holders_print(connections);
    snprintf(holders->first, sizeof(holders->first), "%s",
             json_string_value(json_object_get(json_array_get(
                 json_object_get(connections, "holders"), 0), "conn_tag")));
    printf("%.0f reservations a second, p50 %.1f ms, p99 %.1f ms; connections"
           " busy %.0f %%\n\n", holders->rate,
           (double) co_histogram_percentile(&crowd->latency, 50) / 1000,
           holders->p99_ms,
           json_real_value(json_object_get(connections, "busy_share")) * 100);

    json_decref(report);
    co_store_close(crowd->store);
    event_base_free(crowd->base);
    free(shoppers);
    free(crowd);
}


int
co_bench_holders(co_bench_t *bench)
{
    int           failed = 0;
    co_holders_t  slow, mended;

    printf("== who holds the connections: 8 of them, %d shoppers, and after"
           " each order a report\n   that keeps its connection for 25 ms when"
           " it has read what it wants\n\n", CONNECTIONS);
    co_holders_sale(bench, 25, &slow);

    printf("the same when the report gives its connection back first:\n\n");
    co_holders_sale(bench, CO_REPORT_MENDED, &mended);

    failed |= co_bench_must(slow.report_ms >= 25, "the slow report is in the"
                            " table, with %.1f ms", slow.report_ms);
    failed |= co_bench_figure(bench, strcmp(slow.first, "sales_report") == 0,
                              "it is the largest holder");
    failed |= co_bench_figure(bench, mended.rate > 2 * slow.rate,
                              "mended, there are %.1f times the reservations,"
                              " p99 %.1f ms for %.1f ms",
                              mended.rate / slow.rate, mended.p99_ms,
                              slow.p99_ms);

    return failed;
}
