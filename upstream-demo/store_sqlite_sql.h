/*
 * The prepared statements of the store in SQLite.
 */

#ifndef CO_STORE_SQLITE_SQL_H
#define CO_STORE_SQLITE_SQL_H


#include "store_sqlite.h"


enum {
    CO_SQL_BEGIN = 0,
    CO_SQL_COMMIT,
    CO_SQL_ROLLBACK,
    CO_SQL_TOTALS,
    CO_SQL_LEVELS,
    CO_SQL_PLACES,
    CO_SQL_HOLD,
    CO_SQL_SELL,
    CO_SQL_CLAIM,
    CO_SQL_RELEASE,
    CO_SQL_HOLD_ADD,
    CO_SQL_HOLD_PARTS,
    CO_SQL_HOLD_REMOVE,
    CO_SQL_EXPIRED,
    CO_SQL_ORDER_ADD,
    CO_SQL_ORDER_OF,
    CO_SQL_RESET_STOCK,
    CO_SQL_RESET_HOLDS,
    CO_SQL_RESET_ORDERS,
    CO_SQL_N
};


/* Returns -1 with the error in the database handle. */
int co_sqlite_sql_prepare(co_sqlite_t *sqlite);
void co_sqlite_sql_finalize(co_sqlite_t *sqlite);

/* A transaction.  If commit returns -1, it was rolled back. */
int co_sqlite_sql_begin(co_sqlite_t *sqlite);
int co_sqlite_sql_commit(co_sqlite_t *sqlite);

sqlite3_stmt *co_sqlite_sql_statement(co_sqlite_t *sqlite, int which);

/* sqlite3_step(), with errors on stderr. */
int co_sqlite_sql_step(co_sqlite_t *sqlite, int which);

/* Runs a statement that returns no rows: 0 or -1. */
int co_sqlite_sql_run(co_sqlite_t *sqlite, int which);


#endif /* CO_STORE_SQLITE_SQL_H */
