
/*
 * Copyright (C) flash_throttle contributors
 */


#include "ngx_http_flash_throttle_parse.h"


#define NGX_HTTP_FLASH_THROTTLE_PARSE_MAX  1000000


ngx_uint_t
ngx_http_flash_throttle_parse_param(ngx_str_t *arg, const char *name,
    ngx_str_t *value)
{
    size_t  len;

    len = ngx_strlen(name);

    if (arg->len <= len || ngx_strncmp(arg->data, name, len) != 0
        || arg->data[len] != '=')
    {
        return 0;
    }

    value->data = arg->data + len + 1;
    value->len = arg->len - len - 1;

    return 1;
}


char *
ngx_http_flash_throttle_parse_unique(ngx_conf_t *cf, ngx_command_t *cmd,
    ngx_uint_t first)
{
    u_char      *end;
    size_t       len;
    ngx_str_t   *value;
    ngx_uint_t   i, k;

    value = cf->args->elts;

    for (i = first; i < cf->args->nelts; i++) {

        end = ngx_strlchr(value[i].data, value[i].data + value[i].len, '=');
        if (end == NULL) {
            continue;
        }

        len = end + 1 - value[i].data;

        for (k = first; k < i; k++) {

            if (value[k].len >= len
                && ngx_strncmp(value[k].data, value[i].data, len) == 0)
            {
                ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                                   "duplicate parameter \"%V\" in \"%V\" "
                                   "directive, \"%V\" was specified earlier",
                                   &value[i], &cmd->name, &value[k]);
                return NGX_CONF_ERROR;
            }
        }
    }

    return NGX_CONF_OK;
}


ngx_int_t
ngx_http_flash_throttle_parse_msec(ngx_str_t *s, ngx_int_t min, ngx_int_t max,
    uint32_t *msec)
{
    ngx_int_t  value;

    value = ngx_parse_time(s, 0);

    if (value == NGX_ERROR || value < min || value > max) {
        return NGX_ERROR;
    }

    *msec = value;

    return NGX_OK;
}


ngx_int_t
ngx_http_flash_throttle_parse_rate(ngx_str_t *s, uint32_t *rate)
{
    u_char     *unit;
    ngx_int_t   n, scale;

    if (s->len < 4) {
        return NGX_ERROR;
    }

    unit = s->data + s->len - 3;

    if (ngx_strncmp(unit, "r/s", 3) == 0) {
        scale = 1;

    } else if (ngx_strncmp(unit, "r/m", 3) == 0) {
        scale = 60;

    } else {
        return NGX_ERROR;
    }

    n = ngx_atoi(s->data, s->len - 3);

    if (n < 1 || n > NGX_HTTP_FLASH_THROTTLE_PARSE_MAX * scale) {
        return NGX_ERROR;
    }

    /* ngx_int_t may have 32 bits */

    *rate = (uint64_t) n * 1000 / scale;

    return NGX_OK;
}


ngx_int_t
ngx_http_flash_throttle_parse_count(ngx_str_t *s, uint32_t *n)
{
    ngx_int_t  value;

    value = ngx_atoi(s->data, s->len);

    if (value < 1 || value > NGX_HTTP_FLASH_THROTTLE_PARSE_MAX) {
        return NGX_ERROR;
    }

    *n = value;

    return NGX_OK;
}


char *
ngx_http_flash_throttle_parse_error(ngx_conf_t *cf, ngx_command_t *cmd,
    const char *what, ngx_str_t *arg, const char *must)
{
    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "invalid %s \"%V\" in \"%V\" directive, it must be %s",
                       what, arg, &cmd->name, must);

    return NGX_CONF_ERROR;
}
