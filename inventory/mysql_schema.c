#include "mysql_schema.h"

#include <stdio.h>
#include <string.h>

#include <mysqld_error.h>


/* Processes that start together create the tables one after another. */
#define CO_MYSQL_SETUP_LOCK    "flash_throttle"
#define CO_MYSQL_SETUP_WAIT_S  30


typedef struct {
    co_mysql_t             *mysql;
    const co_store_conf_t  *conf;
    co_store_found_t       *found;
    int64_t                 locked;
    int64_t                 levels;
    int64_t                 matching;
} co_mysql_schema_t;


/*
 * Every key begins with the shop, and several shops share the tables.
 * Statements look up rows by the primary key alone, so a row is one lock.
 */
static const char  *co_mysql_tables[] = {

    "CREATE TABLE IF NOT EXISTS ledger ("
    "  shop INT NOT NULL, item INT NOT NULL, location INT NOT NULL,"
    "  initial BIGINT NOT NULL, stock BIGINT NOT NULL,"
    "  PRIMARY KEY (shop, item, location)) ENGINE=InnoDB",

    "CREATE TABLE IF NOT EXISTS pools ("
    "  shop INT NOT NULL, item INT NOT NULL, location INT NOT NULL,"
    "  unpooled BIGINT NOT NULL, next_id BIGINT NOT NULL,"
    "  PRIMARY KEY (shop, item, location)) ENGINE=InnoDB",

    "CREATE TABLE IF NOT EXISTS units ("
    "  shop INT NOT NULL, item INT NOT NULL, location INT NOT NULL,"
    "  id BIGINT NOT NULL,"
    "  PRIMARY KEY (shop, item, location, id)) ENGINE=InnoDB",

    /* ids begin with the time: rows are in the order of their creation */
    "CREATE TABLE IF NOT EXISTS holds ("
    "  shop INT NOT NULL,"
    "  hold CHAR(26) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,"
    "  part SMALLINT NOT NULL,"
    "  item INT NOT NULL, location INT NOT NULL, quantity BIGINT NOT NULL,"
    "  expires_ms BIGINT NOT NULL,"
    "  PRIMARY KEY (shop, hold, part)) ENGINE=InnoDB",

    "CREATE TABLE IF NOT EXISTS orders ("
    "  shop INT NOT NULL,"
    "  hold CHAR(26) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,"
    "  id VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,"
    "  quantity BIGINT NOT NULL,"
    "  email VARCHAR(255) CHARACTER SET utf8mb4 NOT NULL,"
    "  paid_ms BIGINT NOT NULL,"
    "  PRIMARY KEY (shop, hold)) ENGINE=InnoDB"
};

#define CO_MYSQL_TABLES_N                                                     \
    (sizeof(co_mysql_tables) / sizeof(co_mysql_tables[0]))


/* All columns in use: detects tables of another version at the start. */
static const char  *co_mysql_columns[CO_MYSQL_TABLES_N] = {
    "SELECT shop, item, location, initial, stock FROM ledger LIMIT 0",
    "SELECT shop, item, location, unpooled, next_id FROM pools LIMIT 0",
    "SELECT shop, item, location, id FROM units LIMIT 0",
    ("SELECT shop, hold, part, item, location, quantity, expires_ms"
     " FROM holds LIMIT 0"),
    "SELECT shop, hold, id, quantity, email, paid_ms FROM orders LIMIT 0"
};


static co_job_result_e co_mysql_schema_run(co_pool_job_t *job,
    co_lease_t *lease);
static void co_mysql_schema_row(void *data, int which, MYSQL_ROW row);
static void co_mysql_schema_add_stock(co_mysql_schema_t *setup, co_sql_t *sql);


int
co_mysql_schema_open(co_mysql_t *mysql, const co_store_conf_t *conf,
    co_store_found_t *found, char *error)
{
    size_t             len;
    unsigned           rc;
    co_mysql_schema_t  setup = { mysql, conf, found, 0, 0, 0 };
    co_pool_job_t      job = { .tag = CO_TAG_ADMIN, .run = co_mysql_schema_run,
                               .data = &setup };

    rc = co_pool_once(mysql->pool, &job, error);

    if (rc == ER_BAD_FIELD_ERROR || rc == ER_WRONG_VALUE_COUNT_ON_ROW) {
        len = strlen(error);
        snprintf(error + len, CO_STORE_ERROR_LEN - len, " (the tables belong"
                 " to another version or program)");
    }

    if (rc != 0) {
        return -1;
    }

    if (!setup.locked) {
        snprintf(error, CO_STORE_ERROR_LEN, "GET_LOCK(\"%s\") timed out after"
                 " %d s", CO_MYSQL_SETUP_LOCK, CO_MYSQL_SETUP_WAIT_S);
        return -1;
    }

    found->existed = setup.levels != 0;

    if (found->existed
        && (setup.levels != conf->items * conf->locations
            || setup.matching != setup.levels))
    {
        snprintf(error, CO_STORE_ERROR_LEN, "shop %d has other items or"
                 " locations in this database (%lld levels instead of %d)",
                 mysql->shop, (long long) setup.levels,
                 conf->items * conf->locations);
        return -1;
    }

    return 0;
}


static co_job_result_e
co_mysql_schema_run(co_pool_job_t *job, co_lease_t *lease)
{
    size_t              i;
    co_sql_t           *sql = &lease->sql;
    co_mysql_schema_t  *setup = job->data;
    co_mysql_t         *mysql = setup->mysql;

    co_sql_begin(sql, lease->tag);

    /* closing the connection releases the lock */
    co_sql_statement(sql, "SELECT GET_LOCK('" CO_MYSQL_SETUP_LOCK "', %d)",
                     CO_MYSQL_SETUP_WAIT_S);

    for (i = 0; i < CO_MYSQL_TABLES_N; i++) {
        co_sql_statement(sql, "%s", co_mysql_tables[i]);
        co_sql_statement(sql, "%s", co_mysql_columns[i]);
    }

    co_sql_statement(sql, "SELECT COUNT(*),"
                     " SUM(item <= %d AND location <= %d),"
                     " SUM(initial), SUM(initial - stock),"
                     " (SELECT COUNT(*) FROM orders WHERE shop = %d),"
                     " (SELECT SUM(quantity) FROM holds WHERE shop = %d)"
                     " FROM ledger WHERE shop = %d",
                     mysql->items, mysql->locations, mysql->shop, mysql->shop,
                     mysql->shop);

    if (co_sql_run(sql, lease->mysql, co_mysql_schema_row, setup) != 0) {
        return CO_JOB_AGAIN;
    }

    if (!setup->locked || setup->levels != 0) {
        return CO_JOB_DONE;
    }

    co_pool_begin(lease);
    co_mysql_schema_add_stock(setup, sql);

    return co_pool_commit(lease);
}


static void
co_mysql_schema_row(void *data, int which, MYSQL_ROW row)
{
    co_stock_t         *stock;
    co_mysql_schema_t  *setup = data;

    if (which == 0) {
        setup->locked = co_sql_number(row, 0);
        return;
    }

    stock = &setup->found->stock;

    setup->levels = co_sql_number(row, 0);
    setup->matching = co_sql_number(row, 1);
    stock->initial = co_sql_number(row, 2);
    stock->sold = co_sql_number(row, 3);
    stock->held = co_sql_number(row, 5);
    stock->available = stock->initial - stock->sold - stock->held;
    setup->found->orders = co_sql_number(row, 4);
}


static void
co_mysql_schema_add_stock(co_mysql_schema_t *setup, co_sql_t *sql)
{
    int         item, location;
    long long   stock;
    co_mysql_t *mysql = setup->mysql;

    for (item = 1; item <= mysql->items; item++) {
        for (location = 1; location <= mysql->locations; location++) {
            stock = (long long) co_store_share(setup->conf, location);
            setup->found->stock.initial += stock;

            co_sql_statement(sql, "INSERT INTO ledger VALUES"
                             " (%d, %d, %d, %lld, %lld)",
                             mysql->shop, item, location, stock, stock);
            co_sql_statement(sql, "INSERT INTO pools VALUES"
                             " (%d, %d, %d, %lld, 1)",
                             mysql->shop, item, location, stock);
        }
    }

    setup->found->stock.available = setup->found->stock.initial;
}
