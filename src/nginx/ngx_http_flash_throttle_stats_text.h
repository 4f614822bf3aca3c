
/*
 * Copyright (C) flash_throttle contributors
 *
 * A text of any length, in a chain of buffers.
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_STATS_TEXT_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_STATS_TEXT_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>

#pragma GCC visibility push(hidden)


/* a name, a number and the punctuation */
#define NGX_HTTP_FLASH_THROTTLE_STATS_FIELD  (64 + NGX_INT64_LEN)


typedef struct {
    ngx_pool_t                      *pool;
    ngx_chain_t                     *out;
    ngx_chain_t                    **last;
    ngx_buf_t                       *buf;           /* the last one */
} ngx_http_flash_throttle_stats_text_t;


void ngx_http_flash_throttle_stats_text_init(
    ngx_http_flash_throttle_stats_text_t *text, ngx_pool_t *pool);

/* A buffer with space for `size` bytes at its `last`.  NULL: no memory. */
ngx_buf_t *ngx_http_flash_throttle_stats_text_space(
    ngx_http_flash_throttle_stats_text_t *text, size_t size);

/* Appends a buffer that is not copied. */
ngx_int_t ngx_http_flash_throttle_stats_text_add(
    ngx_http_flash_throttle_stats_text_t *text, ngx_buf_t *b);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_STATS_TEXT_H_INCLUDED_ */
