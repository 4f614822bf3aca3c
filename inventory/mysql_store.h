/*
 * The store in MySQL or MariaDB.
 *
 *   mysql_store.c     the backend: --store=mysql:..., calls as jobs of a pool
 *   mysql_schema.c    the tables
 *   mysql_reserve.c   reserving
 *   mysql_cart.c      the stock that a cart needs, and where it comes from
 *   mysql_units.c     units and their pools: lock, take, fill
 *   mysql_holds.c     rows of holds and orders
 *   mysql_call.c      all other calls
 *
 * One row of "units" is one available unit.  An item has only a limited
 * number of rows at a location (its pool); the other units are a number,
 * pools.unpooled, and become rows when the pool runs low.  At every moment,
 * for each item and location,
 *
 *   ledger.stock = pools.unpooled + rows of units + quantities of holds.
 *
 * The order of locks is holds, pools, units, ledger, each by item and
 * location.  Every transaction deletes before it inserts, and a unit that
 * comes back gets a new id.  Only the fast path of a reservation locks units
 * first: it uses SKIP LOCKED and never waits.
 */

#ifndef CO_MYSQL_STORE_H
#define CO_MYSQL_STORE_H


#include "pool.h"
#include "store_backend.h"

#include <stdatomic.h>


/* State of an item at a location in this process. */
typedef struct {
    _Atomic int64_t           empty_until_us;    /* found empty */
    _Atomic int64_t           last_id;           /* taken */
    _Atomic int               taken;             /* since the last check */
    _Atomic int               filling;           /* a fill job is queued */
} co_mysql_level_t;


typedef struct {
    co_store_port_t          *port;
    co_pool_conf_t            pool_conf;
    co_pool_t                *pool;

    int                       shop;
    int                       items;
    int                       locations;
    int64_t                   pool_units;        /* maximum rows */
    int64_t                   low_units;         /* 0: fill when empty */
    _Atomic int64_t           work_us;           /* for benchmarks */
    int64_t                   report_ms;         /* --slow-report */
    _Atomic int64_t           fills_begun;
    _Atomic int64_t           fills_ended;
    co_mysql_level_t         *levels;
} co_mysql_t;


typedef struct {
    co_pool_job_t             job;
    co_mysql_t               *mysql;
    co_store_call_t          *call;
    co_hold_t                 hold;              /* of a sale without hold */
} co_mysql_job_t;


static inline int64_t
co_mysql_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}


static inline co_mysql_level_t *
co_mysql_level(co_mysql_t *mysql, int item, int location)
{
    return &mysql->levels[(item - 1) * mysql->locations + location - 1];
}


#endif /* CO_MYSQL_STORE_H */
