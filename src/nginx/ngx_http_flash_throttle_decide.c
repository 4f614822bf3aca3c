
/*
 * Copyright (C) flash_throttle contributors
 *
 * The decision on a request, which is made once, whatever internal redirects
 * follow.
 */


#include "ngx_http_flash_throttle_admit.h"
#include "ngx_http_flash_throttle_call.h"
#include "ngx_http_flash_throttle_ctx.h"
#include "ngx_http_flash_throttle_decide.h"
#include "ngx_http_flash_throttle_hold.h"
#include "ngx_http_flash_throttle_queuelog.h"
#include "ngx_http_flash_throttle_request.h"
#include "ngx_http_flash_throttle_ticket.h"
#include "ngx_http_flash_throttle_zone.h"


static ngx_int_t ngx_http_flash_throttle_decide_bypass(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx,
    ngx_http_flash_throttle_request_t *request);
static ngx_int_t ngx_http_flash_throttle_decide_context(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx);
static ngx_int_t ngx_http_flash_throttle_decide_admission(
    ngx_http_request_t *r, ngx_http_flash_throttle_ctx_t *ctx,
    ft_call_t *call);
static ngx_int_t ngx_http_flash_throttle_decide_spent(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ft_call_t *call);
static void ngx_http_flash_throttle_decide_full(
    ngx_http_flash_throttle_ctx_t *ctx);


ngx_int_t
ngx_http_flash_throttle_decide(ngx_http_request_t *r,
    ngx_http_flash_throttle_conf_t *ftcf,
    void (*release)(ngx_http_flash_throttle_ctx_t *ctx))
{
    uint64_t                            now;
    ft_call_t                           call;
    ngx_int_t                           rc;
    ngx_str_t                           key;
    ngx_http_flash_throttle_ctx_t      *ctx;
    ngx_http_flash_throttle_request_t   request;

    if (ngx_http_flash_throttle_zone_key(r, ftcf->shm_zone->data, &key)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (key.len == 0) {
        return NGX_DECLINED;
    }

    ctx = ngx_http_flash_throttle_ctx_create(r, ftcf, release);
    if (ctx == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ctx->context.key = key.data;
    ctx->context.key_len = key.len;

    ngx_http_flash_throttle_request_read(r, &request);

    rc = ngx_http_flash_throttle_decide_bypass(r, ctx, &request);

    if (rc != NGX_DECLINED) {
        return rc;
    }

    if (ngx_http_flash_throttle_decide_context(r, ctx) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    now = ngx_http_flash_throttle_zone_now(ctx->zone);

    ctx->state = ngx_http_flash_throttle_zone_state(ctx->zone, &key, now,
                                               r->connection->log);

    ngx_http_flash_throttle_ticket_find(r, ctx, &request, now);
    ngx_http_flash_throttle_call(ctx->zone, ctx->state, ftcf->rules, now,
                                 &call);

    if (ctx->ticket.kind == FT_TICKET_PASS && ctx->state
        && ft_pass_is_done(&call, &ctx->ticket))
    {
        ctx->ticket.kind = 0;
    }

    if (ctx->ticket.kind == FT_TICKET_PASS) {

        if (ctx->state) {
            ngx_http_flash_throttle_admit_pass(ctx, &call);

        } else {
            ctx->status = NGX_HTTP_FLASH_THROTTLE_PASSED;
        }

        return NGX_OK;
    }

    ctx->json = ctx->poll
                || ngx_http_flash_throttle_request_wants_json(&request);

    if (ctx->ticket.kind == 0) {
        ngx_http_flash_throttle_ticket_new(ctx, now);
    }

    if (ctx->state == NULL) {
        ngx_http_flash_throttle_decide_full(ctx);
        return NGX_OK;
    }

    /* a link checker does not take the capacity of a shopper */

    if (r->method == NGX_HTTP_HEAD && ctx->fresh && !ctx->poll
        && ft_stats_is_free(&call))
    {
        ctx->status = NGX_HTTP_FLASH_THROTTLE_BYPASSED;
        return NGX_OK;
    }

    return ngx_http_flash_throttle_decide_admission(r, ctx, &call);
}


static ngx_int_t
ngx_http_flash_throttle_decide_bypass(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx,
    ngx_http_flash_throttle_request_t *request)
{
    ctx->poll = request->poll;

    switch (ngx_http_test_predicates(r, ctx->conf->bypass)) {

    case NGX_ERROR:
        return NGX_HTTP_INTERNAL_SERVER_ERROR;

    case NGX_DECLINED:
        break;

    default: /* NGX_OK */

        if (!request->preflight || r->method != NGX_HTTP_OPTIONS) {
            return NGX_DECLINED;
        }

        ctx->poll = 0;
        break;
    }

    ctx->status = NGX_HTTP_FLASH_THROTTLE_BYPASSED;

    return NGX_OK;
}


static ngx_int_t
ngx_http_flash_throttle_decide_context(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx)
{
    ngx_str_t  *zone, bind;

    ngx_str_null(&bind);

    if (ctx->conf->bind
        && ngx_http_complex_value(r, ctx->conf->bind, &bind) != NGX_OK)
    {
        return NGX_ERROR;
    }

    zone = &ctx->zone->shm_zone->shm.name;

    ctx->context.zone = zone->data;
    ctx->context.zone_len = zone->len;
    ctx->context.bind = bind.data;
    ctx->context.bind_len = bind.len;

    return NGX_OK;
}


/* A request without a valid pass. */

static ngx_int_t
ngx_http_flash_throttle_decide_admission(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ft_call_t *call)
{
    ft_line_t  *line;

    line = NULL;

    /* a worker that exits does not hold requests */

    if (!ctx->conf->dry_run && !ngx_exiting) {
        line = ngx_http_flash_throttle_hold_line(ctx->zone, ctx->state);
    }

    if (ngx_http_flash_throttle_ticket_shuffle(r, ctx) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    /* whole seconds without a poll: the client may read only Retry-After */

    ctx->verdict = ft_admission_decide(call, &ctx->ticket, line, &ctx->node,
                                       !ctx->poll);

    ngx_log_debug4(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                   "flash_throttle: %d position:%uD wait:%uL retry:%uD",
                   ctx->verdict.answer, ctx->verdict.position,
                   ctx->verdict.wait_ms, ctx->verdict.retry_ms);

    switch (ctx->verdict.answer) {

    case FT_ADMIT:
        ngx_http_flash_throttle_admit(ctx, call, ctx->verdict.generation);
        return NGX_OK;

    case FT_HOLD:
        return ngx_http_flash_throttle_hold(r, ctx);

    case FT_WAIT:
        ngx_http_flash_throttle_queuelog_expect(ctx->zone);
        ctx->status = NGX_HTTP_FLASH_THROTTLE_QUEUED;
        return NGX_OK;

    case FT_CLOSED:
        ctx->status = NGX_HTTP_FLASH_THROTTLE_CLOSED;
        return NGX_OK;

    case FT_SPENT:
        return ngx_http_flash_throttle_decide_spent(r, ctx, call);

    case FT_ALL_SOLD:
        ctx->status = NGX_HTTP_FLASH_THROTTLE_SOLD_OUT;
        return NGX_OK;

    default: /* FT_REJECT */
        ctx->status = NGX_HTTP_FLASH_THROTTLE_REJECTED;
        return NGX_OK;
    }
}


/* A ticket that was admitted before gets its pass again, or a new ticket. */

static ngx_int_t
ngx_http_flash_throttle_decide_spent(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ft_call_t *call)
{
    if (ft_pass_again(call, &ctx->ticket)) {
        ctx->reissued = 1;

        ngx_http_flash_throttle_admit_pass(ctx, call);

        return NGX_OK;
    }

    ngx_http_flash_throttle_ticket_new(ctx, call->now_ms);

    return ngx_http_flash_throttle_decide_admission(r, ctx, call);
}


/* The zone is full: fail closed. */

static void
ngx_http_flash_throttle_decide_full(ngx_http_flash_throttle_ctx_t *ctx)
{
    ctx->status = NGX_HTTP_FLASH_THROTTLE_REJECTED;
    ctx->verdict.position = 0;
    ctx->verdict.retry_ms = ctx->conf->rules->poll_max_ms;
    ctx->verdict.wait_ms = ctx->conf->rules->poll_max_ms;
}
