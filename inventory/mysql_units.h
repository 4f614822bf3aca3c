/*
 * Units and their pools in MySQL or MariaDB: lock, take, fill.
 */

#ifndef CO_MYSQL_UNITS_H
#define CO_MYSQL_UNITS_H


#include "mysql_store.h"


/* Rows that a transaction has read and locked for one part of a hold. */
typedef struct {
    int64_t              unpooled;
    int64_t              next_id;
    int64_t              rows;                   /* in the pool */
    int64_t             *ids;                    /* locked */
    int                  ids_n;
} co_mysql_locked_t;


typedef struct {
    int                  parts_n;
    co_mysql_locked_t    parts[CO_HOLD_PARTS];
    int64_t             *ids;                    /* memory of all parts */
} co_mysql_locks_t;


typedef enum {
    CO_MYSQL_TAKEN = 0,
    CO_MYSQL_DEBT,                               /* stock is below 0 now */
    CO_MYSQL_SHORT,                              /* others took the units */
    CO_MYSQL_ERROR
} co_mysql_taken_e;


/* Allocates the locks of a hold's parts; returns NULL if out of memory. */
co_mysql_locks_t *co_mysql_units_locks_new(const co_hold_t *hold);
void co_mysql_units_locks_free(co_mysql_locks_t *locks);

/* Stores rows of (part, id) in the locks: a co_sql_row_pt. */
void co_mysql_units_row_ids(void *data, int which, MYSQL_ROW row);

/* Append text: the condition for an item and location, and the statements
 * that delete locked units. */
void co_mysql_units_where(co_mysql_t *mysql, co_sql_t *sql,
    const co_part_t *part);
void co_mysql_units_delete(co_mysql_t *mysql, co_sql_t *sql,
    const co_part_t *part, const co_mysql_locked_t *locked);

/* Sends the statements built so far and commits.  Returns 0, or the error. */
unsigned co_mysql_units_commit(co_mysql_t *mysql, co_lease_t *lease);

/*
 * Takes the parts of "hold" in one transaction: as a hold, or as sold if
 * "order" is set.  With "force", also units that are not available.
 */
co_mysql_taken_e co_mysql_units_take(co_mysql_t *mysql, co_lease_t *lease,
    const co_hold_t *hold, const co_order_t *order, int force);

/*
 * Fills the pool of the part's item and location if it has fewer than "low"
 * rows.  Its transaction locks the pool, so concurrent fills wait.  Returns 0,
 * or the error.
 */
unsigned co_mysql_units_fill(co_mysql_t *mysql, co_lease_t *lease,
    const co_part_t *part, int64_t low);

/* Queues a job that fills the pool, unless one is queued already. */
void co_mysql_units_fill_later(co_mysql_t *mysql, int item, int location);


#endif /* CO_MYSQL_UNITS_H */
