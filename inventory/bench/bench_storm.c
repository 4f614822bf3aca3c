/*
 * Processes reserve, claim, release and let holds expire over 64 connections.
 * They are killed and replaced, and the server is killed once.  No unit may be
 * oversold or lost.
 */

#include "bench.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>


#define PROCESSES      8
#define CONNECTIONS    8                         /* of each */
#define SHOPPERS       32                        /* of each */
#define ITEMS          3
#define LOCATIONS      4
#define LEVELS         (ITEMS * LOCATIONS)
#define KILLS          16

#define SHORT_LIFE_MS  300                       /* of holds that expire */
#define LONG_LIFE_MS   600000


/* Shared memory: survives the processes. */
typedef struct {
    _Atomic int64_t     operations;
    _Atomic int64_t     results[CO_STORE_ACTIONS][CO_STORE_FAILED + 1];
    _Atomic int64_t     claims_begun;            /* units */
    _Atomic int64_t     claims_done;
    _Atomic int64_t     expired;
    _Atomic int64_t     again;                   /* tries after deadlocks */
    int64_t             wanted;
} co_storm_t;


typedef struct {
    co_storm_t         *storm;
    struct event_base  *base;
    co_store_t         *store;
    unsigned            seed;
    int                 busy;
} co_storm_process_t;


typedef struct {
    co_storm_process_t  *process;
    co_store_call_t      call;
    co_cart_t            cart;
    co_hold_t            hold;
    co_order_t           order;
    int                  claims;
} co_storm_shopper_t;


static void co_storm_next(co_storm_shopper_t *shopper);
static void co_storm_reserved(void *data, co_store_result_e result);
static void co_storm_claimed(void *data, co_store_result_e result);
static void co_storm_released(void *data, co_store_result_e result);


static unsigned
co_storm_draw(co_storm_process_t *process, unsigned n)
{
    return (unsigned) rand_r(&process->seed) % n;
}


static void
co_storm_count(co_storm_shopper_t *shopper, co_store_result_e result)
{
    co_storm_t  *storm = shopper->process->storm;

    storm->operations++;
    storm->results[shopper->call.action][result]++;
}


static int64_t
co_storm_units(const co_storm_shopper_t *shopper)
{
    int      i;
    int64_t  units = 0;

    for (i = 0; i < shopper->cart.lines_n; i++) {
        units += shopper->cart.lines[i].quantity;
    }

    return units;
}


static void
co_storm_next(co_storm_shopper_t *shopper)
{
    int                  i, first;
    co_storm_process_t  *process = shopper->process;

    if (process->storm->operations >= process->storm->wanted) {
        if (--process->busy == 0) {
            event_base_loopexit(process->base, NULL);
        }

        return;
    }

    shopper->cart.lines_n = 1 + (int) co_storm_draw(process, 3);
    shopper->cart.locations = co_storm_draw(process, 3) != 0
        ? CO_ALL_LOCATIONS : 1 + co_storm_draw(process, (1u << LOCATIONS) - 1);
    first = (int) co_storm_draw(process, ITEMS);

    for (i = 0; i < shopper->cart.lines_n; i++) {
        shopper->cart.lines[i].item = (first + i) % ITEMS + 1;
        shopper->cart.lines[i].quantity = 1 + co_storm_draw(process, 3);
    }

    shopper->claims = 0;

    co_hold_new(&shopper->hold, co_storm_draw(process, 8) == 0
                                ? SHORT_LIFE_MS : LONG_LIFE_MS);
    co_store_reserve(process->store, &shopper->call, &shopper->hold,
                     &shopper->cart, co_storm_reserved, shopper);
}


static void
co_storm_claim(co_storm_shopper_t *shopper)
{
    snprintf(shopper->order.id, sizeof(shopper->order.id), "FT-%.16s",
             shopper->hold.id + 10);
    shopper->order.paid_ms = co_wall_ms();

    if (shopper->claims++ == 0) {
        shopper->process->storm->claims_begun += co_storm_units(shopper);
    }

    co_store_claim(shopper->process->store, &shopper->call, &shopper->hold,
                   &shopper->order, co_storm_claimed, shopper);
}


static void
co_storm_reserved(void *data, co_store_result_e result)
{
    co_storm_shopper_t  *shopper = data;
    co_storm_process_t  *process = shopper->process;

    co_storm_count(shopper, result);

    if (result != CO_STORE_OK) {
        co_storm_next(shopper);
        return;
    }

    switch (co_storm_draw(process, 10)) {

    case 0:
        /* the hold expires */
        co_storm_next(shopper);
        break;

    case 1: case 2: case 3:
        co_store_release(process->store, &shopper->call, &shopper->hold,
                         co_storm_released, shopper);
        break;

    default:
        co_storm_claim(shopper);
    }
}


static void
co_storm_claimed(void *data, co_store_result_e result)
{
    co_storm_shopper_t  *shopper = data;
    co_storm_process_t  *process = shopper->process;

    co_storm_count(shopper, result);

    if (result == CO_STORE_OK && shopper->claims == 1) {
        process->storm->claims_done += co_storm_units(shopper);

        /* a claim is repeated, or a release of an order fails */
        switch (co_storm_draw(process, 10)) {

        case 0:
            co_storm_claim(shopper);
            return;

        case 1:
            co_store_release(process->store, &shopper->call, &shopper->hold,
                             co_storm_released, shopper);
            return;
        }
    }

    co_storm_next(shopper);
}


static void
co_storm_released(void *data, co_store_result_e result)
{
    co_storm_shopper_t  *shopper = data;

    co_storm_count(shopper, result);
    co_storm_next(shopper);
}


static void
co_storm_conf(co_store_conf_t *conf, const char *spec, int64_t stock)
{
    memset(conf, 0, sizeof(*conf));

    conf->spec = spec;
    conf->stock = stock;
    conf->items = ITEMS;
    conf->locations = LOCATIONS;
}


static co_store_t *
co_storm_open(struct event_base *base, const char *spec, int64_t stock,
    int callers_expiry)
{
    char              error[CO_STORE_ERROR_LEN];
    co_store_t       *store;
    co_store_conf_t   conf;
    co_store_found_t  found;

    co_storm_conf(&conf, spec, stock);
    conf.callers_expiry = callers_expiry;
    store = co_store_open(base, &conf, &found, error);

    while (store == NULL) {
        usleep(200000);
        store = co_store_open(base, &conf, &found, error);
    }

    return store;
}


static void
co_storm_process(co_storm_t *storm, const char *spec, int64_t stock,
    unsigned seed)
{
    int                  i;
    json_t              *report, *holder;
    size_t               index;
    co_storm_process_t   process = { .storm = storm, .seed = seed };
    co_storm_shopper_t  *shoppers;

    shoppers = calloc(SHOPPERS, sizeof(*shoppers));
    process.base = event_base_new();
    process.store = co_storm_open(process.base, spec, stock, 0);
    process.busy = SHOPPERS;

    for (i = 0; i < SHOPPERS; i++) {
        shoppers[i].process = &process;
        co_storm_next(&shoppers[i]);
    }

    event_base_dispatch(process.base);

    report = co_store_report(process.store);
    storm->expired += co_store_expired_units(process.store);

    json_array_foreach(json_object_get(json_object_get(report, "connections"),
                                       "holders"), index, holder)
    {
        storm->again += json_integer_value(json_object_get(holder, "again"));
    }

    json_decref(report);
    co_store_close(process.store);
    event_base_free(process.base);
    free(shoppers);
    exit(0);
}


static pid_t
co_storm_fork(co_storm_t *storm, const char *spec, int64_t stock)
{
    pid_t            pid;
    static unsigned  seed = 1;

    fflush(stdout);
    seed++;

    pid = fork();
    if (pid == 0) {
        co_storm_process(storm, spec, stock, seed);
    }

    return pid;
}


static void
co_storm_server_dies(co_bench_t *bench)
{
    char  command[600];

    snprintf(command, sizeof(command), "scripts/mariadb.sh kill '%s' &&"
             " scripts/mariadb.sh start '%s'", bench->server, bench->server);

    if (system(command) != 0) {
        exit(1);
    }
}


static int
co_storm_run(co_bench_t *bench, co_storm_t *storm, const char *spec,
    int64_t stock)
{
    int      i, killed = 0, server = 0, left = PROCESSES;
    pid_t    pid, pids[PROCESSES];
    int64_t  next;

    for (i = 0; i < PROCESSES; i++) {
        pids[i] = co_storm_fork(storm, spec, stock);
    }

    while (left > 0) {
        next = (int64_t) (killed + 1) * storm->wanted / (KILLS + 1);

        if (storm->operations >= next && killed < KILLS) {
            i = killed++ % PROCESSES;
            kill(pids[i], SIGKILL);
            waitpid(pids[i], NULL, 0);
            pids[i] = co_storm_fork(storm, spec, stock);
        }

        if (storm->operations >= storm->wanted / 2 && !server) {
            server = 1;
            co_storm_server_dies(bench);
        }

        pid = waitpid(-1, NULL, WNOHANG);

        if (pid > 0) {
            left--;
        }

        usleep(2000);
    }

    return killed;
}


static void
co_storm_done(void *data, co_store_result_e result)
{
    int  *done = data;

    *done = 1;

    if (result != CO_STORE_OK) {
        exit(1);
    }
}


static void
co_storm_wait(struct event_base *base, int *done)
{
    while (!*done) {
        event_base_loop(base, EVLOOP_ONCE);
    }

    *done = 0;
}


static int
co_storm_levels(co_level_t *levels, const char *when)
{
    int          i, wrong = 0;
    co_stock_t  *stock;

    printf("\n%-26s %9s %9s %9s %9s\n", when, "stock", "held", "sold",
           "initial");

    for (i = 0; i < LEVELS; i++) {
        stock = &levels[i].stock;
        wrong += stock->available + stock->held + stock->sold
                 != stock->initial || stock->available < 0
                 || stock->held < 0 || stock->sold < 0;

        printf("item %d at location %d       %9lld %9lld %9lld %9lld\n",
               levels[i].item, levels[i].location,
               (long long) stock->available, (long long) stock->held,
               (long long) stock->sold, (long long) stock->initial);
    }

    return wrong;
}


/* Checks the tables without the code of the store. */
static int
co_storm_tables(co_bench_t *bench, co_storm_t *storm, int shop, int64_t *sold)
{
    int      failed = 0;
    MYSQL   *mysql;
    int64_t  begun = storm->claims_begun, confirmed = storm->claims_done;
    int64_t  wrong;

    mysql = co_bench_connect(bench, "flash_throttle");

    wrong = co_bench_ask(mysql, "SELECT COUNT(*) FROM ledger l JOIN pools p"
        " USING (shop, item, location) WHERE l.shop = %d AND l.stock <>"
        " p.unpooled + (SELECT COUNT(*) FROM units u WHERE u.shop = l.shop"
        " AND u.item = l.item AND u.location = l.location)"
        " + (SELECT COALESCE(SUM(h.quantity), 0) FROM holds h"
        " WHERE h.shop = l.shop AND h.item = l.item"
        " AND h.location = l.location)", shop);

    *sold = co_bench_ask(mysql, "SELECT SUM(initial - stock) FROM ledger"
                         " WHERE shop = %d", shop);

    failed |= co_bench_must(wrong == 0, "ledger = unpooled + rows + holds,"
                            " for every item and location");
    failed |= co_bench_must(*sold == co_bench_ask(mysql, "SELECT"
                            " SUM(quantity) FROM orders WHERE shop = %d",
                            shop), "the orders have the units that the"
                            " ledger has sold: %lld", (long long) *sold);
    failed |= co_bench_must(confirmed <= *sold && *sold <= begun,
                            "confirmed <= sold <= claimed: %lld <= %lld <="
                            " %lld", (long long) confirmed, (long long) *sold,
                            (long long) begun);
    failed |= co_bench_must(co_bench_ask(mysql, "SELECT COALESCE(MAX(n), 0)"
                            " FROM (SELECT COUNT(*) AS n FROM units WHERE"
                            " shop = %d GROUP BY item, location) t", shop)
                            <= 1000, "no pool has more than 1,000 rows");
    mysql_close(mysql);

    return failed;
}


static int64_t
co_storm_sum(co_storm_t *storm, co_store_result_e result)
{
    int      i;
    int64_t  sum = 0;

    for (i = 0; i < CO_STORE_ACTIONS; i++) {
        sum += storm->results[i][result];
    }

    return sum;
}


static void
co_storm_results(co_storm_t *storm)
{
    int  i;

    static const struct {
        int          action;
        const char  *name;
    } rows[] = {
        { CO_STORE_RESERVE, "reserve" },
        { CO_STORE_CLAIM, "claim" },
        { CO_STORE_RELEASE, "release" }
    };

    printf("%-10s %9s %9s %9s %9s %9s\n", "", "ok", "sold out", "gone", "busy",
           "failed");

    for (i = 0; i < 3; i++) {
        printf("%-10s %9lld %9lld %9lld %9lld %9lld\n", rows[i].name,
               (long long) storm->results[rows[i].action][CO_STORE_OK],
               (long long) storm->results[rows[i].action][CO_STORE_SOLD_OUT],
               (long long) storm->results[rows[i].action][CO_STORE_GONE],
               (long long) storm->results[rows[i].action][CO_STORE_BUSY],
               (long long) storm->results[rows[i].action][CO_STORE_FAILED]);
    }

    printf("expired    %9lld units, by processes that were not killed\n",
           (long long) storm->expired);
}


int
co_bench_storm(co_bench_t *bench)
{
    int                 killed, failed = 0, wrong, done = 0;
    char                spec[600];
    double              took_s;
    int64_t             stock, began, sold;
    co_storm_t         *storm;
    co_level_t          levels[LEVELS];
    co_store_t         *store;
    co_expired_t        expired;
    co_store_call_t     call;
    struct event_base  *base;

    storm = mmap(NULL, sizeof(*storm), PROT_READ|PROT_WRITE,
                 MAP_SHARED|MAP_ANONYMOUS, -1, 0);
    if (storm == MAP_FAILED) {
        return 1;
    }

    /* the stock sells out before the end */
    storm->wanted = bench->operations;
    stock = bench->operations * 2 / 5;

    memcpy(spec, "mysql:", 6);
    co_bench_place(bench, spec + 6, sizeof(spec) - 6, "flash_throttle",
                   "connections=8;patience_ms=300000");

    printf("== no oversell and no lost unit: %d processes with %d connections"
           " each,\n   %lld operations, the server killed half-way\n\n",
           PROCESSES, CONNECTIONS, (long long) storm->wanted);

    began = co_steady_us();
    killed = co_storm_run(bench, storm, spec, stock);
    took_s = (double) (co_steady_us() - began) / 1e6;

    co_storm_results(storm);
    printf("%lld operations in %.1f s; %d processes and the server killed;"
           " %lld tries again after a deadlock\n",
           (long long) storm->operations, took_s, killed,
           (long long) storm->again);

    base = event_base_new();
    store = co_storm_open(base, spec, stock, 1);

    co_store_count(store, &call, levels, co_storm_done, &done);
    co_storm_wait(base, &done);
    wrong = co_storm_levels(levels, "before expiry");

    do {
        co_store_expire(store, &call, co_wall_ms() + 2 * LONG_LIFE_MS,
                        &expired, co_storm_done, &done);
        co_storm_wait(base, &done);
    } while (expired.n != 0);

    co_store_count(store, &call, levels, co_storm_done, &done);
    co_storm_wait(base, &done);
    wrong += co_storm_levels(levels, "after expiry");
    printf("\n");

    failed |= co_bench_must(wrong == 0, "stock + held + sold = initial, for"
                            " every item and location");
    failed |= co_bench_must(storm->operations >= storm->wanted
                            && killed == KILLS, "%lld operations, %d kills",
                            (long long) storm->operations, killed);
    failed |= co_bench_must(co_storm_sum(storm, CO_STORE_FAILED) == 0
                            && co_storm_sum(storm, CO_STORE_BUSY) == 0
                            && storm->results[CO_STORE_CLAIM][CO_STORE_OK]
                               > storm->wanted / 10, "no call failed, more"
                            " than a tenth were claims");
    failed |= co_storm_tables(bench, storm, bench->shops, &sold);

    co_store_close(store);
    event_base_free(base);
    munmap(storm, sizeof(*storm));

    return failed;
}
