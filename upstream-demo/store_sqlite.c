#include "store_sqlite_call.h"
#include "store_sqlite_sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>


#define CO_SQLITE_BUSY_MS  2000


static const char  co_sqlite_schema[] =
    "CREATE TABLE IF NOT EXISTS inventory ("
    "    item      INTEGER NOT NULL,"
    "    location  INTEGER NOT NULL,"
    "    initial   INTEGER NOT NULL CHECK (initial >= 0),"
    "    stock     INTEGER NOT NULL,"
    "    held      INTEGER NOT NULL CHECK (held >= 0),"
    "    sold      INTEGER NOT NULL CHECK (sold >= 0),"
    "    guarded   INTEGER NOT NULL,"
    "    PRIMARY KEY (item, location),"
    "    CHECK (stock + held + sold = initial),"
    "    CHECK (NOT guarded OR stock >= 0)"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS holds ("
    "    id          TEXT NOT NULL,"
    "    item        INTEGER NOT NULL,"
    "    location    INTEGER NOT NULL,"
    "    quantity    INTEGER NOT NULL CHECK (quantity > 0),"
    "    expires_ms  INTEGER NOT NULL,"
    "    PRIMARY KEY (id, item, location)"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS orders ("
    "    id        TEXT PRIMARY KEY,"
    "    hold      TEXT UNIQUE,"
    "    quantity  INTEGER NOT NULL,"
    "    email     TEXT NOT NULL,"
    "    paid_ms   INTEGER NOT NULL"
    ") STRICT";


static int co_sqlite_check(const char *place, char *error);
static void *co_sqlite_open(co_store_port_t *port, const char *place,
    const co_store_conf_t *conf, co_store_found_t *found, char *error);
static void co_sqlite_submit(void *backend, co_store_call_t *call);
static void co_sqlite_close(void *backend);
static int co_sqlite_set_up(co_sqlite_t *sqlite);
static int co_sqlite_begin_sale(co_sqlite_t *sqlite,
    const co_store_conf_t *conf, co_store_found_t *found);
static int co_sqlite_begin_item(co_sqlite_t *sqlite,
    const co_store_conf_t *conf, int item);
static int co_sqlite_continue(co_sqlite_t *sqlite,
    const co_store_conf_t *conf, co_store_found_t *found);
static int co_sqlite_read(co_sqlite_t *sqlite, co_store_found_t *found);
static int co_sqlite_run(co_sqlite_t *sqlite, const char *sql);
static int co_sqlite_number(co_sqlite_t *sqlite, const char *sql,
    int64_t *number);
static void co_sqlite_explain(co_sqlite_t *sqlite, const char *path,
    char *error);
static void co_sqlite_work(void *data, co_store_call_t *first);


const co_store_backend_t  co_store_sqlite = {
    .scheme = "sqlite",
    .example = "sqlite:PATH for a file, or sqlite::memory:",
    .shared = 0,
    .check = co_sqlite_check,
    .open = co_sqlite_open,
    .submit = co_sqlite_submit,
    .close = co_sqlite_close,
    .report = NULL
};


static int
co_sqlite_check(const char *place, char *error)
{
    if (*place == '\0') {
        snprintf(error, CO_STORE_ERROR_LEN, "must be sqlite:PATH or"
                 " sqlite::memory:");
        return -1;
    }

    return 0;
}


static void *
co_sqlite_open(co_store_port_t *port, const char *place,
    const co_store_conf_t *conf, co_store_found_t *found, char *error)
{
    co_sqlite_t  *sqlite;

    sqlite = calloc(1, sizeof(*sqlite));
    if (sqlite == NULL) {
        snprintf(error, CO_STORE_ERROR_LEN, "out of memory");
        return NULL;
    }

    if (sqlite3_open_v2(place, &sqlite->db,
                        SQLITE_OPEN_READWRITE|SQLITE_OPEN_CREATE
                        |SQLITE_OPEN_NOMUTEX, NULL)
        != SQLITE_OK
        || co_sqlite_set_up(sqlite) != 0
        || co_sqlite_begin_sale(sqlite, conf, found) != 0
        || co_sqlite_read(sqlite, found) != 0
        || co_sqlite_sql_prepare(sqlite) != 0)
    {
        co_sqlite_explain(sqlite, place, error);
        co_sqlite_close(sqlite);
        return NULL;
    }

    sqlite->thread = co_store_thread_start(port, co_sqlite_work, sqlite,
                                           error);
    if (sqlite->thread == NULL) {
        co_sqlite_close(sqlite);
        return NULL;
    }

    return sqlite;
}


static void
co_sqlite_close(void *backend)
{
    co_sqlite_t  *sqlite = backend;

    if (sqlite->thread != NULL) {
        co_store_thread_stop(sqlite->thread);
    }

    co_sqlite_sql_finalize(sqlite);
    sqlite3_close(sqlite->db);
    free(sqlite);
}


static void
co_sqlite_submit(void *backend, co_store_call_t *call)
{
    co_sqlite_t  *sqlite = backend;

    co_store_thread_submit(sqlite->thread, call);
}


static void
co_sqlite_work(void *data, co_store_call_t *first)
{
    int               failed;
    co_sqlite_t      *sqlite = data;
    co_store_call_t  *call;

    failed = co_sqlite_sql_begin(sqlite) != 0;

    if (!failed) {
        for (call = first; call != NULL; call = call->next) {
            co_sqlite_call_apply(sqlite, call);
        }

        failed = co_sqlite_sql_commit(sqlite) != 0;
    }

    for (call = first; failed && call != NULL; call = call->next) {
        call->result = CO_STORE_FAILED;
        call->stock_known = 0;
    }
}


static void
co_sqlite_explain(co_sqlite_t *sqlite, const char *path, char *error)
{
    const char  *detail = "";

    if (sqlite->mismatch) {
        snprintf(error, CO_STORE_ERROR_LEN, "%s has other items or locations",
                 path);
        return;
    }

    switch (sqlite3_errcode(sqlite->db)) {

    case SQLITE_BUSY:
        detail = ", another process uses the file";
        break;

    case SQLITE_CONSTRAINT:
        detail = ", --mode=naive left a negative stock";
        break;
    }

    snprintf(error, CO_STORE_ERROR_LEN, "%s: %s%s", path,
             sqlite3_errmsg(sqlite->db), detail);
}


static int
co_sqlite_set_up(co_sqlite_t *sqlite)
{
    sqlite3_busy_timeout(sqlite->db, CO_SQLITE_BUSY_MS);

    /*
     * EXCLUSIVE: a second checkout on the same file would release the units
     * that this one holds.  FULL: a confirmed order survives a power failure,
     * at one sync per transaction.
     */
    if (co_sqlite_run(sqlite, "PRAGMA locking_mode = EXCLUSIVE;"
                              "PRAGMA journal_mode = WAL;"
                              "PRAGMA synchronous = FULL")
        != 0)
    {
        return -1;
    }

    return co_sqlite_run(sqlite, co_sqlite_schema);
}


/* Inserts the stock of a new store, or continues an existing one. */
static int
co_sqlite_begin_sale(co_sqlite_t *sqlite, const co_store_conf_t *conf,
    co_store_found_t *found)
{
    int      item;
    int64_t  rows;

    if (co_sqlite_number(sqlite, "SELECT count(*) FROM inventory", &rows)
        != 0)
    {
        return -1;
    }

    if (rows != 0) {
        found->existed = 1;

        if (rows != (int64_t) conf->items * conf->locations) {
            sqlite->mismatch = 1;
            return -1;
        }

        return co_sqlite_continue(sqlite, conf, found);
    }

    if (co_sqlite_run(sqlite, "BEGIN") != 0) {
        return -1;
    }

    for (item = 1; item <= conf->items; item++) {
        if (co_sqlite_begin_item(sqlite, conf, item) != 0) {
            return -1;
        }
    }

    return co_sqlite_run(sqlite, "COMMIT");
}


static int
co_sqlite_begin_item(co_sqlite_t *sqlite, const co_store_conf_t *conf,
    int item)
{
    int        location;
    char       sql[160];
    long long  stock;

    for (location = 1; location <= conf->locations; location++) {
        stock = (long long) co_store_share(conf, location);

        snprintf(sql, sizeof(sql), "INSERT INTO inventory VALUES"
                 " (%d, %d, %lld, %lld, 0, 0, %d)",
                 item, location, stock, stock, conf->guarded);

        if (co_sqlite_run(sqlite, sql) != 0) {
            return -1;
        }
    }

    return 0;
}


/* The file is locked, so its holds belong to a process that has ended. */
static int
co_sqlite_continue(co_sqlite_t *sqlite, const co_store_conf_t *conf,
    co_store_found_t *found)
{
    char  sql[160];

    if (co_sqlite_number(sqlite, "SELECT sum(held) FROM inventory",
                         &found->given_back)
        != 0)
    {
        return -1;
    }

    snprintf(sql, sizeof(sql), "BEGIN; DELETE FROM holds;"
             "UPDATE inventory SET stock = stock + held, held = 0,"
             " guarded = %d; COMMIT", conf->guarded);

    return co_sqlite_run(sqlite, sql);
}


static int
co_sqlite_read(co_sqlite_t *sqlite, co_store_found_t *found)
{
    size_t  i;

    struct {
        const char  *sql;
        int64_t     *number;
    } reads[] = {
        { "SELECT sum(initial) FROM inventory", &found->stock.initial },
        { "SELECT sum(stock) FROM inventory", &found->stock.available },
        { "SELECT sum(sold) FROM inventory", &found->stock.sold },
        { "SELECT count(*) FROM orders", &found->orders }
    };

    for (i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
        if (co_sqlite_number(sqlite, reads[i].sql, reads[i].number) != 0) {
            return -1;
        }
    }

    return 0;
}


static int
co_sqlite_run(co_sqlite_t *sqlite, const char *sql)
{
    return sqlite3_exec(sqlite->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0
                                                                        : -1;
}


static int
co_sqlite_number(co_sqlite_t *sqlite, const char *sql, int64_t *number)
{
    int            rc;
    sqlite3_stmt  *statement;

    if (sqlite3_prepare_v2(sqlite->db, sql, -1, &statement, NULL)
        != SQLITE_OK)
    {
        return -1;
    }

    rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW) {
        *number = sqlite3_column_int64(statement, 0);
    }

    sqlite3_finalize(statement);

    return rc == SQLITE_ROW ? 0 : -1;
}
