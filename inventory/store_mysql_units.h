/*
 * Units and their pools in MySQL or MariaDB: what reserving needs of them.
 */

#ifndef CO_STORE_MYSQL_UNITS_H
#define CO_STORE_MYSQL_UNITS_H


#include "store_mysql.h"


/* What a transaction has found, and locked, for one part of a hold. */
typedef struct {
    int64_t              unpooled;               /* the number */
    int64_t              next_id;
    int64_t              rows;                   /* in the pool */
    int64_t             *ids;                    /* locked */
    int                  ids_n;
} co_mysql_locked_t;


typedef struct {
    int                  parts_n;
    co_mysql_locked_t    parts[CO_HOLD_PARTS];
    int64_t             *ids;                    /* room for all of them */
} co_mysql_locks_t;


static inline int64_t
co_mysql_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}


/* Room for the locks of a hold's parts; NULL when out of memory. */
co_mysql_locks_t *co_mysql_locks_new(const co_hold_t *hold);
void co_mysql_locks_free(co_mysql_locks_t *locks);

/* Puts rows of (part, id) into the locks, as of co_sql_run(). */
void co_mysql_row_ids(void *data, int which, MYSQL_ROW row);

/* Add to the statements of a transaction. */
void co_mysql_add_where(co_mysql_t *mysql, co_sql_t *sql,
    const co_part_t *part);
void co_mysql_add_delete(co_mysql_t *mysql, co_sql_t *sql,
    const co_part_t *part, const co_mysql_locked_t *locked);
void co_mysql_add_hold(co_mysql_t *mysql, co_sql_t *sql,
    const co_hold_t *hold);

/* Runs the statements that are written already, and ends.  0, or the error. */
unsigned co_mysql_commit(co_mysql_t *mysql, co_lease_t *lease);

/*
 * Fills the pool of a part's item and location where it has less than "low"
 * rows, in a transaction of its own; who comes meanwhile waits for it.  0, or
 * the error.
 */
unsigned co_mysql_fill(co_mysql_t *mysql, co_lease_t *lease,
    const co_part_t *part, int64_t low);

/* Looks at the pool in the background and fills it, unless one is at it. */
void co_mysql_fill_later(co_mysql_t *mysql, int item, int location);


#endif /* CO_STORE_MYSQL_UNITS_H */
