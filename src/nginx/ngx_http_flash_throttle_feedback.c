
/*
 * Copyright (C) flash_throttle contributors
 *
 * Feedback: what the upstream says of the sale in the response header
 * Flash-Throttle, which the client does not get to see.
 */


#include "ngx_http_flash_throttle.h"
#include "ngx_http_flash_throttle_zone.h"
#include "ft_feedback.h"


/* all lines of the header, joined */
#define NGX_HTTP_FLASH_THROTTLE_SAID_MOST  1024


static ngx_int_t ngx_http_flash_throttle_header_filter(ngx_http_request_t *r);
static ngx_int_t ngx_http_flash_throttle_hear(ngx_http_request_t *r,
    ngx_str_t *said);
static ngx_int_t ngx_http_flash_throttle_obey(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ft_feedback_t *feedback);
static void ngx_http_flash_throttle_obey_state(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ft_feedback_t *feedback,
    ft_call_t *call);
static ngx_int_t ngx_http_flash_throttle_end_pass(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx);
static void ngx_http_flash_throttle_hide(ngx_http_request_t *r,
    const char *name, size_t len, ngx_str_t *prefix);
static void ngx_http_flash_throttle_log_said(ngx_http_request_t *r,
    const char *what, u_char *said, size_t len);


static ngx_http_output_header_filter_pt  ngx_http_next_header_filter;


#define ngx_http_flash_throttle_named(h, name)                                \
    ((h)->key.len == sizeof(name) - 1                                         \
     && ngx_strncasecmp((h)->key.data, (u_char *) name, sizeof(name) - 1)     \
        == 0)


/*
 * Of the main request only: what a mirror's or an included part's upstream says
 * is not about the shopper's request.  An answer out of a cache was meant for
 * another moment.
 */

static ngx_int_t
ngx_http_flash_throttle_header_filter(ngx_http_request_t *r)
{
    ngx_http_flash_throttle_ctx_t  *ctx;

    if (r != r->main || r->upstream == NULL) {
        return ngx_http_next_header_filter(r);
    }

    ctx = ngx_http_flash_throttle_get_ctx(r);

    if (ctx == NULL || !ctx->conf->feedback) {
        return ngx_http_next_header_filter(r);
    }

    ngx_http_flash_throttle_hide(r, "Flash-Throttle", 14, NULL);

    if (ngx_http_flash_throttle_listen(r, ctx) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_next_header_filter(r);
}


/*
 * An answer that X-Accel-Redirect or error_page replaces by another upstream's
 * never comes to the filter, and is forgotten once that one is asked.
 */

ngx_int_t
ngx_http_flash_throttle_listen(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx)
{
    u_char         text[NGX_HTTP_FLASH_THROTTLE_SAID_MOST];
    ngx_str_t      said;
    ft_feedback_t  feedback;

    if (r->upstream == NULL || r->upstream == ctx->heard
        || !ctx->conf->feedback)
    {
        return NGX_OK;
    }

    ctx->heard = r->upstream;

#if (NGX_HTTP_CACHE)

    if (r->cached) {
        return NGX_OK;
    }

#endif

    said.data = text;
    said.len = 0;

    switch (ngx_http_flash_throttle_hear(r, &said)) {

    case NGX_OK:
        break;

    case NGX_DECLINED:
        return NGX_OK;

    default:
        ngx_http_flash_throttle_log_said(r, "too long a header", said.data,
                                         said.len);
        return NGX_OK;
    }

    if (!ft_feedback_read(&feedback, (char *) said.data, said.len)) {
        ngx_http_flash_throttle_log_said(r, "what is no dictionary",
                                         said.data, said.len);
        return NGX_OK;
    }

    if (feedback.fault_len) {
        ngx_http_flash_throttle_log_said(r, "a wrong value",
                                         (u_char *) feedback.fault,
                                         feedback.fault_len);
    }

    return ngx_http_flash_throttle_obey(r, ctx, &feedback);
}


/*
 * The header's lines, joined as RFC 9110 says.  From what was received, not from
 * what is sent on: proxy_hide_header may have taken it out of that.
 * NGX_DECLINED: there is none; NGX_ERROR: with the line in *said it is too long.
 */

static ngx_int_t
ngx_http_flash_throttle_hear(ngx_http_request_t *r, ngx_str_t *said)
{
    u_char           *p;
    ngx_uint_t        i, found;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h;

    p = said->data;
    found = 0;

    for (part = &r->upstream->headers_in.headers.part; part;
         part = part->next)
    {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {

            if (h[i].hash == 0
                || !ngx_http_flash_throttle_named(&h[i], "Flash-Throttle"))
            {
                continue;
            }

            if (said->len + 2 + h[i].value.len
                > NGX_HTTP_FLASH_THROTTLE_SAID_MOST)
            {
                *said = h[i].value;
                return NGX_ERROR;
            }

            if (found++) {
                *p++ = ',';
                *p++ = ' ';
            }

            p = ngx_cpymem(p, h[i].value.data, h[i].value.len);
            said->len = p - said->data;
        }
    }

    return found ? NGX_OK : NGX_DECLINED;
}


static ngx_int_t
ngx_http_flash_throttle_obey(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ft_feedback_t *feedback)
{
    uint64_t     now;
    ft_call_t    call;
    ft_state_t  *state;

    now = ngx_http_flash_throttle_zone_now(ctx->zone);

    /* a bypassed request has not looked for it, another's may have changed */

    state = ft_zone_find(ctx->zone->sh, ctx->context.key, ctx->context.key_len,
                         now);

    if (state) {
        ngx_http_flash_throttle_call(ctx->zone, state, ctx->conf->rules, now,
                                     &call);
        ngx_http_flash_throttle_obey_state(r, ctx, feedback, &call);

        if (feedback->done && ft_pass_done(&call, &ctx->ticket)) {
            ngx_http_flash_throttle_wake(
                            ngx_http_flash_throttle_line(ctx->zone, state));
        }
    }

    if (feedback->done && ctx->ticket.kind == FT_TICKET_PASS
        && ngx_http_flash_throttle_end_pass(r, ctx) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


static void
ngx_http_flash_throttle_obey_state(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ft_feedback_t *feedback,
    ft_call_t *call)
{
    u_char       key[FT_KEY_MAX];
    size_t       len;
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
        what = "open";
    }

    if (feedback->rate_milli
        && feedback->rate_milli
           != atomic_load(&call->state->overrides.rate_upstream_milli))
    {
        ft_override_rate(call->state, FT_OVERRIDE_UPSTREAM, feedback->rate_milli);

        ngx_http_flash_throttle_call(ctx->zone, call->state, ctx->conf->rules,
                                     call->now_ms, call);
        ft_bucket_settle(&call->state->bucket, &call->limits, call->now_ms);

        what = what ? what : "rate";
    }

    if (what == NULL) {
        return;
    }

    len = ngx_http_flash_throttle_zone_printable(key,
                                                 (u_char *) ctx->context.key,
                                                 ctx->context.key_len);

    ngx_log_error(NGX_LOG_NOTICE, r->connection->log, 0,
                  "flash_throttle_feedback: the upstream says \"%s\" for the "
                  "key \"%*s\" of zone \"%V\"", what, len, key,
                  &ctx->zone->shm_zone->shm.name);

    ngx_http_flash_throttle_wake(
                       ngx_http_flash_throttle_line(ctx->zone, call->state));
}


/* The cookie goes, also if this very answer was to bring the pass. */

static ngx_int_t
ngx_http_flash_throttle_end_pass(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx)
{
    ngx_http_flash_throttle_hide(r, "Set-Cookie", 10, &ctx->conf->set_name);

    return ngx_http_flash_throttle_clear_cookie(r, ctx);
}


/* Takes headers of a name, whose values begin so, from the answer. */

static void
ngx_http_flash_throttle_hide(ngx_http_request_t *r, const char *name,
    size_t len, ngx_str_t *prefix)
{
    ngx_uint_t        i;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *h;

    for (part = &r->headers_out.headers.part; part; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {

            if (h[i].hash == 0 || h[i].key.len != len
                || ngx_strncasecmp(h[i].key.data, (u_char *) name, len) != 0)
            {
                continue;
            }

            if (prefix
                && (h[i].value.len < prefix->len
                    || ngx_memcmp(h[i].value.data, prefix->data, prefix->len)
                       != 0))
            {
                continue;
            }

            h[i].hash = 0;
        }
    }
}


/* Once a second: it may be in each answer. */

static void
ngx_http_flash_throttle_log_said(ngx_http_request_t *r, const char *what,
    u_char *said, size_t len)
{
    u_char         text[FT_KEY_MAX];

    static time_t  logged;

    if (logged == ngx_time()) {
        return;
    }

    logged = ngx_time();

    len = ngx_http_flash_throttle_zone_printable(text, said, ngx_min(len, 128));

    ngx_log_error(NGX_LOG_WARN, r->connection->log, 0,
                  "flash_throttle_feedback ignores %s in the header "
                  "Flash-Throttle: \"%*s\"", what, len, text);
}


/* Above all filters, as is the one for bodies. */

void
ngx_http_flash_throttle_init_feedback(void)
{
    ngx_http_next_header_filter = ngx_http_top_header_filter;
    ngx_http_top_header_filter = ngx_http_flash_throttle_header_filter;
}
