/*
 * The checkout's face on the network: listener, addresses, methods.
 */

#ifndef CO_HTTP_H
#define CO_HTTP_H


#include "checkout.h"


typedef struct co_http_s  co_http_t;


/*
 * Listens where the options say.  NULL on failure, with the reason on
 * stderr.
 */
co_http_t *co_http_create(co_shop_t *shop);

/* The address it listens on, with the port that was taken for port 0. */
const char *co_http_address(const co_http_t *http);

/* Takes no new connection; those that are open go on. */
void co_http_stop(co_http_t *http);

/* Closes all connections. */
void co_http_destroy(co_http_t *http);


#endif /* CO_HTTP_H */
