/*
 * The statements of the store in SQLite, by name.
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


sqlite3_stmt *co_sqlite_statement(co_sqlite_t *sqlite, int which);

/* The next row of a statement.  Says what fails on stderr. */
int co_sqlite_step(co_sqlite_t *sqlite, int which);

/* A statement without rows: 0, or -1. */
int co_sqlite_once(co_sqlite_t *sqlite, int which);


#endif /* CO_STORE_SQLITE_SQL_H */
