/*
 * Writes that a store has lost, kept until they are mended.
 */

#ifndef CO_SHADOW_LOSS_H
#define CO_SHADOW_LOSS_H


#include "shadow.h"


/* Records that store "at" has lost a write. */
void co_shadow_loss_add(co_shadow_t *shadow, int at, co_store_action_e action,
    const co_hold_t *hold, const co_order_t *order);

/* Records that a hold was sold which store "at" does not have. */
void co_shadow_loss_sold(co_shadow_t *shadow, int at, const co_hold_t *hold,
    const co_order_t *order);

/* Records that store "at" has expired a hold by itself. */
void co_shadow_loss_orphan(co_shadow_t *shadow, int at, const char *id);

/* Removes the loss of this hold at store "at", if there is one. */
void co_shadow_loss_remove(co_shadow_t *shadow, int at, const char *id);

/* Returns the loss of this hold at store "at", or NULL. */
co_shadow_loss_t *co_shadow_loss_find(co_shadow_t *shadow, int at,
    const char *id);

/* Repeats all lost writes. */
void co_shadow_loss_mend(co_shadow_t *shadow);

/* Sets "off" to the error that the losses cause in the stock of store "at". */
void co_shadow_loss_explain(co_shadow_t *shadow, int at, co_stock_t *off);

/* Returns the latest losses. */
json_t *co_shadow_loss_json(co_shadow_t *shadow);

void co_shadow_loss_free(co_shadow_t *shadow);


#endif /* CO_SHADOW_LOSS_H */
