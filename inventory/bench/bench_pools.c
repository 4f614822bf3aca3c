/*
 * Pools stay small in a large sale.
 */

#include "bench.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>


#define LOCATIONS    10
#define CONNECTIONS  64


/* Counts the rows of units while a sale is in progress. */
typedef struct {
    pthread_t        thread;
    MYSQL           *mysql;
    int              shop;
    _Atomic int      ended;
    _Atomic int64_t  most_rows;                  /* at a location */
    _Atomic int64_t  most_together;
    _Atomic int64_t  looks;
} co_pools_t;


static void *
co_pools_thread(void *data)
{
    int64_t      rows;
    co_pools_t  *watch = data;

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
    co_pools_t        watch = { .ended = 0 };
    co_bench_shop_t   shop;
    co_bench_loop_t  *loop;
    co_store_conf_t   conf = { .stock = stock, .items = 1,
                               .locations = LOCATIONS };

    loop = malloc(sizeof(*loop));
    snprintf(options, sizeof(options), "connections=%d;pool=%lld;low=%lld",
             CONNECTIONS, (long long) pool, (long long) low);
    co_bench_open(bench, &shop, &conf, "flash_throttle", options);

    watch.shop = shop.mysql->shop;
    watch.mysql = co_bench_connect(bench, "flash_throttle");
    pthread_create(&watch.thread, NULL, co_pools_thread, &watch);

    co_bench_loop(loop, shop.mysql, CONNECTIONS, NULL, &co_bench_one_unit,
                  stock, 600);
    failed |= loop->done != stock || loop->failed != 0;

    printf("%-26s %8lld %8lld %9.0f %8.1f %8.1f %8.1f %8.1f %8lld %8lld\n",
           name, (long long) loop->done, (long long) loop->sold_out,
           co_bench_rate(loop), co_bench_ms(loop, 50), co_bench_ms(loop, 99),
           co_bench_filling_ms(loop, 50), co_bench_filling_ms(loop, 99),
           (long long) watch.most_rows, (long long) watch.most_together);

    /* all units are held now: the next reservation must fail */
    co_bench_loop(loop, shop.mysql, 1, NULL, &co_bench_one_unit, 1, 60);
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

    stock = bench->operations / 2;
    pool = stock / 50;

    printf("== %lld units at %d locations, in pools of %lld rows; %d"
           " connections\n   (filling: reservations while a pool was being"
           " filled)\n\n%-26s %8s %8s %9s %8s %8s %8s %8s %8s %8s\n",
           (long long) stock, LOCATIONS, (long long) pool, CONNECTIONS, "",
           "reserved", "refused", "a second", "p50 ms", "p99 ms", "filling",
           "fill p99", "rows", "total");

    failed |= co_pools_sale(bench, "fill when empty", stock, pool, 0);
    failed |= co_pools_sale(bench, "fill in the background", stock, pool,
                            pool / 2);
    printf("\n");

    return co_bench_must(!failed, "all units were reserved, the next was"
                         " refused; no pool had more than %lld rows",
                         (long long) pool);
}
