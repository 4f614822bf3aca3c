#include "store_sqlite_sql.h"

#include <stdio.h>


_Static_assert(CO_SQL_N <= CO_SQLITE_STATEMENTS, "statements[] is too short");


static const char  *co_sqlite_sql_texts[CO_SQL_N] = {

    [CO_SQL_BEGIN] = "BEGIN IMMEDIATE",
    [CO_SQL_COMMIT] = "COMMIT",
    [CO_SQL_ROLLBACK] = "ROLLBACK",

    [CO_SQL_TOTALS] =
        "SELECT sum(initial), sum(stock), sum(held), sum(sold) FROM inventory",

    [CO_SQL_LEVELS] =
        ("SELECT initial, stock, held, sold, item, location FROM inventory"
         " ORDER BY item, location"),

    /* largest stock first, so that orders are rarely split */
    [CO_SQL_PLACES] =
        ("SELECT location, stock FROM inventory"
         " WHERE item = ?1 AND ((?2 >> (location - 1)) & 1)"
         " ORDER BY stock DESC, location"),

    [CO_SQL_HOLD] =
        ("UPDATE inventory SET stock = stock - ?3, held = held + ?3"
         " WHERE item = ?1 AND location = ?2 RETURNING stock"),

    [CO_SQL_SELL] =
        ("UPDATE inventory SET stock = stock - ?3, sold = sold + ?3"
         " WHERE item = ?1 AND location = ?2 RETURNING stock"),

    [CO_SQL_CLAIM] =
        ("UPDATE inventory SET held = held - ?3, sold = sold + ?3"
         " WHERE item = ?1 AND location = ?2 RETURNING stock"),

    [CO_SQL_RELEASE] =
        ("UPDATE inventory SET held = held - ?3, stock = stock + ?3"
         " WHERE item = ?1 AND location = ?2 RETURNING stock"),

    [CO_SQL_HOLD_ADD] = "INSERT INTO holds VALUES (?4, ?1, ?2, ?3, ?5)",

    [CO_SQL_HOLD_PARTS] =
        ("SELECT item, location, quantity FROM holds WHERE id = ?1"
         " ORDER BY item, location"),

    [CO_SQL_HOLD_REMOVE] = "DELETE FROM holds WHERE id = ?1",

    /* hold ids are ULIDs: sorted by time of creation */
    [CO_SQL_EXPIRED] =
        ("SELECT DISTINCT id FROM holds WHERE expires_ms <= ?1"
         " ORDER BY id LIMIT ?2"),

    [CO_SQL_ORDER_ADD] = "INSERT INTO orders VALUES (?1, ?2, ?3, ?4, ?5)",
    [CO_SQL_ORDER_OF] = "SELECT 1 FROM orders WHERE hold = ?1",

    [CO_SQL_RESET_STOCK] =
        "UPDATE inventory SET stock = initial, held = 0, sold = 0",
    [CO_SQL_RESET_HOLDS] = "DELETE FROM holds",
    [CO_SQL_RESET_ORDERS] = "DELETE FROM orders"
};


int
co_sqlite_sql_prepare(co_sqlite_t *sqlite)
{
    int  i;

    for (i = 0; i < CO_SQL_N; i++) {
        if (sqlite3_prepare_v3(sqlite->db, co_sqlite_sql_texts[i], -1,
                               SQLITE_PREPARE_PERSISTENT,
                               &sqlite->statements[i], NULL)
            != SQLITE_OK)
        {
            return -1;
        }
    }

    return 0;
}


void
co_sqlite_sql_finalize(co_sqlite_t *sqlite)
{
    int  i;

    for (i = 0; i < CO_SQL_N; i++) {
        sqlite3_finalize(sqlite->statements[i]);
    }
}


int
co_sqlite_sql_begin(co_sqlite_t *sqlite)
{
    sqlite->failed = 0;

    return co_sqlite_sql_run(sqlite, CO_SQL_BEGIN);
}


int
co_sqlite_sql_commit(co_sqlite_t *sqlite)
{
    if (!sqlite->failed && co_sqlite_sql_run(sqlite, CO_SQL_COMMIT) == 0) {
        return 0;
    }

    /* an I/O error may already have caused a rollback */
    if (!sqlite3_get_autocommit(sqlite->db)) {
        (void) co_sqlite_sql_run(sqlite, CO_SQL_ROLLBACK);
    }

    return -1;
}


sqlite3_stmt *
co_sqlite_sql_statement(co_sqlite_t *sqlite, int which)
{
    return sqlite->statements[which];
}


int
co_sqlite_sql_step(co_sqlite_t *sqlite, int which)
{
    int  rc;

    rc = sqlite3_step(sqlite->statements[which]);

    if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
        fprintf(stderr, "checkout: store: \"%s\": %s\n",
                co_sqlite_sql_texts[which], sqlite3_errmsg(sqlite->db));
    }

    return rc;
}


int
co_sqlite_sql_run(co_sqlite_t *sqlite, int which)
{
    int  rc;

    rc = co_sqlite_sql_step(sqlite, which);
    sqlite3_reset(sqlite->statements[which]);

    return rc == SQLITE_DONE ? 0 : -1;
}
