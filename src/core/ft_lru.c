
#include "ft_lru.h"


static void
ft_lru_begin(ft_lru_t *lru)
{
    /* a full barrier: no store of the change goes before */

    (void) atomic_exchange(&lru->changing, 1);
}


static void
ft_lru_put(ft_lru_t *lru, ft_lru_item_t *item, uint32_t i, uint64_t at_us)
{
    item->at_us = at_us;
    item->i = i;

    if (lru->last_us < at_us) {
        lru->last_us = at_us;
    }
}


static void
ft_lru_end(ft_lru_t *lru)
{
    atomic_store(&lru->changing, 0);
}


bool
ft_lru_is_of(const ft_lru_t *lru, uint32_t n)
{
    return atomic_load(&lru->changing) == 0 && lru->n == n;
}


void
ft_lru_make(ft_lru_t *lru, ft_lru_item_t *heap, uint32_t n)
{
    uint32_t  i;

    ft_lru_begin(lru);

    for (i = 0; i < n; i++) {
        heap[i].at_us = 0;
        heap[i].i = i;
    }

    lru->n = n;

    ft_lru_end(lru);
}


void
ft_lru_add(ft_lru_t *lru, ft_lru_item_t *heap, uint32_t i, uint64_t at_us)
{
    uint32_t  k, parent;

    ft_lru_begin(lru);

    for (k = lru->n; k; k = parent) {
        parent = (k - 1) / 2;

        if (heap[parent].at_us <= at_us) {
            break;
        }

        heap[k] = heap[parent];
    }

    ft_lru_put(lru, &heap[k], i, at_us);
    lru->n++;

    ft_lru_end(lru);
}


void
ft_lru_used(ft_lru_t *lru, ft_lru_item_t *heap, uint64_t at_us)
{
    uint32_t  i, k, child;

    ft_lru_begin(lru);

    i = heap[0].i;

    for (k = 0; (child = 2 * k + 1) < lru->n; k = child) {

        if (child + 1 < lru->n && heap[child + 1].at_us < heap[child].at_us) {
            child++;
        }

        if (heap[child].at_us >= at_us) {
            break;
        }

        heap[k] = heap[child];
    }

    ft_lru_put(lru, &heap[k], i, at_us);

    ft_lru_end(lru);
}


void
ft_lru_later(ft_lru_t *lru, ft_lru_item_t *heap, uint64_t now_us)
{
    ft_lru_used(lru, heap, lru->last_us < now_us ? now_us : lru->last_us + 1);
}
