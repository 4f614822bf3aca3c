
/*
 * Copyright (C) flash_throttle contributors
 *
 * The end of a request in flight: when the answer is complete, which is before
 * a slow reader has taken all of it.
 */


#include "ngx_http_flash_throttle.h"


static ngx_int_t ngx_http_flash_throttle_body_filter(ngx_http_request_t *r,
    ngx_chain_t *in);
static ngx_buf_t *ngx_http_flash_throttle_last(ngx_chain_t *in);
static ngx_uint_t ngx_http_flash_throttle_is_error(ngx_http_request_t *r);


static ngx_http_output_body_filter_pt  ngx_http_next_body_filter;


/*
 * The upstream module marks a last buffer once it is done with the upstream.
 * Filters below may keep it until the client has read what stands before: the
 * copy filter without sendfile, gzip.
 */

static ngx_int_t
ngx_http_flash_throttle_body_filter(ngx_http_request_t *r, ngx_chain_t *in)
{
    ngx_int_t                       rc;
    ngx_buf_t                      *last;
    ngx_http_flash_throttle_ctx_t  *ctx;

    if (r != r->main) {
        return ngx_http_next_body_filter(r, in);
    }

    ctx = ngx_http_flash_throttle_get_ctx(r);

    if (ctx == NULL || !ctx->counted) {
        return ngx_http_next_body_filter(r, in);
    }

    last = ngx_http_flash_throttle_last(in);

    rc = ngx_http_next_body_filter(r, in);

    /* slice and addition change the mark to a mere sync: more is to come */

    if (last && (last->last_buf || !last->sync)) {
        ctx->complete = 1;
    }

    /* while subrequests are under way, parts of the answer are missing */

    if (ctx->complete && r->postponed == NULL) {
        ngx_http_flash_throttle_done(ctx);
    }

    return rc;
}


static ngx_buf_t *
ngx_http_flash_throttle_last(ngx_chain_t *in)
{
    ngx_chain_t  *cl;

    for (cl = in; cl; cl = cl->next) {
        if (cl->buf->last_buf) {
            return cl->buf;
        }
    }

    return NULL;
}


/* What the upstream said at last; an error_page may have hidden it. */

static ngx_uint_t
ngx_http_flash_throttle_is_error(ngx_http_request_t *r)
{
    ngx_http_upstream_state_t  *state;

    if (r->upstream_states && r->upstream_states->nelts) {
        state = r->upstream_states->elts;
        state += r->upstream_states->nelts - 1;

        return state->status >= NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return r->headers_out.status >= NGX_HTTP_INTERNAL_SERVER_ERROR;
}


void
ngx_http_flash_throttle_done(ngx_http_flash_throttle_ctx_t *ctx)
{
    ngx_http_flash_throttle_zone_t  *zone;

    if (!ctx->counted) {
        return;
    }

    ctx->counted = 0;
    zone = ctx->zone;

    if (ngx_http_flash_throttle_is_error(ctx->request)) {
        ft_inflight_failed(ctx->state, ctx->generation);
    }

    ft_inflight_done(ctx->state, ctx->generation, zone->worker);

    ngx_http_flash_throttle_answered(ctx);

    if (zone->limits.inflight || zone->adapt) {
        ngx_http_flash_throttle_wake(
                         ngx_http_flash_throttle_line(zone, ctx->state));
    }
}


/*
 * Above all filters, of which only some know slow readers: a module that is
 * loaded cannot ask for that place while nginx is configured, so it is taken
 * when the chain is complete, and by each worker for itself.
 */

void
ngx_http_flash_throttle_init_filter(void)
{
    ngx_http_next_body_filter = ngx_http_top_body_filter;
    ngx_http_top_body_filter = ngx_http_flash_throttle_body_filter;
}
