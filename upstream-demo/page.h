/*
 * The texts that the checkout shows: its two pages, and the answer to an
 * order as a page or as JSON.
 */

#ifndef CO_PAGE_H
#define CO_PAGE_H


#include <stdint.h>

#include <event2/buffer.h>

#include "form.h"
#include "stats.h"


/* An answer, in the words that both a page and JSON show. */
typedef struct {
    int          status;                         /* of HTTP */
    const char  *word;                           /* "status" in the JSON */
    const char  *title;
    const char  *text;
    int          retry_after;                    /* seconds; 0: none */
} co_answer_t;


/* The order behind an answer, if there is one. */
typedef struct {
    const char  *order_id;                       /* NULL: none */
    int64_t      quantity;
    int64_t      payment_us;                     /* 0: there was no payment */
} co_receipt_t;


/* What to answer to a checkout that ended so. */
const co_answer_t *co_answer_of(co_outcome_e outcome);

void co_page_product(struct evbuffer *out, const co_stock_t *stock);
void co_page_checkout(struct evbuffer *out, const co_stock_t *stock);
void co_page_answer(struct evbuffer *out, const co_answer_t *answer,
    const co_receipt_t *receipt);
void co_page_json(struct evbuffer *out, const co_answer_t *answer,
    const co_receipt_t *receipt);


#endif /* CO_PAGE_H */
