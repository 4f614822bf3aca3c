/*
 * What is asked of the store in MySQL or MariaDB, but for reserving.
 *
 * A call may run again after a deadlock or a lost connection, whose commit
 * may have happened, so each looks first whether its work is done.
 */

#include "store_mysql.h"

#include <stdio.h>
#include <string.h>

#include <mysqld_error.h>


typedef struct {
    co_store_call_t   *call;
    co_level_t        *level;
} co_mysql_counting_t;


static int co_mysql_is_sold(co_mysql_t *mysql, co_lease_t *lease,
    const char *id);
static co_job_result_e co_mysql_give_back(co_mysql_t *mysql,
    co_lease_t *lease, const co_hold_t *hold);


static void
co_mysql_row_parts(void *data, int which, MYSQL_ROW row)
{
    co_part_t  *part;
    co_hold_t  *hold = data;

    (void) which;

    part = &hold->parts[hold->parts_n++];
    part->item = (int) co_sql_number(row, 0);
    part->location = (int) co_sql_number(row, 1);
    part->quantity = co_sql_number(row, 2);
}


unsigned
co_mysql_parts(co_mysql_t *mysql, co_lease_t *lease, co_hold_t *hold, int lock)
{
    co_sql_t  *sql = &lease->sql;

    hold->parts_n = 0;

    co_sql_begin(sql, lease->tag);

    if (lock) {
        co_sql_add(sql, "START TRANSACTION");
        co_sql_end(sql);
    }

    co_sql_add(sql, "SELECT item, location, quantity FROM holds"
               " WHERE shop = %d AND hold = ", mysql->shop);
    co_sql_id(sql, hold->id);
    co_sql_add(sql, " ORDER BY part%s", lock ? " FOR UPDATE" : "");
    co_sql_end(sql);

    return co_sql_run(sql, lease->mysql, co_mysql_row_parts, hold);
}


static void
co_mysql_row_exists(void *data, int which, MYSQL_ROW row)
{
    int  *exists = data;

    (void) which;
    (void) row;

    *exists = 1;
}


/* 1 or 0, or -1 on failure. */
static int
co_mysql_is_sold(co_mysql_t *mysql, co_lease_t *lease, const char *id)
{
    int        exists = 0;
    co_sql_t  *sql = &lease->sql;

    co_sql_begin(sql, lease->tag);
    co_sql_add(sql, "SELECT 1 FROM orders WHERE shop = %d AND hold = ",
               mysql->shop);
    co_sql_id(sql, id);
    co_sql_end(sql);

    return co_sql_run(sql, lease->mysql, co_mysql_row_exists, &exists) == 0
           ? exists : -1;
}


co_job_result_e
co_mysql_apply(co_pool_job_t *job, co_lease_t *lease)
{
    int               sold;
    co_mysql_t       *mysql = ((co_mysql_job_t *) job)->mysql;
    co_store_call_t  *call = ((co_mysql_job_t *) job)->call;

    sold = co_mysql_is_sold(mysql, lease, call->hold->id);

    if (sold != 0) {
        call->result = CO_STORE_OK;
        return sold == 1 ? CO_JOB_DONE : CO_JOB_AGAIN;
    }

    switch (co_mysql_take(mysql, lease, call->hold, NULL, 1)) {

    case CO_MYSQL_TAKEN:
        call->result = CO_STORE_OK;
        return CO_JOB_DONE;

    case CO_MYSQL_DEBT:
        call->result = CO_STORE_DEBT;
        return CO_JOB_DONE;

    default:
        break;
    }

    if (mysql_errno(lease->mysql) == ER_DUP_ENTRY
        && co_lease_rollback(lease) == 0)
    {
        call->result = CO_STORE_OK;
        return CO_JOB_DONE;
    }

    return CO_JOB_AGAIN;
}


co_job_result_e
co_mysql_claim(co_pool_job_t *job, co_lease_t *lease)
{
    int               sold;
    co_sql_t         *sql = &lease->sql;
    co_mysql_t       *mysql = ((co_mysql_job_t *) job)->mysql;
    co_store_call_t  *call = ((co_mysql_job_t *) job)->call;

    co_sql_begin(sql, lease->tag);

    if (co_mysql_parts(mysql, lease, call->hold, 1) != 0) {
        return CO_JOB_AGAIN;
    }

    if (call->hold->parts_n == 0) {
        if (co_lease_rollback(lease) != 0) {
            return CO_JOB_AGAIN;
        }

        sold = co_mysql_is_sold(mysql, lease, call->hold->id);
        call->result = sold == 1 ? CO_STORE_OK : CO_STORE_GONE;

        return sold >= 0 ? CO_JOB_DONE : CO_JOB_AGAIN;
    }

    co_sql_begin(sql, lease->tag);
    co_sql_add(sql, "DELETE FROM holds WHERE shop = %d AND hold = ",
               mysql->shop);
    co_sql_id(sql, call->hold->id);
    co_sql_end(sql);
    co_mysql_add_order(mysql, sql, call->hold, call->order);
    co_sql_add(sql, "COMMIT");
    co_sql_end(sql);

    call->result = CO_STORE_OK;

    return co_sql_run(sql, lease->mysql, NULL, NULL) == 0 ? CO_JOB_DONE
                                                          : CO_JOB_AGAIN;
}


/* The ledger comes last: its rows are locked for the commit alone. */
void
co_mysql_add_order(co_mysql_t *mysql, co_sql_t *sql, const co_hold_t *hold,
    const co_order_t *order)
{
    int      i;
    int64_t  quantity = 0;

    for (i = 0; i < hold->parts_n; i++) {
        quantity += hold->parts[i].quantity;
    }

    co_sql_add(sql, "INSERT INTO orders (shop, hold, id, quantity, email,"
               " paid_ms) VALUES (%d, ", mysql->shop);
    co_sql_id(sql, hold->id);
    co_sql_add(sql, ", ");
    co_sql_id(sql, order->id);
    co_sql_add(sql, ", %lld, ", (long long) quantity);
    co_sql_string(sql, order->email);
    co_sql_add(sql, ", %lld)", (long long) order->paid_ms);
    co_sql_end(sql);

    for (i = 0; i < hold->parts_n; i++) {
        co_sql_add(sql, "UPDATE ledger SET stock = stock - %lld WHERE shop ="
                   " %d AND item = %d AND location = %d",
                   (long long) hold->parts[i].quantity, mysql->shop,
                   hold->parts[i].item, hold->parts[i].location);
        co_sql_end(sql);
    }
}


co_job_result_e
co_mysql_release(co_pool_job_t *job, co_lease_t *lease)
{
    co_mysql_t       *mysql = ((co_mysql_job_t *) job)->mysql;
    co_store_call_t  *call = ((co_mysql_job_t *) job)->call;

    co_sql_begin(&lease->sql, lease->tag);

    if (co_mysql_parts(mysql, lease, call->hold, 1) != 0) {
        return CO_JOB_AGAIN;
    }

    call->result = call->hold->parts_n != 0 ? CO_STORE_OK : CO_STORE_GONE;

    return co_mysql_give_back(mysql, lease, call->hold);
}


/*
 * Ends a transaction that has the hold locked.  Units go back to the number,
 * and become rows, with new ids, when their pool is filled.
 */
static co_job_result_e
co_mysql_give_back(co_mysql_t *mysql, co_lease_t *lease, const co_hold_t *hold)
{
    int        i;
    co_sql_t  *sql = &lease->sql;

    co_sql_begin(sql, lease->tag);

    if (hold->parts_n != 0) {
        co_sql_add(sql, "DELETE FROM holds WHERE shop = %d AND hold = ",
                   mysql->shop);
        co_sql_id(sql, hold->id);
        co_sql_end(sql);
    }

    for (i = 0; i < hold->parts_n; i++) {
        co_sql_add(sql, "UPDATE pools SET unpooled = unpooled + %lld"
                   " WHERE shop = %d AND item = %d AND location = %d",
                   (long long) hold->parts[i].quantity, mysql->shop,
                   hold->parts[i].item, hold->parts[i].location);
        co_sql_end(sql);
    }

    co_sql_add(sql, "COMMIT");
    co_sql_end(sql);

    return co_sql_run(sql, lease->mysql, NULL, NULL) == 0 ? CO_JOB_DONE
                                                          : CO_JOB_AGAIN;
}


typedef struct {
    int   n;
    char  ids[CO_EXPIRED_MAX][CO_HOLD_ID_LEN + 1];
} co_mysql_old_t;


static void
co_mysql_row_old(void *data, int which, MYSQL_ROW row)
{
    co_mysql_old_t  *old = data;

    (void) which;

    snprintf(old->ids[old->n++], sizeof(old->ids[0]), "%s", row[0]);
}


/*
 * Each hold is a transaction of its own, and only what this process gave back
 * is told: others may be at the same work.
 */
co_job_result_e
co_mysql_expire(co_pool_job_t *job, co_lease_t *lease)
{
    int               i, j;
    co_sql_t         *sql = &lease->sql;
    co_hold_t         hold;
    co_mysql_t       *mysql = ((co_mysql_job_t *) job)->mysql;
    co_expired_t     *expired = ((co_mysql_job_t *) job)->call->expired;
    co_mysql_old_t    old = { .n = 0 };
    co_store_call_t  *call = ((co_mysql_job_t *) job)->call;

    co_sql_begin(sql, lease->tag);
    co_sql_add(sql, "SELECT hold FROM holds WHERE shop = %d AND part = 0"
               " AND expires_ms <= %lld ORDER BY hold LIMIT %d", mysql->shop,
               (long long) call->now_ms, CO_EXPIRED_MAX - expired->n);
    co_sql_end(sql);

    if (co_sql_run(sql, lease->mysql, co_mysql_row_old, &old) != 0) {
        return CO_JOB_AGAIN;
    }

    for (i = 0; i < old.n; i++) {
        memcpy(hold.id, old.ids[i], sizeof(hold.id));

        if (co_mysql_parts(mysql, lease, &hold, 1) != 0
            || co_mysql_give_back(mysql, lease, &hold) != CO_JOB_DONE)
        {
            return CO_JOB_AGAIN;
        }

        if (hold.parts_n != 0) {
            memcpy(expired->ids[expired->n++], hold.id, sizeof(hold.id));
        }

        for (j = 0; j < hold.parts_n; j++) {
            expired->units += hold.parts[j].quantity;
        }
    }

    call->result = CO_STORE_OK;

    return CO_JOB_DONE;
}


co_job_result_e
co_mysql_look(co_pool_job_t *job, co_lease_t *lease)
{
    co_hold_t             *hold = &((co_mysql_job_t *) job)->hold;
    co_mysql_t            *mysql = ((co_mysql_job_t *) job)->mysql;
    co_store_call_t       *call = ((co_mysql_job_t *) job)->call;
    co_mysql_available_t   available;

    if (co_mysql_available(mysql, lease, call->cart, available) != 0) {
        return CO_JOB_AGAIN;
    }

    call->result = co_mysql_pick(mysql, call->cart, available, hold, 0)
                   ? CO_STORE_OK : CO_STORE_SOLD_OUT;

    return CO_JOB_DONE;
}


co_job_result_e
co_mysql_sell(co_pool_job_t *job, co_lease_t *lease)
{
    co_hold_t             *hold = &((co_mysql_job_t *) job)->hold;
    co_mysql_t            *mysql = ((co_mysql_job_t *) job)->mysql;
    co_store_call_t       *call = ((co_mysql_job_t *) job)->call;
    co_mysql_available_t   available;

    if (co_mysql_available(mysql, lease, call->cart, available) != 0) {
        return CO_JOB_AGAIN;
    }

    (void) co_mysql_pick(mysql, call->cart, available, hold, 1);

    call->result = CO_STORE_OK;

    if (co_mysql_take(mysql, lease, hold, call->order, 1) != CO_MYSQL_ERROR) {
        return CO_JOB_DONE;
    }

    return mysql_errno(lease->mysql) == ER_DUP_ENTRY
           && co_lease_rollback(lease) == 0 ? CO_JOB_DONE : CO_JOB_AGAIN;
}


co_job_result_e
co_mysql_reset(co_pool_job_t *job, co_lease_t *lease)
{
    size_t       i;
    co_sql_t    *sql = &lease->sql;
    co_mysql_t  *mysql = ((co_mysql_job_t *) job)->mysql;

    static const char  *statements[][2] = {
        { "SELECT unpooled FROM pools WHERE shop = ", " FOR UPDATE" },
        { "DELETE FROM units WHERE shop = ", "" },
        { "DELETE FROM holds WHERE shop = ", "" },
        { "DELETE FROM orders WHERE shop = ", "" },
        { "UPDATE ledger SET stock = initial WHERE shop = ", "" },
        { "UPDATE pools p JOIN ledger l ON l.shop = p.shop"
          " AND l.item = p.item AND l.location = p.location"
          " SET p.unpooled = l.initial WHERE p.shop = ", "" }
    };

    co_sql_begin(sql, lease->tag);
    co_sql_add(sql, "START TRANSACTION");
    co_sql_end(sql);

    for (i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
        co_sql_add(sql, "%s%d%s", statements[i][0], mysql->shop,
                   statements[i][1]);
        co_sql_end(sql);
    }

    co_sql_add(sql, "COMMIT");
    co_sql_end(sql);

    ((co_mysql_job_t *) job)->call->result = CO_STORE_OK;

    return co_sql_run(sql, lease->mysql, NULL, NULL) == 0 ? CO_JOB_DONE
                                                          : CO_JOB_AGAIN;
}


static void
co_mysql_row_level(void *data, int which, MYSQL_ROW row)
{
    co_stock_t           *stock, *sum;
    co_mysql_counting_t  *counting = data;

    (void) which;

    stock = &counting->level->stock;
    sum = &counting->call->stock;

    counting->level->item = (int) co_sql_number(row, 0);
    counting->level->location = (int) co_sql_number(row, 1);
    stock->initial = co_sql_number(row, 2);
    stock->available = co_sql_number(row, 3);
    stock->held = co_sql_number(row, 4);
    stock->sold = co_sql_number(row, 5);
    counting->level++;

    sum->initial += stock->initial;
    sum->available += stock->available;
    sum->held += stock->held;
    sum->sold += stock->sold;
}


/* In one statement, which reads at one moment. */
co_job_result_e
co_mysql_count(co_pool_job_t *job, co_lease_t *lease)
{
    int                   shop;
    co_sql_t             *sql = &lease->sql;
    co_store_call_t      *call = ((co_mysql_job_t *) job)->call;
    co_mysql_counting_t   counting = { call, call->levels };

    shop = ((co_mysql_job_t *) job)->mysql->shop;
    memset(&call->stock, 0, sizeof(call->stock));

    co_sql_begin(sql, lease->tag);
    co_sql_add(sql,
        "SELECT l.item, l.location, l.initial,"
        " p.unpooled + COALESCE(u.units, 0), COALESCE(h.held, 0),"
        " l.initial - l.stock"
        " FROM ledger l"
        " JOIN pools p ON p.shop = l.shop AND p.item = l.item"
        "  AND p.location = l.location"
        " LEFT JOIN (SELECT item, location, COUNT(*) AS units FROM units"
        "  WHERE shop = %d GROUP BY item, location) u"
        "  ON u.item = l.item AND u.location = l.location"
        " LEFT JOIN (SELECT item, location, SUM(quantity) AS held FROM holds"
        "  WHERE shop = %d GROUP BY item, location) h"
        "  ON h.item = l.item AND h.location = l.location"
        " WHERE l.shop = %d ORDER BY l.item, l.location", shop, shop, shop);
    co_sql_end(sql);

    if (co_sql_run(sql, lease->mysql, co_mysql_row_level, &counting) != 0) {
        return CO_JOB_AGAIN;
    }

    call->result = CO_STORE_OK;
    call->stock_known = 1;

    return CO_JOB_DONE;
}
