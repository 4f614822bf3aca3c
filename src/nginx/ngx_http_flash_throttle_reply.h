
/*
 * Copyright (C) flash_throttle contributors
 *
 * The response of the edge in place of the upstream's: a page or JSON.
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_REPLY_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_REPLY_H_INCLUDED_


#include "ngx_http_flash_throttle.h"

#pragma GCC visibility push(hidden)


/*
 * Discards the request body, sends the response and finalizes the request.
 * text: the signed ticket or pass, for JSON; NULL: none.
 */
ngx_int_t ngx_http_flash_throttle_reply(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, u_char *text);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_REPLY_H_INCLUDED_ */
