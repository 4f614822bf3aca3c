#include "checkout.h"
#include "client.h"
#include "clock.h"
#include "page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>


/* Time to write the order and to send the answer, before the deadline. */
#define CO_ANSWER_MARGIN_MS  50


typedef enum {
    CO_RESERVING = 0,
    CO_WAITING,
    CO_PAYING,
    CO_RECORDING,
    CO_RELEASING
} co_state_e;


typedef struct co_checkout_s  co_checkout_t;

struct co_checkout_s {
    co_shop_t              *shop;
    struct evhttp_request  *req;
    co_form_t               form;
    int64_t                 arrived_us;

    co_state_e              state;
    co_outcome_e            outcome;             /* if CO_RELEASING */
    co_client_t             client;
    co_payment_t            payment;
    co_store_call_t         call;
    co_cart_t               cart;
    co_hold_t               hold;
    co_order_t              order;
    struct event            expiry;              /* too late for a payment */
    TAILQ_ENTRY(co_checkout_s)  link;
};


static void co_checkout_reserved(void *data, co_store_result_e result);
static int co_checkout_ready(void *data);
static void co_checkout_expired(evutil_socket_t fd, short events, void *data);
static void co_checkout_left(void *data);
static void co_checkout_paid(void *data, int paid);
static void co_checkout_recorded(void *data, co_store_result_e result);
static void co_checkout_release(co_checkout_t *checkout,
    co_outcome_e outcome);
static void co_checkout_released(void *data, co_store_result_e result);
static void co_checkout_end(co_checkout_t *checkout, co_outcome_e outcome);


/* The latest start of the payment, wall time in ms. */
static int64_t
co_checkout_latest(const co_shop_t *shop, const co_form_t *form)
{
    return form->deadline_ms - co_payments_max_ms(shop->payments)
           - CO_ANSWER_MARGIN_MS;
}


static int
co_checkout_too_late(const co_shop_t *shop, const co_form_t *form)
{
    return shop->options->deadline && form->deadline_ms != 0
           && co_wall_ms() > co_checkout_latest(shop, form);
}


/*
 * Adds the feedback for the waiting room, the Flash-Throttle header.  Held
 * units do not count as sold: a declined payment makes them available again.
 */
static void
co_checkout_feedback(co_shop_t *shop, struct evhttp_request *req,
    co_outcome_e outcome)
{
    char               value[32];
    const char        *stock;
    const co_stock_t  *units;

    units = co_store_stock(shop->store);
    stock = "";

    if (units->initial > 0 && units->sold >= units->initial) {
        shop->sent_sold_out = 1;
        stock = "sold-out";

    } else if (shop->sent_sold_out) {
        stock = "resume";
    }

    snprintf(value, sizeof(value), "%s%s%s", stock,
             *stock && outcome == CO_CONFIRMED ? ", " : "",
             outcome == CO_CONFIRMED ? "done" : "");

    if (*value) {
        evhttp_add_header(evhttp_request_get_output_headers(req),
                          "Flash-Throttle", value);
    }
}


static void
co_checkout_answer(co_shop_t *shop, struct evhttp_request *req,
    co_outcome_e outcome, const co_receipt_t *receipt)
{
    co_checkout_feedback(shop, req, outcome);
    co_page_reply(&shop->replies, req, co_page_answer(outcome), receipt);
}


/* Refuses a checkout that has not begun. */
static void
co_checkout_refuse(co_shop_t *shop, struct evhttp_request *req,
    co_outcome_e outcome, int64_t arrived_us)
{
    co_stats_refused(&shop->stats, outcome, co_steady_us() - arrived_us);
    co_checkout_answer(shop, req, outcome, NULL);
}


void
co_checkout_begin(co_shop_t *shop, struct evhttp_request *req,
    const co_form_t *form, int64_t arrived_us)
{
    co_checkout_t  *checkout;

    if (shop->closing) {
        co_checkout_refuse(shop, req, CO_CLOSING, arrived_us);
        return;
    }

    if (shop->options->max_in_progress != 0
        && shop->stats.in_progress >= shop->options->max_in_progress)
    {
        co_checkout_refuse(shop, req, CO_BUSY, arrived_us);
        return;
    }

    if (co_checkout_too_late(shop, form)) {
        co_checkout_refuse(shop, req, CO_TOO_LATE, arrived_us);
        return;
    }

    checkout = calloc(1, sizeof(*checkout));
    if (checkout == NULL) {
        co_checkout_refuse(shop, req, CO_BROKEN, arrived_us);
        return;
    }

    checkout->shop = shop;
    checkout->req = req;
    checkout->form = *form;
    checkout->arrived_us = arrived_us;
    checkout->state = CO_RESERVING;

    evtimer_assign(&checkout->expiry, shop->base, co_checkout_expired,
                   checkout);
    TAILQ_INSERT_TAIL(&shop->in_progress, checkout, link);

    co_stats_begin(&shop->stats);
    co_client_watch(&checkout->client, req, co_checkout_left, checkout);

    if (shop->options->deadline && co_client_left(&checkout->client)) {

        /* a pipelined order that is read after the client has left */
        co_checkout_end(checkout, CO_LEFT);
        return;
    }

    checkout->cart.lines_n = 1;
    checkout->cart.lines[0].item = 1;
    checkout->cart.lines[0].quantity = form->quantity;
    checkout->cart.locations = form->locations;

    if (shop->options->mode == CO_MODE_NAIVE) {
        co_store_look(shop->store, &checkout->call, &checkout->cart,
                      co_checkout_reserved, checkout);

    } else if (co_hold_new(&checkout->hold, shop->options->hold_ms) == 0) {
        co_store_reserve(shop->store, &checkout->call, &checkout->hold,
                         &checkout->cart, co_checkout_reserved, checkout);

    } else {
        co_checkout_end(checkout, CO_BROKEN);
    }
}


static void
co_checkout_reserved(void *data, co_store_result_e result)
{
    int64_t          ms;
    co_shop_t       *shop;
    co_checkout_t   *checkout = data;
    struct timeval   tv;

    shop = checkout->shop;

    if (result != CO_STORE_OK) {
        co_checkout_end(checkout, result == CO_STORE_SOLD_OUT ? CO_SOLD_OUT
                                  : result == CO_STORE_BUSY ? CO_BUSY
                                                            : CO_BROKEN);
        return;
    }

    if (shop->options->deadline && checkout->form.deadline_ms != 0) {

        /* answer before the deadline even if no slot becomes free */
        ms = co_checkout_latest(shop, &checkout->form) - co_wall_ms();
        ms = ms > 0 ? ms : 0;
        tv.tv_sec = ms / 1000;
        tv.tv_usec = ms % 1000 * 1000;

        evtimer_add(&checkout->expiry, &tv);
    }

    checkout->state = CO_WAITING;

    co_payment_submit(shop->payments, &checkout->payment, co_checkout_ready,
                      co_checkout_paid, checkout);
}


/* The last check before the shopper is charged. */
static int
co_checkout_ready(void *data)
{
    co_shop_t      *shop;
    co_checkout_t  *checkout = data;

    shop = checkout->shop;

    if (shop->closing) {
        co_checkout_release(checkout, CO_CLOSING);
        return 0;
    }

    if (shop->options->deadline && co_client_left(&checkout->client)) {
        co_checkout_release(checkout, CO_LEFT);
        return 0;
    }

    if (co_checkout_too_late(shop, &checkout->form)) {
        co_checkout_release(checkout, CO_TOO_LATE);
        return 0;
    }

    event_del(&checkout->expiry);
    checkout->state = CO_PAYING;

    return 1;
}


static void
co_checkout_expired(evutil_socket_t fd, short events, void *data)
{
    co_checkout_t  *checkout = data;

    (void) fd;
    (void) events;

    co_payment_withdraw(&checkout->payment);
    co_checkout_release(checkout, CO_TOO_LATE);
}


static void
co_checkout_left(void *data)
{
    co_checkout_t  *checkout = data;

    /* the other states check it when they end */
    if (checkout->state == CO_WAITING && checkout->shop->options->deadline) {
        co_payment_withdraw(&checkout->payment);
        co_checkout_release(checkout, CO_LEFT);
    }
}


/* 80 random bits, so that an order id does not reveal the number of orders. */
static int
co_checkout_order_id(char *id, size_t size)
{
    int                i, len;
    unsigned char      bytes[10];
    unsigned int       bits = 0, n = 0;
    static const char  digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

    if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes)) {
        return -1;
    }

    len = snprintf(id, size, "FT-");

    for (i = 0; i < (int) sizeof(bytes); i++) {
        bits = bits << 8 | bytes[i];

        for (n += 8; n >= 5; n -= 5) {
            id[len++] = digits[bits >> (n - 5) & 31];
        }
    }

    id[len] = '\0';

    return 0;
}


static void
co_checkout_paid(void *data, int paid)
{
    co_shop_t      *shop;
    co_checkout_t  *checkout = data;

    shop = checkout->shop;

    if (!paid) {
        co_checkout_release(checkout, CO_DECLINED);
        return;
    }

    if (co_checkout_order_id(checkout->order.id, sizeof(checkout->order.id))
        != 0)
    {
        co_checkout_recorded(checkout, CO_STORE_FAILED);
        return;
    }

    checkout->state = CO_RECORDING;
    checkout->order.paid_ms = co_wall_ms();
    memcpy(checkout->order.email, checkout->form.email,
           sizeof(checkout->order.email));

    if (shop->options->mode == CO_MODE_NAIVE) {
        co_store_sell(shop->store, &checkout->call, &checkout->cart,
                      &checkout->order, co_checkout_recorded, checkout);
    } else {
        co_store_claim(shop->store, &checkout->call, &checkout->hold,
                       &checkout->order, co_checkout_recorded, checkout);
    }
}


static void
co_checkout_recorded(void *data, co_store_result_e result)
{
    int             late;
    co_checkout_t  *checkout = data;

    if (result != CO_STORE_OK) {
        fprintf(stderr, "checkout: recording a paid order failed%s, the"
                " payment is cancelled\n",
                result == CO_STORE_GONE ? ": its hold has expired (--hold-ms)"
                                        : "");
        co_checkout_release(checkout, CO_BROKEN);
        return;
    }

    late = co_client_left(&checkout->client)
           || (checkout->form.deadline_ms != 0
               && co_wall_ms() > checkout->form.deadline_ms);

    co_checkout_end(checkout, late ? CO_LATE : CO_CONFIRMED);
}


/* Answers after the units are available again. */
static void
co_checkout_release(co_checkout_t *checkout, co_outcome_e outcome)
{
    event_del(&checkout->expiry);

    if (checkout->shop->options->mode == CO_MODE_NAIVE) {
        co_checkout_end(checkout, outcome);
        return;
    }

    checkout->state = CO_RELEASING;
    checkout->outcome = outcome;

    co_store_release(checkout->shop->store, &checkout->call, &checkout->hold,
                     co_checkout_released, checkout);
}


static void
co_checkout_released(void *data, co_store_result_e result)
{
    co_checkout_t  *checkout = data;

    if (result != CO_STORE_OK && result != CO_STORE_GONE) {
        fprintf(stderr, "checkout: releasing a hold of %lld units failed, they"
                " stay held until it expires\n",
                (long long) checkout->form.quantity);
    }

    co_checkout_end(checkout, checkout->outcome);
}


static void
co_checkout_end(co_checkout_t *checkout, co_outcome_e outcome)
{
    co_shop_t     *shop = checkout->shop;
    co_receipt_t   receipt;

    receipt.order_id = outcome == CO_CONFIRMED || outcome == CO_LATE
                       ? checkout->order.id : NULL;
    receipt.quantity = checkout->form.quantity;
    receipt.payment_us = checkout->payment.duration_us;

    TAILQ_REMOVE(&shop->in_progress, checkout, link);
    co_stats_end(&shop->stats, outcome,
                 co_steady_us() - checkout->arrived_us);

    co_client_unwatch(&checkout->client);
    co_checkout_answer(shop, checkout->req, outcome, &receipt);
    free(checkout);

    if (shop->closing && shop->stats.in_progress == 0) {
        shop->idle(shop->data);
    }
}


void
co_checkout_close(co_shop_t *shop, void (*idle)(void *data), void *data)
{
    co_checkout_t  *checkout, *next;

    shop->closing = 1;
    shop->replies.closing = 1;
    shop->idle = idle;
    shop->data = data;

    if (shop->stats.in_progress == 0) {
        idle(data);
        return;
    }

    for (checkout = TAILQ_FIRST(&shop->in_progress); checkout != NULL;
         checkout = next)
    {
        /* in naive mode co_checkout_release() frees the checkout */
        next = TAILQ_NEXT(checkout, link);

        if (checkout->state == CO_WAITING) {
            co_payment_withdraw(&checkout->payment);
            co_checkout_release(checkout, CO_CLOSING);
        }
    }
}
