/*
 * The store: the stock of the one product, and the orders.
 *
 * A unit is available, held (somebody is paying for it) or sold, and these
 * three always add up to what the sale began with.  Calls return at once;
 * one thread does the work in the order of the calls, and the answers come
 * back in that order as callbacks on the event loop.
 */

#ifndef CO_STORE_H
#define CO_STORE_H


#include <stddef.h>
#include <stdint.h>

#include <event2/event.h>


#define CO_STORE_ERROR_LEN  512


typedef struct co_store_s  co_store_t;


typedef struct {
    int64_t             initial;
    int64_t             available;               /* below 0: oversold */
    int64_t             held;
    int64_t             sold;
} co_stock_t;


typedef struct {
    const char         *path;                    /* ":memory:" or a file */
    int64_t             stock;                   /* units, if it is new */
    int                 guarded;                 /* the store itself refuses
                                                    to go below 0 */
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
    CO_STORE_FAILED                              /* said why on stderr */
} co_store_result_e;


typedef enum {
    CO_STORE_RESERVE = 0,
    CO_STORE_CLAIM,
    CO_STORE_RELEASE,
    CO_STORE_LOOK,
    CO_STORE_SELL,
    CO_STORE_RESET
} co_store_action_e;


typedef struct co_store_call_s  co_store_call_t;

typedef void (*co_store_done_pt)(void *data, co_store_result_e result);

/* A call under way: part of the caller, who keeps it until "done". */
struct co_store_call_s {
    co_store_action_e   action;
    int64_t             quantity;
    const co_order_t   *order;
    co_store_done_pt    done;
    void               *data;

    co_store_result_e   result;
    co_stock_t          stock;
    co_store_call_t    *next;
};


/*
 * Opens the store, or makes it.  A store that exists is continued: its stock
 * is kept, units still held by a process that died are available again.
 * NULL on failure, with what is wrong in "error" (CO_STORE_ERROR_LEN bytes).
 */
co_store_t *co_store_open(struct event_base *base, const co_store_conf_t *conf,
    co_store_found_t *found, char *error);

/* Ends the calls under way, without their callbacks, and closes. */
void co_store_close(co_store_t *store);

/* Holds "quantity" units, all of them or none: OK or SOLD_OUT. */
void co_store_reserve(co_store_t *store, co_store_call_t *call,
    int64_t quantity, co_store_done_pt done, void *data);

/* Turns held units into the order; "order" must live until "done". */
void co_store_claim(co_store_t *store, co_store_call_t *call,
    int64_t quantity, const co_order_t *order, co_store_done_pt done,
    void *data);

/* Makes held units available again. */
void co_store_release(co_store_t *store, co_store_call_t *call,
    int64_t quantity, co_store_done_pt done, void *data);

/* Only looks whether "quantity" units are available: OK or SOLD_OUT. */
void co_store_look(co_store_t *store, co_store_call_t *call,
    int64_t quantity, co_store_done_pt done, void *data);

/* Sells units that were not reserved, whether there are any or not. */
void co_store_sell(co_store_t *store, co_store_call_t *call,
    int64_t quantity, const co_order_t *order, co_store_done_pt done,
    void *data);

/* All units available, no orders. */
void co_store_reset(co_store_t *store, co_store_call_t *call,
    co_store_done_pt done, void *data);

/* The stock after the last call that was answered. */
const co_stock_t *co_store_stock(const co_store_t *store);


#endif /* CO_STORE_H */
