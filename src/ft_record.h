
/*
 * What ticks write down, besides what the controller needs: the history
 * (ft_history.h), and the news for the operator's log.
 */

#ifndef FT_RECORD_H_INCLUDED
#define FT_RECORD_H_INCLUDED


#include "ft_admission.h"

#pragma GCC visibility push(hidden)


#define FT_NEWS_EVERY_MS  60000     /* while it lasts */
#define FT_NEWS_QUIET_MS  5000      /* a line that is back sooner never ended */


typedef enum {
    FT_NEWS_NONE = 0,
    FT_NEWS_BEGAN,
    FT_NEWS_LASTS,
    FT_NEWS_ENDED
} ft_news_kind_t;


/* Of one line, from when newcomers had to wait until nobody waited. */
typedef struct {
    ft_news_kind_t    kind;
    uint64_t          lasted_ms;
    uint64_t          admitted;
    uint64_t          rejected;
    uint64_t          gone;         /* before they were let in */
    uint64_t          waited_ms;    /* the admitted's waits, summed */
    uint64_t          longest_ms;   /* of these, the longest */
    uint32_t          most;         /* who waited at the same time */
} ft_report_t;


/* All who were gone before they were let in. */
static inline uint64_t
ft_totals_gone(const ft_totals_t *totals)
{
    return atomic_load_explicit(&totals->left, memory_order_relaxed)
           + atomic_load_explicit(&totals->missed, memory_order_relaxed)
           + atomic_load_explicit(&totals->vanished, memory_order_relaxed);
}

/* Enters a tick into the history.  Once a tick. */
void ft_history_record(const ft_call_t *call, const ft_history_tick_t *tick);

/* A line begins. */
void ft_news_begin(const ft_call_t *call);

/* Notices that a line lasts, or has ended.  Once a tick. */
void ft_news_record(const ft_call_t *call, uint32_t waiting);

/* Whether there are news that nobody has taken. */
static inline bool
ft_news_pending(const ft_state_t *state)
{
    return atomic_load_explicit(&state->news.pending, memory_order_relaxed)
           != FT_NEWS_NONE;
}

/* Takes the news: one caller gets them, the others FT_NEWS_NONE. */
ft_report_t ft_news_take(ft_state_t *state);

/* Whether a line stands, or ended so lately that nobody has been told. */
static inline bool
ft_news_open(const ft_state_t *state)
{
    return atomic_load_explicit(&state->news.open, memory_order_relaxed)
           || ft_news_pending(state);
}

#pragma GCC visibility pop


#endif /* FT_RECORD_H_INCLUDED */
