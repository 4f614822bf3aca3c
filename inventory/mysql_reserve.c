/*
 * Reserving units in MySQL or MariaDB.
 *
 * The fast path takes rows that no other transaction has locked, in two round
 * trips, and never waits.  If it finds too few, one statement reads the
 * available stock; only its result means "sold out".  Otherwise one
 * transaction fills the pool while others wait, and the fast path is repeated.
 * If it fails again, because other transactions have locked the last units,
 * the slow path, co_mysql_units_take(), locks the pool, waits for these
 * transactions, and takes rows and units of pools.unpooled.
 */

#include "mysql_reserve.h"
#include "mysql_cart.h"
#include "mysql_holds.h"
#include "mysql_units.h"
#include "clock.h"

#include <string.h>

#include <mysqld_error.h>


/*
 * The fast path starts this many ids before the last one taken.  Rows before
 * that are mostly deleted and not yet purged, which makes them slow to skip.
 * Units left there are found when the pool runs out.
 */
#define CO_MYSQL_LAG        256

/* How long an empty location is tried last. */
#define CO_MYSQL_EMPTY_US   200000

#define CO_MYSQL_TRIES_MAX  200

/* A reservation fills a pool that is below 1/4 of its maximum. */
#define CO_MYSQL_LOW_PART   4

/* The level of a pool is checked after low_units / 8 units were taken. */
#define CO_MYSQL_CHECKS     8


static co_mysql_taken_e co_mysql_reserve_rows(co_mysql_t *mysql,
    co_lease_t *lease, const co_hold_t *hold);
static co_mysql_taken_e co_mysql_reserve_filled(co_mysql_t *mysql,
    co_lease_t *lease, const co_hold_t *hold);
static int co_mysql_reserve_prefer(co_mysql_t *mysql, const co_cart_t *cart,
    co_hold_t *hold);
static void co_mysql_reserve_watch(co_mysql_t *mysql, const co_hold_t *hold);


co_job_result_e
co_mysql_reserve(co_pool_job_t *job, co_lease_t *lease)
{
    int                   tries;
    co_mysql_t           *mysql = ((co_mysql_job_t *) job)->mysql;
    co_store_call_t      *call = ((co_mysql_job_t *) job)->call;
    co_mysql_taken_e      taken = CO_MYSQL_SHORT;
    co_mysql_available_t  available;

    if (co_mysql_reserve_prefer(mysql, call->cart, call->hold)) {
        taken = co_mysql_reserve_rows(mysql, lease, call->hold);
    }

    for (tries = 0; taken == CO_MYSQL_SHORT && tries < CO_MYSQL_TRIES_MAX;
         tries++)
    {
        if (co_mysql_cart_available(mysql, lease, call->cart, available)
            != 0)
        {
            return CO_JOB_AGAIN;
        }

        if (!co_mysql_cart_pick(mysql, call->cart, available, call->hold, 0)) {

            /* this hold may have the last units: its result was lost */
            if (co_mysql_holds_read(mysql, lease, call->hold, 0) != 0) {
                return CO_JOB_AGAIN;
            }

            call->result = call->hold->parts_n != 0 ? CO_STORE_OK
                                                    : CO_STORE_SOLD_OUT;
            return CO_JOB_DONE;
        }

        taken = co_mysql_reserve_filled(mysql, lease, call->hold);
    }

    if (taken == CO_MYSQL_TAKEN) {
        co_mysql_reserve_watch(mysql, call->hold);
        call->result = CO_STORE_OK;
        return CO_JOB_DONE;
    }

    if (taken == CO_MYSQL_ERROR
        && mysql_errno(lease->mysql) == ER_DUP_ENTRY
        && co_pool_rollback(lease) == 0
        && co_mysql_holds_read(mysql, lease, call->hold, 0) == 0
        && call->hold->parts_n != 0)
    {
        /* held before: a repeated call, or its result was lost */
        call->result = CO_STORE_OK;
        return CO_JOB_DONE;
    }

    return CO_JOB_AGAIN;
}


static co_mysql_taken_e
co_mysql_reserve_filled(co_mysql_t *mysql, co_lease_t *lease,
    const co_hold_t *hold)
{
    int               i;
    int64_t           low;
    co_mysql_taken_e  taken;

    low = mysql->pool_units / CO_MYSQL_LOW_PART;
    low = low > mysql->low_units ? low : mysql->low_units;

    for (i = 0; i < hold->parts_n; i++) {
        if (co_mysql_units_fill(mysql, lease, &hold->parts[i],
                                low > 0 ? low : 1)
            != 0)
        {
            return CO_MYSQL_ERROR;
        }
    }

    taken = co_mysql_reserve_rows(mysql, lease, hold);

    return taken == CO_MYSQL_SHORT
           ? co_mysql_units_take(mysql, lease, hold, NULL, 0) : taken;
}


/* The fast path. */
static co_mysql_taken_e
co_mysql_reserve_rows(co_mysql_t *mysql, co_lease_t *lease,
    const co_hold_t *hold)
{
    int                i, few = 0;
    co_sql_t          *sql = &lease->sql;
    const co_part_t   *part;
    co_mysql_level_t  *level;
    co_mysql_taken_e   taken = CO_MYSQL_ERROR;
    co_mysql_locks_t  *locks;

    locks = co_mysql_units_locks_new(hold);
    if (locks == NULL) {
        return CO_MYSQL_ERROR;
    }

    co_pool_begin(lease);

    for (i = 0; i < hold->parts_n; i++) {
        part = &hold->parts[i];

        co_sql_add(sql, "%s(SELECT %d, id FROM units",
                   i == 0 ? "" : " UNION ALL ", i);
        co_mysql_units_where(mysql, sql, part);
        co_sql_add(sql, " AND id > %lld ORDER BY id LIMIT %lld FOR UPDATE"
                   " SKIP LOCKED)",
                   (long long) co_mysql_level(mysql, part->item,
                                              part->location)->last_id
                   - CO_MYSQL_LAG, (long long) part->quantity);
    }

    co_sql_end(sql);

    if (co_sql_run(sql, lease->mysql, co_mysql_units_row_ids, locks) != 0) {
        goto done;
    }

    co_sql_begin(sql, lease->tag);

    for (i = 0; i < hold->parts_n; i++) {
        part = &hold->parts[i];

        level = co_mysql_level(mysql, part->item, part->location);

        if (locks->parts[i].ids_n < part->quantity) {
            few = 1;
            level->empty_until_us = co_steady_us() + CO_MYSQL_EMPTY_US;
            level->last_id = 0;

        } else if (level->last_id < locks->parts[i].ids[0]) {
            level->last_id = locks->parts[i].ids[0];
        }

        co_mysql_units_delete(mysql, sql, part, &locks->parts[i]);
    }

    if (few) {
        taken = co_pool_rollback(lease) == 0 ? CO_MYSQL_SHORT
                                             : CO_MYSQL_ERROR;
        goto done;
    }

    co_mysql_holds_add(mysql, sql, hold);
    taken = co_mysql_units_commit(mysql, lease) == 0 ? CO_MYSQL_TAKEN
                                                     : CO_MYSQL_ERROR;

done:

    co_mysql_units_locks_free(locks);

    return taken;
}


/* Chooses one location for each line; returns 0 if all were found empty. */
static int
co_mysql_reserve_prefer(co_mysql_t *mysql, const co_cart_t *cart,
    co_hold_t *hold)
{
    int       i, n, location = 1;
    int64_t   now;
    unsigned  start;

    now = co_steady_us();
    start = (unsigned char) hold->id[CO_HOLD_ID_LEN - 1];
    hold->parts_n = 0;

    for (i = 0; i < cart->lines_n; i++) {
        for (n = 0; n < mysql->locations; n++) {
            location = (int) (start + (unsigned) n) % mysql->locations + 1;

            if ((cart->locations >> (location - 1) & 1)
                && co_mysql_level(mysql, cart->lines[i].item,
                                  location)->empty_until_us <= now)
            {
                break;
            }
        }

        if (n == mysql->locations
            || cart->lines[i].quantity > mysql->pool_units)
        {
            return 0;
        }

        co_hold_add(hold, cart->lines[i].item, location,
                    cart->lines[i].quantity);
    }

    co_hold_sort(hold);

    return 1;
}


static void
co_mysql_reserve_watch(co_mysql_t *mysql, const co_hold_t *hold)
{
    int                i, taken, quantity;
    co_mysql_level_t  *level;

    for (i = 0; i < hold->parts_n && mysql->low_units != 0; i++) {
        level = co_mysql_level(mysql, hold->parts[i].item,
                               hold->parts[i].location);

        quantity = (int) hold->parts[i].quantity;
        taken = atomic_fetch_add(&level->taken, quantity) + quantity;

        if (taken >= mysql->low_units / CO_MYSQL_CHECKS) {
            level->taken = 0;
            co_mysql_units_fill_later(mysql, hold->parts[i].item,
                                      hold->parts[i].location);
        }
    }
}
