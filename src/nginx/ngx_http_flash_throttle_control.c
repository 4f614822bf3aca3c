
/*
 * Copyright (C) flash_throttle contributors
 */


#include "ngx_http_flash_throttle_control.h"
#include "ngx_http_flash_throttle_headers.h"
#include "ngx_http_flash_throttle_override.h"
#include "ngx_http_flash_throttle_send.h"


#define NGX_HTTP_FLASH_THROTTLE_CONTROL_MAX  4096


static ngx_int_t ngx_http_flash_throttle_control_handler(
    ngx_http_request_t *r);
static const char *ngx_http_flash_throttle_control_check(
    ngx_http_request_t *r, ngx_uint_t *status);
static ngx_uint_t ngx_http_flash_throttle_control_is_json(
    ngx_http_request_t *r);
static ngx_uint_t ngx_http_flash_throttle_control_is_cross_site(
    ngx_http_request_t *r);
static ngx_uint_t ngx_http_flash_throttle_control_is_own_origin(
    ngx_http_request_t *r, ngx_str_t *origin);
static ngx_int_t ngx_http_flash_throttle_control_refuse(ngx_http_request_t *r,
    ngx_uint_t status, const char *error);
static void ngx_http_flash_throttle_control_body(ngx_http_request_t *r);
static ngx_int_t ngx_http_flash_throttle_control_text(ngx_http_request_t *r,
    ngx_str_t *text);


char *
ngx_http_flash_throttle_control(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_flash_throttle_conf_t *ftcf = conf;

    ngx_http_core_loc_conf_t  *clcf;

    if (ftcf->endpoint) {
        return ftcf->endpoint == ngx_http_flash_throttle_control_handler
               ? "is duplicate"
               : "is duplicate, \"flash_throttle_status\" directive was "
                 "specified earlier";
    }

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);
    clcf->handler = ngx_http_flash_throttle_control_handler;

    ftcf->endpoint = ngx_http_flash_throttle_control_handler;

    return NGX_CONF_OK;
}


static ngx_int_t
ngx_http_flash_throttle_control_handler(ngx_http_request_t *r)
{
    ngx_int_t    rc;
    ngx_uint_t   status;
    const char  *error;

    error = ngx_http_flash_throttle_control_check(r, &status);

    if (error) {
        return ngx_http_flash_throttle_control_refuse(r, status, error);
    }

    r->request_body_in_single_buf = 1;

    rc = ngx_http_read_client_request_body(r,
                                         ngx_http_flash_throttle_control_body);

    if (rc >= NGX_HTTP_SPECIAL_RESPONSE) {
        return rc;
    }

    return NGX_DONE;
}


/* Checks the header of a request.  NULL: it is accepted. */

static const char *
ngx_http_flash_throttle_control_check(ngx_http_request_t *r,
    ngx_uint_t *status)
{
    if (r->method != NGX_HTTP_POST) {
        *status = NGX_HTTP_NOT_ALLOWED;
        return "the method must be POST";
    }

    if (ngx_http_flash_throttle_control_is_cross_site(r)) {

        ngx_log_error(NGX_LOG_WARN, r->connection->log, 0,
                      "flash_throttle_control refused a request of another "
                      "site");

        *status = NGX_HTTP_FORBIDDEN;
        return "the request was sent by a page of another site";
    }

    if (!ngx_http_flash_throttle_control_is_json(r)) {
        *status = NGX_HTTP_UNSUPPORTED_MEDIA_TYPE;
        return "the Content-Type must be application/json";
    }

    if (r->headers_in.content_length_n > NGX_HTTP_FLASH_THROTTLE_CONTROL_MAX) {
        *status = NGX_HTTP_REQUEST_ENTITY_TOO_LARGE;
        return "the request body must be at most 4096 bytes";
    }

    return NULL;
}


/* A form of another site cannot have this type. */

static ngx_uint_t
ngx_http_flash_throttle_control_is_json(ngx_http_request_t *r)
{
    size_t      len;
    ngx_str_t  *type;

    if (r->headers_in.content_type == NULL) {
        return 0;
    }

    type = &r->headers_in.content_type->value;
    len = sizeof("application/json") - 1;

    return type->len >= len
           && ngx_strncasecmp(type->data, (u_char *) "application/json", len)
              == 0
           && (type->len == len || type->data[len] == ';'
               || type->data[len] == ' ');
}


/*
 * A browser sends at least one of these headers.  A request without them is of
 * another client, which no site can use.
 */

static ngx_uint_t
ngx_http_flash_throttle_control_is_cross_site(ngx_http_request_t *r)
{
    ngx_table_elt_t                    *h;
    ngx_http_flash_throttle_headers_t   headers;

    ngx_http_flash_throttle_headers_init(&headers, &r->headers_in.headers);

    while ((h = ngx_http_flash_throttle_headers_next(&headers))) {

        if (ngx_http_flash_throttle_headers_match(h, "Origin")
            && !ngx_http_flash_throttle_control_is_own_origin(r, &h->value))
        {
            return 1;
        }

        if (ngx_http_flash_throttle_headers_match(h, "Sec-Fetch-Site")
            && !(h->value.len == 11
                 && ngx_memcmp(h->value.data, "same-origin", 11) == 0)
            && !(h->value.len == 4
                 && ngx_memcmp(h->value.data, "none", 4) == 0))
        {
            return 1;
        }
    }

    return 0;
}


static ngx_uint_t
ngx_http_flash_throttle_control_is_own_origin(ngx_http_request_t *r,
    ngx_str_t *origin)
{
    u_char     *p, *last;
    ngx_str_t  *host;

    last = origin->data + origin->len;
    p = ngx_strlchr(origin->data, last, ':');

    if (p == NULL || last - p < 3 || p[1] != '/' || p[2] != '/'
        || r->headers_in.host == NULL)
    {
        return 0;
    }

    p += 3;
    host = &r->headers_in.host->value;

    return (size_t) (last - p) == host->len
           && ngx_strncasecmp(p, host->data, host->len) == 0;
}


static ngx_int_t
ngx_http_flash_throttle_control_refuse(ngx_http_request_t *r,
    ngx_uint_t status, const char *error)
{
    ngx_int_t   rc;
    ngx_buf_t  *b;

    r->expect_tested = 1;

    rc = ngx_http_discard_request_body(r);

    if (rc != NGX_OK) {
        return rc;
    }

    if (status == NGX_HTTP_NOT_ALLOWED
        && ngx_http_flash_throttle_headers_add(r, "Allow", (u_char *) "POST", 4)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    b = ngx_create_temp_buf(r->pool, sizeof("{\"error\":\"\"}\n")
                                     + ngx_strlen(error));
    if (b == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    b->last = ngx_sprintf(b->last, "{\"error\":\"%s\"}\n", error);

    return ngx_http_flash_throttle_send_json(r, status, b);
}


static void
ngx_http_flash_throttle_control_body(ngx_http_request_t *r)
{
    ngx_int_t    rc;
    ngx_buf_t   *b;
    ngx_str_t    text;
    ngx_uint_t   status;

    rc = ngx_http_flash_throttle_control_text(r, &text);

    if (rc != NGX_OK) {
        ngx_http_finalize_request(r,
            rc == NGX_DECLINED
            ? ngx_http_flash_throttle_control_refuse(r,
                              NGX_HTTP_REQUEST_ENTITY_TOO_LARGE,
                              "the request body must be at most 4096 bytes")
            : NGX_HTTP_INTERNAL_SERVER_ERROR);
        return;
    }

    b = ngx_http_flash_throttle_override(r, &text, &status);

    if (b == NULL) {
        ngx_http_finalize_request(r, NGX_HTTP_INTERNAL_SERVER_ERROR);
        return;
    }

    ngx_http_finalize_request(r,
                              ngx_http_flash_throttle_send_json(r, status, b));
}


/* The body in one buffer.  NGX_DECLINED: it is too large. */

static ngx_int_t
ngx_http_flash_throttle_control_text(ngx_http_request_t *r, ngx_str_t *text)
{
    u_char       *p;
    size_t        size;
    ngx_buf_t    *b;
    ngx_chain_t  *cl;

    text->len = 0;
    text->data = ngx_pnalloc(r->pool, NGX_HTTP_FLASH_THROTTLE_CONTROL_MAX);
    if (text->data == NULL) {
        return NGX_ERROR;
    }

    if (r->request_body == NULL) {
        return NGX_OK;
    }

    p = text->data;

    for (cl = r->request_body->bufs; cl; cl = cl->next) {
        b = cl->buf;

        size = ngx_buf_size(b);

        if (size > NGX_HTTP_FLASH_THROTTLE_CONTROL_MAX - text->len) {
            return NGX_DECLINED;
        }

        if (!b->in_file) {
            ngx_memcpy(p, b->pos, size);

        } else if (ngx_read_file(b->file, p, size, b->file_pos)
                   != (ssize_t) size)
        {
            return NGX_ERROR;
        }

        p += size;
        text->len += size;
    }

    return NGX_OK;
}
