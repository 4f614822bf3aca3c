/*
 * The checkout of one shopper: reserve a unit, wait for a payment slot, pay,
 * then turn the hold into an order or release it.
 *
 * In naive mode the first step only checks the stock, and the last one takes
 * the unit even if it is no longer available.
 */

#ifndef CO_CHECKOUT_H
#define CO_CHECKOUT_H


#include <sys/queue.h>

#include <event2/event.h>
#include <event2/http.h>

#include "form.h"
#include "options.h"
#include "payment.h"
#include "reply.h"
#include "stats.h"
#include "store.h"


TAILQ_HEAD(co_checkout_list_s, co_checkout_s);


typedef struct {
    const co_options_t         *options;
    struct event_base          *base;
    co_store_t                 *store;
    co_payments_t              *payments;
    co_stats_t                  stats;
    co_replies_t                replies;
    int                         sent_sold_out;   /* in Flash-Throttle */

    struct co_checkout_list_s   in_progress;
    int                         closing;
    void                      (*idle)(void *data);
    void                       *data;
} co_shop_t;


/*
 * Starts a checkout, which answers the request later.  "arrived_us" is steady
 * time.
 */
void co_checkout_begin(co_shop_t *shop, struct evhttp_request *req,
    const co_form_t *form, int64_t arrived_us);

/*
 * Starts no more payments, and answers 503 to the shoppers who wait for one.
 * Calls "idle" when nothing is in progress, possibly before this returns.
 */
void co_checkout_close(co_shop_t *shop, void (*idle)(void *data), void *data);


#endif /* CO_CHECKOUT_H */
