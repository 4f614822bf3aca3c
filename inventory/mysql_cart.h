/*
 * The stock that a cart needs, and the locations that deliver it.
 */

#ifndef CO_MYSQL_CART_H
#define CO_MYSQL_CART_H


#include "mysql_store.h"


/* Indexed by line and by location - 1. */
typedef int64_t  co_mysql_available_t[CO_CART_LINES][CO_LOCATIONS_MAX];


/*
 * Reads the available units of the cart's items at the cart's locations, at
 * one moment.  Returns 0, or the error.
 */
unsigned co_mysql_cart_available(co_mysql_t *mysql, co_lease_t *lease,
    const co_cart_t *cart, co_mysql_available_t available);

/*
 * Chooses the locations and sets the parts of "hold".  Returns 1, or 0 if too
 * few units are available; with "force", one location goes below 0 instead.
 */
int co_mysql_cart_pick(co_mysql_t *mysql, const co_cart_t *cart,
    co_mysql_available_t available, co_hold_t *hold, int force);


#endif /* CO_MYSQL_CART_H */
