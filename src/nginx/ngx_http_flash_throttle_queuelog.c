
/*
 * Copyright (C) flash_throttle contributors
 *
 * Workers that have queued a request check the keys once a second; one of them
 * gets each event.
 */


#include "ngx_http_flash_throttle_call.h"
#include "ngx_http_flash_throttle_queuelog.h"
#include "ngx_http_flash_throttle_zone.h"


#define NGX_HTTP_FLASH_THROTTLE_QUEUELOG_INTERVAL  1000    /* ms */


static void ngx_http_flash_throttle_queuelog_handler(ngx_event_t *ev);
static ngx_uint_t ngx_http_flash_throttle_queuelog_check(
    ngx_http_flash_throttle_zone_t *zone, uint32_t i, uint64_t now_ms,
    ngx_log_t *log);
static void ngx_http_flash_throttle_queuelog_write(
    ngx_http_flash_throttle_zone_t *zone, uint32_t i,
    ft_queuelog_report_t *report, ft_stats_t *s, ngx_log_t *log);


void
ngx_http_flash_throttle_queuelog_init(ngx_http_flash_throttle_zone_t *zone,
    ngx_log_t *log)
{
    uint32_t     i;
    ft_state_t  *state;

    zone->queuelog.handler = ngx_http_flash_throttle_queuelog_handler;
    zone->queuelog.data = zone;
    zone->queuelog.log = log;

    /* does not delay the exit of a worker */

    zone->queuelog.cancelable = 1;

    /* lines from before a reload */

    for (i = 0; i < ft_zone_keys(zone->sh); i++) {
        state = ft_zone_state(zone->sh, i);

        if (state && ft_queuelog_is_open(&state->queuelog)) {
            ngx_http_flash_throttle_queuelog_expect(zone);
            return;
        }
    }
}


void
ngx_http_flash_throttle_queuelog_expect(ngx_http_flash_throttle_zone_t *zone)
{
    if (!zone->queuelog.timer_set) {
        ngx_add_timer(&zone->queuelog,
                      NGX_HTTP_FLASH_THROTTLE_QUEUELOG_INTERVAL);
    }
}


static void
ngx_http_flash_throttle_queuelog_handler(ngx_event_t *ev)
{
    uint32_t                         i, keys;
    uint64_t                         now;
    ngx_uint_t                       open;
    ngx_http_flash_throttle_zone_t  *zone;

    zone = ev->data;

    if (!zone->used || zone->worker == FT_WORKERS) {
        return;
    }

    open = 0;
    keys = ft_zone_keys(zone->sh);
    now = ngx_http_flash_throttle_zone_now(zone);

    for (i = 0; i < keys; i++) {
        open |= ngx_http_flash_throttle_queuelog_check(zone, i, now, ev->log);
    }

    if (open) {
        ngx_http_flash_throttle_queuelog_expect(zone);
    }
}


/* Whether more events of the key may follow. */

static ngx_uint_t
ngx_http_flash_throttle_queuelog_check(ngx_http_flash_throttle_zone_t *zone,
    uint32_t i, uint64_t now_ms, ngx_log_t *log)
{
    ft_call_t              call;
    ft_stats_t             s;
    ft_state_t            *state;
    ft_queuelog_report_t   report;

    state = ft_zone_state(zone->sh, i);

    if (state == NULL
        || (!ft_queuelog_is_open(&state->queuelog)
            && !atomic_load(&state->queueing)))
    {
        return 0;
    }

    /* runs a tick: the key may have no requests any more */

    ngx_http_flash_throttle_call(zone, state, &zone->rules, now_ms, &call);
    s = ft_stats_read(&call);

    report = ft_queuelog_take(&state->queuelog, &state->totals);

    if (report.kind != FT_QUEUELOG_NONE) {
        ngx_http_flash_throttle_queuelog_write(zone, i, &report, &s, log);
    }

    return ft_queuelog_is_open(&state->queuelog) || s.queueing;
}


static void
ngx_http_flash_throttle_queuelog_write(ngx_http_flash_throttle_zone_t *zone,
    uint32_t i, ft_queuelog_report_t *report, ft_stats_t *s, ngx_log_t *log)
{
    u_char     *p, text[NGX_MAX_ERROR_STR / 2];
    u_char      key[FT_KEY_MAX], printable[FT_KEY_MAX];
    size_t      len;
    uint64_t    mean;
    ngx_str_t  *name;

    name = &zone->shm_zone->shm.name;
    len = ft_zone_key(zone->sh, i, (char *) key);
    len = ngx_http_flash_throttle_zone_printable(printable, key, len);

    if (report->kind == FT_QUEUELOG_STARTED) {
        ngx_log_error(NGX_LOG_NOTICE, log, 0,
                      "queueing started for key \"%*s\" in zone \"%V\"",
                      len, printable, name);
        return;
    }

    p = text;

    if (report->kind == FT_QUEUELOG_CONTINUES) {
        p = ngx_sprintf(p, "waiting: %uD, wait: %uL.%03uL, ", s->waiting,
                        s->wait_ms / 1000, s->wait_ms % 1000);
    }

    mean = report->admitted ? report->waited_ms / report->admitted : 0;

    p = ngx_sprintf(p, "admitted: %uL, gone: %uL, rejected: %uL, "
                    "most waiting: %uD, mean wait: %uL.%03uL, "
                    "longest: %uL.%03uL",
                    report->admitted, report->gone, report->rejected,
                    report->max_waiting, mean / 1000, mean % 1000,
                    report->max_waited_ms / 1000, report->max_waited_ms % 1000);

    ngx_log_error(NGX_LOG_NOTICE, log, 0,
                  "queueing %s for key \"%*s\" in zone \"%V\" after "
                  "%uL.%03uL s, %*s",
                  report->kind == FT_QUEUELOG_ENDED ? "ended" : "continues",
                  len, printable, name,
                  report->lasted_ms / 1000, report->lasted_ms % 1000,
                  p - text, text);
}
