/*
 * The store in SQLite: what its files share.  Opening and the thread are in
 * store_sqlite.c, the calls in store_sqlite_calls.c, and their statements in
 * store_sqlite_sql.c.
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
    int                 failed;                  /* this transaction did */
    int                 mismatch;                /* other items, locations */
    co_store_thread_t  *thread;
} co_sqlite_t;


/* 0, or -1 with the error in the database handle. */
int co_sqlite_prepare(co_sqlite_t *sqlite);
void co_sqlite_finalize(co_sqlite_t *sqlite);

/* A transaction around any number of calls: 0, or -1 and nothing happened. */
int co_sqlite_begin(co_sqlite_t *sqlite);
int co_sqlite_commit(co_sqlite_t *sqlite);

/* Does one call, and leaves its result and the stock after it in "call". */
void co_sqlite_apply(co_sqlite_t *sqlite, co_store_call_t *call);


#endif /* CO_STORE_SQLITE_H */
