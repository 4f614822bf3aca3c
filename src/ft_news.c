
/*
 * News for the operator's log: when a line begins, once a minute while it
 * lasts, and when it ends.  One that is back within a moment has not ended.
 */

#include "ft_record.h"
#include "ft_word.h"


static void
ft_news_publish(ft_news_t *news, ft_news_kind_t kind)
{
    atomic_store_explicit(&news->pending, kind, memory_order_release);
}


void
ft_news_begin(const ft_call_t *call)
{
    ft_news_t          *news;
    const ft_totals_t  *totals;

    news = &call->state->news;
    totals = &call->state->totals;

    if (ft_load(&news->open)) {
        return;
    }

    ft_store(&news->since_ms, call->now_ms);
    ft_store(&news->told_ms, call->now_ms);
    ft_store(&news->last_ms, call->now_ms);
    ft_store(&news->most, 0);
    ft_store(&news->longest_ms, 0);
    ft_store(&news->admitted, ft_load(&totals->admitted));
    ft_store(&news->rejected, ft_load(&totals->rejected));
    ft_store(&news->gone, ft_totals_gone(totals));
    ft_store(&news->waited_ms, ft_load(&totals->waited_ms));
    ft_store(&news->open, 1);

    ft_news_publish(news, FT_NEWS_BEGAN);
}


void
ft_news_record(const ft_call_t *call, uint32_t waiting)
{
    ft_news_t  *news;

    news = &call->state->news;

    if (ft_load(&call->state->queueing)) {

        ft_store(&news->last_ms, call->now_ms);

        if (waiting > ft_load(&news->most)) {
            ft_store(&news->most, waiting);
        }

        if (call->now_ms >= ft_load(&news->told_ms) + FT_NEWS_EVERY_MS) {
            ft_store(&news->told_ms, call->now_ms);
            ft_news_publish(news, FT_NEWS_LASTS);
        }

        return;
    }

    if (ft_load(&news->open)
        && call->now_ms >= ft_load(&news->last_ms) + FT_NEWS_QUIET_MS)
    {
        ft_store(&news->open, 0);
        ft_news_publish(news, FT_NEWS_ENDED);
    }
}


/*
 * A line that begins is told of by who saw it begin, before it can end: ticks
 * are further apart than a request takes to log.
 */
ft_report_t
ft_news_take(ft_state_t *state)
{
    ft_news_t    *news;
    ft_totals_t  *totals;
    ft_report_t   report = { .kind = FT_NEWS_NONE };

    news = &state->news;
    totals = &state->totals;

    report.kind = (ft_news_kind_t) atomic_exchange(&news->pending,
                                                   FT_NEWS_NONE);

    if (report.kind == FT_NEWS_NONE) {
        return report;
    }

    report.lasted_ms = ft_load(&news->last_ms) - ft_load(&news->since_ms);
    report.admitted = ft_load(&totals->admitted) - ft_load(&news->admitted);
    report.rejected = ft_load(&totals->rejected) - ft_load(&news->rejected);
    report.gone = ft_totals_gone(totals) - ft_load(&news->gone);
    report.waited_ms = ft_load(&totals->waited_ms)
                       - ft_load(&news->waited_ms);
    report.longest_ms = ft_load(&news->longest_ms);
    report.most = ft_load(&news->most);

    return report;
}
