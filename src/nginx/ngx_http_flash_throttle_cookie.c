
/*
 * Copyright (C) flash_throttle contributors
 */


#include "ngx_http_flash_throttle_cookie.h"
#include "ngx_http_flash_throttle_headers.h"


static ngx_int_t ngx_http_flash_throttle_cookie_push(ngx_http_request_t *r,
    ngx_http_flash_throttle_conf_t *ftcf, u_char *text, size_t len,
    ngx_str_t *tail);


ngx_int_t
ngx_http_flash_throttle_cookie_set(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, u_char *text)
{
    return ngx_http_flash_throttle_cookie_push(r, ctx->conf, text,
                                               FT_TICKET_LEN,
                                               ctx->ticket.kind
                                               == FT_TICKET_PASS
                                               ? &ctx->conf->set_pass
                                               : &ctx->conf->set_ticket);
}


ngx_int_t
ngx_http_flash_throttle_cookie_clear(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx)
{
    return ngx_http_flash_throttle_cookie_push(r, ctx->conf, (u_char *) "", 0,
                                               &ctx->conf->set_none);
}


static ngx_int_t
ngx_http_flash_throttle_cookie_push(ngx_http_request_t *r,
    ngx_http_flash_throttle_conf_t *ftcf, u_char *text, size_t len,
    ngx_str_t *tail)
{
    u_char      *p, *value;
    ngx_uint_t   secure;

    secure = 0;

#if (NGX_HTTP_SSL)
    secure = r->connection->ssl
             && (ftcf->cookie == NULL || !ftcf->cookie->secure);
#endif

    value = ngx_pnalloc(r->pool, ftcf->set_name.len + len + tail->len
                                 + sizeof("; Secure") - 1);
    if (value == NULL) {
        return NGX_ERROR;
    }

    p = ngx_cpymem(value, ftcf->set_name.data, ftcf->set_name.len);
    p = ngx_cpymem(p, text, len);
    p = ngx_cpymem(p, tail->data, tail->len);

    if (secure) {
        p = ngx_cpymem(p, "; Secure", sizeof("; Secure") - 1);
    }

    return ngx_http_flash_throttle_headers_add(r, "Set-Cookie", value,
                                               p - value);
}
