
/*
 * Copyright (C) flash_throttle contributors
 */


#include "ngx_http_flash_throttle_headers.h"
#include "ngx_http_flash_throttle_request.h"
#include "ft_accept.h"


#define ngx_http_flash_throttle_request_is(h, name)                           \
    (ngx_memcmp((h)->lowcase_key, name, sizeof(name) - 1) == 0)


static void ngx_http_flash_throttle_request_add(
    ngx_http_flash_throttle_field_t *field,
    ngx_http_flash_throttle_headers_t *headers);


/*
 * One walk, because a browser sends many headers; over the list, because the
 * members of headers_in differ between versions of nginx.
 */

void
ngx_http_flash_throttle_request_read(ngx_http_request_t *r,
    ngx_http_flash_throttle_request_t *request)
{
    ngx_table_elt_t                    *h;
    ngx_http_flash_throttle_headers_t   headers;

    ngx_memzero(request, sizeof(ngx_http_flash_throttle_request_t));

    ngx_http_flash_throttle_headers_init(&headers, &r->headers_in.headers);

    while ((h = ngx_http_flash_throttle_headers_next(&headers))) {

        switch (h->key.len) {

        case sizeof("cookie") - 1: /* and "accept" */

            if (ngx_http_flash_throttle_request_is(h, "cookie")) {
                ngx_http_flash_throttle_request_add(&request->cookie,
                                                    &headers);

            } else if (ngx_http_flash_throttle_request_is(h, "accept")) {
                ngx_http_flash_throttle_request_add(&request->accept,
                                                    &headers);
            }

            break;

        case sizeof("flash-throttle-poll") - 1:

            if (ngx_http_flash_throttle_request_is(h, "flash-throttle-poll")) {
                request->poll = (h->value.len == 1 && h->value.data[0] == '1');
            }

            break;

        case sizeof("flash-throttle-ticket") - 1:

            if (ngx_http_flash_throttle_request_is(h, "flash-throttle-ticket"))
            {
                request->ticket = &h->value;
            }

            break;

        case sizeof("access-control-request-method") - 1:

            if (ngx_http_flash_throttle_request_is(h,
                                              "access-control-request-method"))
            {
                request->preflight = 1;
            }

            break;

        default:
            break;
        }
    }
}


static void
ngx_http_flash_throttle_request_add(ngx_http_flash_throttle_field_t *field,
    ngx_http_flash_throttle_headers_t *headers)
{
    if (field->n++ == 0) {
        field->headers = *headers;
        field->headers.i--;
    }
}


ngx_table_elt_t *
ngx_http_flash_throttle_request_next(ngx_http_flash_throttle_field_t *field,
    const char *name)
{
    if (field->n == 0) {
        return NULL;
    }

    field->n--;

    return ngx_http_flash_throttle_headers_find(&field->headers, name);
}


ngx_uint_t
ngx_http_flash_throttle_request_wants_json(
    ngx_http_flash_throttle_request_t *request)
{
    ft_accept_t       accept;
    ngx_table_elt_t  *h;

    if (request->accept.n == 0) {
        return 0;
    }

    ngx_memzero(&accept, sizeof(ft_accept_t));

    while ((h = ngx_http_flash_throttle_request_next(&request->accept,
                                                     "accept")))
    {
        ft_accept_read(&accept, (char *) h->value.data, h->value.len);
    }

    return ft_accept_json(&accept);
}
