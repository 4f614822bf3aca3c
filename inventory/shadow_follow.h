/*
 * Writes to the shadow: the same units under the same id.
 */

#ifndef CO_SHADOW_FOLLOW_H
#define CO_SHADOW_FOLLOW_H


#include "shadow.h"


/*
 * Queues a write at store "at"; "hold", and "order" of a claim, are copied.
 * Writes of one hold are executed one after another.
 */
void co_shadow_follow(co_shadow_t *shadow, int at, co_store_action_e action,
    const co_hold_t *hold, const co_order_t *order, co_shadow_why_e why);

/* Counts whether store "at" would have granted what the truth denied. */
void co_shadow_follow_look(co_shadow_t *shadow, int at, const co_hold_t *hold,
    const co_cart_t *cart);

/* Returns the latest differences. */
json_t *co_shadow_follow_differences(const co_shadow_t *shadow);

/* Releases holds of store "at" that should have expired before "now_ms". */
void co_shadow_follow_expire(co_shadow_t *shadow, int at, int64_t now_ms);

/* Runs the event loop until all writes are done, 5 seconds at most. */
void co_shadow_follow_drain(co_shadow_t *shadow);

void co_shadow_follow_free(co_shadow_t *shadow);


#endif /* CO_SHADOW_FOLLOW_H */
