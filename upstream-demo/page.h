/*
 * The pages of the checkout, and its answers to orders as HTML or JSON.  They
 * never contain input of the client.
 */

#ifndef CO_PAGE_H
#define CO_PAGE_H


#include <stdint.h>

#include <event2/buffer.h>

#include "form.h"
#include "reply.h"
#include "stats.h"


typedef struct {
    int          status;                         /* of HTTP */
    const char  *name;                           /* "status" in the JSON */
    const char  *title;
    const char  *text;
    int          retry_after;                    /* seconds; 0: none */
} co_answer_t;


typedef struct {
    const char  *order_id;                       /* NULL: none */
    int64_t      quantity;
    int64_t      payment_us;                     /* 0: no payment */
} co_receipt_t;


/* The answer to a checkout with this outcome. */
const co_answer_t *co_page_answer(co_outcome_e outcome);

void co_page_product(struct evbuffer *out, const co_stock_t *stock);
void co_page_checkout(struct evbuffer *out, const co_stock_t *stock);

/* Sends an answer as HTML or JSON.  "receipt" NULL: no order, no payment. */
void co_page_reply(co_replies_t *replies, struct evhttp_request *req,
    const co_answer_t *answer, const co_receipt_t *receipt);


#endif /* CO_PAGE_H */
