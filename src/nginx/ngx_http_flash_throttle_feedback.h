
/*
 * Copyright (C) flash_throttle contributors
 *
 * Feedback: the response header Flash-Throttle of the upstream, which is not
 * sent to the client.
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_FEEDBACK_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_FEEDBACK_H_INCLUDED_


#include "ngx_http_flash_throttle.h"

#pragma GCC visibility push(hidden)


/* Installs the header filter. */
void ngx_http_flash_throttle_feedback_init(void);

/* Reads the feedback of r->upstream, once, if it is enabled. */
ngx_int_t ngx_http_flash_throttle_feedback_read(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_FEEDBACK_H_INCLUDED_ */
