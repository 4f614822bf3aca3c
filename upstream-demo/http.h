/*
 * The HTTP server of the checkout: listener, routes, methods.
 */

#ifndef CO_HTTP_H
#define CO_HTTP_H


#include "checkout.h"


typedef struct co_http_s  co_http_t;


/* Returns NULL on failure, with the reason on stderr. */
co_http_t *co_http_create(co_shop_t *shop);

/* ADDRESS:PORT; with --listen=...:0 the port that the kernel has chosen. */
const char *co_http_address(const co_http_t *http);

/* Accepts no new connections; open ones are served. */
void co_http_stop(co_http_t *http);

void co_http_destroy(co_http_t *http);


#endif /* CO_HTTP_H */
