/*
 * Reservations a second: one row per unit, and a single row with the stock.
 */

#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>


#define WORK_US  2000


static void
co_throughput_add_row(co_mysql_job_t *job, co_sql_t *sql)
{
    co_sql_statement(sql, "UPDATE pools SET unpooled = unpooled - 1"
                     " WHERE shop = %d AND item = 1 AND location = 1"
                     " AND unpooled >= 1", job->mysql->shop);
}


static void
co_throughput_add_hold(co_mysql_job_t *job, co_sql_t *sql)
{
    co_sql_add(sql, "INSERT INTO holds VALUES (%d, ", job->mysql->shop);
    co_sql_id(sql, job->call->hold->id);
    co_sql_add(sql, ", 0, 1, 1, 1, 0)");
    co_sql_end(sql);
}


/* A reservation on a single row, locked before or after the other work. */
static co_job_result_e
co_throughput_single(co_mysql_job_t *job, co_lease_t *lease, int first)
{
    co_sql_t  *sql = &lease->sql;

    co_pool_begin(lease);
    (first ? co_throughput_add_row : co_throughput_add_hold)(job, sql);

    if (co_sql_run(sql, lease->mysql, NULL, NULL) != 0) {
        return CO_JOB_AGAIN;
    }

    if (job->mysql->work_us != 0) {
        usleep(WORK_US);
    }

    co_sql_begin(sql, lease->tag);
    (first ? co_throughput_add_hold : co_throughput_add_row)(job, sql);

    return co_pool_commit(lease);
}


static co_job_result_e
co_throughput_row_first(co_pool_job_t *job, co_lease_t *lease)
{
    return co_throughput_single((co_mysql_job_t *) job, lease, 1);
}


static co_job_result_e
co_throughput_row_last(co_pool_job_t *job, co_lease_t *lease)
{
    return co_throughput_single((co_mysql_job_t *) job, lease, 0);
}


typedef struct {
    const char       *name;
    const char       *database;
    const char       *options;
    co_bench_run_pt   run;
} co_throughput_design_t;

static const co_throughput_design_t  co_throughput_designs[] = {
    { "single row, locked first", "flash_throttle", "low=0",
      co_throughput_row_first },
    { "single row, locked last", "flash_throttle", "low=0",
      co_throughput_row_last },
    { "a row per unit, auto-increment key", CO_BENCH_AUTO_INCREMENT, "low=0",
      NULL },
    { "a row per unit", "flash_throttle", "low=0", NULL },
    { "a row per unit, background fill", "flash_throttle", "low=500", NULL }
};

#define DESIGNS                                                               \
    (sizeof(co_throughput_designs) / sizeof(co_throughput_designs[0]))


static void
co_throughput_measure(co_bench_t *bench, const co_throughput_design_t *design,
    int connections, int work_us, co_bench_loop_t *loop)
{
    char             options[128];
    co_bench_shop_t  shop;

    snprintf(options, sizeof(options), "connections=%d;work_us=%d;%s",
             connections, work_us, design->options);
    co_bench_open(bench, &shop, &co_bench_one_item, design->database, options);
    co_bench_loop(loop, shop.mysql, connections, design->run,
                  &co_bench_one_unit, -1, bench->seconds);
    co_bench_close(&shop);
}


int
co_bench_throughput(co_bench_t *bench)
{
    int               failed = 0, pooled;
    MYSQL            *mysql;
    size_t            i, j, w;
    double            rates[2][DESIGNS][4];
    co_bench_loop_t  *loop;

    static const int   connections[] = { 1, 8, 32, 64 };
    static const int   work_us[] = { WORK_US, 0 };

    loop = malloc(sizeof(*loop));
    mysql = co_bench_connect(bench, "flash_throttle");
    pooled = co_bench_ask(mysql, "SELECT @@thread_handling ="
                          " 'pool-of-threads'") == 1;
    mysql_close(mysql);

    printf("server: %s\n\n", pooled
           ? "a pool of threads, one for each processor"
           : "a thread for each connection (the default)");

    for (w = 0; w < 2; w++) {
        printf("%s== reservations a second, p50 and p99 in ms; %d ms of other"
               " work in the transaction\n\n%-36s", w == 0 ? "" : "\n",
               work_us[w] / 1000, "connections");

        for (j = 0; j < 4; j++) {
            printf("%21d", connections[j]);
        }

        for (i = 0; i < DESIGNS; i++) {
            printf("\n%-36s", co_throughput_designs[i].name);

            for (j = 0; j < 4; j++) {
                co_throughput_measure(bench, &co_throughput_designs[i],
                                      connections[j],
                                      work_us[w], loop);
                failed |= loop->failed != 0 || loop->sold_out != 0;
                rates[w][i][j] = co_bench_rate(loop);

                printf("%8.0f %5.1f %6.1f", rates[w][i][j],
                       co_bench_ms(loop, 50), co_bench_ms(loop, 99));
                fflush(stdout);
            }
        }

        printf("\n");
    }

    free(loop);
    printf("\n");

    failed |= co_bench_must(!failed, "every reservation succeeded");
    failed |= co_bench_figure(bench, rates[0][3][2] >= 4 * rates[0][0][2],
                              "32 connections, with work: a row per unit is"
                              " %.1f times the single row (4 or more)",
                              rates[0][3][2] / rates[0][0][2]);
    failed |= co_bench_figure(bench, !pooled
                              || rates[0][4][2] >= 7 * rates[0][0][2],
                              "with background fill: %.1f times%s",
                              rates[0][4][2] / rates[0][0][2],
                              pooled ? " (7 or more)" : "");
    printf("info    the single row locked last: %.1f times\n",
           rates[0][1][2] / rates[0][0][2]);
    printf("info    without work, 8 connections: the single row is %.1f times"
           " a row per unit\n", rates[1][0][1] / rates[1][4][1]);

    return failed;
}
