
/*
 * Copyright (C) flash_throttle contributors
 *
 * The ticket of a request: found in a cookie or a header, or new; signed.
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_TICKET_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_TICKET_H_INCLUDED_


#include "ngx_http_flash_throttle.h"
#include "ngx_http_flash_throttle_request.h"

#pragma GCC visibility push(hidden)


/*
 * Verifies the tickets of a request and copies the best usable one to
 * ctx->ticket; kind 0: there is none.  Consumes request->cookie.
 */
void ngx_http_flash_throttle_ticket_find(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx,
    ngx_http_flash_throttle_request_t *request, uint64_t now_ms);

/* Makes ctx->ticket the one of a first attempt. */
void ngx_http_flash_throttle_ticket_new(ngx_http_flash_throttle_ctx_t *ctx,
    uint64_t now_ms);

/* Sets ctx->ticket.shuffle if the ticket is from before the opening. */
ngx_int_t ngx_http_flash_throttle_ticket_shuffle(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx);

/* Signs ctx->ticket; text has space for FT_TICKET_LEN bytes. */
ngx_int_t ngx_http_flash_throttle_ticket_sign(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, u_char *text);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_TICKET_H_INCLUDED_ */
