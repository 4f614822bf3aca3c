#include "store_valid.h"


static int
co_store_valid_line(int item, int items, int64_t quantity)
{
    return item >= 1 && item <= items && quantity >= 1
           && quantity <= CO_LINE_UNITS_MAX;
}


static int
co_store_valid_cart(const co_cart_t *cart, int items)
{
    int               i, j;
    const co_line_t  *line;

    if (cart->lines_n < 1 || cart->lines_n > CO_CART_LINES
        || !(cart->locations & CO_ALL_LOCATIONS))
    {
        return 0;
    }

    for (i = 0; i < cart->lines_n; i++) {
        line = &cart->lines[i];

        if (!co_store_valid_line(line->item, items, line->quantity)) {
            return 0;
        }

        for (j = 0; j < i; j++) {
            if (cart->lines[j].item == line->item) {
                return 0;
            }
        }
    }

    return 1;
}


static int
co_store_valid_parts(const co_hold_t *hold, int items, int locations)
{
    int               i;
    const co_part_t  *part;

    if (hold->parts_n < 1 || hold->parts_n > CO_HOLD_PARTS) {
        return 0;
    }

    for (i = 0; i < hold->parts_n; i++) {
        part = &hold->parts[i];

        if (!co_store_valid_line(part->item, items, part->quantity)
            || part->location < 1 || part->location > locations)
        {
            return 0;
        }
    }

    return 1;
}


int
co_store_valid(const co_store_call_t *call, int items, int locations)
{
    switch (call->action) {

    case CO_STORE_RESERVE:
    case CO_STORE_LOOK:
    case CO_STORE_SELL:
        return co_store_valid_cart(call->cart, items);

    case CO_STORE_APPLY:
        return co_store_valid_parts(call->hold, items, locations);

    default:
        return 1;
    }
}
