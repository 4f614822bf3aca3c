
#include "report_shoppers.h"

#include <stdlib.h>


#define REPORT_SHOPPERS_SIZE  4096


bool
report_shoppers_init(report_shoppers_t *shoppers)
{
    shoppers->size = REPORT_SHOPPERS_SIZE;
    shoppers->n = 0;
    shoppers->table = calloc(shoppers->size, sizeof(report_shopper_t));

    return shoppers->table != NULL;
}


void
report_shoppers_free(report_shoppers_t *shoppers)
{
    free(shoppers->table);
}


static report_shopper_t *
report_shoppers_slot(report_shopper_t *table, size_t size, uint64_t hash)
{
    size_t  i;

    /* FNV mixes its high bits better than its low ones */

    for (i = (hash ^ hash >> 32) & (size - 1);
         table[i].hash != 0 && table[i].hash != hash;
         i = (i + 1) & (size - 1))
    {
        /* void */
    }

    return &table[i];
}


static bool
report_shoppers_grow(report_shoppers_t *shoppers)
{
    size_t             i, size;
    report_shopper_t  *table, *old;

    size = shoppers->size * 2;
    table = calloc(size, sizeof(report_shopper_t));

    if (table == NULL) {
        return false;
    }

    for (i = 0; i < shoppers->size; i++) {
        old = &shoppers->table[i];

        if (old->hash != 0) {
            *report_shoppers_slot(table, size, old->hash) = *old;
        }
    }

    free(shoppers->table);
    shoppers->table = table;
    shoppers->size = size;

    return true;
}


report_shopper_t *
report_shoppers_get(report_shoppers_t *shoppers, uint64_t hash)
{
    report_shopper_t  *shopper;

    shopper = report_shoppers_slot(shoppers->table, shoppers->size, hash);

    if (shopper->hash == hash) {
        return shopper;
    }

    if (shoppers->n + 1 > shoppers->size / 4 * 3) {
        if (!report_shoppers_grow(shoppers)) {
            return NULL;
        }

        shopper = report_shoppers_slot(shoppers->table, shoppers->size, hash);
    }

    shoppers->n++;
    shopper->hash = hash;
    shopper->times.admitted_us = -1;

    return shopper;
}
