
/*
 * Copyright (C) flash_throttle contributors
 *
 * The pages that are sent in place of the upstream's response.
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_PAGE_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_PAGE_H_INCLUDED_


#include "ngx_http_flash_throttle_template.h"

#pragma GCC visibility push(hidden)


typedef struct {
    ngx_str_node_t                   sn;            /* the file's name */
    ngx_http_flash_throttle_page_t  *page;
} ngx_http_flash_throttle_page_node_t;


/* The pages that a file name with variables can refer to. */
struct ngx_http_flash_throttle_pages_s {
    ngx_http_complex_value_t         name;
    ngx_rbtree_t                     tree;
    ngx_rbtree_node_t                sentinel;
};


/*
 * The body for ctx->status, and the headers that describe it.  `one` is used
 * for a body of one buffer.  NULL: no memory, or a variable failed.
 */
ngx_chain_t *ngx_http_flash_throttle_page(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ngx_chain_t *one);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_PAGE_H_INCLUDED_ */
