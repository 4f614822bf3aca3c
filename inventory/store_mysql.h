/*
 * The store in MySQL or MariaDB: what its files share.
 *
 *   store_mysql.c           --store=mysql:..., the pool and its jobs
 *   store_mysql_schema.c    the tables, and a sale's beginning
 *   store_mysql_reserve.c   reserving
 *   store_mysql_units.c     units and their pools: locking, taking, filling
 *   store_mysql_calls.c     everything else that is asked of a store
 *
 * One row of "units" is one unit that can be had.  Only so many are there for
 * an item and location; the others are a number, in "pools", and become rows
 * when these run low.  What is held stands in "holds", what is sold is taken
 * from "ledger" and stands in "orders".  At every moment, for each item and
 * location,
 *
 *   ledger.stock = pools.unpooled + rows of units + quantities of holds.
 *
 * The order of locks is holds, pools, units, ledger, and each of them by item
 * and location; every transaction deletes before it inserts, and a unit that
 * comes back gets a new id.  Only a reservation that waits for nobody takes
 * units before anything else.
 */

#ifndef CO_STORE_MYSQL_H
#define CO_STORE_MYSQL_H


#include "mysql_pool.h"
#include "store_backend.h"

#include <stdatomic.h>


/* What this process knows of an item at a location, from its own calls. */
typedef struct {
    _Atomic int64_t           dry_until_us;      /* found empty lately */
    _Atomic int64_t           last_id;           /* taken */
    _Atomic int               taken;             /* since it was looked at */
    _Atomic int               filling;           /* a job is under way */
} co_mysql_level_t;


typedef struct {
    co_store_port_t          *port;
    co_pool_conf_t            pool_conf;
    co_pool_t                *pool;

    int                       shop;
    int                       items;
    int                       locations;
    int64_t                   pool_units;        /* rows of an item and
                                                    location at most */
    int64_t                   low_units;         /* fill up below; 0: only
                                                    when empty */
    _Atomic int64_t           work_us;           /* for experiments: other
                                                    work in a reservation */
    int64_t                   report_ms;         /* --slow-report */
    _Atomic int64_t           fills_begun;       /* of pools of units */
    _Atomic int64_t           fills_ended;
    co_mysql_level_t         *levels;
} co_mysql_t;


/* A call and its way through the pool. */
typedef struct {
    co_pool_job_t             job;
    co_mysql_t               *mysql;
    co_store_call_t          *call;
    co_hold_t                 hold;              /* of what is sold unheld */
} co_mysql_job_t;


/* Tables, and the stock if they have none: 0, or -1 with "error" set. */
int co_mysql_begin_sale(co_mysql_t *mysql, const co_store_conf_t *conf,
    co_store_found_t *found, char *error);

/* Each does the call of a job; as "run" of co_pool_job_t. */
co_job_result_e co_mysql_reserve(co_pool_job_t *job, co_lease_t *lease);
co_job_result_e co_mysql_apply(co_pool_job_t *job, co_lease_t *lease);
co_job_result_e co_mysql_claim(co_pool_job_t *job, co_lease_t *lease);
co_job_result_e co_mysql_release(co_pool_job_t *job, co_lease_t *lease);
co_job_result_e co_mysql_expire(co_pool_job_t *job, co_lease_t *lease);
co_job_result_e co_mysql_look(co_pool_job_t *job, co_lease_t *lease);
co_job_result_e co_mysql_sell(co_pool_job_t *job, co_lease_t *lease);
co_job_result_e co_mysql_reset(co_pool_job_t *job, co_lease_t *lease);
co_job_result_e co_mysql_count(co_pool_job_t *job, co_lease_t *lease);

/*
 * What is available of the cart's items, at locations that can deliver, at
 * one moment: available[line][location - 1].  0, or the error.
 */
typedef int64_t  co_mysql_available_t[CO_CART_LINES][CO_LOCATIONS_MAX];

unsigned co_mysql_available(co_mysql_t *mysql, co_lease_t *lease,
    const co_cart_t *cart, co_mysql_available_t available);

/*
 * Picks where the units of a cart come from: 1 with the parts in "hold", 0
 * where there are too few; with "force" one location goes below 0.
 */
int co_mysql_pick(co_mysql_t *mysql, const co_cart_t *cart,
    co_mysql_available_t available, co_hold_t *hold, int force);

/*
 * Takes the parts of "hold", in one transaction: as a hold, or with "order"
 * as sold.  With "force" also what is not there.
 */
typedef enum {
    CO_MYSQL_TAKEN = 0,
    CO_MYSQL_DEBT,                               /* below 0 now */
    CO_MYSQL_SHORT,                              /* somebody else was faster */
    CO_MYSQL_ERROR
} co_mysql_taken_e;

co_mysql_taken_e co_mysql_take(co_mysql_t *mysql, co_lease_t *lease,
    const co_hold_t *hold, const co_order_t *order, int force);

/*
 * Reads the parts of the hold of this name, none where it is not held, and
 * with "lock" begins a transaction that has them locked.  0, or the error.
 */
unsigned co_mysql_parts(co_mysql_t *mysql, co_lease_t *lease, co_hold_t *hold,
    int lock);

/* Adds the statements for what is sold: the order, and the ledger. */
void co_mysql_add_order(co_mysql_t *mysql, co_sql_t *sql,
    const co_hold_t *hold, const co_order_t *order);

co_mysql_level_t *co_mysql_level(co_mysql_t *mysql, int item, int location);


#endif /* CO_STORE_MYSQL_H */
