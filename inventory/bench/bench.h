/*
 * The benchmark of the store in MySQL or MariaDB ("make inventory-mysql").
 * Each part prints its results and returns 0 if they are as required.
 */

#ifndef CO_BENCH_H
#define CO_BENCH_H


#include "clock.h"
#include "histogram.h"
#include "mysql_call.h"
#include "mysql_reserve.h"

#include <pthread.h>


/* The command line. */
typedef struct {
    const char  *server;                         /* directory of mariadb.sh */
    int64_t      operations;
    double       seconds;                        /* of a measurement */
    int          shops;                          /* the last shop used */
} co_bench_t;


int co_bench_storm(co_bench_t *bench);
int co_bench_throughput(co_bench_t *bench);
int co_bench_locks(co_bench_t *bench);
int co_bench_gaps(co_bench_t *bench);
int co_bench_deadlocks(co_bench_t *bench);
int co_bench_carts(co_bench_t *bench);
int co_bench_pools(co_bench_t *bench);
int co_bench_holders(co_bench_t *bench);


/* A new shop in this server. */
typedef struct {
    co_mysql_t  *mysql;
    char         place[512];
} co_bench_shop_t;

/* A database whose units have an auto-increment key. */
#define CO_BENCH_AUTO_INCREMENT  "lab_auto_increment"

/* Stock that no measurement sells out. */
#define CO_BENCH_STOCK  10000000

/* A cart with one unit of item 1, and a store with this item at 1 location. */
extern const co_cart_t        co_bench_one_unit;
extern const co_store_conf_t  co_bench_one_item;

/* Opens a new shop with further options; exits on failure. */
void co_bench_open(co_bench_t *bench, co_bench_shop_t *shop,
    const co_store_conf_t *conf, const char *database, const char *options);
void co_bench_close(co_bench_shop_t *shop);

/* Writes the options of a new shop in this server, after "mysql:". */
void co_bench_place(co_bench_t *bench, char *place, size_t size,
    const char *database, const char *options);

/* Opens another connection; exits on failure. */
MYSQL *co_bench_connect(co_bench_t *bench, const char *database);

/* Executes a statement; exits on failure. */
void co_bench_do(MYSQL *mysql, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns the first column of the first row, or -1. */
int64_t co_bench_ask(MYSQL *mysql, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Stores the first column of the first row in an int64_t that is -1. */
void co_bench_first(void *data, int which, MYSQL_ROW row);


/* Jobs that are repeated. */
typedef struct {
    pthread_mutex_t   mutex;
    pthread_cond_t    ended;
    int               running;
    int64_t           until_us;
    int64_t           left;                      /* jobs to start, or -1 */
    int64_t           done;
    int64_t           sold_out;
    int64_t           failed;
    int64_t           began_us;
    int64_t           ended_us;
    co_histogram_t    latency;                   /* with the queue */
    co_histogram_t    filling;                   /* of jobs during a fill */
} co_bench_loop_t;

typedef co_job_result_e (*co_bench_run_pt)(co_pool_job_t *job,
    co_lease_t *lease);

/*
 * Runs jobs, "at_a_time" at a time, that reserve the cart with "run", or with
 * co_mysql_reserve() if NULL.  Ends after "jobs" (-1: no limit) or "seconds".
 */
void co_bench_loop(co_bench_loop_t *loop, co_mysql_t *mysql, int at_a_time,
    co_bench_run_pt run, const co_cart_t *cart, int64_t jobs, double seconds);

double co_bench_rate(const co_bench_loop_t *loop);
double co_bench_ms(const co_bench_loop_t *loop, double percent);
double co_bench_filling_ms(const co_bench_loop_t *loop, double percent);

/* Prints "ok" or "NOT OK" and the requirement; returns 1 if it is not met. */
int co_bench_must(int good, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * As co_bench_must(), for a requirement that depends on the machine: it is not
 * checked if a measurement takes less than a second.
 */
int co_bench_figure(co_bench_t *bench, int good, const char *format, ...)
    __attribute__((format(printf, 3, 4)));


#endif /* CO_BENCH_H */
