#include "mysql_units.h"
#include "mysql_holds.h"
#include "clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>


/* Interval at which the other work checks work_us. */
#define CO_MYSQL_STEP_US   50000

/* Rows that one transaction adds: the server limits the size of a packet. */
#define CO_MYSQL_FILL_MAX  20000


typedef struct {
    co_mysql_t         *mysql;
    int                 item;
    int                 location;
} co_mysql_fill_t;


static void co_mysql_units_row_locks(void *data, int which, MYSQL_ROW row);
static unsigned co_mysql_units_lock(co_mysql_t *mysql, co_lease_t *lease,
    const co_hold_t *hold, co_mysql_locks_t *locks);
static unsigned co_mysql_units_lock_wait(co_mysql_t *mysql, co_lease_t *lease,
    const co_part_t *part, co_mysql_locks_t *locks, int n);
static void co_mysql_units_insert(co_mysql_t *mysql, co_sql_t *sql,
    const co_part_t *part, int64_t first_id, int64_t n);
static void co_mysql_units_update_pool(co_mysql_t *mysql, co_sql_t *sql,
    const co_part_t *part, int64_t taken, int64_t rows);
static co_job_result_e co_mysql_units_fill_run(co_pool_job_t *job,
    co_lease_t *lease);
static void co_mysql_units_fill_end(co_pool_job_t *job, unsigned error,
    const char *text);


co_mysql_locks_t *
co_mysql_units_locks_new(const co_hold_t *hold)
{
    int                i;
    int64_t           *ids;
    co_mysql_locks_t  *locks;

    locks = calloc(1, sizeof(*locks));
    ids = calloc((size_t) co_hold_units(hold) + 1, sizeof(*ids));

    if (locks == NULL || ids == NULL) {
        free(locks);
        free(ids);
        return NULL;
    }

    locks->parts_n = hold->parts_n;
    locks->ids = ids;

    for (i = 0; i < hold->parts_n; i++) {
        locks->parts[i].ids = ids;
        ids += hold->parts[i].quantity;
    }

    return locks;
}


void
co_mysql_units_locks_free(co_mysql_locks_t *locks)
{
    free(locks->ids);
    free(locks);
}


void
co_mysql_units_row_ids(void *data, int which, MYSQL_ROW row)
{
    co_mysql_locks_t   *locks = data;
    co_mysql_locked_t  *locked;

    (void) which;

    locked = &locks->parts[co_sql_number(row, 0)];
    locked->ids[locked->ids_n++] = co_sql_number(row, 1);
}


/* Results in the order of co_mysql_units_lock(): pools, ids, counts. */
static void
co_mysql_units_row_locks(void *data, int which, MYSQL_ROW row)
{
    co_mysql_locks_t   *locks = data;
    co_mysql_locked_t  *locked;

    locked = &locks->parts[which % locks->parts_n];

    switch (which / locks->parts_n) {

    case 0:
        locked->unpooled = co_sql_number(row, 0);
        locked->next_id = co_sql_number(row, 1);
        break;

    case 1:
        locked->ids[locked->ids_n++] = co_sql_number(row, 0);
        break;

    default:
        locked->rows = co_sql_number(row, 0);
    }
}


static unsigned
co_mysql_units_lock(co_mysql_t *mysql, co_lease_t *lease,
    const co_hold_t *hold, co_mysql_locks_t *locks)
{
    int        i;
    co_sql_t  *sql = &lease->sql;

    co_pool_begin(lease);

    for (i = 0; i < hold->parts_n; i++) {
        co_sql_add(sql, "SELECT unpooled, next_id FROM pools");
        co_mysql_units_where(mysql, sql, &hold->parts[i]);
        co_sql_add(sql, " FOR UPDATE");
        co_sql_end(sql);
    }

    for (i = 0; i < hold->parts_n; i++) {
        co_sql_add(sql, "SELECT id FROM units");
        co_mysql_units_where(mysql, sql, &hold->parts[i]);
        co_sql_add(sql, " ORDER BY id LIMIT %lld FOR UPDATE SKIP LOCKED",
                   (long long) hold->parts[i].quantity);
        co_sql_end(sql);
    }

    for (i = 0; i < hold->parts_n; i++) {
        co_sql_add(sql, "SELECT COUNT(*) FROM units");
        co_mysql_units_where(mysql, sql, &hold->parts[i]);
        co_sql_end(sql);
    }

    return co_sql_run(sql, lease->mysql, co_mysql_units_row_locks, locks);
}


/*
 * Locks the units of part "n" again and waits for the transactions that have
 * some: these never wait, and may roll back.
 */
static unsigned
co_mysql_units_lock_wait(co_mysql_t *mysql, co_lease_t *lease,
    const co_part_t *part, co_mysql_locks_t *locks, int n)
{
    co_sql_t  *sql = &lease->sql;

    locks->parts[n].ids_n = 0;

    co_sql_begin(sql, lease->tag);
    co_sql_add(sql, "SELECT %d, id FROM units", n);
    co_mysql_units_where(mysql, sql, part);
    co_sql_add(sql, " ORDER BY id LIMIT %lld FOR UPDATE",
               (long long) part->quantity);
    co_sql_end(sql);

    return co_sql_run(sql, lease->mysql, co_mysql_units_row_ids, locks);
}


co_mysql_taken_e
co_mysql_units_take(co_mysql_t *mysql, co_lease_t *lease,
    const co_hold_t *hold, const co_order_t *order, int force)
{
    int                 i, debt = 0, fills = 0;
    int64_t             missing, rows, n, left = CO_MYSQL_FILL_MAX;
    co_sql_t           *sql = &lease->sql;
    const co_part_t    *part;
    co_mysql_taken_e    taken = CO_MYSQL_ERROR;
    co_mysql_locks_t   *locks;
    co_mysql_locked_t  *locked;

    locks = co_mysql_units_locks_new(hold);
    if (locks == NULL) {
        return CO_MYSQL_ERROR;
    }

    if (co_mysql_units_lock(mysql, lease, hold, locks) != 0) {
        goto done;
    }

    for (i = 0; i < hold->parts_n; i++) {
        part = &hold->parts[i];
        locked = &locks->parts[i];

        if (part->quantity - locked->ids_n > locked->unpooled
            && co_mysql_units_lock_wait(mysql, lease, part, locks, i) != 0)
        {
            goto done;
        }

        if (part->quantity - locked->ids_n > locked->unpooled && !force) {
            taken = co_pool_rollback(lease) == 0 ? CO_MYSQL_SHORT
                                                 : CO_MYSQL_ERROR;
            goto done;
        }
    }

    co_sql_begin(sql, lease->tag);

    for (i = 0; i < hold->parts_n; i++) {
        co_mysql_units_delete(mysql, sql, &hold->parts[i], &locks->parts[i]);
    }

    for (i = 0; i < hold->parts_n; i++) {
        part = &hold->parts[i];
        locked = &locks->parts[i];

        missing = part->quantity - locked->ids_n;
        rows = locked->rows - locked->ids_n;
        n = 0;

        if (rows <= 0 || rows < mysql->low_units) {
            n = co_mysql_min(mysql->pool_units - rows,
                             locked->unpooled - missing);
            n = co_mysql_min(n > 0 ? n : 0, left);
            left -= n;
            fills += n > 0;
            co_mysql_units_insert(mysql, sql, part, locked->next_id, n);
        }

        co_mysql_units_update_pool(mysql, sql, part, missing + n, n);
        debt |= locked->unpooled < missing;
    }

    if (order == NULL) {
        co_mysql_holds_add(mysql, sql, hold);
    } else {
        co_mysql_holds_add_order(mysql, sql, hold, order);
    }

    mysql->fills_begun += fills;

    if (co_mysql_units_commit(mysql, lease) == 0) {
        taken = debt ? CO_MYSQL_DEBT : CO_MYSQL_TAKEN;
    }

    mysql->fills_ended += fills;

done:

    co_mysql_units_locks_free(locks);

    return taken;
}


void
co_mysql_units_where(co_mysql_t *mysql, co_sql_t *sql, const co_part_t *part)
{
    co_sql_add(sql, " WHERE shop = %d AND item = %d AND location = %d",
               mysql->shop, part->item, part->location);
}


/*
 * One statement for each unit: with a list of ids the server may scan a small
 * pool and wait for rows that others have locked.
 */
void
co_mysql_units_delete(co_mysql_t *mysql, co_sql_t *sql, const co_part_t *part,
    const co_mysql_locked_t *locked)
{
    int  i;

    for (i = 0; i < locked->ids_n; i++) {
        co_sql_add(sql, "DELETE FROM units");
        co_mysql_units_where(mysql, sql, part);
        co_sql_add(sql, " AND id = %lld", (long long) locked->ids[i]);
        co_sql_end(sql);
    }
}


static void
co_mysql_units_insert(co_mysql_t *mysql, co_sql_t *sql, const co_part_t *part,
    int64_t first_id, int64_t n)
{
    int64_t  i;

    if (n == 0) {
        return;
    }

    co_sql_add(sql, "INSERT INTO units (shop, item, location, id) VALUES");

    for (i = 0; i < n; i++) {
        co_sql_add(sql, "%s(%d, %d, %d, %lld)", i == 0 ? " " : ", ",
                   mysql->shop, part->item, part->location,
                   (long long) (first_id + i));
    }

    co_sql_end(sql);
}


/* Removes "taken" units from pools.unpooled; "rows" of them became rows. */
static void
co_mysql_units_update_pool(co_mysql_t *mysql, co_sql_t *sql,
    const co_part_t *part, int64_t taken, int64_t rows)
{
    if (taken == 0) {
        return;
    }

    co_sql_add(sql, "UPDATE pools SET unpooled = unpooled - %lld,"
               " next_id = next_id + %lld", (long long) taken,
               (long long) rows);
    co_mysql_units_where(mysql, sql, part);
    co_sql_end(sql);
}


/* A benchmark lowers work_us to end the work early. */
static void
co_mysql_units_work(co_mysql_t *mysql)
{
    int64_t  left, until;

    until = co_steady_us() + mysql->work_us;

    while (mysql->work_us != 0 && (left = until - co_steady_us()) > 0) {
        usleep((useconds_t) co_mysql_min(left, CO_MYSQL_STEP_US));
    }
}


unsigned
co_mysql_units_commit(co_mysql_t *mysql, co_lease_t *lease)
{
    unsigned   error;
    co_sql_t  *sql = &lease->sql;

    if (mysql->work_us != 0) {
        error = co_sql_run(sql, lease->mysql, NULL, NULL);
        if (error != 0) {
            return error;
        }

        co_mysql_units_work(mysql);
        co_sql_begin(sql, lease->tag);
    }

    co_sql_statement(sql, "COMMIT");

    return co_sql_run(sql, lease->mysql, NULL, NULL);
}


void
co_mysql_units_fill_later(co_mysql_t *mysql, int item, int location)
{
    int                idle = 0;
    co_pool_job_t     *job;
    co_mysql_level_t  *level;
    co_mysql_fill_t   *filling;

    level = co_mysql_level(mysql, item, location);

    if (!atomic_compare_exchange_strong(&level->filling, &idle, 1)) {
        return;
    }

    job = calloc(1, sizeof(*job) + sizeof(*filling));
    if (job == NULL) {
        level->filling = 0;
        return;
    }

    filling = (co_mysql_fill_t *) (job + 1);
    filling->mysql = mysql;
    filling->item = item;
    filling->location = location;

    job->tag = CO_TAG_REPLENISH;
    job->run = co_mysql_units_fill_run;
    job->end = co_mysql_units_fill_end;
    job->data = filling;

    (void) co_pool_submit(mysql->pool, job, 1);
}


static void
co_mysql_units_fill_end(co_pool_job_t *job, unsigned error, const char *text)
{
    co_mysql_fill_t  *filling = job->data;

    if (error != 0) {
        fprintf(stderr, "checkout: store: filling the pool of item %d at"
                " location %d failed: %s\n",
                filling->item, filling->location, text);
    }

    co_mysql_level(filling->mysql, filling->item, filling->location)->filling
        = 0;
    free(job);
}


static void
co_mysql_units_row_count(void *data, int which, MYSQL_ROW row)
{
    (void) which;

    *(int64_t *) data = co_sql_number(row, 0);
}


static co_job_result_e
co_mysql_units_fill_run(co_pool_job_t *job, co_lease_t *lease)
{
    co_mysql_fill_t  *filling = job->data;
    co_part_t         part = { filling->item, filling->location, 0 };

    return co_mysql_units_fill(filling->mysql, lease, &part,
                               filling->mysql->low_units)
           == 0 ? CO_JOB_DONE : CO_JOB_AGAIN;
}


unsigned
co_mysql_units_fill(co_mysql_t *mysql, co_lease_t *lease,
    const co_part_t *part, int64_t low)
{
    int64_t             n = 0;
    unsigned            error;
    co_sql_t           *sql = &lease->sql;
    co_mysql_level_t   *level;
    co_mysql_locks_t    locks = { .parts_n = 1 };
    co_mysql_locked_t  *locked = &locks.parts[0];

    level = co_mysql_level(mysql, part->item, part->location);

    /* without a lock: mostly there are enough rows */
    co_sql_begin(sql, lease->tag);
    co_sql_add(sql, "SELECT COUNT(*) FROM units");
    co_mysql_units_where(mysql, sql, part);
    co_sql_end(sql);

    error = co_sql_run(sql, lease->mysql, co_mysql_units_row_count, &n);

    if (error != 0 || n >= low) {
        level->empty_until_us = 0;
        return error;
    }

    co_pool_begin(lease);
    co_sql_add(sql, "SELECT unpooled, next_id FROM pools");
    co_mysql_units_where(mysql, sql, part);
    co_sql_add(sql, " FOR UPDATE");
    co_sql_end(sql);

    /* an empty result in the place of the locked ids */
    co_sql_statement(sql, "SELECT id FROM units WHERE FALSE");
    co_sql_add(sql, "SELECT COUNT(*) FROM units");
    co_mysql_units_where(mysql, sql, part);
    co_sql_end(sql);

    error = co_sql_run(sql, lease->mysql, co_mysql_units_row_locks, &locks);
    if (error != 0) {
        return error;
    }

    n = co_mysql_min(mysql->pool_units - locked->rows, locked->unpooled);

    if (n <= 0 || locked->rows >= low) {
        level->empty_until_us = locked->rows >= low ? 0
                              : (int64_t) level->empty_until_us;
        return co_pool_rollback(lease);
    }

    co_sql_begin(sql, lease->tag);
    co_mysql_units_insert(mysql, sql, part, locked->next_id, n);
    co_mysql_units_update_pool(mysql, sql, part, n, n);
    co_sql_statement(sql, "COMMIT");

    mysql->fills_begun++;
    error = co_sql_run(sql, lease->mysql, NULL, NULL);
    mysql->fills_ended++;

    level->empty_until_us = 0;

    return error;
}
