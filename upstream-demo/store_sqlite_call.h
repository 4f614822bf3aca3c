/*
 * The calls of store.h in SQLite.
 *
 * All calls run on one thread in one transaction, so the values that a call
 * reads stay valid until it writes.
 */

#ifndef CO_STORE_SQLITE_CALL_H
#define CO_STORE_SQLITE_CALL_H


#include "store_sqlite.h"


/* Runs a call; sets its result and the stock after it. */
void co_sqlite_call_apply(co_sqlite_t *sqlite, co_store_call_t *call);


#endif /* CO_STORE_SQLITE_CALL_H */
