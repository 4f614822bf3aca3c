/*
 * The store's tables and statements, in SQLite.
 *
 * Each action is one conditional UPDATE with RETURNING: the database decides
 * who gets the last unit.  The table's own constraints keep the sum of
 * available, held and sold units, so that no mistake above can lose one.
 */

#include "store_sqlite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>


#define CO_SQLITE_BUSY_MS  2000


enum {
    CO_SQL_BEGIN = 0,
    CO_SQL_COMMIT,
    CO_SQL_ROLLBACK,
    CO_SQL_RESERVE,
    CO_SQL_CLAIM,
    CO_SQL_RELEASE,
    CO_SQL_LOOK,
    CO_SQL_SELL,
    CO_SQL_RESET,
    CO_SQL_ORDER,
    CO_SQL_FORGET,
    CO_SQL_N
};


struct co_sqlite_s {
    sqlite3       *db;
    sqlite3_stmt  *statements[CO_SQL_N];
    int            failed;                       /* this transaction did */
};


static const char  co_sqlite_schema[] =
    "CREATE TABLE IF NOT EXISTS inventory ("
    "    initial  INTEGER NOT NULL CHECK (initial >= 0),"
    "    stock    INTEGER NOT NULL,"
    "    held     INTEGER NOT NULL CHECK (held >= 0),"
    "    sold     INTEGER NOT NULL CHECK (sold >= 0),"
    "    guarded  INTEGER NOT NULL,"
    "    CHECK (stock + held + sold = initial),"
    "    CHECK (NOT guarded OR stock >= 0)"
    ") STRICT;"
    "CREATE TABLE IF NOT EXISTS orders ("
    "    id        TEXT PRIMARY KEY,"
    "    quantity  INTEGER NOT NULL,"
    "    email     TEXT NOT NULL,"
    "    paid_ms   INTEGER NOT NULL"
    ") STRICT";


#define CO_STOCK_COLUMNS  "initial, stock, held, sold"


static const char  *co_sqlite_texts[CO_SQL_N] = {

    [CO_SQL_BEGIN] = "BEGIN IMMEDIATE",
    [CO_SQL_COMMIT] = "COMMIT",
    [CO_SQL_ROLLBACK] = "ROLLBACK",

    [CO_SQL_RESERVE] =
        ("UPDATE inventory SET stock = stock - ?1, held = held + ?1"
         " WHERE stock >= ?1 RETURNING " CO_STOCK_COLUMNS),

    [CO_SQL_CLAIM] =
        ("UPDATE inventory SET held = held - ?1, sold = sold + ?1"
         " RETURNING " CO_STOCK_COLUMNS),

    [CO_SQL_RELEASE] =
        ("UPDATE inventory SET held = held - ?1, stock = stock + ?1"
         " RETURNING " CO_STOCK_COLUMNS),

    [CO_SQL_LOOK] =
        "SELECT " CO_STOCK_COLUMNS " FROM inventory",

    [CO_SQL_SELL] =
        ("UPDATE inventory SET stock = stock - ?1, sold = sold + ?1"
         " RETURNING " CO_STOCK_COLUMNS),

    [CO_SQL_RESET] =
        ("UPDATE inventory SET stock = initial, held = 0, sold = 0"
         " RETURNING " CO_STOCK_COLUMNS),

    [CO_SQL_ORDER] =
        ("INSERT INTO orders (id, quantity, email, paid_ms)"
         " VALUES (?1, ?2, ?3, ?4)"),

    [CO_SQL_FORGET] = "DELETE FROM orders"
};


static const int  co_sqlite_statement_of[] = {
    [CO_STORE_RESERVE] = CO_SQL_RESERVE,
    [CO_STORE_CLAIM] = CO_SQL_CLAIM,
    [CO_STORE_RELEASE] = CO_SQL_RELEASE,
    [CO_STORE_LOOK] = CO_SQL_LOOK,
    [CO_STORE_SELL] = CO_SQL_SELL,
    [CO_STORE_RESET] = CO_SQL_RESET
};


static int co_sqlite_set_up(co_sqlite_t *sqlite);
static int co_sqlite_begin_sale(co_sqlite_t *sqlite,
    const co_store_conf_t *conf, co_store_found_t *found);
static int co_sqlite_read(co_sqlite_t *sqlite, co_store_found_t *found);
static int co_sqlite_prepare(co_sqlite_t *sqlite);
static int co_sqlite_run(co_sqlite_t *sqlite, const char *sql);
static int co_sqlite_number(co_sqlite_t *sqlite, const char *sql,
    int64_t *number);
static int co_sqlite_step(co_sqlite_t *sqlite, int which,
    co_store_call_t *call);
static int co_sqlite_record(co_sqlite_t *sqlite, co_store_call_t *call);
static void co_sqlite_explain(co_sqlite_t *sqlite,
    const co_store_conf_t *conf, char *error);


co_sqlite_t *
co_sqlite_open(const co_store_conf_t *conf, co_store_found_t *found,
    char *error)
{
    co_sqlite_t  *sqlite;

    memset(found, 0, sizeof(*found));

    sqlite = calloc(1, sizeof(*sqlite));
    if (sqlite == NULL) {
        snprintf(error, CO_STORE_ERROR_LEN, "out of memory");
        return NULL;
    }

    if (sqlite3_open_v2(conf->path, &sqlite->db,
                        SQLITE_OPEN_READWRITE|SQLITE_OPEN_CREATE
                        |SQLITE_OPEN_NOMUTEX, NULL)
        == SQLITE_OK
        && co_sqlite_set_up(sqlite) == 0
        && co_sqlite_begin_sale(sqlite, conf, found) == 0
        && co_sqlite_read(sqlite, found) == 0
        && co_sqlite_prepare(sqlite) == 0)
    {
        return sqlite;
    }

    co_sqlite_explain(sqlite, conf, error);
    co_sqlite_close(sqlite);

    return NULL;
}


static void
co_sqlite_explain(co_sqlite_t *sqlite, const co_store_conf_t *conf,
    char *error)
{
    const char  *remedy;

    switch (sqlite3_errcode(sqlite->db)) {

    case SQLITE_BUSY:
        remedy = "another process uses this file; stop it or give another";
        break;

    case SQLITE_CANTOPEN:
        remedy = "give a path in a folder that exists and can be written to";
        break;

    case SQLITE_CONSTRAINT:
        remedy = "--mode=naive left its stock below 0; delete the file or give"
                 " another";
        break;

    default:
        remedy = "give a file of this program, or one that does not exist";
    }

    snprintf(error, CO_STORE_ERROR_LEN, "%s: %s (%s)", conf->path,
             sqlite3_errmsg(sqlite->db), remedy);
}


static int
co_sqlite_set_up(co_sqlite_t *sqlite)
{
    sqlite3_busy_timeout(sqlite->db, CO_SQLITE_BUSY_MS);

    /*
     * The lock is exclusive because a second checkout on the same file would
     * give back the units that this one holds.  A confirmed order must
     * survive a power cut, hence FULL: it costs one sync a transaction.
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


/* Puts the stock in if the store is new, else takes over what is there. */
static int
co_sqlite_begin_sale(co_sqlite_t *sqlite, const co_store_conf_t *conf,
    co_store_found_t *found)
{
    char      sql[128];
    int64_t   rows;

    if (co_sqlite_number(sqlite, "SELECT count(*) FROM inventory", &rows)
        != 0)
    {
        return -1;
    }

    if (rows == 0) {
        snprintf(sql, sizeof(sql),
                 "INSERT INTO inventory VALUES (%lld, %lld, 0, 0, %d)",
                 (long long) conf->stock, (long long) conf->stock,
                 conf->guarded);

        return co_sqlite_run(sqlite, sql);
    }

    found->existed = 1;

    if (co_sqlite_number(sqlite, "SELECT held FROM inventory",
                         &found->given_back)
        != 0)
    {
        return -1;
    }

    snprintf(sql, sizeof(sql), "UPDATE inventory SET stock = stock + held,"
             " held = 0, guarded = %d", conf->guarded);

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
        { "SELECT initial FROM inventory", &found->stock.initial },
        { "SELECT stock FROM inventory", &found->stock.available },
        { "SELECT sold FROM inventory", &found->stock.sold },
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
co_sqlite_prepare(co_sqlite_t *sqlite)
{
    int  i;

    for (i = 0; i < CO_SQL_N; i++) {
        if (sqlite3_prepare_v3(sqlite->db, co_sqlite_texts[i], -1,
                               SQLITE_PREPARE_PERSISTENT,
                               &sqlite->statements[i], NULL)
            != SQLITE_OK)
        {
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


void
co_sqlite_close(co_sqlite_t *sqlite)
{
    int  i;

    for (i = 0; i < CO_SQL_N; i++) {
        sqlite3_finalize(sqlite->statements[i]);
    }

    sqlite3_close(sqlite->db);
    free(sqlite);
}


int
co_sqlite_begin(co_sqlite_t *sqlite)
{
    sqlite->failed = 0;

    return co_sqlite_step(sqlite, CO_SQL_BEGIN, NULL) == SQLITE_DONE ? 0 : -1;
}


int
co_sqlite_commit(co_sqlite_t *sqlite)
{
    if (!sqlite->failed
        && co_sqlite_step(sqlite, CO_SQL_COMMIT, NULL) == SQLITE_DONE)
    {
        return 0;
    }

    /* an error of the disk may have rolled back already */
    if (!sqlite3_get_autocommit(sqlite->db)) {
        (void) co_sqlite_step(sqlite, CO_SQL_ROLLBACK, NULL);
    }

    return -1;
}


/*
 * A statement that fails (a full disk, a broken file) fails the transaction
 * as a whole: half an action must never be committed.
 */
void
co_sqlite_apply(co_sqlite_t *sqlite, co_store_call_t *call)
{
    int  rc;

    call->result = CO_STORE_FAILED;

    if (sqlite->failed || co_sqlite_record(sqlite, call) != 0) {
        return;
    }

    rc = co_sqlite_step(sqlite, co_sqlite_statement_of[call->action], call);

    if (rc == SQLITE_DONE && call->action == CO_STORE_RESERVE) {

        /* no row had enough; a look tells how the stock stands */
        rc = co_sqlite_step(sqlite, CO_SQL_LOOK, call);
        call->result = CO_STORE_SOLD_OUT;

    } else if (call->action == CO_STORE_LOOK
               && call->stock.available < call->quantity)
    {
        call->result = CO_STORE_SOLD_OUT;

    } else {
        call->result = CO_STORE_OK;
    }

    if (rc != SQLITE_ROW) {
        sqlite->failed = 1;
    }
}


/* Keeps the table of orders in step with the action. */
static int
co_sqlite_record(co_sqlite_t *sqlite, co_store_call_t *call)
{
    int            which;
    sqlite3_stmt  *statement;

    switch (call->action) {

    case CO_STORE_CLAIM:
    case CO_STORE_SELL:
        which = CO_SQL_ORDER;
        statement = sqlite->statements[which];

        sqlite3_bind_text(statement, 1, call->order->id, -1, SQLITE_STATIC);
        sqlite3_bind_int64(statement, 2, call->quantity);
        sqlite3_bind_text(statement, 3, call->order->email, -1,
                          SQLITE_STATIC);
        sqlite3_bind_int64(statement, 4, call->order->paid_ms);
        break;

    case CO_STORE_RESET:
        which = CO_SQL_FORGET;
        break;

    default:
        return 0;
    }

    sqlite->failed = co_sqlite_step(sqlite, which, NULL) != SQLITE_DONE;

    return sqlite->failed ? -1 : 0;
}


/*
 * Runs a statement once.  With a call, its quantity is the first parameter
 * and the row that comes back is its stock.  Says what fails on stderr.
 */
static int
co_sqlite_step(co_sqlite_t *sqlite, int which, co_store_call_t *call)
{
    int            rc;
    sqlite3_stmt  *statement;

    statement = sqlite->statements[which];

    if (call != NULL && sqlite3_bind_parameter_count(statement) != 0) {
        sqlite3_bind_int64(statement, 1, call->quantity);
    }

    rc = sqlite3_step(statement);

    if (rc == SQLITE_ROW && call != NULL) {
        call->stock.initial = sqlite3_column_int64(statement, 0);
        call->stock.available = sqlite3_column_int64(statement, 1);
        call->stock.held = sqlite3_column_int64(statement, 2);
        call->stock.sold = sqlite3_column_int64(statement, 3);
    }

    if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
        fprintf(stderr, "checkout: store: \"%s\": %s\n",
                co_sqlite_texts[which], sqlite3_errmsg(sqlite->db));
    }

    sqlite3_reset(statement);

    return rc;
}
