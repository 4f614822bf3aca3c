
/*
 * Copyright (C) flash_throttle contributors
 *
 * What follows from a decision: the request goes on, or is answered here, with
 * what its shopper takes home, and the line in the log that says so.
 */


#include "ngx_http_flash_throttle.h"


static ngx_int_t ngx_http_flash_throttle_give(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, u_char *text);
static void ngx_http_flash_throttle_log(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx);


ngx_int_t
ngx_http_flash_throttle_answer(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx)
{
    u_char  text[FT_TICKET_LEN];

    switch (ctx->status) {

    case NGX_HTTP_FLASH_THROTTLE_BYPASSED:
    case NGX_HTTP_FLASH_THROTTLE_PASSED:

        /* a pass stays as it is: polling never renews it */

        if (ctx->again
            && ngx_http_flash_throttle_give(r, ctx, text) != NGX_OK)
        {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

        return ctx->poll ? ngx_http_flash_throttle_reply(r, ctx,
                                                       ctx->again ? text : NULL)
                         : NGX_DECLINED;

    case NGX_HTTP_FLASH_THROTTLE_ADMITTED:

        if (ngx_http_flash_throttle_give(r, ctx, text) != NGX_OK) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

        return ctx->poll ? ngx_http_flash_throttle_reply(r, ctx, text)
                         : NGX_DECLINED;

    case NGX_HTTP_FLASH_THROTTLE_QUEUED:
    case NGX_HTTP_FLASH_THROTTLE_CLOSED:
    case NGX_HTTP_FLASH_THROTTLE_SOLD_OUT:

        ngx_http_flash_throttle_log(r, ctx);

        if (ngx_http_flash_throttle_give(r, ctx, text) != NGX_OK) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

        return ctx->conf->dry_run && !ctx->poll
               ? NGX_DECLINED : ngx_http_flash_throttle_reply(r, ctx, text);

    default: /* NGX_HTTP_FLASH_THROTTLE_REJECTED */

        ngx_http_flash_throttle_log(r, ctx);

        return ctx->conf->dry_run && !ctx->poll
               ? NGX_DECLINED : ngx_http_flash_throttle_reply(r, ctx, NULL);
    }
}


static ngx_int_t
ngx_http_flash_throttle_give(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, u_char *text)
{
    if (ctx->verdict.same) {
        ngx_memcpy(text, ctx->text, FT_TICKET_LEN);

    } else {
        ngx_http_flash_throttle_sign(r, ctx, text);
    }

    /* the tab that came first with this ticket has taken a newer one home */

    if (ctx->verdict.replay) {
        return NGX_OK;
    }

    return ngx_http_flash_throttle_set_cookie(r, ctx, text);
}


static void
ngx_http_flash_throttle_log(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx)
{
    if (ctx->status == NGX_HTTP_FLASH_THROTTLE_CLOSED) {
        ngx_log_error(ctx->conf->log_level, r->connection->log, 0,
                      "request before the opening%s, by zone \"%V\"",
                      ctx->conf->dry_run ? ", dry run" : "",
                      &ctx->zone->shm_zone->shm.name);
        return;
    }

    if (ctx->status == NGX_HTTP_FLASH_THROTTLE_SOLD_OUT) {
        ngx_log_error(ctx->conf->log_level, r->connection->log, 0,
                      "telling request that all is sold%s, by zone \"%V\"",
                      ctx->conf->dry_run ? ", dry run" : "",
                      &ctx->zone->shm_zone->shm.name);
        return;
    }

    ngx_log_error(ctx->conf->log_level, r->connection->log, 0,
                  "%s request%s, position: %uD, wait: %uL.%03uL by zone \"%V\"",
                  ctx->status == NGX_HTTP_FLASH_THROTTLE_QUEUED
                  ? "queueing" : "rejecting",
                  ctx->conf->dry_run ? ", dry run" : "",
                  ctx->verdict.position, ctx->verdict.wait_ms / 1000,
                  ctx->verdict.wait_ms % 1000,
                  &ctx->zone->shm_zone->shm.name);
}
