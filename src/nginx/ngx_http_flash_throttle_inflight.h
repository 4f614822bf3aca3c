
/*
 * Copyright (C) flash_throttle contributors
 *
 * The end of a request in flight: its response is complete, which is before a
 * slow client has received all of it.
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_INFLIGHT_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_INFLIGHT_H_INCLUDED_


#include "ngx_http_flash_throttle.h"

#pragma GCC visibility push(hidden)


/* Installs the body filter. */
void ngx_http_flash_throttle_inflight_init(void);

/* Ends a request in flight; calls after the first have no effect. */
void ngx_http_flash_throttle_inflight_done(
    ngx_http_flash_throttle_ctx_t *ctx);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_INFLIGHT_H_INCLUDED_ */
