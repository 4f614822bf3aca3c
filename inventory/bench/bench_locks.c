/*
 * Row locks of a reservation.
 */

#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>


/* A reservation whose transaction stays open, in its own thread. */
typedef struct {
    co_bench_loop_t    loop;
    pthread_t          thread;
    co_bench_shop_t   *shop;
    const co_cart_t   *cart;
} co_locks_open_t;


static void *
co_locks_open_thread(void *data)
{
    co_locks_open_t  *open = data;

    co_bench_loop(&open->loop, open->shop->mysql, 1, NULL, open->cart, 1, 60);

    return NULL;
}


static int64_t
co_locks_measure(co_bench_t *bench, const char *database, int64_t quantity)
{
    int64_t           locks = -1;
    MYSQL            *mysql;
    co_cart_t         cart = co_bench_one_unit;
    co_locks_open_t  *open;
    co_bench_shop_t   shop;
    co_bench_loop_t   loop;

    /* the first reservation fills the pool; low=0: no fill job has locks */
    co_bench_open(bench, &shop, &co_bench_one_item, database,
                  "connections=1;low=0");
    co_bench_loop(&loop, shop.mysql, 1, NULL, &co_bench_one_unit, 1, 60);

    /* keeps the transaction open until it is set to 0 */
    shop.mysql->work_us = 600000000;
    cart.lines[0].quantity = quantity;

    open = calloc(1, sizeof(*open));
    open->shop = &shop;
    open->cart = &cart;
    pthread_create(&open->thread, NULL, co_locks_open_thread, open);

    mysql = co_bench_connect(bench, database);

    /* waits for the uncommitted hold */
    co_bench_do(mysql, "SET SESSION TRANSACTION ISOLATION LEVEL"
                " READ UNCOMMITTED");
    while (co_bench_ask(mysql, "SELECT COUNT(*) FROM holds WHERE shop = %d",
                        shop.mysql->shop) != 2)
    {
        usleep(10000);
    }

    /* INNODB_TRX may be 0.1 s old */
    usleep(200000);
    locks = co_bench_ask(mysql, "SELECT SUM(trx_rows_locked) FROM"
                         " information_schema.INNODB_TRX WHERE"
                         " trx_rows_locked > 0");

    shop.mysql->work_us = 0;
    pthread_join(open->thread, NULL);
    mysql_close(mysql);
    co_bench_close(&shop);
    free(open);

    return locks;
}


int
co_bench_locks(co_bench_t *bench)
{
    size_t   i;
    int      failed = 0;
    int64_t  composite, increment;

    static const int64_t  units[] = { 1, 5, 20 };

    printf("== row locks of a reservation, at READ COMMITTED\n\n"
           "%-8s %15s %15s\n", "units", "auto-increment", "composite key");

    for (i = 0; i < 3; i++) {
        increment = co_locks_measure(bench, CO_BENCH_AUTO_INCREMENT, units[i]);
        composite = co_locks_measure(bench, "flash_throttle", units[i]);
        failed |= composite != units[i] || increment != 2 * units[i];

        printf("%-8lld %15lld %15lld\n", (long long) units[i],
               (long long) increment, (long long) composite);
    }

    printf("\n");

    return co_bench_must(!failed, "one lock per unit with the composite key,"
                         " two with the other");
}
