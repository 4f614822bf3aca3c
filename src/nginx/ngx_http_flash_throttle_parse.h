
/*
 * Copyright (C) flash_throttle contributors
 *
 * Arguments of directives.
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_PARSE_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_PARSE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>

#pragma GCC visibility push(hidden)


/* Whether an argument is "name=value", and its value. */
ngx_uint_t ngx_http_flash_throttle_parse_param(ngx_str_t *arg,
    const char *name, ngx_str_t *value);

/* Reports a parameter that is given twice, from argument `first` on. */
char *ngx_http_flash_throttle_parse_unique(ngx_conf_t *cf, ngx_command_t *cmd,
    ngx_uint_t first);

/* A time from `min` to `max`, in milliseconds. */
ngx_int_t ngx_http_flash_throttle_parse_msec(ngx_str_t *s, ngx_int_t min,
    ngx_int_t max, uint32_t *msec);

/* "Nr/s" or "Nr/m", in admissions a second x 1000. */
ngx_int_t ngx_http_flash_throttle_parse_rate(ngx_str_t *s, uint32_t *rate);

/* A number from 1 to 1000000. */
ngx_int_t ngx_http_flash_throttle_parse_count(ngx_str_t *s, uint32_t *n);

/*
 * Reports an invalid argument with the values that are accepted.  Always
 * NGX_CONF_ERROR.
 */
char *ngx_http_flash_throttle_parse_error(ngx_conf_t *cf, ngx_command_t *cmd,
    const char *what, ngx_str_t *arg, const char *must);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_PARSE_H_INCLUDED_ */
