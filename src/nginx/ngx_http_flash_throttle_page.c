
/*
 * Copyright (C) flash_throttle contributors
 */


#include "ngx_http_flash_throttle_headers.h"
#include "ngx_http_flash_throttle_page.h"
#include "ngx_http_flash_throttle_template.h"


static ngx_http_flash_throttle_page_t *ngx_http_flash_throttle_page_find(
    ngx_http_request_t *r, ngx_http_flash_throttle_ctx_t *ctx);
static ngx_http_flash_throttle_page_t *ngx_http_flash_throttle_page_queue(
    ngx_http_request_t *r, ngx_http_flash_throttle_conf_t *ftcf);
static ngx_uint_t ngx_http_flash_throttle_page_is_filled(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ngx_http_flash_throttle_page_t *page);
static ngx_uint_t ngx_http_flash_throttle_page_is_gzip(ngx_http_request_t *r,
    ngx_http_flash_throttle_page_t *page);


ngx_chain_t *
ngx_http_flash_throttle_page(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ngx_chain_t *one)
{
    ngx_buf_t                       *b;
    ngx_str_t                       *body;
    ngx_uint_t                       gzip;
    ngx_chain_t                     *out;
    ngx_http_flash_throttle_page_t  *page;

    page = ngx_http_flash_throttle_page_find(r, ctx);

    if (page == NULL) {
        return NULL;
    }

    gzip = ngx_http_flash_throttle_page_is_gzip(r, page);

    if (ngx_http_flash_throttle_page_is_filled(r, ctx, page)) {
        out = ngx_http_flash_throttle_template_fill(r, ctx, page, gzip);

        if (out == NULL) {
            return NULL;
        }

    } else {
        b = ngx_calloc_buf(r->pool);
        if (b == NULL) {
            return NULL;
        }

        /* b->memory: filters must not modify the page */

        body = gzip ? &page->gzip : &page->html;

        b->pos = body->data;
        b->last = body->data + body->len;
        b->memory = 1;

        one->buf = b;
        one->next = NULL;
        out = one;
    }

    /* last, because an error page of nginx would keep the header */

    if (gzip) {

        if (ngx_http_flash_throttle_headers_add(r, "Content-Encoding",
                                                (u_char *) "gzip", 4)
            != NGX_OK)
        {
            return NULL;
        }

        r->headers_out.content_encoding =
                                     ngx_http_flash_throttle_headers_last(r);
    }

    ngx_str_set(&r->headers_out.content_type, "text/html");
    r->headers_out.content_type_len = r->headers_out.content_type.len;
    ngx_str_set(&r->headers_out.charset, "utf-8");

    return out;
}


static ngx_http_flash_throttle_page_t *
ngx_http_flash_throttle_page_find(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx)
{
    ngx_http_flash_throttle_main_conf_t  *ftmf;

    ftmf = ngx_http_get_module_main_conf(r, ngx_http_flash_throttle_module);

    switch (ctx->status) {

    case NGX_HTTP_FLASH_THROTTLE_REJECTED:
        return ftmf->rejected;

    case NGX_HTTP_FLASH_THROTTLE_CLOSED:
        return ftmf->closed;

    case NGX_HTTP_FLASH_THROTTLE_SOLD_OUT:
        return ftmf->sold_out;

    default: /* NGX_HTTP_FLASH_THROTTLE_QUEUED */
        return ngx_http_flash_throttle_page_queue(r, ctx->conf);
    }
}


static ngx_http_flash_throttle_page_t *
ngx_http_flash_throttle_page_queue(ngx_http_request_t *r,
    ngx_http_flash_throttle_conf_t *ftcf)
{
    ngx_str_t                             name;
    ngx_str_node_t                       *sn;
    ngx_http_flash_throttle_page_node_t  *node;

    if (ftcf->pages == NULL) {
        return ftcf->page;
    }

    if (ngx_http_complex_value(r, &ftcf->pages->name, &name) != NGX_OK) {
        return NULL;
    }

    sn = ngx_str_rbtree_lookup(&ftcf->pages->tree, &name,
                               ngx_crc32_long(name.data, name.len));
    if (sn == NULL) {
        return ftcf->page;
    }

    node = (ngx_http_flash_throttle_page_node_t *) sn;

    return node->page;
}


/*
 * First attempts get the same bytes, and the script replaces the slots.  A
 * client that returns by a page request has no script.
 */

static ngx_uint_t
ngx_http_flash_throttle_page_is_filled(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ngx_http_flash_throttle_page_t *page)
{
    return page->pieces
           && !(ctx->fresh && ctx->status != NGX_HTTP_FLASH_THROTTLE_REJECTED
                && (r->method & (NGX_HTTP_GET|NGX_HTTP_HEAD)));
}


static ngx_uint_t
ngx_http_flash_throttle_page_is_gzip(ngx_http_request_t *r,
    ngx_http_flash_throttle_page_t *page)
{
#if (NGX_HTTP_GZIP)

    if (page->gzip.len == 0) {
        return 0;
    }

    r->gzip_vary = 1;

    return ngx_http_gzip_ok(r) == NGX_OK;

#else

    return 0;

#endif
}
