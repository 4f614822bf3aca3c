
/*
 * Copyright (C) flash_throttle contributors
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_HANDLER_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_HANDLER_H_INCLUDED_


#include "ngx_http_flash_throttle.h"

#pragma GCC visibility push(hidden)


/* The handler of the preaccess phase. */
ngx_int_t ngx_http_flash_throttle_handler(ngx_http_request_t *r);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_HANDLER_H_INCLUDED_ */
