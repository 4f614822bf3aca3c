#include "mysql_holds.h"


static void
co_mysql_holds_row(void *data, int which, MYSQL_ROW row)
{
    (void) which;

    co_hold_add(data, (int) co_sql_number(row, 0),
                (int) co_sql_number(row, 1), co_sql_number(row, 2));
}


unsigned
co_mysql_holds_read(co_mysql_t *mysql, co_lease_t *lease, co_hold_t *hold,
    int lock)
{
    co_sql_t  *sql = &lease->sql;

    hold->parts_n = 0;

    co_sql_begin(sql, lease->tag);

    if (lock) {
        co_sql_statement(sql, "START TRANSACTION");
    }

    co_sql_add(sql, "SELECT item, location, quantity FROM holds"
               " WHERE shop = %d AND hold = ", mysql->shop);
    co_sql_id(sql, hold->id);
    co_sql_add(sql, " ORDER BY part%s", lock ? " FOR UPDATE" : "");
    co_sql_end(sql);

    return co_sql_run(sql, lease->mysql, co_mysql_holds_row, hold);
}


static void
co_mysql_holds_row_order(void *data, int which, MYSQL_ROW row)
{
    int  *exists = data;

    (void) which;
    (void) row;

    *exists = 1;
}


int
co_mysql_holds_sold(co_mysql_t *mysql, co_lease_t *lease, const char *id)
{
    int        exists = 0;
    co_sql_t  *sql = &lease->sql;

    co_sql_begin(sql, lease->tag);
    co_sql_add(sql, "SELECT 1 FROM orders WHERE shop = %d AND hold = ",
               mysql->shop);
    co_sql_id(sql, id);
    co_sql_end(sql);

    return co_sql_run(sql, lease->mysql, co_mysql_holds_row_order, &exists)
           == 0 ? exists : -1;
}


void
co_mysql_holds_add(co_mysql_t *mysql, co_sql_t *sql, const co_hold_t *hold)
{
    int  i;

    co_sql_add(sql, "INSERT INTO holds (shop, hold, part, item, location,"
               " quantity, expires_ms) VALUES");

    for (i = 0; i < hold->parts_n; i++) {
        co_sql_add(sql, "%s(%d, ", i == 0 ? " " : ", ", mysql->shop);
        co_sql_id(sql, hold->id);
        co_sql_add(sql, ", %d, %d, %d, %lld, %lld)", i, hold->parts[i].item,
                   hold->parts[i].location,
                   (long long) hold->parts[i].quantity,
                   (long long) hold->expires_ms);
    }

    co_sql_end(sql);
}


void
co_mysql_holds_delete(co_mysql_t *mysql, co_sql_t *sql, const co_hold_t *hold)
{
    co_sql_add(sql, "DELETE FROM holds WHERE shop = %d AND hold = ",
               mysql->shop);
    co_sql_id(sql, hold->id);
    co_sql_end(sql);
}


/* The ledger is last: its rows are locked only for the commit. */
void
co_mysql_holds_add_order(co_mysql_t *mysql, co_sql_t *sql,
    const co_hold_t *hold, const co_order_t *order)
{
    int  i;

    co_sql_add(sql, "INSERT INTO orders (shop, hold, id, quantity, email,"
               " paid_ms) VALUES (%d, ", mysql->shop);
    co_sql_id(sql, hold->id);
    co_sql_add(sql, ", ");
    co_sql_id(sql, order->id);
    co_sql_add(sql, ", %lld, ", (long long) co_hold_units(hold));
    co_sql_string(sql, order->email);
    co_sql_add(sql, ", %lld)", (long long) order->paid_ms);
    co_sql_end(sql);

    for (i = 0; i < hold->parts_n; i++) {
        co_sql_statement(sql, "UPDATE ledger SET stock = stock - %lld"
                         " WHERE shop = %d AND item = %d AND location = %d",
                         (long long) hold->parts[i].quantity, mysql->shop,
                         hold->parts[i].item, hold->parts[i].location);
    }
}


co_job_result_e
co_mysql_holds_release(co_mysql_t *mysql, co_lease_t *lease,
    const co_hold_t *hold)
{
    int        i;
    co_sql_t  *sql = &lease->sql;

    co_sql_begin(sql, lease->tag);

    if (hold->parts_n != 0) {
        co_mysql_holds_delete(mysql, sql, hold);
    }

    for (i = 0; i < hold->parts_n; i++) {
        co_sql_statement(sql, "UPDATE pools SET unpooled = unpooled + %lld"
                         " WHERE shop = %d AND item = %d AND location = %d",
                         (long long) hold->parts[i].quantity, mysql->shop,
                         hold->parts[i].item, hold->parts[i].location);
    }

    return co_pool_commit(lease);
}
