/*
 * The store in SQLite, in a file or in memory: co_store_sqlite.
 *
 * SQLite allows one writer at a time, and writers that wait for its lock can
 * starve.  So there is one writer, a thread with a FIFO queue.  All calls that
 * arrive while it works become one transaction: a file is synced once for many
 * orders, and the event loop never waits for the disk.
 *
 * CHECK constraints guarantee that available, held and sold units add up to
 * the initial stock.
 */

#ifndef CO_STORE_SQLITE_H
#define CO_STORE_SQLITE_H


#include "store_backend.h"
#include "store_thread.h"

#include <sqlite3.h>


#define CO_SQLITE_STATEMENTS  24


extern const co_store_backend_t  co_store_sqlite;


typedef struct {
    sqlite3            *db;
    sqlite3_stmt       *statements[CO_SQLITE_STATEMENTS];
    int                 failed;                  /* in this transaction */
    int                 mismatch;                /* other items, locations */
    co_store_thread_t  *thread;
} co_sqlite_t;


#endif /* CO_STORE_SQLITE_H */
