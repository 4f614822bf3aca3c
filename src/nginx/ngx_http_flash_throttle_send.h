
/*
 * Copyright (C) flash_throttle contributors
 *
 * Responses from memory.
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_SEND_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_SEND_H_INCLUDED_


#include "ngx_http_flash_throttle.h"

#pragma GCC visibility push(hidden)


/* Forbids caches to store the response, and ignores conditions such as
   If-None-Match. */
ngx_int_t ngx_http_flash_throttle_send_no_store(ngx_http_request_t *r);

/*
 * Sends buffers in memory; the caller has set the content type.  Returns what
 * ngx_http_finalize_request() takes.
 */
ngx_int_t ngx_http_flash_throttle_send(ngx_http_request_t *r,
    ngx_uint_t status, ngx_chain_t *out);

/* Sends JSON that no cache stores. */
ngx_int_t ngx_http_flash_throttle_send_json(ngx_http_request_t *r,
    ngx_uint_t status, ngx_buf_t *b);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_SEND_H_INCLUDED_ */
