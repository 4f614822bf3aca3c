
/*
 * Copyright (C) flash_throttle contributors
 *
 * The variable parts (slots) of a page: {{method}}, {{place}}, {{ahead}} and
 * {{wait}}.  A script replaces them in the browser.  A client that returns
 * without a script gets them filled in.
 *
 * The text between the slots is compressed at configuration.  A gzip response
 * consists of these pieces, with each slot as a stored block in between.
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_TEMPLATE_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_TEMPLATE_H_INCLUDED_


#include "ngx_http_flash_throttle.h"

#pragma GCC visibility push(hidden)


/* The text of a page up to a variable part, or to its end. */
typedef struct {
    ngx_str_t                        text;
    ngx_str_t                        deflated;
    uint32_t                         crc;
    ngx_uint_t                       slot;          /* the variable part */
} ngx_http_flash_throttle_piece_t;


struct ngx_http_flash_throttle_page_s {
    ngx_str_t                        html;          /* slots have defaults */
    ngx_str_t                        gzip;          /* empty: not smaller */
    ngx_array_t                     *pieces;        /* NULL: no slots */
};


/* Splits page->html at its slots and replaces them by their defaults. */
ngx_int_t ngx_http_flash_throttle_template(ngx_conf_t *cf,
    ngx_http_flash_throttle_page_t *page);

/* The body of a page with slots, filled in; NULL: no memory. */
ngx_chain_t *ngx_http_flash_throttle_template_fill(
    ngx_http_request_t *r, ngx_http_flash_throttle_ctx_t *ctx,
    ngx_http_flash_throttle_page_t *page, ngx_uint_t gzip);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_TEMPLATE_H_INCLUDED_ */
