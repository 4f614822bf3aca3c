
/*
 * Marks of ids: see ft_mark.h.
 *
 * A word: 31 bits of the id, a bit that says admitted, then 32 bits of epoch
 * seconds; or, while it is held, 8 bits of the worker and 24 of the seconds.
 */

#include "ft_mark.h"


#define FT_MARK_PASSED  (UINT64_C(1) << 32)
#define FT_MARK_PRINT   (~(FT_MARK_PASSED | UINT32_MAX))
#define FT_MARK_UNTIL   0xffffff


/* Ids are random: some bits choose the word, others are its print. */
static _Atomic uint64_t *
ft_mark_word(ft_marks_t *marks, uint64_t id)
{
    return &marks->word[id % FT_IDS_MARKED];
}


void
ft_mark_held(ft_marks_t *marks, uint64_t id, uint32_t worker,
    uint64_t until_ms)
{
    atomic_store_explicit(ft_mark_word(marks, id),
                          (id & FT_MARK_PRINT)
                          | (uint64_t) (worker & 0xff) << 24
                          | ((until_ms + 999) / 1000 & FT_MARK_UNTIL),
                          memory_order_relaxed);
}


void
ft_mark_admitted(ft_marks_t *marks, uint64_t id, uint64_t end_ms)
{
    atomic_store_explicit(ft_mark_word(marks, id),
                          (id & FT_MARK_PRINT) | FT_MARK_PASSED
                          | (uint32_t) (end_ms / 1000),
                          memory_order_relaxed);
}


void
ft_mark_clear(ft_marks_t *marks, uint64_t id)
{
    uint64_t           word;
    _Atomic uint64_t  *p;

    p = ft_mark_word(marks, id);
    word = atomic_load_explicit(p, memory_order_relaxed);

    if ((word & FT_MARK_PRINT) == (id & FT_MARK_PRINT)
        && !(word & FT_MARK_PASSED))
    {
        (void) atomic_compare_exchange_strong(p, &word, 0);
    }
}


void
ft_mark_forget(ft_marks_t *marks, uint32_t worker)
{
    unsigned           i;
    uint64_t           word;
    _Atomic uint64_t  *p;

    for (i = 0; i < FT_IDS_MARKED; i++) {
        p = &marks->word[i];
        word = atomic_load_explicit(p, memory_order_relaxed);

        if (word && !(word & FT_MARK_PASSED) && (word >> 24 & 0xff) == worker) {
            (void) atomic_compare_exchange_strong(p, &word, 0);
        }
    }
}


ft_mark_t
ft_mark_look(ft_marks_t *marks, uint64_t id, uint64_t now_ms)
{
    uint64_t   word, left;
    ft_mark_t  mark = { FT_ID_UNKNOWN, 0, 0 };

    word = atomic_load_explicit(ft_mark_word(marks, id), memory_order_relaxed);

    if (word == 0 || (word & FT_MARK_PRINT) != (id & FT_MARK_PRINT)) {
        return mark;
    }

    if (word & FT_MARK_PASSED) {
        mark.kind = FT_ID_ADMITTED;
        mark.at_ms = (word & UINT32_MAX) * 1000;
        return mark;
    }

    /* a hold is short: what is left of it, in the arithmetic of 24 bits */

    left = (word - now_ms / 1000) & FT_MARK_UNTIL;

    if (left && left < FT_MARK_UNTIL / 2) {
        mark.kind = FT_ID_HELD;
        mark.worker = word >> 24 & 0xff;
        mark.at_ms = (now_ms / 1000 + left) * 1000;
    }

    return mark;
}
