#include "hold.h"
#include "clock.h"

#include <stdlib.h>
#include <sys/random.h>


void
co_hold_add(co_hold_t *hold, int item, int location, int64_t quantity)
{
    co_part_t  *part = &hold->parts[hold->parts_n++];

    part->item = item;
    part->location = location;
    part->quantity = quantity;
}


static int
co_part_compare(const void *one, const void *two)
{
    const co_part_t  *a = one, *b = two;

    return a->item != b->item ? (a->item > b->item) - (a->item < b->item)
                              : (a->location > b->location)
                                - (a->location < b->location);
}


void
co_hold_sort(co_hold_t *hold)
{
    qsort(hold->parts, (size_t) hold->parts_n, sizeof(hold->parts[0]),
          co_part_compare);
}


int64_t
co_hold_units(const co_hold_t *hold)
{
    int      i;
    int64_t  units = 0;

    for (i = 0; i < hold->parts_n; i++) {
        units += hold->parts[i].quantity;
    }

    return units;
}


int
co_hold_new(co_hold_t *hold, int64_t life_ms)
{
    int                i;
    int64_t            now;
    uint64_t           high, low;
    unsigned char      bytes[10];
    static const char  digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

    if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes)) {
        return -1;
    }

    now = co_wall_ms();

    for (i = 9, low = (uint64_t) now; i >= 0; i--) {
        hold->id[i] = digits[low & 31];
        low >>= 5;
    }

    for (i = 0, high = 0, low = 0; i < 5; i++) {
        high = high << 8 | bytes[i];
        low = low << 8 | bytes[i + 5];
    }

    for (i = 7; i >= 0; i--) {
        hold->id[10 + i] = digits[high & 31];
        hold->id[18 + i] = digits[low & 31];
        high >>= 5;
        low >>= 5;
    }

    hold->id[CO_HOLD_ID_LEN] = '\0';
    hold->expires_ms = now + life_ms;
    hold->stores = 0;
    hold->parts_n = 0;

    return 0;
}
