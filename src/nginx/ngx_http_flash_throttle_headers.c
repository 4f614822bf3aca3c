
/*
 * Copyright (C) flash_throttle contributors
 */


#include "ngx_http_flash_throttle_headers.h"


ngx_table_elt_t *
ngx_http_flash_throttle_headers_find(
    ngx_http_flash_throttle_headers_t *headers, const char *name)
{
    size_t            len;
    ngx_table_elt_t  *h;

    len = ngx_strlen(name);

    while ((h = ngx_http_flash_throttle_headers_next(headers))) {

        if (h->key.len == len
            && ngx_strncasecmp(h->key.data, (u_char *) name, len) == 0)
        {
            return h;
        }
    }

    return NULL;
}


ngx_int_t
ngx_http_flash_throttle_headers_push(ngx_http_request_t *r, const char *name,
    size_t name_len, u_char *value, size_t len)
{
    ngx_table_elt_t  *h;

    h = ngx_list_push(&r->headers_out.headers);
    if (h == NULL) {
        return NGX_ERROR;
    }

    h->hash = 1;
#if (nginx_version >= 1023000)
    h->next = NULL;
#endif
    h->key.len = name_len;
    h->key.data = (u_char *) name;
    h->value.len = len;
    h->value.data = value;

    return NGX_OK;
}


ngx_table_elt_t *
ngx_http_flash_throttle_headers_last(ngx_http_request_t *r)
{
    ngx_table_elt_t  *h;

    h = r->headers_out.headers.last->elts;

    return h + r->headers_out.headers.last->nelts - 1;
}
