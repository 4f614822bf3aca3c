/*
 * The checkout: takes a shopper through stock, payment and order.
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
    int                         said_sold_out;   /* to the waiting room */

    struct co_checkout_list_s   in_progress;
    int                         closing;
    void                      (*idle)(void *data);
    void                       *data;
} co_shop_t;


/* Takes over the request of a shopper who came at "arrived_us" (steady). */
void co_checkout_begin(co_shop_t *shop, struct evhttp_request *req,
    const co_form_t *form, int64_t arrived_us);

/*
 * Starts no payment any more, and answers 503 to all who wait for one.
 * "idle" is called when nothing is in progress, at once or later.
 */
void co_checkout_close(co_shop_t *shop, void (*idle)(void *data), void *data);


#endif /* CO_CHECKOUT_H */
