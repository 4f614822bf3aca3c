
#include "ft_queuelog.h"


static void
ft_queuelog_publish(ft_queuelog_t *log, ft_queuelog_kind_t kind)
{
    atomic_store_explicit(&log->pending, kind, memory_order_release);
}


void
ft_queuelog_begin(ft_queuelog_t *log, const ft_totals_t *totals,
    uint64_t now_ms)
{
    if (ft_load(&log->open)) {
        return;
    }

    ft_store(&log->since_ms, now_ms);
    ft_store(&log->reported_ms, now_ms);
    ft_store(&log->last_ms, now_ms);
    ft_store(&log->max_waiting, 0);
    ft_store(&log->max_waited_ms, 0);
    ft_store(&log->admitted, ft_load(&totals->admitted));
    ft_store(&log->rejected, ft_load(&totals->rejected));
    ft_store(&log->gone, ft_totals_gone(totals));
    ft_store(&log->waited_ms, ft_load(&totals->waited_ms));
    ft_store(&log->open, 1);

    ft_queuelog_publish(log, FT_QUEUELOG_STARTED);
}


void
ft_queuelog_record(ft_queuelog_t *log, bool queueing, uint32_t waiting,
    uint64_t now_ms)
{
    if (queueing) {
        ft_store(&log->last_ms, now_ms);

        if (waiting > ft_load(&log->max_waiting)) {
            ft_store(&log->max_waiting, waiting);
        }

        if (now_ms >= ft_load(&log->reported_ms) + FT_QUEUELOG_INTERVAL_MS) {
            ft_store(&log->reported_ms, now_ms);
            ft_queuelog_publish(log, FT_QUEUELOG_CONTINUES);
        }

        return;
    }

    if (ft_load(&log->open)
        && now_ms >= ft_load(&log->last_ms) + FT_QUEUELOG_QUIET_MS)
    {
        ft_store(&log->open, 0);
        ft_queuelog_publish(log, FT_QUEUELOG_ENDED);
    }
}


void
ft_queuelog_waited(ft_queuelog_t *log, uint64_t waited_ms)
{
    if (waited_ms > ft_load(&log->max_waited_ms)) {
        ft_store(&log->max_waited_ms, waited_ms);
    }
}


ft_queuelog_report_t
ft_queuelog_take(ft_queuelog_t *log, const ft_totals_t *totals)
{
    ft_queuelog_report_t  report = { .kind = FT_QUEUELOG_NONE };

    report.kind = (ft_queuelog_kind_t) atomic_exchange(&log->pending,
                                                       FT_QUEUELOG_NONE);

    if (report.kind == FT_QUEUELOG_NONE) {
        return report;
    }

    report.lasted_ms = ft_load(&log->last_ms) - ft_load(&log->since_ms);
    report.admitted = ft_load(&totals->admitted) - ft_load(&log->admitted);
    report.rejected = ft_load(&totals->rejected) - ft_load(&log->rejected);
    report.gone = ft_totals_gone(totals) - ft_load(&log->gone);
    report.waited_ms = ft_load(&totals->waited_ms) - ft_load(&log->waited_ms);
    report.max_waited_ms = ft_load(&log->max_waited_ms);
    report.max_waiting = ft_load(&log->max_waiting);

    return report;
}


bool
ft_queuelog_is_open(const ft_queuelog_t *log)
{
    return ft_load(&log->open) || ft_load(&log->pending) != FT_QUEUELOG_NONE;
}
