/*
 * The store: the stock of every item at every location, the holds on it, and
 * the orders.
 *
 * A unit is available, held or sold.  For every item and location these three
 * add up to the initial stock.  A hold is known by its id alone, so any
 * process can claim, release or expire it; doing so twice has no further
 * effect.  A hold whose owner died expires.
 *
 * Calls come from the event loop and return at once.  Threads of the store do
 * the work, and the results come back as callbacks on the event loop.  Calls
 * of one hold are made one after another; results of different holds come in
 * any order.
 */

#ifndef CO_STORE_H
#define CO_STORE_H


#include <stddef.h>
#include <stdint.h>

#include <event2/event.h>
#include <jansson.h>

#include "hold.h"


#define CO_STORE_ERROR_LEN  512

#define CO_LINE_UNITS_MAX   100000
#define CO_ITEMS_MAX        1000
#define CO_EXPIRED_MAX      64

/* slow_report_ms: without the fault. */
#define CO_REPORT_MENDED    (-1)

#define CO_ALL_LOCATIONS    ((1u << CO_LOCATIONS_MAX) - 1)


typedef struct co_store_s          co_store_t;
typedef struct co_store_backend_s  co_store_backend_t;


typedef struct {
    int64_t             initial;
    int64_t             available;               /* below 0: oversold */
    int64_t             held;
    int64_t             sold;
} co_stock_t;


/* The stock of one item at one location; both are counted from 1. */
typedef struct {
    int                 item;
    int                 location;
    co_stock_t          stock;
} co_level_t;


typedef struct {
    int                 item;
    int64_t             quantity;                /* 1 to CO_LINE_UNITS_MAX */
} co_line_t;

/*
 * A cart is reserved completely or not at all.  Each item occurs at most
 * once, and at least one location is set; other carts are REFUSED.
 */
typedef struct {
    int                 lines_n;
    co_line_t           lines[CO_CART_LINES];
    uint32_t            locations;               /* bit n: location n + 1
                                                    can deliver */
} co_cart_t;


typedef struct {
    int                 n;
    int64_t             units;
    char                ids[CO_EXPIRED_MAX][CO_HOLD_ID_LEN + 1];
} co_expired_t;


typedef struct {
    const char         *spec;                    /* SCHEME:PLACE */
    int64_t             stock;                   /* initial units of an item,
                                                    over all locations */
    int                 items;
    int                 locations;
    int                 guarded;                 /* the store itself refuses
                                                    to go below 0 */
    int64_t             slow_report_ms;          /* MySQL; 0: no report */
    int                 callers_expiry;          /* only the caller calls
                                                    co_store_expire() */
    int64_t             seed;
    const char         *fault;                   /* see fault.h; or NULL */
} co_store_conf_t;


typedef struct {
    co_stock_t          stock;
    int64_t             orders;
    int64_t             given_back;              /* units that a dead process
                                                    had held */
    int                 existed;
} co_store_found_t;


typedef struct {
    char                id[24];
    char                email[256];              /* "" if none was given */
    int64_t             paid_ms;                 /* wall time */
} co_order_t;


typedef enum {
    CO_STORE_OK = 0,
    CO_STORE_SOLD_OUT,
    CO_STORE_GONE,                               /* released or expired */
    CO_STORE_DEBT,                               /* done; stock below 0 */
    CO_STORE_REFUSED,                            /* invalid cart or parts */
    CO_STORE_BUSY,                               /* the queue is full */
    CO_STORE_FAILED                              /* logged; may or may not
                                                    have been done */
} co_store_result_e;


typedef enum {
    CO_STORE_RESERVE = 0,
    CO_STORE_APPLY,
    CO_STORE_CLAIM,
    CO_STORE_RELEASE,
    CO_STORE_EXPIRE,
    CO_STORE_LOOK,
    CO_STORE_SELL,
    CO_STORE_RESET,
    CO_STORE_COUNT,
    CO_STORE_ACTIONS
} co_store_action_e;


typedef struct co_store_call_s  co_store_call_t;

typedef void (*co_store_done_pt)(void *data, co_store_result_e result);

/* A call in progress.  The caller keeps it, and what it points to, until
 * "done" is called. */
struct co_store_call_s {
    co_store_action_e   action;
    co_hold_t          *hold;
    const co_cart_t    *cart;
    const co_order_t   *order;
    co_expired_t       *expired;
    co_level_t         *levels;
    int64_t             now_ms;

    co_store_done_pt    done;
    void               *data;

    co_store_result_e   result;
    co_stock_t          stock;                   /* sum of all items */
    int                 stock_known;             /* "stock" is set */
    co_store_call_t    *next;
};


/* Commands of an operator to a store that consists of two stores. */
typedef enum {
    CO_STORE_COMMAND_CHECK = 0,                  /* compare the two stores */
    CO_STORE_COMMAND_SWITCH,                     /* "truth" decides */
    CO_STORE_COMMAND_KILL,                       /* the first store decides,
                                                    unconditionally */
    CO_STORE_COMMAND_MEND                        /* repeat lost writes */
} co_store_command_e;

typedef struct {
    co_store_command_e  kind;
    int                 truth;                   /* 0: first, 1: second */
    int                 force;                   /* even if they differ */
} co_store_command_t;

/* "status" is an HTTP status. */
typedef void (*co_store_command_done_pt)(void *data, int status,
    const char *why);


/*
 * Sets the backends that a spec can name: a list that ends with NULL and stays
 * valid.  Must be called before all other functions, while there is one
 * thread.
 */
void co_store_register(const co_store_backend_t *const *backends);

/*
 * Checks "spec", the value of --store.  Returns 0, or -1 with the accepted
 * form in "error" (CO_STORE_ERROR_LEN bytes).
 */
int co_store_check(const char *spec, char *error);

/*
 * Opens the store; creates it if it does not exist.  Returns NULL on failure,
 * with the reason in "error" (CO_STORE_ERROR_LEN bytes).
 */
co_store_t *co_store_open(struct event_base *base, const co_store_conf_t *conf,
    co_store_found_t *found, char *error);

/* Closes the store.  Calls in progress end without their callbacks. */
void co_store_close(co_store_t *store);

/*
 * Holds all units of the cart, at locations that can deliver, and sets the
 * parts of the hold.  The hold has an id (co_hold_new()).  A second call with
 * the same id takes nothing and returns the same parts.
 * OK, SOLD_OUT, BUSY or FAILED.
 */
void co_store_reserve(co_store_t *store, co_store_call_t *call,
    co_hold_t *hold, const co_cart_t *cart, co_store_done_pt done, void *data);

/*
 * Takes exactly the parts of a hold that another store decided on.  OK, DEBT
 * if the available stock is below 0 now (the store must not be guarded), BUSY
 * or FAILED.  No effect if the id is held or sold already.
 */
void co_store_apply(co_store_t *store, co_store_call_t *call,
    co_hold_t *hold, co_store_done_pt done, void *data);

/*
 * Turns the hold with this id into an order.  OK, also if it is an order
 * already; GONE if it was released or has expired.
 */
void co_store_claim(co_store_t *store, co_store_call_t *call,
    co_hold_t *hold, const co_order_t *order, co_store_done_pt done,
    void *data);

/*
 * Makes the units of the hold with this id available again.  OK, or GONE if
 * it does not exist.
 */
void co_store_release(co_store_t *store, co_store_call_t *call,
    co_hold_t *hold, co_store_done_pt done, void *data);

/*
 * Releases at most CO_EXPIRED_MAX holds that expire at or before "now_ms", and
 * lists them in "expired".
 */
void co_store_expire(co_store_t *store, co_store_call_t *call,
    int64_t now_ms, co_expired_t *expired, co_store_done_pt done, void *data);

/* Returns OK if the cart could be reserved now, or SOLD_OUT; takes nothing. */
void co_store_look(co_store_t *store, co_store_call_t *call,
    const co_cart_t *cart, co_store_done_pt done, void *data);

/* Sells units without a hold, even if they are not available. */
void co_store_sell(co_store_t *store, co_store_call_t *call,
    const co_cart_t *cart, const co_order_t *order, co_store_done_pt done,
    void *data);

/* Makes all units available and deletes all holds and orders. */
void co_store_reset(co_store_t *store, co_store_call_t *call,
    co_store_done_pt done, void *data);

/*
 * Reads the stock of all items and locations at one moment into "levels"
 * (items x locations of them), sorted by item and location.
 */
void co_store_count(co_store_t *store, co_store_call_t *call,
    co_level_t *levels, co_store_done_pt done, void *data);

/*
 * Returns the stock as of the last result.  If other processes change the
 * stock too, it is at most half a second old.
 */
const co_stock_t *co_store_stock(const co_store_t *store);

/* Returns the units of all holds that expired since the store was opened. */
int64_t co_store_expired_units(const co_store_t *store);

/*
 * Gives a command to a store that consists of two stores; "done" may be called
 * before this returns.  Returns -1 if the store takes no commands.
 */
int co_store_command(co_store_t *store, const co_store_command_t *command,
    co_store_command_done_pt done, void *data);

/*
 * Returns further stats of the store for /stats, to be merged into the
 * response, or NULL.
 */
json_t *co_store_report(co_store_t *store);


#endif /* CO_STORE_H */
