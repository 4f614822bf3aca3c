/*
 * Carts: several items in one round trip.
 */

#include "bench.h"

#include <stdio.h>
#include <stdlib.h>


/* Both variants take turns, so that they meet the same server and rows. */
#define TURNS          20
#define JOBS_PER_TURN  50


static co_job_result_e
co_carts_by_line(co_pool_job_t *job, co_lease_t *lease)
{
    int               i;
    char              ids[CO_CART_LINES][24];
    int64_t           id;
    co_sql_t         *sql = &lease->sql;
    co_mysql_job_t   *mine = (co_mysql_job_t *) job;
    const co_cart_t  *cart = mine->call->cart;

    co_pool_begin(lease);

    for (i = 0; i < cart->lines_n; i++) {
        co_sql_statement(sql, "SELECT id FROM units WHERE shop = %d"
                         " AND item = %d AND location = 1 ORDER BY id LIMIT 1"
                         " FOR UPDATE SKIP LOCKED", mine->mysql->shop,
                         cart->lines[i].item);

        id = -1;
        if (co_sql_run(sql, lease->mysql, co_bench_first, &id) != 0) {
            return CO_JOB_AGAIN;
        }

        snprintf(ids[i], sizeof(ids[i]), "%lld", (long long) id);
        co_sql_begin(sql, lease->tag);
    }

    for (i = 0; i < cart->lines_n; i++) {
        co_sql_statement(sql, "DELETE FROM units WHERE shop = %d"
                         " AND item = %d AND location = 1 AND id = %s",
                         mine->mysql->shop,
                         cart->lines[i].item, ids[i]);
    }

    for (i = 0; i < cart->lines_n; i++) {
        co_sql_add(sql, "%s(%d, ", i == 0 ? "INSERT INTO holds VALUES "
                                          : ", ", mine->mysql->shop);
        co_sql_id(sql, mine->call->hold->id);
        co_sql_add(sql, ", %d, %d, 1, 1, 0)", i, cart->lines[i].item);
    }

    co_sql_end(sql);

    return co_pool_commit(lease);
}


static int
co_carts_compare(const void *a, const void *b)
{
    double  first = *(const double *) a, second = *(const double *) b;

    return (first > second) - (first < second);
}


/*
 * Sets the median of the turns' medians of both variants, in microseconds.
 * Returns the number of failed jobs.
 */
static int64_t
co_carts_measure(co_bench_loop_t *loop, co_mysql_t *mysql,
    const co_cart_t *cart, double seconds, double median_us[2])
{
    int      turn, way;
    double   us[2][TURNS];
    int64_t  failed = 0;

    for (turn = 0; turn < TURNS; turn++) {
        for (way = 0; way < 2; way++) {
            co_bench_loop(loop, mysql, 1, way == 0 ? co_carts_by_line : NULL,
                          cart, JOBS_PER_TURN, seconds);
            failed += loop->failed;
            us[way][turn] = co_bench_ms(loop, 50) * 1000;
        }
    }

    for (way = 0; way < 2; way++) {
        qsort(us[way], TURNS, sizeof(us[way][0]), co_carts_compare);
        median_us[way] = us[way][TURNS / 2];
    }

    return failed;
}


int
co_bench_carts(co_bench_t *bench)
{
    int               failed = 0;
    size_t            i;
    double            us[4][2];
    co_cart_t         cart = { .locations = CO_ALL_LOCATIONS };
    co_bench_shop_t   shop;
    co_bench_loop_t  *loop;
    co_store_conf_t   conf = { .stock = CO_BENCH_STOCK,
                               .items = CO_CART_LINES, .locations = 1 };

    static const int  lines[] = { 1, 3, 5, 10 };

    loop = malloc(sizeof(*loop));
    co_bench_open(bench, &shop, &conf, "flash_throttle",
                  "connections=1;pool=10000;low=0");

    printf("== a cart in one transaction over a socket: round trips, and"
           " median in us\n\n%-8s %16s %10s %16s %10s\n", "items",
           "trip per item", "", "UNION ALL", "");

    for (i = 0; i < 10; i++) {
        cart.lines[i].item = (int) i + 1;
        cart.lines[i].quantity = 1;
    }

    cart.lines_n = 10;
    co_bench_loop(loop, shop.mysql, 1, NULL, &cart, 1, 60);

    for (i = 0; i < 4; i++) {
        cart.lines_n = lines[i];

        failed |= co_carts_measure(loop, shop.mysql, &cart, bench->seconds,
                                   us[i])
                  != 0;

        printf("%-8d %16d %10.0f %16d %10.0f\n", lines[i], lines[i] + 1,
               us[i][0], 2, us[i][1]);
    }

    co_bench_close(&shop);
    free(loop);
    printf("\n");

    failed |= co_bench_must(!failed, "every cart was reserved");
    failed |= co_bench_figure(bench, us[2][1] < us[2][0]
                              && us[3][1] < us[3][0],
                              "5 items: %.1f times as fast, 10: %.1f times",
                              us[2][0] / us[2][1], us[3][0] / us[3][1]);

    return failed;
}
