/*
 * The benchmark of the store in MySQL or MariaDB: see scripts/inventory.sh.
 */

#include "bench.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>


typedef struct {
    const char  *name;
    int        (*run)(co_bench_t *bench);
    const char  *what;
} co_bench_part_t;

static const co_bench_part_t  co_bench_parts[] = {
    { "storm", co_bench_storm, "killed processes lose or oversell no unit" },
    { "throughput", co_bench_throughput, "one row per unit and a single row" },
    { "locks", co_bench_locks, "row locks of a reservation" },
    { "gaps", co_bench_gaps, "locks of an empty pool" },
    { "deadlocks", co_bench_deadlocks, "the order of locks" },
    { "carts", co_bench_carts, "several items in one round trip" },
    { "pools", co_bench_pools, "50,000 units with pools of 1,000 rows" },
    { "holders", co_bench_holders, "the processes that hold connections" }
};

#define CO_BENCH_PARTS_N  (sizeof(co_bench_parts) / sizeof(co_bench_parts[0]))


const co_cart_t  co_bench_one_unit = { 1, { { 1, 1 } }, CO_ALL_LOCATIONS };

const co_store_conf_t  co_bench_one_item = {
    .stock = CO_BENCH_STOCK, .items = 1, .locations = 1
};


static int
co_bench_usage(void)
{
    size_t  i;

    fprintf(stderr, "usage: inventory [--operations=N] [--seconds=S]"
            " [--first-shop=N] DIR PART...\n\n"
            "DIR is the directory of a server that scripts/mariadb.sh has"
            " started.  The parts are:\n");

    for (i = 0; i < CO_BENCH_PARTS_N; i++) {
        fprintf(stderr, "  %-12s %s\n", co_bench_parts[i].name,
                co_bench_parts[i].what);
    }

    return 2;
}


int
main(int argc, char **argv)
{
    int         i, option, failed = 0;
    size_t      j;
    co_bench_t  bench = { NULL, 100000, 3, 1000 };

    static const struct option  options[] = {
        { "operations", required_argument, NULL, 'o' },
        { "seconds", required_argument, NULL, 's' },
        { "first-shop", required_argument, NULL, 'f' },
        { NULL, 0, NULL, 0 }
    };

    static const co_store_backend_t *const  stores[] = {
        &co_store_mysql, NULL
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    co_store_register(stores);

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {

        case 'o':
            bench.operations = atoll(optarg);
            break;

        case 's':
            bench.seconds = atof(optarg);
            break;

        case 'f':
            bench.shops = atoi(optarg);
            break;

        default:
            return co_bench_usage();
        }
    }

    if (argc - optind < 2 || bench.operations <= 0 || bench.seconds <= 0) {
        return co_bench_usage();
    }

    bench.server = argv[optind];

    for (i = optind + 1; i < argc; i++) {
        for (j = 0; j < CO_BENCH_PARTS_N; j++) {
            if (strcmp(argv[i], co_bench_parts[j].name) == 0) {
                failed |= co_bench_parts[j].run(&bench);
                printf("\n");
                break;
            }
        }

        if (j == CO_BENCH_PARTS_N) {
            return co_bench_usage();
        }
    }

    return failed != 0;
}


void
co_bench_place(co_bench_t *bench, char *place, size_t size,
    const char *database, const char *options)
{
    snprintf(place, size, "socket=%s/socket;user=root;database=%s;shop=%d%s%s",
             bench->server, database, ++bench->shops, *options ? ";" : "",
             options);
}


/* Other rows would cost time: the table holds the units of one shop. */
static void
co_bench_auto_increment(co_bench_t *bench)
{
    MYSQL  *mysql;

    mysql = co_bench_connect(bench, NULL);

    co_bench_do(mysql, "CREATE DATABASE IF NOT EXISTS "
                CO_BENCH_AUTO_INCREMENT);
    co_bench_do(mysql, "CREATE TABLE IF NOT EXISTS " CO_BENCH_AUTO_INCREMENT
                ".units (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,"
                " shop INT NOT NULL, item INT NOT NULL, location INT NOT NULL,"
                " KEY place (shop, item, location)) ENGINE=InnoDB");
    co_bench_do(mysql, "DELETE FROM " CO_BENCH_AUTO_INCREMENT ".units");
    mysql_close(mysql);
}


void
co_bench_open(co_bench_t *bench, co_bench_shop_t *shop,
    const co_store_conf_t *conf, const char *database, const char *options)
{
    char              error[CO_STORE_ERROR_LEN];
    co_store_found_t  found;

    if (strcmp(database, CO_BENCH_AUTO_INCREMENT) == 0) {
        co_bench_auto_increment(bench);
    }

    memset(&found, 0, sizeof(found));
    co_bench_place(bench, shop->place, sizeof(shop->place), database, options);

    shop->mysql = co_store_mysql.open(NULL, shop->place, conf, &found, error);

    if (shop->mysql == NULL) {
        fprintf(stderr, "inventory: %s: %s\n", shop->place, error);
        exit(1);
    }
}


void
co_bench_close(co_bench_shop_t *shop)
{
    co_store_mysql.close(shop->mysql);
}


MYSQL *
co_bench_connect(co_bench_t *bench, const char *database)
{
    char    socket[256];
    MYSQL  *mysql;

    snprintf(socket, sizeof(socket), "%s/socket", bench->server);
    mysql = mysql_init(NULL);

    if (mysql == NULL
        || mysql_real_connect(mysql, NULL, "root", NULL, database, 0, socket,
                              CLIENT_MULTI_STATEMENTS)
           == NULL)
    {
        fprintf(stderr, "inventory: %s: %s\n", socket, mysql_error(mysql));
        exit(1);
    }

    return mysql;
}


void
co_bench_first(void *data, int which, MYSQL_ROW row)
{
    int64_t  *number = data;

    (void) which;

    if (*number == -1) {
        *number = co_sql_number(row, 0);
    }
}


static int64_t
co_bench_query(MYSQL *mysql, const char *format, va_list args)
{
    char      text[2048];
    int64_t   number = -1;
    co_sql_t  sql = { .tag = "" };

    vsnprintf(text, sizeof(text), format, args);
    co_sql_add(&sql, "%s;", text);               /* without a tag */

    if (co_sql_run(&sql, mysql, co_bench_first, &number) != 0) {
        fprintf(stderr, "inventory: %s: %s\n", text, mysql_error(mysql));
        exit(1);
    }

    co_sql_free(&sql);

    return number;
}


void
co_bench_do(MYSQL *mysql, const char *format, ...)
{
    va_list  args;

    va_start(args, format);
    (void) co_bench_query(mysql, format, args);
    va_end(args);
}


int64_t
co_bench_ask(MYSQL *mysql, const char *format, ...)
{
    int64_t  number;
    va_list  args;

    va_start(args, format);
    number = co_bench_query(mysql, format, args);
    va_end(args);

    return number;
}


int
co_bench_must(int good, const char *format, ...)
{
    va_list  args;

    printf("%s", good ? "ok      " : "NOT OK  ");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");

    return !good;
}


int
co_bench_figure(co_bench_t *bench, int good, const char *format, ...)
{
    int      brief = bench->seconds < 1;
    va_list  args;

    printf("%s", brief ? "short   " : good ? "ok      " : "NOT OK  ");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");

    return !good && !brief;
}


typedef struct {
    co_mysql_job_t     job;                      /* must be first */
    co_bench_loop_t   *loop;
    co_store_call_t    call;
    co_hold_t          hold;
    int64_t            fills;                    /* fills_ended at the start */
} co_bench_turn_t;


static void co_bench_turn_end(co_pool_job_t *job, unsigned error,
    const char *text);


static void
co_bench_turn_begin(co_bench_turn_t *turn)
{
    turn->fills = turn->job.mysql->fills_ended;
    turn->call.result = CO_STORE_FAILED;
    co_hold_new(&turn->hold, 600000);

    (void) co_pool_submit(turn->job.mysql->pool, &turn->job.job, 1);
}


static void
co_bench_turn_end(co_pool_job_t *job, unsigned error, const char *text)
{
    int               again;
    int64_t           now;
    co_bench_turn_t  *turn = (co_bench_turn_t *) job;
    co_bench_loop_t  *loop = turn->loop;

    now = co_steady_us();

    pthread_mutex_lock(&loop->mutex);

    if (error != 0) {
        if (loop->failed++ == 0) {
            fprintf(stderr, "inventory: %s\n", text);
        }

    } else if (turn->call.result == CO_STORE_SOLD_OUT) {
        loop->sold_out++;

    } else {
        loop->done++;
        co_histogram_add(&loop->latency, now - job->submitted_us);

        if (turn->job.mysql->fills_begun != turn->fills) {
            co_histogram_add(&loop->filling, now - job->submitted_us);
        }
    }

    again = now < loop->until_us && loop->left != 0;

    if (again) {
        loop->left -= loop->left > 0;

    } else if (--loop->running == 0) {
        loop->ended_us = now;
        pthread_cond_signal(&loop->ended);
    }

    pthread_mutex_unlock(&loop->mutex);

    if (again) {
        co_bench_turn_begin(turn);
    } else {
        free(turn);
    }
}


void
co_bench_loop(co_bench_loop_t *loop, co_mysql_t *mysql, int at_a_time,
    co_bench_run_pt run, const co_cart_t *cart, int64_t jobs, double seconds)
{
    int               i;
    co_bench_turn_t  *turn;

    memset(loop, 0, sizeof(*loop));
    pthread_mutex_init(&loop->mutex, NULL);
    pthread_cond_init(&loop->ended, NULL);

    loop->began_us = co_steady_us();
    loop->until_us = loop->began_us + (int64_t) (seconds * 1e6);
    loop->running = at_a_time;
    loop->left = jobs < 0 ? -1 : jobs - at_a_time;

    for (i = 0; i < at_a_time; i++) {
        turn = calloc(1, sizeof(*turn));
        if (turn == NULL) {
            exit(1);
        }

        turn->job.job.tag = CO_TAG_RESERVE;
        turn->job.job.run = run != NULL ? run : co_mysql_reserve;
        turn->job.job.end = co_bench_turn_end;
        turn->job.mysql = mysql;
        turn->job.call = &turn->call;
        turn->loop = loop;
        turn->call.action = CO_STORE_RESERVE;
        turn->call.hold = &turn->hold;
        turn->call.cart = cart;

        co_bench_turn_begin(turn);
    }

    pthread_mutex_lock(&loop->mutex);

    while (loop->running != 0) {
        pthread_cond_wait(&loop->ended, &loop->mutex);
    }

    pthread_mutex_unlock(&loop->mutex);
    pthread_cond_destroy(&loop->ended);
    pthread_mutex_destroy(&loop->mutex);
}


double
co_bench_rate(const co_bench_loop_t *loop)
{
    return (double) loop->done * 1e6
           / (double) (loop->ended_us - loop->began_us);
}


double
co_bench_filling_ms(const co_bench_loop_t *loop, double percent)
{
    return (double) co_histogram_percentile(&loop->filling, percent) / 1000;
}


double
co_bench_ms(const co_bench_loop_t *loop, double percent)
{
    return (double) co_histogram_percentile(&loop->latency, percent) / 1000;
}
