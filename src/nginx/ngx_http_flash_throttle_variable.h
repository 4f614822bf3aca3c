
/*
 * Copyright (C) flash_throttle contributors
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_VARIABLE_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_VARIABLE_H_INCLUDED_


#include "ngx_http_flash_throttle.h"

#pragma GCC visibility push(hidden)


ngx_int_t ngx_http_flash_throttle_variable_add(ngx_conf_t *cf);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_VARIABLE_H_INCLUDED_ */
