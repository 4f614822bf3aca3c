
/*
 * Copyright (C) flash_throttle contributors
 */


#include "ngx_http_flash_throttle_headers.h"
#include "ngx_http_flash_throttle_page.h"
#include "ngx_http_flash_throttle_reply.h"
#include "ngx_http_flash_throttle_send.h"


/* the longest names and numbers, and a ticket */
#define NGX_HTTP_FLASH_THROTTLE_REPLY_JSON_LEN                                \
    (sizeof("{\"status\":\"admitted\",\"position\":,\"wait_ms\":,"            \
            "\"retry_ms\":,\"first_attempt_ms\":,\"ticket\":\"\"}")           \
     + 4 * NGX_INT64_LEN + FT_TICKET_LEN)

#define ngx_http_flash_throttle_reply_copy(p, text)                           \
    ngx_cpymem(p, text, sizeof(text) - 1)


static ngx_int_t ngx_http_flash_throttle_reply_headers(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ngx_uint_t status,
    ngx_uint_t admitted);
static ngx_buf_t *ngx_http_flash_throttle_reply_json(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ngx_uint_t admitted, u_char *text);
static u_char *ngx_http_flash_throttle_reply_number(u_char *p, uint64_t n);


ngx_int_t
ngx_http_flash_throttle_reply(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, u_char *text)
{
    ngx_int_t     rc;
    ngx_uint_t    admitted, status;
    ngx_chain_t   one, *out;

    /* no "100 Continue" for a body that is discarded */

    r->expect_tested = 1;

    rc = ngx_http_discard_request_body(r);

    if (rc != NGX_OK) {
        return rc;
    }

    status = ctx->conf->status_code;

    switch (ctx->status) {

    case NGX_HTTP_FLASH_THROTTLE_QUEUED:
    case NGX_HTTP_FLASH_THROTTLE_REJECTED:
    case NGX_HTTP_FLASH_THROTTLE_CLOSED:
        admitted = 0;
        break;

    case NGX_HTTP_FLASH_THROTTLE_SOLD_OUT:
        admitted = 0;
        status = NGX_HTTP_CONFLICT;
        break;

    default:
        admitted = 1;
        break;
    }

    /* a dry run sends all page requests to the upstream */

    if (admitted || ctx->conf->dry_run) {
        admitted = 1;
        status = NGX_HTTP_OK;
    }

    if (ngx_http_flash_throttle_reply_headers(r, ctx, status, admitted)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (admitted || ctx->json) {
        one.buf = ngx_http_flash_throttle_reply_json(r, ctx, admitted, text);
        one.next = NULL;
        out = &one;

    } else {
        out = ngx_http_flash_throttle_page(r, ctx, &one);
    }

    if (out == NULL || out->buf == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    /* NGX_OK from a filter would continue with the next phase */

    ngx_http_finalize_request(r, ngx_http_flash_throttle_send(r, status, out));

    return NGX_DONE;
}


static ngx_int_t
ngx_http_flash_throttle_reply_headers(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ngx_uint_t status, ngx_uint_t admitted)
{
    u_char    *p, *seconds;
    size_t     len;
    uint32_t   retry;

    /* if the request is an error_page, the status of the error */

    r->err_status = 0;

    if (ngx_http_flash_throttle_send_no_store(r) != NGX_OK) {
        return NGX_ERROR;
    }

    /* for caches that ignore "no-store"; they do not store errors */

    if (status < NGX_HTTP_SPECIAL_RESPONSE
        && ngx_http_flash_throttle_headers_add(r, "Vary",
                                               (u_char *) "Accept, Cookie", 14)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (admitted) {
        return NGX_OK;
    }

    seconds = ngx_pnalloc(r->pool, NGX_INT32_LEN);
    if (seconds == NULL) {
        return NGX_ERROR;
    }

    retry = ctx->verdict.retry_ms / 1000 + (ctx->verdict.retry_ms % 1000 != 0);
    p = ngx_http_flash_throttle_reply_number(seconds, ngx_max(retry, 1));
    len = p - seconds;

    if (ngx_http_flash_throttle_headers_add(r, "Retry-After", seconds, len)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    /* reloads the page in a browser without scripts; a script cancels it */

    return ctx->json ? NGX_OK
                     : ngx_http_flash_throttle_headers_add(r, "Refresh",
                                                           seconds, len);
}


static ngx_buf_t *
ngx_http_flash_throttle_reply_json(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ngx_uint_t admitted, u_char *text)
{
    u_char     *p;
    ngx_buf_t  *b;

    b = ngx_create_temp_buf(r->pool, NGX_HTTP_FLASH_THROTTLE_REPLY_JSON_LEN);
    if (b == NULL) {
        return NULL;
    }

    p = b->last;

    if (admitted) {
        p = ngx_http_flash_throttle_reply_copy(p, "{\"status\":\"admitted\"");

    } else if (ctx->status == NGX_HTTP_FLASH_THROTTLE_QUEUED) {
        p = ngx_http_flash_throttle_reply_copy(p, "{\"status\":\"queued\"");

    } else if (ctx->status == NGX_HTTP_FLASH_THROTTLE_CLOSED) {
        p = ngx_http_flash_throttle_reply_copy(p, "{\"status\":\"closed\"");

    } else if (ctx->status == NGX_HTTP_FLASH_THROTTLE_SOLD_OUT) {
        p = ngx_http_flash_throttle_reply_copy(p, "{\"status\":\"sold_out\"");

    } else {
        p = ngx_http_flash_throttle_reply_copy(p, "{\"status\":\"rejected\"");
    }

    if (!admitted && ctx->status == NGX_HTTP_FLASH_THROTTLE_CLOSED) {

        /* there are no places before the opening */

        p = ngx_http_flash_throttle_reply_copy(p, ",\"opens_ms\":");
        p = ngx_http_flash_throttle_reply_number(p, ctx->conf->rules->opens_ms);

    } else {
        p = ngx_http_flash_throttle_reply_copy(p, ",\"position\":");
        p = ngx_http_flash_throttle_reply_number(p, admitted ? 0
                                                    : ctx->verdict.position);
        p = ngx_http_flash_throttle_reply_copy(p, ",\"wait_ms\":");
        p = ngx_http_flash_throttle_reply_number(p, admitted ? 0
                                                    : ctx->verdict.wait_ms);
    }

    p = ngx_http_flash_throttle_reply_copy(p, ",\"retry_ms\":");
    p = ngx_http_flash_throttle_reply_number(p, admitted ? 0
                                                    : ctx->verdict.retry_ms);
    p = ngx_http_flash_throttle_reply_copy(p, ",\"first_attempt_ms\":");
    p = ngx_http_flash_throttle_reply_number(p, ctx->ticket.first_ms);

    if (text) {
        p = ngx_http_flash_throttle_reply_copy(p, ",\"ticket\":\"");
        p = ngx_cpymem(p, text, FT_TICKET_LEN);
        *p++ = '"';
    }

    *p++ = '}';
    b->last = p;

    ngx_str_set(&r->headers_out.content_type, "application/json");
    r->headers_out.content_type_len = r->headers_out.content_type.len;

    return b;
}


/* Faster than ngx_sprintf(): two digits for each division. */

static u_char *
ngx_http_flash_throttle_reply_number(u_char *p, uint64_t n)
{
    u_char      *first, *last, digits[NGX_INT64_LEN];
    ngx_uint_t   pair;

    last = digits + sizeof(digits);
    first = last;

    while (n >= 10) {
        pair = n % 100;
        n /= 100;

        *--first = (u_char) ('0' + pair % 10);
        *--first = (u_char) ('0' + pair / 10);
    }

    if (n || first == last) {
        *--first = (u_char) ('0' + n);
    }

    return ngx_cpymem(p, first, last - first);
}
