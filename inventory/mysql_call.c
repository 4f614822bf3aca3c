/*
 * Calls of the store in MySQL or MariaDB, except RESERVE.
 *
 * A call is repeated after a deadlock or a lost connection, and its commit may
 * have succeeded before: each call first checks whether its work is done.
 */

#include "mysql_call.h"
#include "mysql_cart.h"
#include "mysql_holds.h"
#include "mysql_units.h"

#include <stdio.h>
#include <string.h>

#include <mysqld_error.h>


typedef struct {
    co_store_call_t   *call;
    co_level_t        *level;
} co_mysql_count_t;


co_job_result_e
co_mysql_call_apply(co_pool_job_t *job, co_lease_t *lease)
{
    int               sold;
    co_mysql_t       *mysql = ((co_mysql_job_t *) job)->mysql;
    co_store_call_t  *call = ((co_mysql_job_t *) job)->call;

    sold = co_mysql_holds_sold(mysql, lease, call->hold->id);

    if (sold != 0) {
        call->result = CO_STORE_OK;
        return sold == 1 ? CO_JOB_DONE : CO_JOB_AGAIN;
    }

    switch (co_mysql_units_take(mysql, lease, call->hold, NULL, 1)) {

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
        && co_pool_rollback(lease) == 0)
    {
        call->result = CO_STORE_OK;
        return CO_JOB_DONE;
    }

    return CO_JOB_AGAIN;
}


co_job_result_e
co_mysql_call_claim(co_pool_job_t *job, co_lease_t *lease)
{
    int               sold;
    co_sql_t         *sql = &lease->sql;
    co_mysql_t       *mysql = ((co_mysql_job_t *) job)->mysql;
    co_store_call_t  *call = ((co_mysql_job_t *) job)->call;

    if (co_mysql_holds_read(mysql, lease, call->hold, 1) != 0) {
        return CO_JOB_AGAIN;
    }

    if (call->hold->parts_n == 0) {
        if (co_pool_rollback(lease) != 0) {
            return CO_JOB_AGAIN;
        }

        sold = co_mysql_holds_sold(mysql, lease, call->hold->id);
        call->result = sold == 1 ? CO_STORE_OK : CO_STORE_GONE;

        return sold >= 0 ? CO_JOB_DONE : CO_JOB_AGAIN;
    }

    co_sql_begin(sql, lease->tag);
    co_mysql_holds_delete(mysql, sql, call->hold);
    co_mysql_holds_add_order(mysql, sql, call->hold, call->order);
    call->result = CO_STORE_OK;

    return co_pool_commit(lease);
}


co_job_result_e
co_mysql_call_release(co_pool_job_t *job, co_lease_t *lease)
{
    co_mysql_t       *mysql = ((co_mysql_job_t *) job)->mysql;
    co_store_call_t  *call = ((co_mysql_job_t *) job)->call;

    if (co_mysql_holds_read(mysql, lease, call->hold, 1) != 0) {
        return CO_JOB_AGAIN;
    }

    call->result = call->hold->parts_n != 0 ? CO_STORE_OK : CO_STORE_GONE;

    return co_mysql_holds_release(mysql, lease, call->hold);
}


typedef struct {
    int   n;
    char  ids[CO_EXPIRED_MAX][CO_HOLD_ID_LEN + 1];
} co_mysql_ended_t;


static void
co_mysql_call_row_ended(void *data, int which, MYSQL_ROW row)
{
    co_mysql_ended_t  *ended = data;

    (void) which;

    snprintf(ended->ids[ended->n++], sizeof(ended->ids[0]), "%s", row[0]);
}


/*
 * One transaction for each hold.  Other processes may expire the same holds:
 * only those that this call has released are listed.
 */
co_job_result_e
co_mysql_call_expire(co_pool_job_t *job, co_lease_t *lease)
{
    int               i;
    co_sql_t         *sql = &lease->sql;
    co_hold_t         hold;
    co_mysql_t       *mysql = ((co_mysql_job_t *) job)->mysql;
    co_expired_t     *expired = ((co_mysql_job_t *) job)->call->expired;
    co_mysql_ended_t  ended = { .n = 0 };
    co_store_call_t  *call = ((co_mysql_job_t *) job)->call;

    co_sql_begin(sql, lease->tag);
    co_sql_statement(sql, "SELECT hold FROM holds WHERE shop = %d AND part = 0"
                     " AND expires_ms <= %lld ORDER BY hold LIMIT %d",
                     mysql->shop, (long long) call->now_ms,
                     CO_EXPIRED_MAX - expired->n);

    if (co_sql_run(sql, lease->mysql, co_mysql_call_row_ended, &ended) != 0) {
        return CO_JOB_AGAIN;
    }

    for (i = 0; i < ended.n; i++) {
        memcpy(hold.id, ended.ids[i], sizeof(hold.id));

        if (co_mysql_holds_read(mysql, lease, &hold, 1) != 0
            || co_mysql_holds_release(mysql, lease, &hold) != CO_JOB_DONE)
        {
            return CO_JOB_AGAIN;
        }

        if (hold.parts_n != 0) {
            memcpy(expired->ids[expired->n++], hold.id, sizeof(hold.id));
            expired->units += co_hold_units(&hold);
        }
    }

    call->result = CO_STORE_OK;

    return CO_JOB_DONE;
}


/*
 * Chooses the parts of the job's cart.  Returns the result of
 * co_mysql_cart_pick(), or -1 on failure.
 */
static int
co_mysql_call_pick(co_mysql_job_t *job, co_lease_t *lease, int force)
{
    const co_cart_t      *cart = job->call->cart;
    co_mysql_available_t  available;

    return co_mysql_cart_available(job->mysql, lease, cart, available) == 0
           ? co_mysql_cart_pick(job->mysql, cart, available, &job->hold, force)
           : -1;
}


co_job_result_e
co_mysql_call_look(co_pool_job_t *job, co_lease_t *lease)
{
    int               found;
    co_store_call_t  *call = ((co_mysql_job_t *) job)->call;

    found = co_mysql_call_pick((co_mysql_job_t *) job, lease, 0);
    call->result = found == 1 ? CO_STORE_OK : CO_STORE_SOLD_OUT;

    return found >= 0 ? CO_JOB_DONE : CO_JOB_AGAIN;
}


co_job_result_e
co_mysql_call_sell(co_pool_job_t *job, co_lease_t *lease)
{
    co_hold_t        *hold = &((co_mysql_job_t *) job)->hold;
    co_mysql_t       *mysql = ((co_mysql_job_t *) job)->mysql;
    co_store_call_t  *call = ((co_mysql_job_t *) job)->call;

    if (co_mysql_call_pick((co_mysql_job_t *) job, lease, 1) < 0) {
        return CO_JOB_AGAIN;
    }

    call->result = CO_STORE_OK;

    if (co_mysql_units_take(mysql, lease, hold, call->order, 1)
        != CO_MYSQL_ERROR)
    {
        return CO_JOB_DONE;
    }

    return mysql_errno(lease->mysql) == ER_DUP_ENTRY
           && co_pool_rollback(lease) == 0 ? CO_JOB_DONE : CO_JOB_AGAIN;
}


co_job_result_e
co_mysql_call_reset(co_pool_job_t *job, co_lease_t *lease)
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

    co_pool_begin(lease);

    for (i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
        co_sql_statement(sql, "%s%d%s", statements[i][0], mysql->shop,
                         statements[i][1]);
    }

    ((co_mysql_job_t *) job)->call->result = CO_STORE_OK;

    return co_pool_commit(lease);
}


static void
co_mysql_call_row_level(void *data, int which, MYSQL_ROW row)
{
    co_stock_t        *stock, *sum;
    co_mysql_count_t  *counting = data;

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


/* A single statement reads at one moment. */
co_job_result_e
co_mysql_call_count(co_pool_job_t *job, co_lease_t *lease)
{
    int               shop;
    co_sql_t         *sql = &lease->sql;
    co_store_call_t  *call = ((co_mysql_job_t *) job)->call;
    co_mysql_count_t  counting = { call, call->levels };

    shop = ((co_mysql_job_t *) job)->mysql->shop;
    memset(&call->stock, 0, sizeof(call->stock));

    co_sql_begin(sql, lease->tag);
    co_sql_statement(sql,
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

    if (co_sql_run(sql, lease->mysql, co_mysql_call_row_level, &counting)
        != 0)
    {
        return CO_JOB_AGAIN;
    }

    call->result = CO_STORE_OK;
    call->stock_known = 1;

    return CO_JOB_DONE;
}
