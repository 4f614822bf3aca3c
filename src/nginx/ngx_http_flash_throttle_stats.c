
/*
 * Copyright (C) flash_throttle contributors
 */


#include "ngx_http_flash_throttle_headers.h"
#include "ngx_http_flash_throttle_send.h"
#include "ngx_http_flash_throttle_stats.h"
#include "ngx_http_flash_throttle_stats_html.h"
#include "ngx_http_flash_throttle_stats_json.h"
#include "ngx_http_flash_throttle_stats_prometheus.h"
#include "ngx_http_flash_throttle_stats_text.h"

#include "ft_format.h"


typedef struct {
    ngx_str_t                        type;
    size_t                           len;       /* without parameters */
} ngx_http_flash_throttle_stats_type_t;


static ngx_int_t ngx_http_flash_throttle_stats_handler(ngx_http_request_t *r);
static ngx_int_t ngx_http_flash_throttle_stats_format(ngx_http_request_t *r,
    ft_format_t *format);
static ngx_int_t ngx_http_flash_throttle_stats_history(ngx_http_request_t *r,
    ngx_uint_t *steps);

/* by ft_format_t */

static ngx_http_flash_throttle_stats_type_t
    ngx_http_flash_throttle_stats_types[] =
{
    { ngx_string("application/json"),
      sizeof("application/json") - 1 },

    { ngx_string("application/openmetrics-text; version=1.0.0; charset=utf-8"),
      sizeof("application/openmetrics-text") - 1 },

    { ngx_string("text/plain; version=0.0.4; charset=utf-8"),
      sizeof("text/plain") - 1 },

    { ngx_string("text/html; charset=utf-8"),
      sizeof("text/html") - 1 }
};


char *
ngx_http_flash_throttle_stats(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_flash_throttle_conf_t *ftcf = conf;

    ngx_http_core_loc_conf_t             *clcf;
    ngx_http_flash_throttle_main_conf_t  *ftmf;

    if (ftcf->endpoint) {
        return ftcf->endpoint == ngx_http_flash_throttle_stats_handler
               ? "is duplicate"
               : "is duplicate, \"flash_throttle_control\" directive was "
                 "specified earlier";
    }

    ftmf = ngx_http_conf_get_module_main_conf(cf,
                                              ngx_http_flash_throttle_module);

    if (ftmf->csp.data == NULL
        && ngx_http_flash_throttle_stats_html_init(cf, ftmf) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);
    clcf->handler = ngx_http_flash_throttle_stats_handler;

    ftcf->endpoint = ngx_http_flash_throttle_stats_handler;

    return NGX_CONF_OK;
}


static ngx_int_t
ngx_http_flash_throttle_stats_handler(ngx_http_request_t *r)
{
    ngx_int_t                              rc;
    ngx_uint_t                             steps;
    ft_format_t                            format;
    ngx_http_flash_throttle_stats_text_t   text;
    ngx_http_flash_throttle_stats_type_t  *type;

    if (!(r->method & (NGX_HTTP_GET|NGX_HTTP_HEAD))) {
        return NGX_HTTP_NOT_ALLOWED;
    }

    rc = ngx_http_discard_request_body(r);

    if (rc != NGX_OK) {
        return rc;
    }

    if (ngx_http_flash_throttle_stats_format(r, &format) != NGX_OK
        || ngx_http_flash_throttle_stats_history(r, &steps) != NGX_OK)
    {
        return NGX_HTTP_BAD_REQUEST;
    }

    ngx_http_flash_throttle_stats_text_init(&text, r->pool);

    if (format == FT_FORMAT_HTML) {
        rc = ngx_http_flash_throttle_stats_html(r, &text);

    } else if (format == FT_FORMAT_JSON) {
        rc = ngx_http_flash_throttle_stats_json(r, &text, steps);

    } else {
        rc = ngx_http_flash_throttle_stats_prometheus(r, &text,
                                              format == FT_FORMAT_OPENMETRICS);
    }

    if (rc != NGX_OK
        || ngx_http_flash_throttle_headers_add(r, "Vary", (u_char *) "Accept",
                                               6)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (format != FT_FORMAT_HTML
        && ngx_http_flash_throttle_send_no_store(r) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    type = &ngx_http_flash_throttle_stats_types[format];

    r->headers_out.content_type = type->type;
    r->headers_out.content_type_len = type->len;

    return ngx_http_flash_throttle_send(r, NGX_HTTP_OK, text.out);
}


/* The argument "format" takes precedence over Accept. */

static ngx_int_t
ngx_http_flash_throttle_stats_format(ngx_http_request_t *r,
    ft_format_t *format)
{
    ngx_str_t                           value;
    ft_formats_t                        formats;
    ngx_table_elt_t                    *h;
    ngx_http_flash_throttle_headers_t   headers;

    if (ngx_http_arg(r, (u_char *) "format", sizeof("format") - 1, &value)
        == NGX_OK)
    {
        return ft_format_named((char *) value.data, value.len, format)
               ? NGX_OK : NGX_ERROR;
    }

    ngx_memzero(&formats, sizeof(ft_formats_t));

    ngx_http_flash_throttle_headers_init(&headers, &r->headers_in.headers);

    while ((h = ngx_http_flash_throttle_headers_find(&headers, "Accept"))) {
        ft_format_accept(&formats, (char *) h->value.data, h->value.len);
    }

    *format = ft_format_best(&formats);

    return NGX_OK;
}


/* The argument "history": the number of last steps, in JSON. */

static ngx_int_t
ngx_http_flash_throttle_stats_history(ngx_http_request_t *r,
    ngx_uint_t *steps)
{
    ngx_int_t  n;
    ngx_str_t  value;

    *steps = 0;

    if (ngx_http_arg(r, (u_char *) "history", sizeof("history") - 1, &value)
        != NGX_OK)
    {
        return NGX_OK;
    }

    n = ngx_atoi(value.data, value.len);

    if (n == NGX_ERROR || n > FT_HISTORY_STEPS) {
        return NGX_ERROR;
    }

    *steps = n;

    return NGX_OK;
}
