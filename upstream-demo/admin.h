/*
 * Orders to the store while the checkout runs, on a socket of their own.
 */

#ifndef CO_ADMIN_H
#define CO_ADMIN_H


#include <event2/event.h>

#include "store.h"


typedef struct co_admin_s  co_admin_t;


/*
 * Listens at the Unix socket "path", which its user alone can open: GET and
 * POST /admin/store.  NULL on failure, with the reason on stderr.
 */
co_admin_t *co_admin_create(struct event_base *base, const char *path,
    co_store_t *store);

/* Closes, and removes the socket. */
void co_admin_destroy(co_admin_t *admin);


#endif /* CO_ADMIN_H */
