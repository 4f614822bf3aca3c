/*
 * Commands to the store while the checkout runs.  They can make a shop
 * oversell, so they have a separate socket that shoppers cannot reach.
 */

#ifndef CO_ADMIN_H
#define CO_ADMIN_H


#include <event2/event.h>

#include "store.h"


typedef struct co_admin_s  co_admin_t;


/*
 * Serves GET and POST /admin/store on the Unix socket "path" with mode 0600.
 * Returns NULL on failure, with the reason on stderr.
 */
co_admin_t *co_admin_create(struct event_base *base, const char *path,
    co_store_t *store);

void co_admin_destroy(co_admin_t *admin);


#endif /* CO_ADMIN_H */
