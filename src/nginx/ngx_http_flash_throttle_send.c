
/*
 * Copyright (C) flash_throttle contributors
 */


#include "ngx_http_flash_throttle_headers.h"
#include "ngx_http_flash_throttle_send.h"


ngx_int_t
ngx_http_flash_throttle_send_no_store(ngx_http_request_t *r)
{
    r->disable_not_modified = 1;

    return ngx_http_flash_throttle_headers_add(r, "Cache-Control",
                                               (u_char *) "no-store", 8);
}


ngx_int_t
ngx_http_flash_throttle_send(ngx_http_request_t *r, ngx_uint_t status,
    ngx_chain_t *out)
{
    ngx_int_t     rc;
    ngx_chain_t  *cl;

    r->headers_out.status = status;
    r->headers_out.content_length_n = 0;

    for (cl = out; /* void */ ; cl = cl->next) {
        r->headers_out.content_length_n += ngx_buf_size(cl->buf);

        if (cl->next == NULL) {
            break;
        }
    }

    cl->buf->last_buf = (r == r->main) ? 1 : 0;
    cl->buf->last_in_chain = 1;

    rc = ngx_http_send_header(r);

    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only) {
        return rc;
    }

    return ngx_http_output_filter(r, out);
}


ngx_int_t
ngx_http_flash_throttle_send_json(ngx_http_request_t *r, ngx_uint_t status,
    ngx_buf_t *b)
{
    ngx_chain_t  out;

    if (ngx_http_flash_throttle_send_no_store(r) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_str_set(&r->headers_out.content_type, "application/json");
    r->headers_out.content_type_len = r->headers_out.content_type.len;

    out.buf = b;
    out.next = NULL;

    return ngx_http_flash_throttle_send(r, status, &out);
}
