
/*
 * Copyright (C) flash_throttle contributors
 */


#include "ngx_http_flash_throttle_call.h"
#include "ngx_http_flash_throttle_cookie.h"
#include "ngx_http_flash_throttle_ctx.h"
#include "ngx_http_flash_throttle_feedback.h"
#include "ngx_http_flash_throttle_headers.h"
#include "ngx_http_flash_throttle_hold.h"
#include "ngx_http_flash_throttle_zone.h"
#include "ft_feedback.h"


/* bytes of all header lines, joined */
#define NGX_HTTP_FLASH_THROTTLE_FEEDBACK_MAX  1024

/* bytes of the header in a log message */
#define NGX_HTTP_FLASH_THROTTLE_FEEDBACK_LOG  128


static ngx_int_t ngx_http_flash_throttle_feedback_filter(
    ngx_http_request_t *r);
static ngx_int_t ngx_http_flash_throttle_feedback_join(ngx_http_request_t *r,
    ngx_str_t *value);
static ngx_int_t ngx_http_flash_throttle_feedback_apply(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ft_feedback_t *feedback);
static const char *ngx_http_flash_throttle_feedback_override(
    ngx_http_flash_throttle_ctx_t *ctx, ft_feedback_t *feedback,
    ft_call_t *call);
static ngx_int_t ngx_http_flash_throttle_feedback_end_pass(
    ngx_http_request_t *r, ngx_http_flash_throttle_ctx_t *ctx);
static void ngx_http_flash_throttle_feedback_log(ngx_http_request_t *r,
    const char *what, u_char *text, size_t len);


static ngx_http_output_header_filter_pt  ngx_http_next_header_filter;


/*
 * Of the main request only: feedback of a subrequest's upstream is not about
 * this shopper.
 */

static ngx_int_t
ngx_http_flash_throttle_feedback_filter(ngx_http_request_t *r)
{
    ngx_table_elt_t                    *h;
    ngx_http_flash_throttle_ctx_t      *ctx;
    ngx_http_flash_throttle_headers_t   headers;

    if (r != r->main || r->upstream == NULL) {
        return ngx_http_next_header_filter(r);
    }

    ctx = ngx_http_flash_throttle_ctx_get(r);

    if (ctx == NULL || !ctx->conf->feedback) {
        return ngx_http_next_header_filter(r);
    }

    ngx_http_flash_throttle_headers_init(&headers, &r->headers_out.headers);

    while ((h = ngx_http_flash_throttle_headers_find(&headers,
                                                     "Flash-Throttle")))
    {
        h->hash = 0;
    }

    if (ngx_http_flash_throttle_feedback_read(r, ctx) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_next_header_filter(r);
}


/*
 * Called before the next upstream of a request, too: a response that error_page
 * or X-Accel-Redirect replaces does not reach the filter.
 */

ngx_int_t
ngx_http_flash_throttle_feedback_read(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx)
{
    u_char         text[NGX_HTTP_FLASH_THROTTLE_FEEDBACK_MAX];
    ngx_str_t      value;
    ft_feedback_t  feedback;

    if (r->upstream == NULL || r->upstream == ctx->upstream
        || !ctx->conf->feedback)
    {
        return NGX_OK;
    }

    ctx->upstream = r->upstream;

#if (NGX_HTTP_CACHE)

    /* the feedback of a cached response is out of date */

    if (r->cached) {
        return NGX_OK;
    }

#endif

    value.data = text;
    value.len = 0;

    switch (ngx_http_flash_throttle_feedback_join(r, &value)) {

    case NGX_OK:
        break;

    case NGX_DECLINED:
        return NGX_OK;

    default: /* NGX_ERROR */
        ngx_http_flash_throttle_feedback_log(r, "too long", value.data,
                                             value.len);
        return NGX_OK;
    }

    if (!ft_feedback_read(&feedback, (char *) value.data, value.len)) {
        ngx_http_flash_throttle_feedback_log(r, "malformed", value.data,
                                             value.len);
        return NGX_OK;
    }

    if (feedback.fault_len) {
        ngx_http_flash_throttle_feedback_log(r, "invalid value in",
                                             (u_char *) feedback.fault,
                                             feedback.fault_len);
    }

    return ngx_http_flash_throttle_feedback_apply(r, ctx, &feedback);
}


/*
 * Joins the lines of the header (RFC 9110, section 5.3) as they were received:
 * proxy_hide_header may have removed them from headers_out.  NGX_DECLINED:
 * there is none.  NGX_ERROR: they are too long, *value is the last one.
 */

static ngx_int_t
ngx_http_flash_throttle_feedback_join(ngx_http_request_t *r, ngx_str_t *value)
{
    u_char                             *p;
    ngx_table_elt_t                    *h;
    ngx_http_flash_throttle_headers_t   headers;

    p = value->data;

    ngx_http_flash_throttle_headers_init(&headers,
                                         &r->upstream->headers_in.headers);

    while ((h = ngx_http_flash_throttle_headers_find(&headers,
                                                     "Flash-Throttle")))
    {
        if (value->len + 2 + h->value.len
            > NGX_HTTP_FLASH_THROTTLE_FEEDBACK_MAX)
        {
            *value = h->value;
            return NGX_ERROR;
        }

        if (p != value->data) {
            *p++ = ',';
            *p++ = ' ';
        }

        p = ngx_cpymem(p, h->value.data, h->value.len);
        value->len = p - value->data;
    }

    return p != value->data ? NGX_OK : NGX_DECLINED;
}


static ngx_int_t
ngx_http_flash_throttle_feedback_apply(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ft_feedback_t *feedback)
{
    u_char       key[FT_KEY_MAX];
    size_t       len;
    uint64_t     now;
    ft_call_t    call;
    ft_state_t  *state;
    const char  *what;

    now = ngx_http_flash_throttle_zone_now(ctx->zone);

    /* not ctx->state: a bypassed request has none, and it may be evicted */

    state = ft_zone_find(ctx->zone->sh, ctx->context.key, ctx->context.key_len,
                         now);

    if (state) {
        ngx_http_flash_throttle_call(ctx->zone, state, ctx->conf->rules, now,
                                     &call);

        what = ngx_http_flash_throttle_feedback_override(ctx, feedback, &call);

        if (what) {
            len = ngx_http_flash_throttle_zone_printable(key,
                                                 (u_char *) ctx->context.key,
                                                 ctx->context.key_len);

            ngx_log_error(NGX_LOG_NOTICE, r->connection->log, 0,
                          "upstream set \"%s\" for key \"%*s\" in zone \"%V\"",
                          what, len, key, &ctx->zone->shm_zone->shm.name);
        }

        if ((feedback->done && ft_pass_done(&call, &ctx->ticket)) || what) {
            ngx_http_flash_throttle_hold_wake(ctx->zone, state);
        }
    }

    if (feedback->done && ctx->ticket.kind == FT_TICKET_PASS) {
        return ngx_http_flash_throttle_feedback_end_pass(r, ctx);
    }

    return NGX_OK;
}


/* Returns what has changed, or NULL. */

static const char *
ngx_http_flash_throttle_feedback_override(ngx_http_flash_throttle_ctx_t *ctx,
    ft_feedback_t *feedback, ft_call_t *call)
{
    const char  *what;

    what = NULL;

    if (feedback->sold_out
        && ft_override_sold_out(call->state, FT_OVERRIDE_UPSTREAM))
    {
        what = "sold-out";
    }

    if (feedback->resume
        && ft_override_resume(call->state, FT_OVERRIDE_UPSTREAM, call->now_ms))
    {
        what = "resume";
    }

    if (feedback->rate_milli
        && feedback->rate_milli
           != atomic_load(&call->state->overrides.rate_upstream_milli))
    {
        ft_override_rate(call->state, FT_OVERRIDE_UPSTREAM,
                         feedback->rate_milli);

        call->limits = ctx->zone->limits;
        ft_override_limits(call->state, ctx->zone->adapt, &call->limits);
        ft_bucket_settle(&call->state->bucket, &call->limits, call->now_ms);

        what = what ? what : "rate";
    }

    return what;
}


/* Removes the cookie, also one that this response would have set. */

static ngx_int_t
ngx_http_flash_throttle_feedback_end_pass(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx)
{
    ngx_str_t                          *name;
    ngx_table_elt_t                    *h;
    ngx_http_flash_throttle_headers_t   headers;

    name = &ctx->conf->set_name;

    ngx_http_flash_throttle_headers_init(&headers, &r->headers_out.headers);

    while ((h = ngx_http_flash_throttle_headers_find(&headers, "Set-Cookie"))) {

        if (h->value.len >= name->len
            && ngx_memcmp(h->value.data, name->data, name->len) == 0)
        {
            h->hash = 0;
        }
    }

    return ngx_http_flash_throttle_cookie_clear(r, ctx);
}


/* At most once a second: the header may be in each response. */

static void
ngx_http_flash_throttle_feedback_log(ngx_http_request_t *r, const char *what,
    u_char *text, size_t len)
{
    u_char         printable[NGX_HTTP_FLASH_THROTTLE_FEEDBACK_LOG];

    static time_t  logged;

    if (logged == ngx_time()) {
        return;
    }

    logged = ngx_time();

    len = ngx_http_flash_throttle_zone_printable(printable, text,
                                            ngx_min(len, sizeof(printable)));

    ngx_log_error(NGX_LOG_WARN, r->connection->log, 0,
                  "%s \"Flash-Throttle\" response header ignored: \"%*s\"",
                  what, len, printable);
}


/* Above all other filters, as ngx_http_flash_throttle_inflight_init(). */

void
ngx_http_flash_throttle_feedback_init(void)
{
    ngx_http_next_header_filter = ngx_http_top_header_filter;
    ngx_http_top_header_filter = ngx_http_flash_throttle_feedback_filter;
}
