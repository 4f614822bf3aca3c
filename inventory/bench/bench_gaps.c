/*
 * Locks that reading an empty pool leaves.
 */

#include "bench.h"

#include <stdio.h>
#include <unistd.h>

#include <mysqld_error.h>


/*
 * One transaction has read an empty pool, another inserts a row.  Returns the
 * error of the INSERT, and the row locks of the first transaction.
 */
static unsigned
co_gaps_fill(co_bench_t *bench, const char *level, int shop, int64_t *locks)
{
    char      text[256];
    MYSQL    *reader, *filler, *looker;
    unsigned  error;

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


static const char *
co_gaps_result(unsigned error)
{
    return error == 0 ? "succeeds"
           : error == ER_LOCK_WAIT_TIMEOUT ? "times out" : "fails";
}


int
co_bench_gaps(co_bench_t *bench)
{
    int              i, shop, failed = 0;
    MYSQL           *mysql, *drain;
    int64_t          locks[2][2];
    unsigned         errors[2][2];
    co_bench_shop_t  made;

    static const char  *levels[] = { "REPEATABLE READ", "READ COMMITTED" };

    co_bench_open(bench, &made, &co_bench_one_item, "flash_throttle",
                  "connections=1");
    co_bench_close(&made);

    /* the last shop of the table: the supremum follows */
    shop = 2000000000;
    mysql = co_bench_connect(bench, "flash_throttle");

    printf("== an empty pool, read FOR UPDATE SKIP LOCKED, while another"
           " transaction fills it\n\n%-18s %10s %22s %10s %22s\n", "",
           "never full", "INSERT", "drained", "INSERT");

    for (i = 0; i < 2; i++) {
        co_bench_do(mysql, "DELETE FROM units WHERE shop = %d", shop);
        errors[i][0] = co_gaps_fill(bench, levels[i], shop,
                                    &locks[i][0]);

        /* a snapshot delays the purge of the deleted rows */
        co_bench_do(mysql, "INSERT INTO units SELECT %d, 1, 1, seq FROM"
                    " seq_1_to_20", shop);
        co_bench_do(mysql, "START TRANSACTION WITH CONSISTENT SNAPSHOT");
        drain = co_bench_connect(bench, "flash_throttle");
        co_bench_do(drain, "DELETE FROM units WHERE shop = %d", shop);
        mysql_close(drain);
        errors[i][1] = co_gaps_fill(bench, levels[i], shop,
                                    &locks[i][1]);
        co_bench_do(mysql, "COMMIT");

        printf("%-18s %4lld locks %22s %4lld locks %22s\n", levels[i],
               (long long) locks[i][0], co_gaps_result(errors[i][0]),
               (long long) locks[i][1], co_gaps_result(errors[i][1]));
    }

    co_bench_do(mysql, "DELETE FROM units WHERE shop = %d", shop);
    mysql_close(mysql);
    printf("\n");

    failed |= co_bench_must(errors[0][0] == ER_LOCK_WAIT_TIMEOUT
                            && errors[0][1] == ER_LOCK_WAIT_TIMEOUT,
                            "at REPEATABLE READ an empty pool blocks its"
                            " fill");
    failed |= co_bench_must(errors[1][0] == 0 && errors[1][1] == 0
                            && locks[1][0] == 0 && locks[1][1] == 0,
                            "at READ COMMITTED an empty pool locks nothing");

    return failed;
}
