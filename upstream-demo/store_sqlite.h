/*
 * The store's tables and statements, in SQLite.  Every function blocks; the
 * store calls them from its own thread.
 */

#ifndef CO_STORE_SQLITE_H
#define CO_STORE_SQLITE_H


#include "store.h"


typedef struct co_sqlite_s  co_sqlite_t;


/* As co_store_open(). */
co_sqlite_t *co_sqlite_open(const co_store_conf_t *conf,
    co_store_found_t *found, char *error);

void co_sqlite_close(co_sqlite_t *sqlite);

/* A transaction around any number of calls: 0, or -1 and nothing happened. */
int co_sqlite_begin(co_sqlite_t *sqlite);
int co_sqlite_commit(co_sqlite_t *sqlite);

/* Does one call, and leaves its result and the stock after it in "call". */
void co_sqlite_apply(co_sqlite_t *sqlite, co_store_call_t *call);


#endif /* CO_STORE_SQLITE_H */
