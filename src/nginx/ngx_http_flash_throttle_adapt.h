
/*
 * Copyright (C) flash_throttle contributors
 *
 * Adaptation of the limits to the responses of the upstream.
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_ADAPT_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_ADAPT_H_INCLUDED_


#include "ngx_http_flash_throttle.h"

#pragma GCC visibility push(hidden)


/* The directive "flash_throttle_adapt". */
char *ngx_http_flash_throttle_adapt(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/* Counts a complete response. */
void ngx_http_flash_throttle_adapt_response(
    ngx_http_flash_throttle_ctx_t *ctx);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_ADAPT_H_INCLUDED_ */
