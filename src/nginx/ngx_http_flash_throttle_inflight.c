
/*
 * Copyright (C) flash_throttle contributors
 */


#include "ngx_http_flash_throttle_adapt.h"
#include "ngx_http_flash_throttle_ctx.h"
#include "ngx_http_flash_throttle_hold.h"
#include "ngx_http_flash_throttle_inflight.h"


static ngx_int_t ngx_http_flash_throttle_inflight_filter(
    ngx_http_request_t *r, ngx_chain_t *in);
static ngx_buf_t *ngx_http_flash_throttle_inflight_last(ngx_chain_t *in);
static ngx_uint_t ngx_http_flash_throttle_inflight_failed(
    ngx_http_request_t *r);


static ngx_http_output_body_filter_pt  ngx_http_next_body_filter;


/*
 * The upstream module sets last_buf when the upstream has finished.  Filters
 * below may delay the buffer until a slow client has read those before it.
 */

static ngx_int_t
ngx_http_flash_throttle_inflight_filter(ngx_http_request_t *r, ngx_chain_t *in)
{
    ngx_int_t                       rc;
    ngx_buf_t                      *last;
    ngx_http_flash_throttle_ctx_t  *ctx;

    if (r != r->main) {
        return ngx_http_next_body_filter(r, in);
    }

    ctx = ngx_http_flash_throttle_ctx_get(r);

    if (ctx == NULL || !ctx->inflight) {
        return ngx_http_next_body_filter(r, in);
    }

    last = ngx_http_flash_throttle_inflight_last(in);

    rc = ngx_http_next_body_filter(r, in);

    /* slice and addition replace last_buf by sync: more buffers follow */

    if (last && (last->last_buf || !last->sync)) {
        ctx->complete = 1;
    }

    /* the output of subrequests is a part of the response */

    if (ctx->complete && r->postponed == NULL) {
        ngx_http_flash_throttle_inflight_done(ctx);
    }

    return rc;
}


static ngx_buf_t *
ngx_http_flash_throttle_inflight_last(ngx_chain_t *in)
{
    ngx_chain_t  *cl;

    for (cl = in; cl; cl = cl->next) {
        if (cl->buf->last_buf) {
            return cl->buf;
        }
    }

    return NULL;
}


/* By the status of the upstream, which an error_page may have replaced. */

static ngx_uint_t
ngx_http_flash_throttle_inflight_failed(ngx_http_request_t *r)
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
ngx_http_flash_throttle_inflight_done(ngx_http_flash_throttle_ctx_t *ctx)
{
    ngx_http_flash_throttle_zone_t  *zone;

    if (!ctx->inflight) {
        return;
    }

    ctx->inflight = 0;
    zone = ctx->zone;

    if (ngx_http_flash_throttle_inflight_failed(ctx->request)) {
        ft_inflight_failed(ctx->state, ctx->generation);
    }

    ft_inflight_done(ctx->state, ctx->generation, zone->worker);

    ngx_http_flash_throttle_adapt_response(ctx);

    if (zone->limits.inflight || zone->adapt) {
        ngx_http_flash_throttle_hold_wake(zone, ctx->state);
    }
}


/*
 * Above all other filters, some of which delay buffers.  Called when the chain
 * is complete: a dynamic module cannot have this place at configuration.
 */

void
ngx_http_flash_throttle_inflight_init(void)
{
    ngx_http_next_body_filter = ngx_http_top_body_filter;
    ngx_http_top_body_filter = ngx_http_flash_throttle_inflight_filter;
}
