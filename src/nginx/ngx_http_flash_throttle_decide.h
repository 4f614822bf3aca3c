
/*
 * Copyright (C) flash_throttle contributors
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_DECIDE_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_DECIDE_H_INCLUDED_


#include "ngx_http_flash_throttle.h"

#pragma GCC visibility push(hidden)


/*
 * Creates the context of a request and sets its status.  NGX_AGAIN: the request
 * is held, the status follows.  NGX_DECLINED: the key is empty, there is no
 * context.
 */
ngx_int_t ngx_http_flash_throttle_decide(ngx_http_request_t *r,
    ngx_http_flash_throttle_conf_t *ftcf,
    void (*release)(ngx_http_flash_throttle_ctx_t *ctx));

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_DECIDE_H_INCLUDED_ */
