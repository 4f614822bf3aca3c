/*
 * What makes a reservation fast or slow: a row a unit against a single row,
 * keys and the locks they cost, what an empty pool locks, and carts.
 */

#include "inventory.h"
#include "clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>


/* Other work in a transaction: what a checkout does besides. */
#define WORK_US     2000

#define PLENTY      10000000
#define MANY        64


static const co_cart_t  one_unit = {
    1, { { 1, 1 } }, CO_ALL_LOCATIONS
};

static const co_store_conf_t  one_item = {
    .stock = PLENTY, .items = 1, .locations = 1
};


/* The single row: locked first, while the other work is done. */
static co_job_result_e
co_lab_row_held(co_pool_job_t *job, co_lease_t *lease)
{
    co_sql_t        *sql = &lease->sql;
    co_mysql_job_t  *mine = (co_mysql_job_t *) job;

    co_sql_begin(sql, lease->tag);
    co_sql_add(sql, "START TRANSACTION");
    co_sql_end(sql);
    co_sql_add(sql, "UPDATE pools SET unpooled = unpooled - 1 WHERE shop = %d"
               " AND item = 1 AND location = 1 AND unpooled >= 1",
               mine->mysql->shop);
    co_sql_end(sql);

    if (co_sql_run(sql, lease->mysql, NULL, NULL) != 0) {
        return CO_JOB_AGAIN;
    }

    if (mine->mysql->work_us != 0) {
        usleep(WORK_US);
    }

    co_sql_begin(sql, lease->tag);
    co_sql_add(sql, "INSERT INTO holds VALUES (%d, ", mine->mysql->shop);
    co_sql_id(sql, mine->call->hold->id);
    co_sql_add(sql, ", 0, 1, 1, 1, 0)");
    co_sql_end(sql);
    co_sql_add(sql, "COMMIT");
    co_sql_end(sql);

    return co_sql_run(sql, lease->mysql, NULL, NULL) == 0 ? CO_JOB_DONE
                                                          : CO_JOB_AGAIN;
}


/* The single row, locked last: the work is done before. */
static co_job_result_e
co_lab_row_last(co_pool_job_t *job, co_lease_t *lease)
{
    co_sql_t        *sql = &lease->sql;
    co_mysql_job_t  *mine = (co_mysql_job_t *) job;

    co_sql_begin(sql, lease->tag);
    co_sql_add(sql, "START TRANSACTION");
    co_sql_end(sql);
    co_sql_add(sql, "INSERT INTO holds VALUES (%d, ", mine->mysql->shop);
    co_sql_id(sql, mine->call->hold->id);
    co_sql_add(sql, ", 0, 1, 1, 1, 0)");
    co_sql_end(sql);

    if (co_sql_run(sql, lease->mysql, NULL, NULL) != 0) {
        return CO_JOB_AGAIN;
    }

    if (mine->mysql->work_us != 0) {
        usleep(WORK_US);
    }

    co_sql_begin(sql, lease->tag);
    co_sql_add(sql, "UPDATE pools SET unpooled = unpooled - 1 WHERE shop = %d"
               " AND item = 1 AND location = 1 AND unpooled >= 1",
               mine->mysql->shop);
    co_sql_end(sql);
    co_sql_add(sql, "COMMIT");
    co_sql_end(sql);

    return co_sql_run(sql, lease->mysql, NULL, NULL) == 0 ? CO_JOB_DONE
                                                          : CO_JOB_AGAIN;
}


/* The same tables, with units under a key of their own number. */
static void
co_lab_auto_increment(co_bench_t *bench)
{
    MYSQL  *mysql;

    mysql = co_bench_connect(bench, NULL);

    co_bench_do(mysql, "CREATE DATABASE IF NOT EXISTS lab_auto_increment");
    co_bench_do(mysql, "CREATE TABLE IF NOT EXISTS lab_auto_increment.units ("
                " id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,"
                " shop INT NOT NULL, item INT NOT NULL, location INT NOT NULL,"
                " KEY place (shop, item, location)) ENGINE=InnoDB");
    mysql_close(mysql);
}


/* A shop alone in its table: the numbers of others would be in the way. */
static void
co_lab_clear(co_bench_t *bench, const char *database)
{
    MYSQL  *mysql;

    mysql = co_bench_connect(bench, database);
    co_bench_do(mysql, "DELETE FROM units");
    mysql_close(mysql);
}


typedef struct {
    const char       *name;
    const char       *database;
    const char       *options;
    co_bench_run_pt   run;
} co_lab_design_t;

static const co_lab_design_t  co_lab_designs[] = {
    { "single row, locked first", "flash_throttle", "low=0",
      co_lab_row_held },
    { "single row, locked last", "flash_throttle", "low=0",
      co_lab_row_last },
    { "a row a unit, auto-increment key", "lab_auto_increment", "low=0",
      NULL },
    { "a row a unit", "flash_throttle", "low=0", NULL },
    { "the same, filled in the background", "flash_throttle", "low=500",
      NULL }
};

#define DESIGNS  (sizeof(co_lab_designs) / sizeof(co_lab_designs[0]))


static void
co_lab_measure(co_bench_t *bench, const co_lab_design_t *design,
    int connections, int work_us, co_bench_loop_t *loop)
{
    char             options[128];
    co_bench_shop_t  shop;

    if (strcmp(design->database, "flash_throttle") != 0) {
        co_lab_auto_increment(bench);
        co_lab_clear(bench, design->database);
    }

    snprintf(options, sizeof(options), "connections=%d;work_us=%d;%s",
             connections, work_us, design->options);
    co_bench_open(bench, &shop, &one_item, design->database, options);
    co_bench_loop(loop, shop.mysql, connections, design->run, &one_unit, -1,
                  bench->seconds);
    co_bench_close(&shop);
}


int
co_bench_throughput(co_bench_t *bench)
{
    int                failed = 0, pooled;
    MYSQL             *mysql;
    size_t             i, j, w;
    double             rates[2][DESIGNS][4];
    co_bench_loop_t   *loop;

    static const int   connections[] = { 1, 8, 32, 64 };
    static const int   work_us[] = { WORK_US, 0 };

    loop = malloc(sizeof(*loop));
    mysql = co_bench_connect(bench, "flash_throttle");
    pooled = co_bench_ask(mysql, "SELECT @@thread_handling ="
                          " 'pool-of-threads'") == 1;
    mysql_close(mysql);

    printf("the server has %s\n\n", pooled
           ? "a pool of threads, one for each processor"
           : "a thread for each connection, which is its default");

    for (w = 0; w < 2; w++) {
        printf("%s== reservations a second, p50 and p99 in ms; %d ms of other"
               " work in the transaction\n\n%-36s", w == 0 ? "" : "\n",
               work_us[w] / 1000, "connections");

        for (j = 0; j < 4; j++) {
            printf("%21d", connections[j]);
        }

        for (i = 0; i < DESIGNS; i++) {
            printf("\n%-36s", co_lab_designs[i].name);

            for (j = 0; j < 4; j++) {
                co_lab_measure(bench, &co_lab_designs[i], connections[j],
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

    failed |= co_bench_must(!failed, "every reservation was made");
    failed |= co_bench_figure(bench, rates[0][3][2] >= 4 * rates[0][0][2],
                              "32 connections, with work: a row a unit is %.1f"
                              " times the single row (4 or more)",
                              rates[0][3][2] / rates[0][0][2]);
    failed |= co_bench_figure(bench, !pooled
                              || rates[0][4][2] >= 7 * rates[0][0][2],
                              "filled in the background: %.1f times%s",
                              rates[0][4][2] / rates[0][0][2],
                              pooled ? " (7 or more)" : "");
    printf("but     the single row locked last: %.1f times\n",
           rates[0][1][2] / rates[0][0][2]);
    printf("but     without work, 8 connections: the single row is %.1f times"
           " a row a unit\n", rates[1][0][1] / rates[1][4][1]);

    return failed;
}


/* A reservation that stays open for a while, in a thread of the pool. */
typedef struct {
    co_bench_loop_t    loop;
    pthread_t          thread;
    co_bench_shop_t   *shop;
    const co_cart_t   *cart;
} co_lab_open_t;


static void *
co_lab_open_thread(void *data)
{
    co_lab_open_t  *open = data;

    co_bench_loop(&open->loop, open->shop->mysql, 1, NULL, open->cart, 1, 60);

    return NULL;
}


/* Row locks of one reservation of "quantity" units, as InnoDB counts them. */
static int64_t
co_lab_locks(co_bench_t *bench, const char *database, int64_t quantity)
{
    int64_t           locks = -1;
    MYSQL            *mysql;
    co_cart_t         cart = one_unit;
    co_lab_open_t    *open;
    co_bench_shop_t   shop;
    co_bench_loop_t   loop;

    if (strcmp(database, "flash_throttle") != 0) {
        co_lab_auto_increment(bench);
        co_lab_clear(bench, database);
    }

    /* the first fills the pool; low=0, so that nothing else has locks */
    co_bench_open(bench, &shop, &one_item, database, "connections=1;low=0");
    co_bench_loop(&loop, shop.mysql, 1, NULL, &one_unit, 1, 60);

    /* until it has been looked at */
    shop.mysql->work_us = 600000000;
    cart.lines[0].quantity = quantity;

    open = calloc(1, sizeof(*open));
    open->shop = &shop;
    open->cart = &cart;
    pthread_create(&open->thread, NULL, co_lab_open_thread, open);

    mysql = co_bench_connect(bench, database);

    /* its hold is there, uncommitted: the work goes on */
    co_bench_do(mysql, "SET SESSION TRANSACTION ISOLATION LEVEL"
                " READ UNCOMMITTED");
    while (co_bench_ask(mysql, "SELECT COUNT(*) FROM holds WHERE shop = %d",
                        shop.mysql->shop) != 2)
    {
        usleep(10000);
    }

    /* what is shown may be a tenth of a second old */
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
        increment = co_lab_locks(bench, "lab_auto_increment", units[i]);
        composite = co_lab_locks(bench, "flash_throttle", units[i]);
        failed |= composite != units[i] || increment != 2 * units[i];

        printf("%-8lld %15lld %15lld\n", (long long) units[i],
               (long long) increment, (long long) composite);
    }

    printf("\n");

    return co_bench_must(!failed, "one lock a unit with the composite key, two"
                         " with the other");
}


/* Two connections: one has read an empty pool, the other fills it. */
static unsigned
co_lab_fill_beside(co_bench_t *bench, const char *level, int shop,
    int64_t *locks)
{
    char       text[256];
    MYSQL     *reader, *filler, *looker;
    unsigned   error;

    reader = co_bench_connect(bench, "flash_throttle");
    filler = co_bench_connect(bench, "flash_throttle");
    looker = co_bench_connect(bench, "flash_throttle");

    co_bench_do(reader, "SET SESSION TRANSACTION ISOLATION LEVEL %s", level);
    co_bench_do(filler, "SET SESSION TRANSACTION ISOLATION LEVEL %s", level);
    co_bench_do(filler, "SET SESSION innodb_lock_wait_timeout = 1");

    co_bench_do(reader, "START TRANSACTION");
    co_bench_do(reader, "SELECT id FROM units WHERE shop = %d AND item = 1"
                " AND location = 1 LIMIT 1 FOR UPDATE SKIP LOCKED", shop);

    usleep(200000);
    *locks = co_bench_ask(looker, "SELECT COALESCE(SUM(trx_rows_locked), 0)"
                          " FROM information_schema.INNODB_TRX");

    snprintf(text, sizeof(text), "INSERT INTO units VALUES (%d, 1, 1, 1000)",
             shop);
    (void) mysql_query(filler, text);
    error = mysql_errno(filler);

    mysql_close(filler);
    mysql_close(reader);
    mysql_close(looker);

    return error;
}


int
co_bench_gaps(co_bench_t *bench)
{
    int               i, shop, failed = 0;
    MYSQL            *mysql, *drain;
    int64_t           locks[2][2];
    unsigned          errors[2][2];
    co_bench_shop_t   made;

    static const char  *levels[] = { "REPEATABLE READ", "READ COMMITTED" };

    /* makes the tables */
    co_bench_open(bench, &made, &one_item, "flash_throttle", "connections=1");
    co_bench_close(&made);

    /* the last of the table, so that what is behind is the supremum */
    shop = 2000000000;
    mysql = co_bench_connect(bench, "flash_throttle");

    printf("== an empty pool, read FOR UPDATE SKIP LOCKED, while another"
           " transaction fills it\n\n%-18s %10s %22s %10s %22s\n", "",
           "never full", "INSERT beside", "drained", "INSERT beside");

    for (i = 0; i < 2; i++) {
        co_bench_do(mysql, "DELETE FROM units WHERE shop = %d", shop);
        errors[i][0] = co_lab_fill_beside(bench, levels[i], shop,
                                          &locks[i][0]);

        /* an old look keeps what was deleted from being purged */
        co_bench_do(mysql, "INSERT INTO units SELECT %d, 1, 1, seq FROM"
                    " seq_1_to_20", shop);
        co_bench_do(mysql, "START TRANSACTION WITH CONSISTENT SNAPSHOT");
        drain = co_bench_connect(bench, "flash_throttle");
        co_bench_do(drain, "DELETE FROM units WHERE shop = %d", shop);
        mysql_close(drain);
        errors[i][1] = co_lab_fill_beside(bench, levels[i], shop,
                                          &locks[i][1]);
        co_bench_do(mysql, "COMMIT");

        printf("%-18s %4lld locks %22s %4lld locks %22s\n", levels[i],
               (long long) locks[i][0], errors[i][0] == 0 ? "goes through"
               : errors[i][0] == 1205 ? "waits to the timeout" : "fails",
               (long long) locks[i][1], errors[i][1] == 0 ? "goes through"
               : errors[i][1] == 1205 ? "waits to the timeout" : "fails");
    }

    co_bench_do(mysql, "DELETE FROM units WHERE shop = %d", shop);
    mysql_close(mysql);
    printf("\n");

    failed |= co_bench_must(errors[0][0] == 1205 && errors[0][1] == 1205,
                            "at REPEATABLE READ the empty pool keeps others"
                            " from filling it");
    failed |= co_bench_must(errors[1][0] == 0 && errors[1][1] == 0
                            && locks[1][0] == 0 && locks[1][1] == 0,
                            "at READ COMMITTED it locks nothing");

    return failed;
}


/* A cart's items, one statement after another. */
static co_job_result_e
co_lab_cart_by_line(co_pool_job_t *job, co_lease_t *lease)
{
    int               i;
    char              ids[CO_CART_LINES][24];
    int64_t           id;
    co_sql_t         *sql = &lease->sql;
    co_mysql_job_t   *mine = (co_mysql_job_t *) job;
    const co_cart_t  *cart = mine->call->cart;

    co_sql_begin(sql, lease->tag);
    co_sql_add(sql, "START TRANSACTION");
    co_sql_end(sql);

    for (i = 0; i < cart->lines_n; i++) {
        co_sql_add(sql, "SELECT id FROM units WHERE shop = %d AND item = %d"
                   " AND location = 1 ORDER BY id LIMIT 1 FOR UPDATE SKIP"
                   " LOCKED", mine->mysql->shop, cart->lines[i].item);
        co_sql_end(sql);

        id = -1;
        if (co_sql_run(sql, lease->mysql, co_bench_first, &id) != 0) {
            return CO_JOB_AGAIN;
        }

        snprintf(ids[i], sizeof(ids[i]), "%lld", (long long) id);
        co_sql_begin(sql, lease->tag);
    }

    for (i = 0; i < cart->lines_n; i++) {
        co_sql_add(sql, "DELETE FROM units WHERE shop = %d AND item = %d AND"
                   " location = 1 AND id = %s", mine->mysql->shop,
                   cart->lines[i].item, ids[i]);
        co_sql_end(sql);
    }

    for (i = 0; i < cart->lines_n; i++) {
        co_sql_add(sql, "%s(%d, ", i == 0 ? "INSERT INTO holds VALUES "
                                          : ", ", mine->mysql->shop);
        co_sql_id(sql, mine->call->hold->id);
        co_sql_add(sql, ", %d, %d, 1, 1, 0)", i, cart->lines[i].item);
    }

    co_sql_end(sql);
    co_sql_add(sql, "COMMIT");
    co_sql_end(sql);

    return co_sql_run(sql, lease->mysql, NULL, NULL) == 0 ? CO_JOB_DONE
                                                          : CO_JOB_AGAIN;
}


/* Turns that the two ways take, so that both meet the same server and rows. */
#define CART_TURNS  20
#define CART_JOBS   50


static int
co_lab_compare(const void *a, const void *b)
{
    double  first = *(const double *) a, second = *(const double *) b;

    return (first > second) - (first < second);
}


/* The median of the turns' medians, of both ways; returns what has failed. */
static int64_t
co_lab_carts(co_bench_loop_t *loop, co_mysql_t *mysql, const co_cart_t *cart,
    double seconds, double median_us[2])
{
    int      turn, way;
    double   us[2][CART_TURNS];
    int64_t  failed = 0;

    for (turn = 0; turn < CART_TURNS; turn++) {
        for (way = 0; way < 2; way++) {
            co_bench_loop(loop, mysql, 1, way == 0 ? co_lab_cart_by_line : NULL,
                          cart, CART_JOBS, seconds);
            failed += loop->failed;
            us[way][turn] = co_bench_ms(loop, 50) * 1000;
        }
    }

    for (way = 0; way < 2; way++) {
        qsort(us[way], CART_TURNS, sizeof(us[way][0]), co_lab_compare);
        median_us[way] = us[way][CART_TURNS / 2];
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
    co_store_conf_t   conf = { .stock = PLENTY, .items = CO_CART_LINES,
                               .locations = 1 };

    static const int  lines[] = { 1, 3, 5, 10 };

    loop = malloc(sizeof(*loop));
    co_bench_open(bench, &shop, &conf, "flash_throttle",
                  "connections=1;pool=10000;low=0");

    printf("== a cart in one transaction over a socket: round trips, and"
           " median in us\n\n%-8s %16s %10s %16s %10s\n", "items",
           "a trip an item", "", "UNION ALL", "");

    for (i = 0; i < 10; i++) {
        cart.lines[i].item = (int) i + 1;
        cart.lines[i].quantity = 1;
    }

    /* fills the pools */
    cart.lines_n = 10;
    co_bench_loop(loop, shop.mysql, 1, NULL, &cart, 1, 60);

    for (i = 0; i < 4; i++) {
        cart.lines_n = lines[i];

        failed |= co_lab_carts(loop, shop.mysql, &cart, bench->seconds, us[i])
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
