/*
 * The store: the stock of every item at every location, the holds on it, and
 * the orders.
 *
 * A unit is available, held (somebody is paying for it) or sold, and these
 * three always add up to what the sale began with.  A hold has a name of its
 * own that outlives whoever took it: to claim, release or expire a hold twice
 * does once what it says, and a hold whose owner died expires.
 *
 * Calls come from the event loop and return at once; what they ask for is
 * done on threads of the store, and the answers come back as callbacks on the
 * event loop.  Calls of one hold come one after another; the answers of
 * different ones come in any order.
 */

#ifndef CO_STORE_H
#define CO_STORE_H


#include <stddef.h>
#include <stdint.h>

#include <event2/event.h>
#include <jansson.h>


#define CO_STORE_ERROR_LEN  512

#define CO_CART_LINES       10
#define CO_LINE_UNITS_MAX   100000
#define CO_LOCATIONS_MAX    16
#define CO_ITEMS_MAX        1000
#define CO_HOLD_PARTS       (CO_CART_LINES * CO_LOCATIONS_MAX)
#define CO_HOLD_ID_LEN      26
#define CO_EXPIRED_MAX      64

/* The report without the fault. */
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


/*
 * What a shopper wants: all of it or nothing.  An item once at most, up to
 * CO_LINE_UNITS_MAX of it, and a location at least: other carts are REFUSED.
 */
typedef struct {
    int                 item;
    int64_t             quantity;
} co_line_t;

typedef struct {
    int                 lines_n;
    co_line_t           lines[CO_CART_LINES];
    uint32_t            locations;               /* bit n: location n + 1
                                                    can deliver */
} co_cart_t;


/* Units of one item at one location that belong to a hold. */
typedef struct {
    int                 item;
    int                 location;
    int64_t             quantity;
} co_part_t;

/*
 * The name sorts by the time it was given: 48 bits of wall time in ms and 80
 * random ones in Crockford's base 32 (a ULID).  The parts are what the store
 * decided; sorted by item and location.
 */
typedef struct {
    char                id[CO_HOLD_ID_LEN + 1];
    int64_t             expires_ms;              /* wall time */
    unsigned            stores;                  /* for a store over others:
                                                    which of them have it */
    int                 parts_n;
    co_part_t           parts[CO_HOLD_PARTS];
} co_hold_t;


typedef struct {
    int                 n;
    int64_t             units;
    char                ids[CO_EXPIRED_MAX][CO_HOLD_ID_LEN + 1];
} co_expired_t;


typedef struct {
    const char         *spec;                    /* SCHEME:PLACE */
    int64_t             stock;                   /* units of each item over
                                                    all locations, if new */
    int                 items;
    int                 locations;
    int                 guarded;                 /* the store itself refuses
                                                    to go below 0 */
    int64_t             slow_report_ms;          /* a fault to look at, for
                                                    stores that have it; or
                                                    CO_REPORT_MENDED */
    int                 callers_expiry;          /* only the caller calls
                                                    co_store_expire() */
    int64_t             seed;                    /* of draws */
    const char         *fault;                   /* to order, or NULL: see
                                                    store_fault.h */
} co_store_conf_t;


/* What the store held when it was opened. */
typedef struct {
    co_stock_t          stock;
    int64_t             orders;
    int64_t             given_back;              /* units that a process held
                                                    when it died */
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
    CO_STORE_DEBT,                               /* done, and now below 0 */
    CO_STORE_REFUSED,                            /* no cart, or hold, at all */
    CO_STORE_BUSY,                               /* too many wait for it */
    CO_STORE_FAILED                              /* said why on stderr; what
                                                    was asked for may or may
                                                    not have been done */
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

/*
 * A call under way: part of the caller, who keeps it, and all it points to,
 * until "done".
 */
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
    co_stock_t          stock;                   /* of all items together */
    int                 stock_known;             /* "stock" is filled in */
    co_store_call_t    *next;
};


/* What an operator can have a store over two others do. */
typedef enum {
    CO_STORE_ORDER_CHECK = 0,                    /* compare the two */
    CO_STORE_ORDER_SWITCH,                       /* another decides */
    CO_STORE_ORDER_KILL,                         /* the first one decides,
                                                    whatever the other does */
    CO_STORE_ORDER_MEND                          /* do again what was lost */
} co_store_order_e;

typedef struct {
    co_store_order_e    kind;
    int                 truth;                   /* 0: the first, 1: second */
    int                 force;                   /* though the two differ */
} co_store_order_t;

/* What came of it: a status of HTTP, and why. */
typedef void (*co_store_ordered_pt)(void *data, int status, const char *why);


/*
 * Sets the stores that a spec can name: a list that ends with NULL and stays
 * valid.  Call it before every other function and before threads start.
 */
void co_store_register(const co_store_backend_t *const *backends);

/*
 * Whether "spec" (the value of --store) names a store: 0, or -1 with what to
 * give instead in "error" (CO_STORE_ERROR_LEN bytes).
 */
int co_store_check(const char *spec, char *error);

/*
 * Opens the store, or makes it.  A store that exists is continued.  NULL on
 * failure, with what is wrong in "error" (CO_STORE_ERROR_LEN bytes).
 */
co_store_t *co_store_open(struct event_base *base, const co_store_conf_t *conf,
    co_store_found_t *found, char *error);

/* Ends the calls under way, without their callbacks, and closes. */
void co_store_close(co_store_t *store);

/* A new name, and "life_ms" from now to the end.  0, or -1: no random bits. */
int co_hold_new(co_hold_t *hold, int64_t life_ms);

/*
 * Holds what is in the cart, all or nothing, at locations that can deliver,
 * and leaves in the hold where.  The hold has a name (co_hold_new()); one
 * that is held already stays as it is.  OK, SOLD_OUT, BUSY or FAILED.
 */
void co_store_reserve(co_store_t *store, co_store_call_t *call,
    co_hold_t *hold, const co_cart_t *cart, co_store_done_pt done, void *data);

/*
 * Takes exactly the parts of a hold that another store decided on, whether
 * they are there or not: OK, or DEBT where the available stock went below 0
 * (the store must not be guarded), BUSY or FAILED.  A hold that is there, or
 * has become an order, stays as it is.
 */
void co_store_apply(co_store_t *store, co_store_call_t *call,
    co_hold_t *hold, co_store_done_pt done, void *data);

/*
 * Turns a hold into the order, by its name alone.  OK, also where that has
 * been done before; GONE where it was released or has expired.
 */
void co_store_claim(co_store_t *store, co_store_call_t *call,
    co_hold_t *hold, const co_order_t *order, co_store_done_pt done,
    void *data);

/*
 * Makes the units of a hold available again, by its name alone.  OK, or GONE
 * where there is no such hold (any more) and nothing was done.
 */
void co_store_release(co_store_t *store, co_store_call_t *call,
    co_hold_t *hold, co_store_done_pt done, void *data);

/*
 * Releases up to CO_EXPIRED_MAX holds that end at "now_ms" or before, and
 * tells which.
 */
void co_store_expire(co_store_t *store, co_store_call_t *call,
    int64_t now_ms, co_expired_t *expired, co_store_done_pt done, void *data);

/* Only looks whether the cart could be reserved: OK or SOLD_OUT. */
void co_store_look(co_store_t *store, co_store_call_t *call,
    const co_cart_t *cart, co_store_done_pt done, void *data);

/* Sells units that were not reserved, whether there are any or not. */
void co_store_sell(co_store_t *store, co_store_call_t *call,
    const co_cart_t *cart, const co_order_t *order, co_store_done_pt done,
    void *data);

/* All units available, no holds, no orders. */
void co_store_reset(co_store_t *store, co_store_call_t *call,
    co_store_done_pt done, void *data);

/*
 * The stock of every item and location, at one moment: "levels" has room for
 * items x locations of them, and gets them sorted by item and location.
 */
void co_store_count(co_store_t *store, co_store_call_t *call,
    co_level_t *levels, co_store_done_pt done, void *data);

/*
 * The stock as of the last answer that told; where others change it too, not
 * older than half a second.
 */
const co_stock_t *co_store_stock(const co_store_t *store);

/* Units that expired holds gave back, since the store was opened. */
int64_t co_store_expired_units(const co_store_t *store);

/*
 * Gives an order to a store over two others; "done" may be called before this
 * returns.  -1: this store takes none.
 */
int co_store_order(co_store_t *store, const co_store_order_t *order,
    co_store_ordered_pt done, void *data);

/*
 * What the store has to tell besides, for /stats: an object of its own, to be
 * merged into the answer; NULL if there is nothing.
 */
json_t *co_store_report(co_store_t *store);


#endif /* CO_STORE_H */
