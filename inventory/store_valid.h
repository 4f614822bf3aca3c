#ifndef CO_STORE_VALID_H
#define CO_STORE_VALID_H


#include "store.h"


/*
 * Returns 1 if the cart or the parts of the call are valid.  An invalid cart
 * could fail the calls that share a transaction with it.
 */
int co_store_valid(const co_store_call_t *call, int items, int locations);


#endif /* CO_STORE_VALID_H */
