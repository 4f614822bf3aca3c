
/*
 * Copyright (C) flash_throttle contributors
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_COOKIE_CONF_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_COOKIE_CONF_H_INCLUDED_


#include "ngx_http_flash_throttle.h"

#pragma GCC visibility push(hidden)


/* The directive "flash_throttle_cookie". */
char *ngx_http_flash_throttle_cookie_conf(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/* Prepares the text of Set-Cookie for a location. */
ngx_int_t ngx_http_flash_throttle_cookie_conf_init(ngx_conf_t *cf,
    ngx_http_flash_throttle_conf_t *ftcf);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_COOKIE_CONF_H_INCLUDED_ */
