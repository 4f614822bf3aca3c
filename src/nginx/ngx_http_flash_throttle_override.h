
/*
 * Copyright (C) flash_throttle contributors
 *
 * Overrides by the operator: a command is a JSON object.
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_OVERRIDE_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_OVERRIDE_H_INCLUDED_


#include "ngx_http_flash_throttle.h"

#pragma GCC visibility push(hidden)


/*
 * Executes the command in the text of a request body, and returns the response
 * and its status.  NULL: no memory.
 */
ngx_buf_t *ngx_http_flash_throttle_override(ngx_http_request_t *r,
    ngx_str_t *text, ngx_uint_t *status);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_OVERRIDE_H_INCLUDED_ */
