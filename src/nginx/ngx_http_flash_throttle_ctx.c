
/*
 * Copyright (C) flash_throttle contributors
 */


#include "ngx_http_flash_throttle_ctx.h"


static void ngx_http_flash_throttle_ctx_cleanup(void *data);


ngx_http_flash_throttle_ctx_t *
ngx_http_flash_throttle_ctx_get(ngx_http_request_t *r)
{
    ngx_pool_cleanup_t             *cln;
    ngx_http_flash_throttle_ctx_t  *ctx;

    r = r->main;

    ctx = ngx_http_get_module_ctx(r, ngx_http_flash_throttle_module);

    if (ctx == NULL && (r->internal || r->filter_finalize)) {

        /*
         * if module context was reset, the original address
         * can still be found in the cleanup handler
         */

        for (cln = r->pool->cleanup; cln; cln = cln->next) {

            if (cln->handler == ngx_http_flash_throttle_ctx_cleanup) {
                ctx = cln->data;
                ngx_http_set_ctx(r, ctx, ngx_http_flash_throttle_module);
                break;
            }
        }
    }

    return ctx;
}


ngx_http_flash_throttle_ctx_t *
ngx_http_flash_throttle_ctx_create(ngx_http_request_t *r,
    ngx_http_flash_throttle_conf_t *ftcf,
    void (*release)(ngx_http_flash_throttle_ctx_t *ctx))
{
    ngx_pool_cleanup_t             *cln;
    ngx_http_flash_throttle_ctx_t  *ctx;

    cln = ngx_pool_cleanup_add(r->pool, sizeof(ngx_http_flash_throttle_ctx_t));
    if (cln == NULL) {
        return NULL;
    }

    ctx = cln->data;

    ctx->request = r;
    ctx->conf = ftcf;
    ctx->zone = ftcf->shm_zone->data;
    ctx->release = release;
    ctx->state = NULL;
    ctx->upstream = NULL;
    ctx->status = 0;
    ctx->poll = 0;
    ctx->json = 0;
    ctx->fresh = 0;
    ctx->reissued = 0;
    ctx->held = 0;
    ctx->inflight = 0;
    ctx->complete = 0;
    ctx->applied = 0;

    ctx->verdict.replay = false;
    ctx->verdict.same = false;

    ngx_memzero(&ctx->ticket, sizeof(ft_ticket_t));

    cln->handler = ngx_http_flash_throttle_ctx_cleanup;

    ngx_http_set_ctx(r, ctx, ngx_http_flash_throttle_module);

    return ctx;
}


static void
ngx_http_flash_throttle_ctx_cleanup(void *data)
{
    ngx_http_flash_throttle_ctx_t *ctx = data;

    ctx->release(ctx);
}
