
#include "report_shoppers.h"

#include <stdlib.h>


#define FT_SHOPPERS_SIZE  4096


bool
ft_report_shoppers_init(ft_report_shoppers_t *shoppers)
{
    shoppers->size = FT_SHOPPERS_SIZE;
    shoppers->n = 0;
    shoppers->table = calloc(shoppers->size, sizeof(ft_report_shopper_t));

    return shoppers->table != NULL;
}


void
ft_report_shoppers_free(ft_report_shoppers_t *shoppers)
{
    free(shoppers->table);
}


/* The record of an id, or the free one where it belongs. */
static ft_report_shopper_t *
ft_report_find(ft_report_shopper_t *table, size_t size, uint64_t id)
{
    size_t  i;

    /* FNV's high bits are mixed better than its low ones */

    for (i = (id ^ id >> 32) & (size - 1);
         table[i].id != 0 && table[i].id != id;
         i = (i + 1) & (size - 1))
    {
        /* void */
    }

    return &table[i];
}


static bool
ft_report_grow(ft_report_shoppers_t *shoppers)
{
    size_t                i, size;
    ft_report_shopper_t  *table, *old;

    size = shoppers->size * 2;
    table = calloc(size, sizeof(ft_report_shopper_t));

    if (table == NULL) {
        return false;
    }

    for (i = 0; i < shoppers->size; i++) {
        old = &shoppers->table[i];

        if (old->id != 0) {
            *ft_report_find(table, size, old->id) = *old;
        }
    }

    free(shoppers->table);
    shoppers->table = table;
    shoppers->size = size;

    return true;
}


ft_report_shopper_t *
ft_report_shopper(ft_report_shoppers_t *shoppers, uint64_t id)
{
    ft_report_shopper_t  *shopper;

    shopper = ft_report_find(shoppers->table, shoppers->size, id);

    if (shopper->id == id) {
        return shopper;
    }

    if (shoppers->n + 1 > shoppers->size / 4 * 3) {
        if (!ft_report_grow(shoppers)) {
            return NULL;
        }

        shopper = ft_report_find(shoppers->table, shoppers->size, id);
    }

    shoppers->n++;
    shopper->id = id;
    shopper->served.admitted_us = -1;

    return shopper;
}
