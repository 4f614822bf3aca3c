
/*
 * Copyright (C) flash_throttle contributors
 *
 * Each key has a line and a timer in each worker.
 */


#include "ngx_http_flash_throttle_admit.h"
#include "ngx_http_flash_throttle_call.h"
#include "ngx_http_flash_throttle_hold.h"
#include "ngx_http_flash_throttle_zone.h"


#define ngx_http_flash_throttle_hold_ctx(n)                                   \
    ((ngx_http_flash_throttle_ctx_t *)                                        \
        ((u_char *) (n) - offsetof(ngx_http_flash_throttle_ctx_t, node)))


static void ngx_http_flash_throttle_hold_handler(ngx_event_t *ev);
static ngx_http_flash_throttle_ctx_t *ngx_http_flash_throttle_hold_next(
    ngx_http_flash_throttle_line_t *hl, uint64_t *wait_ms);
static void ngx_http_flash_throttle_hold_resume(ngx_http_request_t *r);
static void ngx_http_flash_throttle_hold_block_writing(ngx_http_request_t *r);


ngx_int_t
ngx_http_flash_throttle_hold_init(ngx_http_flash_throttle_zone_t *zone,
    ngx_cycle_t *cycle)
{
    uint32_t                         i, keys;
    ngx_http_flash_throttle_line_t  *hl;

    keys = ft_zone_keys(zone->sh);

    zone->lines = ngx_pcalloc(cycle->pool,
                              keys * sizeof(ngx_http_flash_throttle_line_t));
    if (zone->lines == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < keys; i++) {
        hl = &zone->lines[i];

        hl->zone = zone;
        hl->event.handler = ngx_http_flash_throttle_hold_handler;
        hl->event.data = hl;
        hl->event.log = cycle->log;
    }

    return NGX_OK;
}


ft_line_t *
ngx_http_flash_throttle_hold_line(ngx_http_flash_throttle_zone_t *zone,
    ft_state_t *state)
{
    return &zone->lines[ft_zone_index(zone->sh, state)].line;
}


ngx_int_t
ngx_http_flash_throttle_hold(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx)
{
    ngx_log_debug0(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                   "flash_throttle hold");

    ctx->held = 1;

    ngx_http_flash_throttle_hold_wake(ctx->zone, ctx->state);

    if (r->connection->read->ready) {
        ngx_post_event(r->connection->read, &ngx_posted_events);

    } else {
        if (ngx_handle_read_event(r->connection->read, 0) != NGX_OK) {

            /* otherwise the end of the hold would run the phases of the
               error page */

            ngx_http_flash_throttle_hold_leave(ctx);

            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }
    }

    r->read_event_handler = ngx_http_test_reading;
    r->write_event_handler = ngx_http_flash_throttle_hold_block_writing;

    return NGX_AGAIN;
}


void
ngx_http_flash_throttle_hold_wake(ngx_http_flash_throttle_zone_t *zone,
    ft_state_t *state)
{
    ngx_http_flash_throttle_line_t  *hl;

    hl = &zone->lines[ft_zone_index(zone->sh, state)];

    if (ft_line_first(&hl->line)) {
        ngx_post_event(&hl->event, &ngx_posted_events);
    }
}


void
ngx_http_flash_throttle_hold_leave(ngx_http_flash_throttle_ctx_t *ctx)
{
    ft_call_t                        call;
    ngx_http_flash_throttle_line_t  *hl;

    ctx->held = 0;

    hl = &ctx->zone->lines[ft_zone_index(ctx->zone->sh, ctx->state)];

    ngx_http_flash_throttle_call(ctx->zone, ctx->state, ctx->conf->rules,
                                 ngx_http_flash_throttle_zone_now(ctx->zone),
                                 &call);
    ft_hold_leave(&call, &hl->line, &ctx->node);

    if (ft_line_first(&hl->line) == NULL && hl->event.timer_set) {
        ngx_del_timer(&hl->event);
    }
}


static void
ngx_http_flash_throttle_hold_handler(ngx_event_t *ev)
{
    uint64_t                         wait_ms;
    ngx_connection_t                *c;
    ngx_http_flash_throttle_ctx_t   *ctx;
    ngx_http_flash_throttle_line_t  *hl;

    hl = ev->data;

    if (ev->timer_set) {
        ngx_del_timer(ev);
    }

    for ( ;; ) {
        ctx = ngx_http_flash_throttle_hold_next(hl, &wait_ms);

        if (ctx == NULL) {
            break;
        }

        c = ctx->request->connection;

        ctx->request->write_event_handler = ngx_http_flash_throttle_hold_resume;

        ngx_post_event(c->write, &ngx_posted_events);
    }

    if (wait_ms) {
        ngx_add_timer(ev, wait_ms);
    }
}


/*
 * Returns a request whose hold has ended, with its status set.  NULL: none has;
 * *wait_ms is the time to the next call, 0 if no request is held.
 */

static ngx_http_flash_throttle_ctx_t *
ngx_http_flash_throttle_hold_next(ngx_http_flash_throttle_line_t *hl,
    uint64_t *wait_ms)
{
    bool                            admitted;
    uint32_t                        generation;
    uint64_t                        wake_ms;
    ft_call_t                       call;
    ft_line_node_t                 *node;
    ngx_http_flash_throttle_ctx_t  *ctx;

    *wait_ms = 0;

    node = ft_line_first(&hl->line);

    if (node == NULL) {
        return NULL;
    }

    ctx = ngx_http_flash_throttle_hold_ctx(node);

    ngx_http_flash_throttle_call(ctx->zone, ctx->state, ctx->conf->rules,
                                 ngx_http_flash_throttle_zone_now(ctx->zone),
                                 &call);

    /* before the capacity is taken */

    generation = atomic_load(&ctx->state->generation);

    node = ft_hold_next(&call, &hl->line, &admitted, &wake_ms);

    if (node == NULL) {
        *wait_ms = wake_ms > call.now_ms ? wake_ms - call.now_ms : 1;
        return NULL;
    }

    ctx = ngx_http_flash_throttle_hold_ctx(node);
    ctx->held = 0;

    call.rules = ctx->conf->rules;

    if (admitted) {
        ngx_http_flash_throttle_admit(ctx, &call, generation);
        return ctx;
    }

    ctx->verdict = ft_admission_turn_back(&call, &ctx->ticket, !ctx->poll);
    ctx->status = ctx->verdict.answer == FT_ALL_SOLD
                  ? NGX_HTTP_FLASH_THROTTLE_SOLD_OUT
                  : NGX_HTTP_FLASH_THROTTLE_QUEUED;

    return ctx;
}


static void
ngx_http_flash_throttle_hold_resume(ngx_http_request_t *r)
{
    ngx_log_debug0(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                   "flash_throttle resume");

    if (ngx_handle_read_event(r->connection->read, 0) != NGX_OK) {
        ngx_http_finalize_request(r, NGX_HTTP_INTERNAL_SERVER_ERROR);
        return;
    }

    r->read_event_handler = ngx_http_block_reading;
    r->write_event_handler = ngx_http_core_run_phases;

    ngx_http_core_run_phases(r);
}


static void
ngx_http_flash_throttle_hold_block_writing(ngx_http_request_t *r)
{
    if (ngx_handle_write_event(r->connection->write, 0) != NGX_OK) {
        ngx_http_finalize_request(r, NGX_HTTP_INTERNAL_SERVER_ERROR);
    }
}
