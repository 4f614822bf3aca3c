
/*
 * The words behind the news of a key's line, see ft_record.h.
 */

#ifndef FT_NEWS_H_INCLUDED
#define FT_NEWS_H_INCLUDED


#include <stdatomic.h>
#include <stdint.h>


typedef struct {
    _Atomic uint32_t  pending;      /* ft_news_kind_t that nobody has taken */
    _Atomic uint32_t  open;         /* a line stands */
    _Atomic uint64_t  since_ms;
    _Atomic uint64_t  told_ms;      /* of the last news */
    _Atomic uint64_t  last_ms;      /* somebody waited */
    _Atomic uint32_t  most;
    _Atomic uint64_t  longest_ms;   /* kept by ft_admission_count() */

    /* totals when it began */
    _Atomic uint64_t  admitted;
    _Atomic uint64_t  rejected;
    _Atomic uint64_t  gone;
    _Atomic uint64_t  waited_ms;
} ft_news_t;


#endif /* FT_NEWS_H_INCLUDED */
