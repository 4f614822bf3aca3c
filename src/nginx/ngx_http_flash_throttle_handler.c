
/*
 * Copyright (C) flash_throttle contributors
 *
 * The preaccess handler: decides a request and carries the decision out.
 */


#include "ngx_http_flash_throttle_cookie.h"
#include "ngx_http_flash_throttle_ctx.h"
#include "ngx_http_flash_throttle_decide.h"
#include "ngx_http_flash_throttle_feedback.h"
#include "ngx_http_flash_throttle_handler.h"
#include "ngx_http_flash_throttle_hold.h"
#include "ngx_http_flash_throttle_inflight.h"
#include "ngx_http_flash_throttle_reply.h"
#include "ngx_http_flash_throttle_ticket.h"


static ngx_int_t ngx_http_flash_throttle_handler_redirected(
    ngx_http_request_t *r, ngx_http_flash_throttle_ctx_t *ctx);
static ngx_int_t ngx_http_flash_throttle_handler_apply(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx);
static ngx_int_t ngx_http_flash_throttle_handler_give(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, u_char *text);
static void ngx_http_flash_throttle_handler_log(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx);
static void ngx_http_flash_throttle_handler_release(
    ngx_http_flash_throttle_ctx_t *ctx);


ngx_int_t
ngx_http_flash_throttle_handler(ngx_http_request_t *r)
{
    ngx_int_t                        rc;
    ngx_http_flash_throttle_ctx_t   *ctx;
    ngx_http_flash_throttle_conf_t  *ftcf;

    if (r != r->main) {
        return NGX_DECLINED;
    }

    ctx = ngx_http_flash_throttle_ctx_get(r);

    if (ctx == NULL) {
        ftcf = ngx_http_get_module_loc_conf(r, ngx_http_flash_throttle_module);

        if (ftcf->shm_zone == NULL || ftcf->endpoint) {
            return NGX_DECLINED;
        }

        rc = ngx_http_flash_throttle_decide(r, ftcf,
                                     ngx_http_flash_throttle_handler_release);

        if (rc != NGX_OK) {
            return rc;
        }

        ctx = ngx_http_get_module_ctx(r, ngx_http_flash_throttle_module);

    } else if (ctx->applied || ctx->status == 0 || r->post_action) {
        return ngx_http_flash_throttle_handler_redirected(r, ctx);
    }

    ctx->applied = 1;

    return ngx_http_flash_throttle_handler_apply(r, ctx);
}


/*
 * An internal redirect keeps the decision.  A request that was not admitted is
 * redirected by an error of its response, whose page may be at the upstream, or
 * by post_action, which also runs after a client has left the hold.
 */

static ngx_int_t
ngx_http_flash_throttle_handler_redirected(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx)
{
    if (ctx->held) {
        ngx_http_flash_throttle_hold_leave(ctx);
    }

    switch (ctx->status) {

    case NGX_HTTP_FLASH_THROTTLE_PASSED:
    case NGX_HTTP_FLASH_THROTTLE_ADMITTED:
    case NGX_HTTP_FLASH_THROTTLE_BYPASSED:
        break;

    default:
        if (!ctx->conf->dry_run && !r->post_action) {
            return NGX_HTTP_SERVICE_UNAVAILABLE;
        }
    }

    return ngx_http_flash_throttle_feedback_read(r, ctx) == NGX_OK
           ? NGX_DECLINED : NGX_HTTP_INTERNAL_SERVER_ERROR;
}


static ngx_int_t
ngx_http_flash_throttle_handler_apply(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx)
{
    u_char      *text, buf[FT_TICKET_LEN];
    ngx_uint_t   admitted;

    admitted = 0;
    text = buf;

    switch (ctx->status) {

    case NGX_HTTP_FLASH_THROTTLE_BYPASSED:
    case NGX_HTTP_FLASH_THROTTLE_PASSED:

        admitted = 1;

        /* a pass is not renewed */

        if (!ctx->reissued) {
            text = NULL;
        }

        break;

    case NGX_HTTP_FLASH_THROTTLE_ADMITTED:
        admitted = 1;
        break;

    case NGX_HTTP_FLASH_THROTTLE_REJECTED:
        text = NULL;
        break;

    default: /* QUEUED, CLOSED, SOLD_OUT */
        break;
    }

    if (!admitted) {
        ngx_http_flash_throttle_handler_log(r, ctx);
    }

    if (text && ngx_http_flash_throttle_handler_give(r, ctx, text) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (!ctx->poll && (admitted || ctx->conf->dry_run)) {
        return NGX_DECLINED;
    }

    return ngx_http_flash_throttle_reply(r, ctx, text);
}


static ngx_int_t
ngx_http_flash_throttle_handler_give(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, u_char *text)
{
    if (ctx->verdict.same) {
        ngx_memcpy(text, ctx->text, FT_TICKET_LEN);

    } else if (ngx_http_flash_throttle_ticket_sign(r, ctx, text) != NGX_OK) {
        return NGX_ERROR;
    }

    /* another request with this ticket has set a newer one */

    if (ctx->verdict.replay) {
        return NGX_OK;
    }

    return ngx_http_flash_throttle_cookie_set(r, ctx, text);
}


static void
ngx_http_flash_throttle_handler_log(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx)
{
    char  *dry_run;

    dry_run = ctx->conf->dry_run ? ", dry run" : "";

    switch (ctx->status) {

    case NGX_HTTP_FLASH_THROTTLE_CLOSED:
        ngx_log_error(ctx->conf->log_level, r->connection->log, 0,
                      "queueing request before the opening%s, by zone \"%V\"",
                      dry_run, &ctx->zone->shm_zone->shm.name);
        break;

    case NGX_HTTP_FLASH_THROTTLE_SOLD_OUT:
        ngx_log_error(ctx->conf->log_level, r->connection->log, 0,
                      "rejecting request, sold out%s, by zone \"%V\"",
                      dry_run, &ctx->zone->shm_zone->shm.name);
        break;

    default: /* QUEUED, REJECTED */
        ngx_log_error(ctx->conf->log_level, r->connection->log, 0,
                      "%s request%s, position: %uD, wait: %uL.%03uL "
                      "by zone \"%V\"",
                      ctx->status == NGX_HTTP_FLASH_THROTTLE_QUEUED
                      ? "queueing" : "rejecting",
                      dry_run, ctx->verdict.position,
                      ctx->verdict.wait_ms / 1000, ctx->verdict.wait_ms % 1000,
                      &ctx->zone->shm_zone->shm.name);
    }
}


static void
ngx_http_flash_throttle_handler_release(ngx_http_flash_throttle_ctx_t *ctx)
{
    if (ctx->held) {
        ngx_http_flash_throttle_hold_leave(ctx);
    }

    ngx_http_flash_throttle_inflight_done(ctx);
}
