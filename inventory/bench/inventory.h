/*
 * What "make inventory" runs: the store in MySQL or MariaDB put to the test.
 * Each part prints what it found, and returns 0 if that is as it must be.
 */

#ifndef CO_INVENTORY_H
#define CO_INVENTORY_H


#include "histogram.h"
#include "store_mysql.h"

#include <pthread.h>


/* What each part takes from the command line. */
typedef struct {
    const char  *server;                         /* folder of mariadb.sh */
    int64_t      operations;
    double       seconds;                        /* of one measurement */
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


/* A new shop of the store in this server, with more options of its place. */
typedef struct {
    co_mysql_t  *mysql;
    char         place[512];
} co_bench_shop_t;

/* Ends the program where it cannot be opened. */
void co_bench_open(co_bench_t *bench, co_bench_shop_t *shop,
    const co_store_conf_t *conf, const char *database, const char *options);
void co_bench_close(co_bench_shop_t *shop);

/* --store for this server. */
void co_bench_place(co_bench_t *bench, char *place, size_t size,
    const char *database, const char *options);

/* A connection of its own, for a look from the side. */
MYSQL *co_bench_connect(co_bench_t *bench, const char *database);

/* Statements, without tags; ends the program where one fails. */
void co_bench_do(MYSQL *mysql, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The first column of the first row, or -1. */
int64_t co_bench_ask(MYSQL *mysql, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Keeps the first column of the first row in an int64_t that is -1. */
void co_bench_first(void *data, int which, MYSQL_ROW row);


/* Jobs that are done over and over, so many at a time. */
typedef struct {
    pthread_mutex_t   mutex;
    pthread_cond_t    ended;
    int               running;
    int64_t           until_us;
    int64_t           left;                      /* jobs to begin; or -1 */
    int64_t           done;
    int64_t           sold_out;
    int64_t           failed;
    int64_t           began_us;
    int64_t           ended_us;
    co_histogram_t    latency;                   /* with the wait */
    co_histogram_t    filling;                   /* while a pool was filled */
} co_bench_loop_t;

typedef co_job_result_e (*co_bench_run_pt)(co_pool_job_t *job,
    co_lease_t *lease);

/*
 * Runs jobs on the shop's connections, each a reservation of the cart: by
 * "run", or by the store itself if it is NULL.  Ends after "jobs" (-1: any
 * number) or "seconds".
 */
void co_bench_loop(co_bench_loop_t *loop, co_mysql_t *mysql, int at_a_time,
    co_bench_run_pt run, const co_cart_t *cart, int64_t jobs, double seconds);

double co_bench_rate(const co_bench_loop_t *loop);
double co_bench_ms(const co_bench_loop_t *loop, double percent);
double co_bench_filling_ms(const co_bench_loop_t *loop, double percent);

/*
 * The same for what depends on the machine: in a short run, of less than a
 * second a measurement, it only prints.
 */
int co_bench_figure(co_bench_t *bench, int good, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints "ok" or "NOT OK" with what must be; 1 where it is not. */
int co_bench_must(int good, const char *format, ...)
    __attribute__((format(printf, 2, 3)));


#endif /* CO_INVENTORY_H */
