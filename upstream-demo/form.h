/*
 * Parser of the orders in POST /checkout.
 */

#ifndef CO_FORM_H
#define CO_FORM_H


#include <stdint.h>

#include <event2/http.h>


#define CO_FORM_QUANTITY_MAX  10
#define CO_FORM_BODY_MAX      8192
#define CO_FORM_ERROR_LEN     256


typedef struct {
    int64_t   quantity;                          /* 1 to 10; 1 if not given */
    char      email[256];                        /* "" if not given */
    int64_t   deadline_ms;                       /* wall time; 0: none */
    uint32_t  locations;                         /* bit mask, see co_cart_t */
} co_form_t;


/*
 * Parses the body (a form or JSON) and the Flash-Deadline-Ms header.
 * Returns 0, or an HTTP status with the reason in "error" (CO_FORM_ERROR_LEN
 * bytes, safe in HTML).
 */
int co_form_read(struct evhttp_request *req, co_form_t *form, char *error);

/* Parses a decimal number from 0 to "max"; -1 if it is none. */
int64_t co_form_number(const char *text, int64_t max);


#endif /* CO_FORM_H */
