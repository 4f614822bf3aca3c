
/*
 * What became of a ticket's id lately: held at the edge until a time, or
 * admitted, with a pass until a time.  So that a ticket shown twice, by ten tabs, a client that
 * lost the answer or a thousand who share it, is one shopper.  A table of
 * prints, not of shoppers: of FT_IDS_MARKED words an admission overwrites one, so
 * that a mark lasts for about FT_IDS_MARKED admissions.
 */

#ifndef FT_MARK_H_INCLUDED
#define FT_MARK_H_INCLUDED


#include <stdatomic.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)


#define FT_IDS_MARKED  4096


typedef enum {
    FT_ID_UNKNOWN,
    FT_ID_HELD,
    FT_ID_ADMITTED
} ft_mark_kind_t;


typedef struct {
    ft_mark_kind_t    kind;
    uint32_t          worker;       /* that holds it */
    uint64_t          at_ms;        /* held until; the end of the pass, to
                                       the second */
} ft_mark_t;


typedef struct {
    _Atomic uint64_t  word[FT_IDS_MARKED];
} ft_marks_t;


/* Held by a worker (0 to 255) until then; admitted, with a pass that ends then. */
void ft_mark_held(ft_marks_t *marks, uint64_t id, uint32_t worker,
    uint64_t until_ms);
void ft_mark_admitted(ft_marks_t *marks, uint64_t id, uint64_t end_ms);

/* No longer held. */
void ft_mark_clear(ft_marks_t *marks, uint64_t id);

/* A worker is gone: it holds nobody any longer. */
void ft_mark_forget(ft_marks_t *marks, uint32_t worker);

/* It will be looked for soon: ids are random, so no cache has its word. */
static inline void
ft_mark_prefetch(const ft_marks_t *marks, uint64_t id)
{
    __builtin_prefetch((const void *) &marks->word[id % FT_IDS_MARKED]);
}

/* What is known of it. */
ft_mark_t ft_mark_look(ft_marks_t *marks, uint64_t id, uint64_t now_ms);

#pragma GCC visibility pop


#endif /* FT_MARK_H_INCLUDED */
