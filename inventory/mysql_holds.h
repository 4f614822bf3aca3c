/*
 * Rows of holds and of orders in MySQL or MariaDB.
 */

#ifndef CO_MYSQL_HOLDS_H
#define CO_MYSQL_HOLDS_H


#include "mysql_store.h"


/*
 * Reads the parts of the hold with this id; none if it does not exist.
 * With "lock", begins a transaction that locks them.  Returns 0, or the error.
 */
unsigned co_mysql_holds_read(co_mysql_t *mysql, co_lease_t *lease,
    co_hold_t *hold, int lock);

/* Returns 1 if the hold is an order, 0 if not, -1 on failure. */
int co_mysql_holds_sold(co_mysql_t *mysql, co_lease_t *lease, const char *id);

/* Append the statements that insert a hold, or delete it. */
void co_mysql_holds_add(co_mysql_t *mysql, co_sql_t *sql,
    const co_hold_t *hold);
void co_mysql_holds_delete(co_mysql_t *mysql, co_sql_t *sql,
    const co_hold_t *hold);

/* Appends the statements that insert an order and update the ledger. */
void co_mysql_holds_add_order(co_mysql_t *mysql, co_sql_t *sql,
    const co_hold_t *hold, const co_order_t *order);

/*
 * Deletes the hold, which the current transaction has locked, returns its
 * units to pools.unpooled, and commits.
 */
co_job_result_e co_mysql_holds_release(co_mysql_t *mysql, co_lease_t *lease,
    const co_hold_t *hold);


#endif /* CO_MYSQL_HOLDS_H */
