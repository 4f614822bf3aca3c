/*
 * Holds: units that belong to one shopper until the hold is claimed, released
 * or expires.
 */

#ifndef CO_HOLD_H
#define CO_HOLD_H


#include <stdint.h>


#define CO_CART_LINES     10
#define CO_LOCATIONS_MAX  16
#define CO_HOLD_PARTS     (CO_CART_LINES * CO_LOCATIONS_MAX)
#define CO_HOLD_ID_LEN    26


/* Units of one item at one location; both are counted from 1. */
typedef struct {
    int                 item;
    int                 location;
    int64_t             quantity;
} co_part_t;

/*
 * The id is a ULID: 48 bits of wall time in ms and 80 random bits in
 * Crockford's base 32.  Ids sort by their time.  The store sets the parts,
 * sorted by item and location.
 */
typedef struct {
    char                id[CO_HOLD_ID_LEN + 1];
    int64_t             expires_ms;              /* wall time */
    unsigned            stores;                  /* shadow mode: bit n is set
                                                    if store n has the hold */
    int                 parts_n;
    co_part_t           parts[CO_HOLD_PARTS];
} co_hold_t;


/*
 * Sets a new id, an expiry "life_ms" from now, and no parts.
 * Returns 0, or -1 if no random bits are available.
 */
int co_hold_new(co_hold_t *hold, int64_t life_ms);

/* Appends a part; the caller checks that it fits. */
void co_hold_add(co_hold_t *hold, int item, int location, int64_t quantity);

/* Sorts the parts by item and location. */
void co_hold_sort(co_hold_t *hold);

/* Returns the units of all parts. */
int64_t co_hold_units(const co_hold_t *hold);


#endif /* CO_HOLD_H */
