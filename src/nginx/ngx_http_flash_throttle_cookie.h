
/*
 * Copyright (C) flash_throttle contributors
 *
 * The response header Set-Cookie with the ticket.
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_COOKIE_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_COOKIE_H_INCLUDED_


#include "ngx_http_flash_throttle.h"

#pragma GCC visibility push(hidden)


/* Sets the cookie to the signed text of ctx->ticket. */
ngx_int_t ngx_http_flash_throttle_cookie_set(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, u_char *text);

/* Deletes the cookie. */
ngx_int_t ngx_http_flash_throttle_cookie_clear(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_COOKIE_H_INCLUDED_ */
