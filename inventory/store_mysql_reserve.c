/*
 * Reserving units in MySQL or MariaDB.
 *
 * The short way takes rows that nobody else has locked, in two round trips,
 * and waits for nobody.  Where it finds too few, a look at one moment tells
 * whether that is all: only this says "sold out".  If not, the pool is filled
 * by one transaction at a time, while the others wait, and the short way tried
 * again.  Should that fail too, as where the last units are in others' hands,
 * the long way (co_mysql_take()) locks the pool, waits for them, and takes
 * what it needs from the rows and from the number.
 */

#include "store_mysql_units.h"
#include "clock.h"

#include <string.h>

#include <mysqld_error.h>


/*
 * The short way begins to look so many ids behind the last one taken: before
 * it are mostly rows that are deleted and not purged yet, which are slow to
 * read over.  A unit that came to be left there is found when the pool runs
 * out.
 */
#define CO_MYSQL_BEHIND     256

/* How long a location that was found empty is not tried first. */
#define CO_MYSQL_DRY_US     200000

/* Somebody else was faster, so often in a row: something is wrong. */
#define CO_MYSQL_TRIES_MAX  200

/* A reservation that found too few fills a pool with less than this part. */
#define CO_MYSQL_FEW        4

/* Looks at the level of a pool, for each so many units of low water taken. */
#define CO_MYSQL_LOOKS      8


static co_mysql_taken_e co_mysql_take_rows(co_mysql_t *mysql,
    co_lease_t *lease, const co_hold_t *hold);
static co_mysql_taken_e co_mysql_take_filled(co_mysql_t *mysql,
    co_lease_t *lease, const co_hold_t *hold);
static int co_mysql_prefer(co_mysql_t *mysql, const co_cart_t *cart,
    co_hold_t *hold);
static void co_mysql_taken(co_mysql_t *mysql, const co_hold_t *hold);


co_job_result_e
co_mysql_reserve(co_pool_job_t *job, co_lease_t *lease)
{
    int                    tries;
    co_mysql_t            *mysql = ((co_mysql_job_t *) job)->mysql;
    co_store_call_t       *call = ((co_mysql_job_t *) job)->call;
    co_mysql_taken_e       taken = CO_MYSQL_SHORT;
    co_mysql_available_t   available;

    if (co_mysql_prefer(mysql, call->cart, call->hold)) {
        taken = co_mysql_take_rows(mysql, lease, call->hold);
    }

    for (tries = 0; taken == CO_MYSQL_SHORT && tries < CO_MYSQL_TRIES_MAX;
         tries++)
    {
        if (co_mysql_available(mysql, lease, call->cart, available) != 0) {
            return CO_JOB_AGAIN;
        }

        if (!co_mysql_pick(mysql, call->cart, available, call->hold, 0)) {

            /* unless it has the last ones itself, and the answer was lost */
            if (co_mysql_parts(mysql, lease, call->hold, 0) != 0) {
                return CO_JOB_AGAIN;
            }

            call->result = call->hold->parts_n != 0 ? CO_STORE_OK
                                                    : CO_STORE_SOLD_OUT;
            return CO_JOB_DONE;
        }

        taken = co_mysql_take_filled(mysql, lease, call->hold);
    }

    if (taken == CO_MYSQL_TAKEN) {
        co_mysql_taken(mysql, call->hold);
        call->result = CO_STORE_OK;
        return CO_JOB_DONE;
    }

    if (taken == CO_MYSQL_ERROR
        && mysql_errno(lease->mysql) == ER_DUP_ENTRY
        && co_lease_rollback(lease) == 0
        && co_mysql_parts(mysql, lease, call->hold, 0) == 0
        && call->hold->parts_n != 0)
    {
        /* it is held: this is the second time, or the answer was lost */
        call->result = CO_STORE_OK;
        return CO_JOB_DONE;
    }

    return CO_JOB_AGAIN;
}


/* Fills the pools, then tries the short way and the long one. */
static co_mysql_taken_e
co_mysql_take_filled(co_mysql_t *mysql, co_lease_t *lease,
    const co_hold_t *hold)
{
    int                i;
    int64_t            low;
    co_mysql_taken_e   taken;

    low = mysql->pool_units / CO_MYSQL_FEW;
    low = low > mysql->low_units ? low : mysql->low_units;

    for (i = 0; i < hold->parts_n; i++) {
        if (co_mysql_fill(mysql, lease, &hold->parts[i], low > 0 ? low : 1)
            != 0)
        {
            return CO_MYSQL_ERROR;
        }
    }

    taken = co_mysql_take_rows(mysql, lease, hold);

    return taken == CO_MYSQL_SHORT ? co_mysql_take(mysql, lease, hold, NULL, 0)
                                   : taken;
}


/* The short way. */
static co_mysql_taken_e
co_mysql_take_rows(co_mysql_t *mysql, co_lease_t *lease,
    const co_hold_t *hold)
{
    int                i, few = 0;
    co_sql_t          *sql = &lease->sql;
    const co_part_t   *part;
    co_mysql_level_t  *level;
    co_mysql_taken_e   taken = CO_MYSQL_ERROR;
    co_mysql_locks_t  *locks;

    locks = co_mysql_locks_new(hold);
    if (locks == NULL) {
        return CO_MYSQL_ERROR;
    }

    co_sql_begin(sql, lease->tag);
    co_sql_add(sql, "START TRANSACTION");
    co_sql_end(sql);

    for (i = 0; i < hold->parts_n; i++) {
        part = &hold->parts[i];

        co_sql_add(sql, "%s(SELECT %d, id FROM units",
                   i == 0 ? "" : " UNION ALL ", i);
        co_mysql_add_where(mysql, sql, part);
        co_sql_add(sql, " AND id > %lld ORDER BY id LIMIT %lld FOR UPDATE"
                   " SKIP LOCKED)",
                   (long long) co_mysql_level(mysql, part->item,
                                              part->location)->last_id
                   - CO_MYSQL_BEHIND, (long long) part->quantity);
    }

    co_sql_end(sql);

    if (co_sql_run(sql, lease->mysql, co_mysql_row_ids, locks) != 0) {
        goto done;
    }

    co_sql_begin(sql, lease->tag);

    for (i = 0; i < hold->parts_n; i++) {
        part = &hold->parts[i];

        level = co_mysql_level(mysql, part->item, part->location);

        if (locks->parts[i].ids_n < part->quantity) {
            few = 1;
            level->dry_until_us = co_steady_us() + CO_MYSQL_DRY_US;
            level->last_id = 0;

        } else if (level->last_id < locks->parts[i].ids[0]) {
            level->last_id = locks->parts[i].ids[0];
        }

        co_mysql_add_delete(mysql, sql, part, &locks->parts[i]);
    }

    if (few) {
        taken = co_lease_rollback(lease) == 0 ? CO_MYSQL_SHORT
                                              : CO_MYSQL_ERROR;
        goto done;
    }

    co_mysql_add_hold(mysql, sql, hold);
    taken = co_mysql_commit(mysql, lease) == 0 ? CO_MYSQL_TAKEN
                                               : CO_MYSQL_ERROR;

done:

    co_mysql_locks_free(locks);

    return taken;
}


/*
 * A location for each line that was not found empty lately, another one to
 * begin with for each hold: 1 with the parts in "hold", or 0.
 */
static int
co_mysql_prefer(co_mysql_t *mysql, const co_cart_t *cart, co_hold_t *hold)
{
    int         i, n, location = 1;
    int64_t     now;
    unsigned    start;
    co_part_t  *part;

    now = co_steady_us();
    start = (unsigned char) hold->id[CO_HOLD_ID_LEN - 1];
    hold->parts_n = 0;

    for (i = 0; i < cart->lines_n; i++) {
        for (n = 0; n < mysql->locations; n++) {
            location = (int) (start + (unsigned) n)
                       % mysql->locations + 1;

            if ((cart->locations >> (location - 1) & 1)
                && co_mysql_level(mysql, cart->lines[i].item,
                                  location)->dry_until_us <= now)
            {
                break;
            }
        }

        if (n == mysql->locations
            || cart->lines[i].quantity > mysql->pool_units)
        {
            return 0;
        }

        part = &hold->parts[hold->parts_n++];
        part->item = cart->lines[i].item;
        part->location = location;
        part->quantity = cart->lines[i].quantity;
    }

    co_hold_sort(hold);

    return 1;
}


/* Now and then, looks whether the pools that this was taken from run low. */
static void
co_mysql_taken(co_mysql_t *mysql, const co_hold_t *hold)
{
    int                i, taken, quantity;
    co_mysql_level_t  *level;

    for (i = 0; i < hold->parts_n && mysql->low_units != 0; i++) {
        level = co_mysql_level(mysql, hold->parts[i].item,
                               hold->parts[i].location);

        quantity = (int) hold->parts[i].quantity;
        taken = atomic_fetch_add(&level->taken, quantity) + quantity;

        if (taken >= mysql->low_units / CO_MYSQL_LOOKS) {
            level->taken = 0;
            co_mysql_fill_later(mysql, hold->parts[i].item,
                                hold->parts[i].location);
        }
    }
}


typedef struct {
    const co_cart_t   *cart;
    int64_t          (*available)[CO_LOCATIONS_MAX];
} co_mysql_looking_t;


static void
co_mysql_row_available(void *data, int which, MYSQL_ROW row)
{
    int                  i, location;
    co_mysql_looking_t  *looking = data;

    (void) which;

    location = (int) co_sql_number(row, 1);

    for (i = 0; i < looking->cart->lines_n; i++) {
        if (looking->cart->lines[i].item == co_sql_number(row, 0)
            && (looking->cart->locations >> (location - 1) & 1))
        {
            looking->available[i][location - 1] = co_sql_number(row, 2);
        }
    }
}


unsigned
co_mysql_available(co_mysql_t *mysql, co_lease_t *lease, const co_cart_t *cart,
    co_mysql_available_t available)
{
    int                  i;
    co_sql_t            *sql = &lease->sql;
    co_mysql_looking_t   looking = { cart, available };

    memset(available, 0, sizeof(co_mysql_available_t));

    /* one statement reads at one moment, units on their way from the number
     * to the rows included */
    co_sql_begin(sql, lease->tag);
    co_sql_add(sql, "SELECT p.item, p.location, p.unpooled"
               " + (SELECT COUNT(*) FROM units u WHERE u.shop = p.shop"
               " AND u.item = p.item AND u.location = p.location)"
               " FROM pools p WHERE p.shop = %d", mysql->shop);

    for (i = 0; i < cart->lines_n; i++) {
        co_sql_add(sql, "%s%d", i == 0 ? " AND p.item IN (" : ", ",
                   cart->lines[i].item);
    }

    co_sql_add(sql, ")");
    co_sql_end(sql);

    return co_sql_run(sql, lease->mysql, co_mysql_row_available, &looking);
}


int
co_mysql_pick(co_mysql_t *mysql, const co_cart_t *cart,
    co_mysql_available_t available, co_hold_t *hold, int force)
{
    int         i, n, first, location, whole;
    int64_t     wanted, taken;
    unsigned    start;
    co_part_t  *part;

    start = (unsigned char) hold->id[CO_HOLD_ID_LEN - 1];
    hold->parts_n = 0;

    for (i = 0; i < cart->lines_n; i++) {
        wanted = cart->lines[i].quantity;
        first = hold->parts_n;

        /* from one that has it all, or from as many as it takes */
        for (whole = 1; whole >= 0 && wanted > 0; whole--) {
            for (n = 0; n < mysql->locations && wanted > 0; n++) {
                location = (int) (start + (unsigned) n) % mysql->locations + 1;
                taken = co_mysql_min(wanted, available[i][location - 1]);

                if (taken <= 0 || (whole && taken < wanted)) {
                    continue;
                }

                part = &hold->parts[hold->parts_n++];
                part->item = cart->lines[i].item;
                part->location = location;
                part->quantity = taken;
                wanted -= taken;
            }
        }

        if (wanted == 0) {
            continue;
        }

        if (!force) {
            return 0;
        }

        if (hold->parts_n == first) {
            part = &hold->parts[hold->parts_n++];
            part->item = cart->lines[i].item;
            part->quantity = 0;

            for (part->location = 1;
                 !(cart->locations >> (part->location - 1) & 1)
                 && part->location < mysql->locations;
                 part->location++) { /* void */ }
        }

        hold->parts[first].quantity += wanted;
    }

    co_hold_sort(hold);

    return 1;
}
