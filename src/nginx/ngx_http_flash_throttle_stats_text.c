
/*
 * Copyright (C) flash_throttle contributors
 */


#include "ngx_http_flash_throttle_stats_text.h"


#define NGX_HTTP_FLASH_THROTTLE_STATS_TEXT_SIZE  8192


void
ngx_http_flash_throttle_stats_text_init(
    ngx_http_flash_throttle_stats_text_t *text, ngx_pool_t *pool)
{
    text->pool = pool;
    text->out = NULL;
    text->last = &text->out;
    text->buf = NULL;
}


ngx_buf_t *
ngx_http_flash_throttle_stats_text_space(
    ngx_http_flash_throttle_stats_text_t *text, size_t size)
{
    ngx_buf_t  *b;

    b = text->buf;

    if (b && (size_t) (b->end - b->last) >= size) {
        return b;
    }

    b = ngx_create_temp_buf(text->pool,
                       ngx_max(size, NGX_HTTP_FLASH_THROTTLE_STATS_TEXT_SIZE));
    if (b == NULL) {
        return NULL;
    }

    if (ngx_http_flash_throttle_stats_text_add(text, b) != NGX_OK) {
        return NULL;
    }

    return b;
}


ngx_int_t
ngx_http_flash_throttle_stats_text_add(
    ngx_http_flash_throttle_stats_text_t *text, ngx_buf_t *b)
{
    ngx_chain_t  *cl;

    cl = ngx_alloc_chain_link(text->pool);
    if (cl == NULL) {
        return NGX_ERROR;
    }

    cl->buf = b;
    cl->next = NULL;

    *text->last = cl;
    text->last = &cl->next;
    text->buf = b;

    return NGX_OK;
}
