
/*
 * Copyright (C) flash_throttle contributors
 *
 * Answers that the edge gives in the upstream's place: a page from memory, or
 * JSON, and the head that goes with either.
 */


#include "ngx_http_flash_throttle.h"


/* the longest names and numbers, and a ticket */
#define NGX_HTTP_FLASH_THROTTLE_JSON_LEN                                      \
    (sizeof("{\"status\":\"admitted\",\"position\":,\"wait_ms\":,"            \
            "\"retry_ms\":,\"first_attempt_ms\":,\"ticket\":\"\"}")           \
     + 4 * NGX_INT64_LEN + FT_TICKET_LEN)


static ngx_int_t ngx_http_flash_throttle_head(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ngx_uint_t admitted);
static ngx_buf_t *ngx_http_flash_throttle_json(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ngx_uint_t admitted, u_char *text);
static u_char *ngx_http_flash_throttle_number(u_char *p, uint64_t n);
static ngx_chain_t *ngx_http_flash_throttle_page(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ngx_chain_t *one);
static ngx_int_t ngx_http_flash_throttle_can_gzip(ngx_http_request_t *r,
    ngx_http_flash_throttle_page_t *page);
static ngx_uint_t ngx_http_flash_throttle_is_first(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx);
static ngx_int_t ngx_http_flash_throttle_send(ngx_http_request_t *r,
    ngx_chain_t *out);


#define ngx_http_flash_throttle_copy(p, text)                                 \
    ngx_cpymem(p, text, sizeof(text) - 1)


ngx_int_t
ngx_http_flash_throttle_reply(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, u_char *text)
{
    ngx_int_t     rc;
    ngx_uint_t    admitted;
    ngx_chain_t   one, *out;

    /* no "100 Continue" for a body that nobody will read */

    r->expect_tested = 1;

    rc = ngx_http_discard_request_body(r);

    if (rc != NGX_OK) {
        return rc;
    }

    /* a poll in a dry run is answered as its page would be: let through */

    admitted = (ctx->status != NGX_HTTP_FLASH_THROTTLE_QUEUED
                && ctx->status != NGX_HTTP_FLASH_THROTTLE_REJECTED
                && ctx->status != NGX_HTTP_FLASH_THROTTLE_CLOSED
                && ctx->status != NGX_HTTP_FLASH_THROTTLE_SOLD_OUT)
               || ctx->conf->dry_run;

    if (ngx_http_flash_throttle_head(r, ctx, admitted) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    one.buf = NULL;
    one.next = NULL;
    out = &one;

    if (admitted || ctx->json) {
        one.buf = ngx_http_flash_throttle_json(r, ctx, admitted, text);

    } else {
        out = ngx_http_flash_throttle_page(r, ctx, &one);
    }

    if (out == NULL || out->buf == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    /*
     * Finalized here rather than returned: what the filters return would send
     * the request on to the next phase.
     */

    ngx_http_finalize_request(r, ngx_http_flash_throttle_send(r, out));

    return NGX_DONE;
}


static ngx_int_t
ngx_http_flash_throttle_head(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ngx_uint_t admitted)
{
    u_char    *p, *seconds;
    size_t     len;
    uint32_t   retry;

    if (admitted) {
        r->headers_out.status = NGX_HTTP_OK;

    } else if (ctx->status == NGX_HTTP_FLASH_THROTTLE_SOLD_OUT) {
        r->headers_out.status = NGX_HTTP_CONFLICT;

    } else {
        r->headers_out.status = ctx->conf->status_code;
    }

    /* on the way of an error_page: its status is not ours */

    r->err_status = 0;

    /* conditions that the client sets are on the upstream's resource */

    r->disable_not_modified = 1;

    if (ngx_http_flash_throttle_add_header(r, "Cache-Control",
                                           (u_char *) "no-store", 8)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    /* an error is not kept by a cache that ignores "no-store", a page may be */

    if (r->headers_out.status < NGX_HTTP_SPECIAL_RESPONSE
        && ngx_http_flash_throttle_add_header(r, "Vary",
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
    p = ngx_http_flash_throttle_number(seconds, ngx_max(retry, 1));
    len = p - seconds;

    if (ngx_http_flash_throttle_add_header(r, "Retry-After", seconds, len)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    /*
     * The page comes from memory and does not know the advised time; only a
     * header can tell a browser without scripts.  With scripts, the page stops
     * this timer and polls.
     */

    return ctx->json ? NGX_OK
                     : ngx_http_flash_throttle_add_header(r, "Refresh",
                                                          seconds, len);
}


static ngx_buf_t *
ngx_http_flash_throttle_json(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ngx_uint_t admitted, u_char *text)
{
    u_char     *p;
    ngx_buf_t  *b;

    b = ngx_create_temp_buf(r->pool, NGX_HTTP_FLASH_THROTTLE_JSON_LEN);
    if (b == NULL) {
        return NULL;
    }

    p = b->last;

    if (admitted) {
        p = ngx_http_flash_throttle_copy(p, "{\"status\":\"admitted\"");

    } else if (ctx->status == NGX_HTTP_FLASH_THROTTLE_QUEUED) {
        p = ngx_http_flash_throttle_copy(p, "{\"status\":\"queued\"");

    } else if (ctx->status == NGX_HTTP_FLASH_THROTTLE_CLOSED) {
        p = ngx_http_flash_throttle_copy(p, "{\"status\":\"closed\"");

    } else if (ctx->status == NGX_HTTP_FLASH_THROTTLE_SOLD_OUT) {
        p = ngx_http_flash_throttle_copy(p, "{\"status\":\"sold_out\"");

    } else {
        p = ngx_http_flash_throttle_copy(p, "{\"status\":\"rejected\"");
    }

    if (!admitted && ctx->status == NGX_HTTP_FLASH_THROTTLE_CLOSED) {

        /* before the opening nobody has a place */

        p = ngx_http_flash_throttle_copy(p, ",\"opens_ms\":");
        p = ngx_http_flash_throttle_number(p, ctx->conf->opens);

    } else {
        p = ngx_http_flash_throttle_copy(p, ",\"position\":");
        p = ngx_http_flash_throttle_number(p, admitted ? 0
                                                     : ctx->verdict.position);
        p = ngx_http_flash_throttle_copy(p, ",\"wait_ms\":");
        p = ngx_http_flash_throttle_number(p, admitted ? 0
                                                     : ctx->verdict.wait_ms);
    }

    p = ngx_http_flash_throttle_copy(p, ",\"retry_ms\":");
    p = ngx_http_flash_throttle_number(p, admitted ? 0 : ctx->verdict.retry_ms);
    p = ngx_http_flash_throttle_copy(p, ",\"first_attempt_ms\":");
    p = ngx_http_flash_throttle_number(p, ctx->ticket.first_ms);

    if (text) {
        p = ngx_http_flash_throttle_copy(p, ",\"ticket\":\"");
        p = ngx_cpymem(p, text, FT_TICKET_LEN);
        *p++ = '"';
    }

    *p++ = '}';
    b->last = p;

    ngx_str_set(&r->headers_out.content_type, "application/json");
    r->headers_out.content_type_len = r->headers_out.content_type.len;

    return b;
}


/*
 * ngx_sprintf() takes several times as long, and every answer has numbers: two
 * digits a division.
 */

static u_char *
ngx_http_flash_throttle_number(u_char *p, uint64_t n)
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


/*
 * The same bytes for everybody who comes for the first time; whoever comes back
 * for a page rather than polls has no script that fills in the rest.
 */

static ngx_chain_t *
ngx_http_flash_throttle_page(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ngx_chain_t *one)
{
    ngx_int_t                             gzip;
    ngx_buf_t                            *b;
    ngx_str_t                            *body;
    ngx_http_flash_throttle_page_t       *page;
    ngx_http_flash_throttle_main_conf_t  *ftmf;

    ftmf = ngx_http_get_module_main_conf(r, ngx_http_flash_throttle_module);

    switch (ctx->status) {

    case NGX_HTTP_FLASH_THROTTLE_REJECTED:
        page = ftmf->rejected;
        break;

    case NGX_HTTP_FLASH_THROTTLE_CLOSED:
        page = ftmf->closed;
        break;

    case NGX_HTTP_FLASH_THROTTLE_SOLD_OUT:
        page = ftmf->sold_out;
        break;

    default: /* NGX_HTTP_FLASH_THROTTLE_QUEUED */
        page = ngx_http_flash_throttle_find_page(r, ctx->conf);
        break;
    }

    if (page == NULL) {
        return NULL;
    }

    gzip = ngx_http_flash_throttle_can_gzip(r, page);

    if (gzip == NGX_ERROR) {
        return NULL;
    }

    ngx_str_set(&r->headers_out.content_type, "text/html");
    r->headers_out.content_type_len = r->headers_out.content_type.len;
    ngx_str_set(&r->headers_out.charset, "utf-8");

    if (page->pieces && !ngx_http_flash_throttle_is_first(r, ctx)) {
        return ngx_http_flash_throttle_fill(r, ctx, page, gzip == NGX_OK);
    }

    b = ngx_calloc_buf(r->pool);
    if (b == NULL) {
        return NULL;
    }

    /* marked as memory: no filter may write into the page */

    body = (gzip == NGX_OK) ? &page->gzip : &page->html;

    b->pos = body->data;
    b->last = body->data + body->len;
    b->memory = 1;

    one->buf = b;

    return one;
}


/* NGX_OK: the response is said to be compressed.  NGX_DECLINED: it is not. */

static ngx_int_t
ngx_http_flash_throttle_can_gzip(ngx_http_request_t *r,
    ngx_http_flash_throttle_page_t *page)
{
#if (NGX_HTTP_GZIP)

    if (page->gzip.len == 0) {
        return NGX_DECLINED;
    }

    r->gzip_vary = 1;

    if (ngx_http_gzip_ok(r) != NGX_OK) {
        return NGX_DECLINED;
    }

    if (ngx_http_flash_throttle_add_header(r, "Content-Encoding",
                                           (u_char *) "gzip", 4)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    r->headers_out.content_encoding =
                    (ngx_table_elt_t *) r->headers_out.headers.last->elts
                    + r->headers_out.headers.last->nelts - 1;

    return NGX_OK;

#else

    return NGX_DECLINED;

#endif
}


/* A first attempt, by a link. */

static ngx_uint_t
ngx_http_flash_throttle_is_first(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx)
{
    return ctx->status != NGX_HTTP_FLASH_THROTTLE_REJECTED && ctx->fresh
           && (r->method & (NGX_HTTP_GET|NGX_HTTP_HEAD));
}


static ngx_int_t
ngx_http_flash_throttle_send(ngx_http_request_t *r, ngx_chain_t *out)
{
    off_t         len;
    ngx_int_t     rc;
    ngx_chain_t  *cl, *last;

    len = 0;
    last = out;

    for (cl = out; cl; cl = cl->next) {
        len += cl->buf->last - cl->buf->pos;
        last = cl;
    }

    r->headers_out.content_length_n = len;

    last->buf->last_buf = 1;
    last->buf->last_in_chain = 1;

    rc = ngx_http_send_header(r);

    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only) {
        return rc;
    }

    return ngx_http_output_filter(r, out);
}
