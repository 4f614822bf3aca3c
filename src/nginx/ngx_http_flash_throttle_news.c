
/*
 * Copyright (C) flash_throttle contributors
 *
 * The news of the lines, in the error log: one line when queueing begins, one a
 * minute while it lasts, one when it ends.
 */


#include "ngx_http_flash_throttle.h"
#include "ngx_http_flash_throttle_zone.h"


static void ngx_http_flash_throttle_news_handler(ngx_event_t *ev);
static ngx_uint_t ngx_http_flash_throttle_tell(
    ngx_http_flash_throttle_zone_t *zone, uint32_t i, ngx_log_t *log);
static void ngx_http_flash_throttle_log_news(
    ngx_http_flash_throttle_zone_t *zone, uint32_t i, ft_queuelog_report_t *report,
    ft_stats_t *s, ngx_log_t *log);


void
ngx_http_flash_throttle_init_news(ngx_http_flash_throttle_zone_t *zone,
    ngx_log_t *log)
{
    uint32_t     i;
    ft_state_t  *state;

    zone->news.handler = ngx_http_flash_throttle_news_handler;
    zone->news.data = zone;
    zone->news.log = log;

    /* a worker that is about to leave does not stay for it */

    zone->news.cancelable = 1;

    /* a line that a former worker saw begin */

    for (i = 0; i < ft_zone_keys(zone->sh); i++) {
        state = ft_zone_state(zone->sh, i);

        if (state && ft_queuelog_is_open(&state->queuelog)) {
            ngx_http_flash_throttle_expect_news(zone);
            return;
        }
    }
}


static void
ngx_http_flash_throttle_news_handler(ngx_event_t *ev)
{
    uint32_t                         i;
    ngx_uint_t                       more;
    ngx_http_flash_throttle_zone_t  *zone;

    zone = ev->data;
    more = 0;

    if (!zone->used || zone->worker == FT_WORKERS) {
        return;
    }

    for (i = 0; i < ft_zone_keys(zone->sh); i++) {
        more |= ngx_http_flash_throttle_tell(zone, i, ev->log);
    }

    if (more) {
        ngx_add_timer(ev, NGX_HTTP_FLASH_THROTTLE_NEWS);
    }
}


/* Whether there may be more to tell. */

static ngx_uint_t
ngx_http_flash_throttle_tell(ngx_http_flash_throttle_zone_t *zone, uint32_t i,
    ngx_log_t *log)
{
    ft_call_t       call;
    ft_state_t     *state;
    ft_queuelog_report_t     report;
    ft_stats_t   s;

    state = ft_zone_state(zone->sh, i);

    if (state == NULL
        || (!ft_queuelog_is_open(&state->queuelog) && !atomic_load(&state->queueing)))
    {
        return 0;
    }

    /* this ticks, in case that nobody else does any more */

    ngx_http_flash_throttle_call(zone, state, &zone->rules,
                                 ngx_http_flash_throttle_zone_now(zone), &call);
    s = ft_stats_read(&call);

    report = ft_queuelog_take(&state->queuelog, &state->totals);

    if (report.kind != FT_QUEUELOG_NONE) {
        ngx_http_flash_throttle_log_news(zone, i, &report, &s, log);
    }

    return ft_queuelog_is_open(&state->queuelog) || s.queueing;
}


static void
ngx_http_flash_throttle_log_news(ngx_http_flash_throttle_zone_t *zone,
    uint32_t i, ft_queuelog_report_t *report, ft_stats_t *s, ngx_log_t *log)
{
    u_char     *p, text[NGX_MAX_ERROR_STR / 2];
    u_char      key[FT_KEY_MAX];
    char        whole[FT_KEY_MAX];
    size_t      len;
    uint64_t    mean;
    ngx_str_t  *name;

    p = text;
    name = &zone->shm_zone->shm.name;
    len = ft_zone_key(zone->sh, i, whole);
    len = ngx_http_flash_throttle_zone_printable(key, (u_char *) whole, len);
    mean = report->admitted ? report->waited_ms / report->admitted : 0;

    switch (report->kind) {

    case FT_QUEUELOG_STARTED:
        ngx_log_error(NGX_LOG_NOTICE, log, 0,
                      "queueing begins for key \"%*s\" in zone \"%V\"",
                      len, key, name);
        return;

    case FT_QUEUELOG_CONTINUES:
        p = ngx_sprintf(p, "waiting: %uD, wait: %uL.%03uL, ", s->waiting,
                        s->wait_ms / 1000, s->wait_ms % 1000);
        break;

    default: /* FT_QUEUELOG_ENDED */
        break;
    }

    p = ngx_sprintf(p, "admitted: %uL, gone: %uL, rejected: %uL, "
                    "most waiting: %uD, mean wait: %uL.%03uL, "
                    "longest: %uL.%03uL",
                    report->admitted, report->gone, report->rejected,
                    report->max_waiting, mean / 1000, mean % 1000,
                    report->max_waited_ms / 1000, report->max_waited_ms % 1000);

    ngx_log_error(NGX_LOG_NOTICE, log, 0,
                  "queueing %s for key \"%*s\" in zone \"%V\" after "
                  "%uL.%03uL s, %*s",
                  report->kind == FT_QUEUELOG_ENDED ? "ended" : "goes on",
                  len, key, name,
                  report->lasted_ms / 1000, report->lasted_ms % 1000,
                  p - text, text);
}
