/*
 * Deadlocks by the order of locks.
 */

#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mysqld_error.h>


#define CONNECTIONS  16
#define UNITS        5                           /* of a transaction */
#define STOCK        64


/* The order of the two statements of a transaction, and the ids of units. */
typedef struct {
    const char  *name;
    int          insert_first[2];                /* reserve, release */
    int          old_ids;
    int          list;                           /* DELETE ... IN (list) */
} co_deadlocks_trial_t;

static const co_deadlocks_trial_t  co_deadlocks_trials[] = {
    { "units, then holds; old ids; list of ids", { 0, 1 }, 1, 1 },
    { "DELETE, then INSERT; new ids; list of ids", { 0, 0 }, 0, 1 },
    { "units, then holds; old ids; one by one", { 0, 1 }, 1, 0 },
    { "holds, then units; old ids; one by one", { 1, 0 }, 1, 0 },
    { "DELETE, then INSERT; new ids; one by one", { 0, 0 }, 0, 0 }
};

#define TRIALS  (sizeof(co_deadlocks_trials) / sizeof(co_deadlocks_trials[0]))


static const co_deadlocks_trial_t  *co_deadlocks_trial;
static _Atomic int64_t          co_deadlocks_deadlocks;
static _Atomic int64_t          co_deadlocks_next_id;


typedef struct {
    int      n;
    int64_t  ids[UNITS];
} co_deadlocks_ids_t;


static void
co_deadlocks_row(void *data, int which, MYSQL_ROW row)
{
    co_deadlocks_ids_t  *ids = data;

    (void) which;

    ids->ids[ids->n++] = co_sql_number(row, 0);
}


static void
co_deadlocks_delete(co_sql_t *sql, const char *table,
    const co_deadlocks_ids_t *ids)
{
    int  i, list;

    list = co_deadlocks_trial->list;

    for (i = 0; i < ids->n; i++) {
        if (i == 0 || !list) {
            co_sql_add(sql, "DELETE FROM %s WHERE shop = 1 AND item = 1 AND"
                       " location = 1 AND id IN (", table);
        }

        co_sql_add(sql, "%lld%s", (long long) ids->ids[i],
                   list && i < ids->n - 1 ? ", " : ")");

        if (i == ids->n - 1 || !list) {
            co_sql_end(sql);
        }
    }
}


static void
co_deadlocks_insert(co_sql_t *sql, const char *table,
    const co_deadlocks_ids_t *ids, int fresh)
{
    int  i;

    co_sql_add(sql, "INSERT INTO %s VALUES ", table);

    for (i = 0; i < ids->n; i++) {
        co_sql_add(sql, "%s(1, 1, 1, %lld)", i == 0 ? "" : ", ",
                   (long long) (fresh ? co_deadlocks_next_id++ : ids->ids[i]));
    }

    co_sql_end(sql);
}


static unsigned
co_deadlocks_move(co_lease_t *lease, const co_deadlocks_ids_t *ids, int back)
{
    int                          fresh;
    unsigned                     error;
    const char                  *from, *to;
    co_sql_t                    *sql = &lease->sql;
    const co_deadlocks_trial_t  *trial = co_deadlocks_trial;

    from = back ? "lab_held" : "lab_units";
    to = back ? "lab_units" : "lab_held";
    fresh = back && !trial->old_ids;

    if (trial->insert_first[back]) {
        co_deadlocks_insert(sql, to, ids, fresh);
        co_deadlocks_delete(sql, from, ids);

    } else {
        co_deadlocks_delete(sql, from, ids);
        co_deadlocks_insert(sql, to, ids, fresh);
    }

    co_sql_statement(sql, "COMMIT");

    error = co_sql_run(sql, lease->mysql, NULL, NULL);

    if (error == ER_LOCK_DEADLOCK) {
        co_deadlocks_deadlocks++;
    }

    return error;
}


static co_job_result_e
co_deadlocks_move_twice(co_pool_job_t *job, co_lease_t *lease)
{
    unsigned            error;
    co_sql_t           *sql = &lease->sql;
    co_deadlocks_ids_t  ids = { .n = 0 };

    (void) job;

    co_pool_begin(lease);
    co_sql_statement(sql, "SELECT id FROM lab_units WHERE shop = 1"
                     " AND item = 1 AND location = 1 ORDER BY id LIMIT %d"
                     " FOR UPDATE SKIP LOCKED", UNITS);

    if (co_sql_run(sql, lease->mysql, co_deadlocks_row, &ids) != 0) {
        return CO_JOB_AGAIN;
    }

    co_sql_begin(sql, lease->tag);

    if (ids.n != 0 && co_deadlocks_move(lease, &ids, 0) != 0) {
        return CO_JOB_AGAIN;
    }

    do {
        co_pool_begin(lease);
        error = ids.n != 0 ? co_deadlocks_move(lease, &ids, 1) : 0;

        if (error != 0 && co_pool_rollback(lease) != 0) {
            return CO_JOB_AGAIN;
        }

    } while (error == ER_LOCK_DEADLOCK);

    return error == 0 ? CO_JOB_DONE : CO_JOB_AGAIN;
}


static double
co_deadlocks_run_trial(co_bench_t *bench, const co_deadlocks_trial_t *trial)
{
    char              options[64];
    MYSQL            *mysql;
    double            per_thousand;
    co_bench_shop_t   shop;
    co_bench_loop_t  *loop;
    co_store_conf_t   conf = { .stock = 1, .items = 1, .locations = 1 };

    loop = malloc(sizeof(*loop));
    mysql = co_bench_connect(bench, "flash_throttle");

    co_bench_do(mysql, "DROP TABLE IF EXISTS lab_units, lab_held");
    co_bench_do(mysql, "CREATE TABLE lab_units (shop INT NOT NULL,"
                " item INT NOT NULL, location INT NOT NULL,"
                " id BIGINT NOT NULL, PRIMARY KEY (shop, item, location, id))"
                " ENGINE=InnoDB");
    co_bench_do(mysql, "CREATE TABLE lab_held LIKE lab_units");
    co_bench_do(mysql, "INSERT INTO lab_units SELECT 1, 1, 1, seq FROM"
                " seq_1_to_%d", STOCK);

    co_deadlocks_trial = trial;
    co_deadlocks_deadlocks = 0;
    co_deadlocks_next_id = STOCK + 1;

    snprintf(options, sizeof(options), "connections=%d", CONNECTIONS);
    co_bench_open(bench, &shop, &conf, "flash_throttle", options);
    co_bench_loop(loop, shop.mysql, CONNECTIONS, co_deadlocks_move_twice,
                  &co_bench_one_unit, -1, bench->seconds);
    co_bench_close(&shop);

    per_thousand = (double) co_deadlocks_deadlocks * 1000
                    / (double) (2 * loop->done + 1);

    printf("%-46s %9lld %10lld %11.2f\n", trial->name,
           (long long) (2 * loop->done), (long long) co_deadlocks_deadlocks,
           per_thousand);

    mysql_close(mysql);
    free(loop);

    return per_thousand;
}


/* A statement in its own thread: it waits for another connection. */
typedef struct {
    MYSQL       *mysql;
    const char  *text;
    unsigned     error;
} co_deadlocks_waiting_t;


static void *
co_deadlocks_wait(void *data)
{
    co_deadlocks_waiting_t  *waiting = data;

    mysql_thread_init();
    (void) mysql_query(waiting->mysql, waiting->text);
    waiting->error = mysql_errno(waiting->mysql);
    mysql_thread_end();

    return NULL;
}


/*
 * Two transactions on one unit: statement 1 of the first, statement 1 of the
 * second, statement 2 of the first (it waits), statement 2 of the second.
 * Returns 1 if there was a deadlock.
 */
static int
co_deadlocks_crafted(co_bench_t *bench, const char *first[2],
    const char *second[2])
{
    int                     wait_first;
    MYSQL                  *a, *b;
    unsigned                error;
    pthread_t               thread;
    co_deadlocks_waiting_t  waiting;

    a = co_bench_connect(bench, "flash_throttle");
    b = co_bench_connect(bench, "flash_throttle");

    co_bench_do(a, "TRUNCATE lab_held");
    co_bench_do(a, "REPLACE INTO lab_units VALUES (1, 1, 1, 1)");
    co_bench_do(a, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
    co_bench_do(b, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
    co_bench_do(a, "START TRANSACTION");
    co_bench_do(b, "START TRANSACTION");
    co_bench_do(a, "%s", first[0]);

    /* if both begin with the same row, the second waits at once */
    wait_first = strcmp(first[0], second[0]) == 0;
    waiting.mysql = wait_first ? b : a;
    waiting.text = wait_first ? second[0] : first[1];

    if (!wait_first) {
        co_bench_do(b, "%s", second[0]);
    }

    pthread_create(&thread, NULL, co_deadlocks_wait, &waiting);
    usleep(300000);

    (void) mysql_query(wait_first ? a : b,
                       wait_first ? first[1] : second[1]);
    error = mysql_errno(wait_first ? a : b);
    (void) mysql_query(wait_first ? a : b, "COMMIT");

    pthread_join(thread, NULL);
    mysql_close(a);
    mysql_close(b);

    return error == ER_LOCK_DEADLOCK || waiting.error == ER_LOCK_DEADLOCK;
}


static co_job_result_e
co_deadlocks_whole(co_pool_job_t *job, co_lease_t *lease)
{
    co_job_result_e  done;
    co_mysql_job_t  *mine = (co_mysql_job_t *) job;
    co_order_t       order = { .email = "" };

    done = co_mysql_reserve(job, lease);

    if (done != CO_JOB_DONE || mine->call->result != CO_STORE_OK) {
        return done;
    }

    if (mine->call->hold->id[CO_HOLD_ID_LEN - 2] & 1) {
        return co_mysql_call_release(job, lease);
    }

    snprintf(order.id, sizeof(order.id), "FT-%.16s",
             mine->call->hold->id + 10);
    mine->call->order = &order;

    return co_mysql_call_claim(job, lease);
}


static int
co_deadlocks_shipped(co_bench_t *bench)
{
    int               failed;
    MYSQL            *mysql;
    int64_t           before, after, jobs;
    co_bench_shop_t   shop;
    co_bench_loop_t  *loop;
    co_store_conf_t   conf = { .items = 2, .locations = 2 };
    const co_cart_t   cart = { 2, { { 1, 1 }, { 2, 1 } }, CO_ALL_LOCATIONS };

    jobs = bench->operations / 2;
    conf.stock = jobs * 2;
    loop = malloc(sizeof(*loop));
    mysql = co_bench_connect(bench, "flash_throttle");

    before = co_bench_ask(mysql, "SELECT VARIABLE_VALUE FROM"
                          " information_schema.GLOBAL_STATUS"
                          " WHERE VARIABLE_NAME = 'Innodb_deadlocks'");
    co_bench_open(bench, &shop, &conf, "flash_throttle",
                  "connections=64;pool=100;low=50");
    co_bench_loop(loop, shop.mysql, 64, co_deadlocks_whole, &cart, jobs, 600);
    co_bench_close(&shop);
    after = co_bench_ask(mysql, "SELECT VARIABLE_VALUE FROM"
                         " information_schema.GLOBAL_STATUS"
                         " WHERE VARIABLE_NAME = 'Innodb_deadlocks'");

    failed = co_bench_must(after == before && loop->failed == 0
                           && loop->done == jobs,
                           "the store itself: %lld deadlocks in %lld"
                           " transactions of 64 connections, %.0f a second",
                           (long long) (after - before),
                           (long long) (loop->done * 2),
                           co_bench_rate(loop) * 2);
    mysql_close(mysql);
    free(loop);

    return failed;
}


int
co_bench_deadlocks(co_bench_t *bench)
{
    int     failed = 0, mixed, same;
    size_t  i;
    double  per_thousand[TRIALS];

    static const char  *units_first[2] = {
        "DELETE FROM lab_units WHERE shop = 1 AND item = 1 AND location = 1"
        " AND id = 1",
        "INSERT INTO lab_held VALUES (1, 1, 1, 1)"
    };
    static const char  *holds_first[2] = {
        "INSERT INTO lab_held VALUES (1, 1, 1, 1)",
        "DELETE FROM lab_units WHERE shop = 1 AND item = 1 AND location = 1"
        " AND id = 1"
    };

    printf("== deadlocks of %d connections that reserve and release %d units"
           " at a time\n\n%-46s %9s %10s %11s\n", CONNECTIONS, UNITS, "",
           "done", "deadlocks", "in 1,000");

    for (i = 0; i < TRIALS; i++) {
        per_thousand[i] = co_deadlocks_run_trial(bench,
                                                 &co_deadlocks_trials[i]);
    }

    mixed = co_deadlocks_crafted(bench, holds_first, units_first);
    same = co_deadlocks_crafted(bench, units_first, units_first);
    printf("\n");

    failed |= co_bench_must(mixed && !same, "step by step on one unit: only"
                            " mixed order deadlocks");
    failed |= co_bench_must(per_thousand[TRIALS - 1] == 0, "the order of"
                            " the store: none");
    failed |= co_bench_figure(bench, per_thousand[1] > 0, "a list of ids, for"
                              " which the server scans a small pool: %.1f in"
                              " 1,000", per_thousand[1]);
    failed |= co_deadlocks_shipped(bench);

    return failed;
}
