
/*
 * Copyright (C) flash_throttle contributors
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_CTX_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_CTX_H_INCLUDED_


#include "ngx_http_flash_throttle.h"

#pragma GCC visibility push(hidden)


/* The context of the main request, or NULL: the module did not run. */
ngx_http_flash_throttle_ctx_t *ngx_http_flash_throttle_ctx_get(
    ngx_http_request_t *r);

/*
 * Makes the context.  release() is called when the request is destroyed.
 * Members without a default are set before they are read.
 */
ngx_http_flash_throttle_ctx_t *ngx_http_flash_throttle_ctx_create(
    ngx_http_request_t *r, ngx_http_flash_throttle_conf_t *ftcf,
    void (*release)(ngx_http_flash_throttle_ctx_t *ctx));

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_CTX_H_INCLUDED_ */
