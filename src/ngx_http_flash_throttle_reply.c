
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

#define NGX_HTTP_FLASH_THROTTLE_TIME_LEN                                      \
    (NGX_INT64_LEN + sizeof(" seconds") - 1)


static ngx_int_t ngx_http_flash_throttle_head(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ngx_uint_t admitted);
static ngx_int_t ngx_http_flash_throttle_header(ngx_http_request_t *r,
    const char *name, size_t name_len, u_char *value, size_t len);
static ngx_buf_t *ngx_http_flash_throttle_json(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ngx_uint_t admitted, u_char *text);
static ngx_buf_t *ngx_http_flash_throttle_page(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx);
static ngx_buf_t *ngx_http_flash_throttle_rejected(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx);
static ngx_int_t ngx_http_flash_throttle_send(ngx_http_request_t *r,
    ngx_buf_t *b);


#define ngx_http_flash_throttle_add_header(r, name, value, len)               \
    ngx_http_flash_throttle_header(r, name, sizeof(name) - 1, value, len)


ngx_int_t
ngx_http_flash_throttle_reply(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, u_char *text)
{
    ngx_int_t    rc;
    ngx_buf_t   *b;
    ngx_uint_t   admitted;

    /* no "100 Continue" for a body that nobody will read */

    r->expect_tested = 1;

    rc = ngx_http_discard_request_body(r);

    if (rc != NGX_OK) {
        return rc;
    }

    /* a poll in a dry run is answered as its page would be: let through */

    admitted = (ctx->status != NGX_HTTP_FLASH_THROTTLE_QUEUED
                && ctx->status != NGX_HTTP_FLASH_THROTTLE_REJECTED)
               || ctx->conf->dry_run;

    if (ngx_http_flash_throttle_head(r, ctx, admitted) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (admitted || ctx->json) {
        b = ngx_http_flash_throttle_json(r, ctx, admitted, text);

    } else if (ctx->status == NGX_HTTP_FLASH_THROTTLE_REJECTED) {
        b = ngx_http_flash_throttle_rejected(r, ctx);

    } else {
        b = ngx_http_flash_throttle_page(r, ctx);
    }

    if (b == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    /*
     * Finalized here rather than returned: what the filters return would send
     * the request on to the next phase.
     */

    ngx_http_finalize_request(r, ngx_http_flash_throttle_send(r, b));

    return NGX_DONE;
}


static ngx_int_t
ngx_http_flash_throttle_head(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ngx_uint_t admitted)
{
    u_char  *p, *seconds;
    size_t   len;

    r->headers_out.status = admitted ? NGX_HTTP_OK : ctx->conf->status_code;

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

    p = ngx_sprintf(seconds, "%uD", ngx_max(ctx->verdict.retry_ms / 1000
                                    + (ctx->verdict.retry_ms % 1000 != 0), 1));
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


/* Not among headers_out's known ones: "expires" would replace Cache-Control. */

static ngx_int_t
ngx_http_flash_throttle_header(ngx_http_request_t *r, const char *name,
    size_t name_len, u_char *value, size_t len)
{
    ngx_table_elt_t  *h;

    h = ngx_list_push(&r->headers_out.headers);
    if (h == NULL) {
        return NGX_ERROR;
    }

    h->hash = 1;
#if (nginx_version >= 1023000)
    h->next = NULL;
#endif
    h->key.len = name_len;
    h->key.data = (u_char *) name;
    h->value.len = len;
    h->value.data = value;

    return NGX_OK;
}


static ngx_buf_t *
ngx_http_flash_throttle_json(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ngx_uint_t admitted, u_char *text)
{
    ngx_buf_t   *b;
    const char  *status;

    b = ngx_create_temp_buf(r->pool, NGX_HTTP_FLASH_THROTTLE_JSON_LEN);
    if (b == NULL) {
        return NULL;
    }

    status = admitted ? "admitted"
             : ctx->status == NGX_HTTP_FLASH_THROTTLE_QUEUED ? "queued"
                                                             : "rejected";

    b->last = ngx_sprintf(b->last,
                          "{\"status\":\"%s\",\"position\":%uD,"
                          "\"wait_ms\":%uL,\"retry_ms\":%uD,"
                          "\"first_attempt_ms\":%uL",
                          status, admitted ? 0 : ctx->verdict.position,
                          admitted ? 0 : ctx->verdict.wait_ms,
                          admitted ? 0 : ctx->verdict.retry_ms,
                          ctx->ticket.first_ms);

    if (text) {
        b->last = ngx_sprintf(b->last, ",\"ticket\":\"%*s\"",
                              (size_t) FT_TICKET_LEN, text);
    }

    *b->last++ = '}';

    ngx_str_set(&r->headers_out.content_type, "application/json");
    r->headers_out.content_type_len = r->headers_out.content_type.len;

    return b;
}


static void
ngx_http_flash_throttle_html(ngx_http_request_t *r)
{
    ngx_str_set(&r->headers_out.content_type, "text/html");
    r->headers_out.content_type_len = r->headers_out.content_type.len;
    ngx_str_set(&r->headers_out.charset, "utf-8");
}


/* The buffer is marked as memory: no filter may write into the page. */

static ngx_buf_t *
ngx_http_flash_throttle_page(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx)
{
    ngx_buf_t                       *b;
    ngx_str_t                       *body;
    ngx_http_flash_throttle_page_t  *page;

    page = ctx->conf->page;
    body = &page->html;

#if (NGX_HTTP_GZIP)

    if (page->gzip.len) {
        r->gzip_vary = 1;

        if (ngx_http_gzip_ok(r) == NGX_OK) {
            body = &page->gzip;

            if (ngx_http_flash_throttle_add_header(r, "Content-Encoding",
                                                   (u_char *) "gzip", 4)
                != NGX_OK)
            {
                return NULL;
            }

            r->headers_out.content_encoding =
                    (ngx_table_elt_t *) r->headers_out.headers.last->elts
                    + r->headers_out.headers.last->nelts - 1;
        }
    }

#endif

    b = ngx_calloc_buf(r->pool);
    if (b == NULL) {
        return NULL;
    }

    b->pos = body->data;
    b->last = body->data + body->len;
    b->memory = 1;

    ngx_http_flash_throttle_html(r);

    return b;
}


static ngx_buf_t *
ngx_http_flash_throttle_rejected(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx)
{
    uint64_t                              seconds;
    ngx_buf_t                            *b;
    ngx_http_flash_throttle_rejected_t   *page;
    ngx_http_flash_throttle_main_conf_t  *ftmf;

    ftmf = ngx_http_get_module_main_conf(r, ngx_http_flash_throttle_module);

    page = &ftmf->rejected;
    seconds = ctx->verdict.retry_ms / 1000 + 1;

    b = ngx_create_temp_buf(r->pool, page->head.len + page->tail.len
                                     + NGX_HTTP_FLASH_THROTTLE_TIME_LEN);
    if (b == NULL) {
        return NULL;
    }

    b->last = ngx_cpymem(b->last, page->head.data, page->head.len);

    if (seconds < 120) {
        b->last = ngx_sprintf(b->last, "%uL second%s", seconds,
                              seconds == 1 ? "" : "s");
    } else {
        b->last = ngx_sprintf(b->last, "%uL minutes", (seconds + 59) / 60);
    }

    b->last = ngx_cpymem(b->last, page->tail.data, page->tail.len);

    ngx_http_flash_throttle_html(r);

    return b;
}


static ngx_int_t
ngx_http_flash_throttle_send(ngx_http_request_t *r, ngx_buf_t *b)
{
    ngx_int_t    rc;
    ngx_chain_t  out;

    r->headers_out.content_length_n = b->last - b->pos;

    b->last_buf = 1;
    b->last_in_chain = 1;

    rc = ngx_http_send_header(r);

    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only) {
        return rc;
    }

    out.buf = b;
    out.next = NULL;

    return ngx_http_output_filter(r, &out);
}
