#include "page.h"

#include <stdlib.h>

#include <jansson.h>


#define CO_PAGE_PRODUCT  "The Lantern, first edition"
#define CO_PAGE_PRICE    "&euro; 49"


static const char  co_page_head[] =
    "<!doctype html>\n"
    "<html lang=\"en\">\n"
    "<head>\n"
    "<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width,"
    " initial-scale=1\">\n"
    "<link rel=\"icon\" href=\"data:,\">\n"
    "<title>%s</title>\n"
    "<style>\n"
    ":root { color-scheme: light dark }\n"
    "body { margin: 0; min-height: 100vh; display: grid;"
    " place-items: center; font: 1.1rem/1.5 system-ui, sans-serif;"
    " background: Canvas; color: CanvasText }\n"
    "main { max-width: 26rem; padding: 2rem }\n"
    "h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 1rem }\n"
    ".price { font-size: 1.4rem; font-weight: 600 }\n"
    "label { display: block; margin: 1rem 0 .25rem }\n"
    "input { font: inherit; width: 100%%; box-sizing: border-box;"
    " padding: .5rem }\n"
    ".button { font: inherit; font-weight: 600; display: inline-block;"
    " margin-top: 1.5rem; padding: .7rem 1.6rem; border: 0;"
    " border-radius: .4rem; background: #1257c0; color: #fff;"
    " text-decoration: none; cursor: pointer }\n"
    "code { font-size: 1.2em }\n"
    "</style>\n"
    "</head>\n"
    "<body>\n"
    "<main>\n"
    "<h1>%s</h1>\n";

static const char  co_page_foot[] =
    "</main>\n"
    "</body>\n"
    "</html>\n";


static const co_answer_t  co_answers[CO_OUTCOMES] = {

    [CO_CONFIRMED] = { 200, "confirmed", "Thank you",
        "The payment went through and your order is confirmed.", 0 },

    /* the shopper has left, but a half-closed connection may still read */
    [CO_LATE] = { 200, "confirmed", "Thank you",
        "The payment went through and your order is confirmed.", 0 },

    [CO_DECLINED] = { 402, "declined", "Payment declined",
        "The payment was declined: nothing was charged, and your reservation"
        " is cancelled.", 0 },

    [CO_SOLD_OUT] = { 409, "sold_out", "Sold out",
        "There is not enough left for this order: nothing was charged.", 0 },

    [CO_BUSY] = { 503, "busy", "Please wait",
        "The checkout is busy: nothing was charged. Try again in a second.",
        1 },

    [CO_TOO_LATE] = { 504, "too_late", "Not in time",
        "The payment could have ended after your deadline, so it was not"
        " started: nothing was charged.", 0 },

    [CO_LEFT] = { 504, "too_late", "Not in time",
        "You left before the payment began, so it was not started: nothing"
        " was charged.", 0 },

    [CO_CLOSING] = { 503, "closing", "Restarting",
        "The checkout is being restarted: nothing was charged. Try again in a"
        " few seconds.", 5 },

    [CO_BROKEN] = { 500, "failed", "Something went wrong",
        "The order could not be recorded, so it was cancelled: nothing was"
        " charged.", 0 }
};


const co_answer_t *
co_page_answer(co_outcome_e outcome)
{
    return &co_answers[outcome];
}


/* In naive mode the available stock can be negative. */
static long long
co_page_left(const co_stock_t *stock)
{
    return stock->available > 0 ? stock->available : 0;
}


void
co_page_product(struct evbuffer *out, const co_stock_t *stock)
{
    evbuffer_add_printf(out, co_page_head, CO_PAGE_PRODUCT, CO_PAGE_PRODUCT);

    evbuffer_add_printf(out, "<p>A lamp that burns all night. %lld were made;"
                        " there will be no more.</p>\n"
                        "<p class=\"price\">" CO_PAGE_PRICE "</p>\n",
                        (long long) stock->initial);

    if (co_page_left(stock) == 0) {
        evbuffer_add_printf(out, "<p><strong>Sold out.</strong></p>\n");

    } else {
        evbuffer_add_printf(out, "<p>%lld in stock</p>\n"
                            "<a class=\"button\" href=\"/checkout\">Buy</a>\n",
                            co_page_left(stock));
    }

    evbuffer_add_printf(out, "%s", co_page_foot);
}


void
co_page_checkout(struct evbuffer *out, const co_stock_t *stock)
{
    evbuffer_add_printf(out, co_page_head, "Checkout", "Checkout");

    evbuffer_add_printf(out,
        "<p>" CO_PAGE_PRODUCT ", " CO_PAGE_PRICE ", %lld in stock</p>\n"
        "<form method=\"post\" action=\"/checkout\">\n"
        "<label for=\"quantity\">Quantity</label>\n"
        "<input id=\"quantity\" name=\"quantity\" type=\"number\" min=\"1\""
        " max=\"%d\" value=\"1\" required>\n"
        "<label for=\"email\">E-mail, for the receipt</label>\n"
        "<input id=\"email\" name=\"email\" type=\"email\""
        " autocomplete=\"email\" maxlength=\"254\">\n"
        "<button class=\"button\">Pay</button>\n"
        "</form>\n",
        co_page_left(stock), CO_FORM_QUANTITY_MAX);

    evbuffer_add_printf(out, "%s", co_page_foot);
}


static void
co_page_html(struct evbuffer *out, const co_answer_t *answer,
    const co_receipt_t *receipt)
{
    evbuffer_add_printf(out, co_page_head, answer->title, answer->title);
    evbuffer_add_printf(out, "<p>%s</p>\n", answer->text);

    if (receipt->order_id != NULL) {
        evbuffer_add_printf(out, "<p>%lld &times; " CO_PAGE_PRODUCT "<br>\n"
                            "Order <code>%s</code></p>\n"
                            "<a class=\"button\" href=\"/\">Back to the"
                            " shop</a>\n",
                            (long long) receipt->quantity, receipt->order_id);

    } else if (answer->status == 409) {
        evbuffer_add_printf(out, "<a class=\"button\" href=\"/\">Back to the"
                            " shop</a>\n");

    } else {
        evbuffer_add_printf(out, "<a class=\"button\" href=\"/checkout\">Try"
                            " again</a>\n");
    }

    evbuffer_add_printf(out, "%s", co_page_foot);
}


static void
co_page_json(struct evbuffer *out, const co_answer_t *answer,
    const co_receipt_t *receipt)
{
    char    *text;
    json_t  *root;

    root = json_pack("{s:s, s:s}", "status", answer->name,
                     "message", answer->text);

    if (receipt->order_id != NULL) {
        json_object_set_new(root, "order_id",
                            json_string(receipt->order_id));
        json_object_set_new(root, "quantity",
                            json_integer(receipt->quantity));
    }

    if (receipt->payment_us != 0) {
        json_object_set_new(root, "payment_ms",
                            json_real((double) receipt->payment_us / 1000));
    }

    text = json_dumps(root, JSON_COMPACT|JSON_REAL_PRECISION(9));
    json_decref(root);

    if (text != NULL) {
        evbuffer_add_printf(out, "%s\n", text);
        free(text);
    }
}


void
co_page_reply(co_replies_t *replies, struct evhttp_request *req,
    const co_answer_t *answer, const co_receipt_t *receipt)
{
    const char                 *type;
    struct evbuffer            *out;
    static const co_receipt_t   none;

    out = evhttp_request_get_output_buffer(req);
    receipt = receipt != NULL ? receipt : &none;

    if (co_reply_wants_html(req)) {
        co_page_html(out, answer, receipt);
        type = CO_TYPE_HTML;

    } else {
        co_page_json(out, answer, receipt);
        type = CO_TYPE_JSON;
    }

    co_reply(replies, req, answer->status, type, answer->retry_after);
}
