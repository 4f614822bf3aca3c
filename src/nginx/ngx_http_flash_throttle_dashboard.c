
/*
 * Copyright (C) flash_throttle contributors
 *
 * The dashboard: one page from memory, which asks for the JSON by itself.  Its
 * policy allows the script and the style that it holds, and nothing else.
 */


#include "ngx_http_flash_throttle_headers.h"
#include "ngx_http_flash_throttle_status.h"
#include "ngx_http_flash_throttle_dashboard.h"

#include <openssl/evp.h>


#define NGX_HTTP_FLASH_THROTTLE_SHA256_LEN  32
#define NGX_HTTP_FLASH_THROTTLE_ETAG_LEN    8


static ngx_int_t ngx_http_flash_throttle_sha256(u_char *text, size_t len,
    u_char *digest);
static ngx_int_t ngx_http_flash_throttle_hash_of(const char *tag,
    ngx_str_t *hash);


ngx_int_t
ngx_http_flash_throttle_init_dashboard(ngx_conf_t *cf,
    ngx_http_flash_throttle_main_conf_t *ftmf)
{
    u_char      *p, digest[NGX_HTTP_FLASH_THROTTLE_SHA256_LEN];
    u_char       encoded[2][ngx_base64_encoded_length(
                            NGX_HTTP_FLASH_THROTTLE_SHA256_LEN)];
    ngx_str_t    script, style;

    static ngx_str_t  policy = ngx_string(
        "default-src 'none'; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'self'; "
        "script-src 'sha256-'; style-src 'sha256-'");

    script.data = encoded[0];
    style.data = encoded[1];

    if (ngx_http_flash_throttle_hash_of("script>", &script) != NGX_OK
        || ngx_http_flash_throttle_hash_of("style>", &style) != NGX_OK
        || ngx_http_flash_throttle_sha256(
                               ngx_http_flash_throttle_dashboard_html,
                               sizeof(ngx_http_flash_throttle_dashboard_html)
                               - 1, digest)
           != NGX_OK)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"flash_throttle_status\" could not hash its page");
        return NGX_ERROR;
    }

    p = ngx_pnalloc(cf->pool, policy.len + script.len + style.len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    ftmf->policy.data = p;

    p = ngx_cpymem(p, policy.data,
                   policy.len - sizeof("'; style-src 'sha256-'") + 1);
    p = ngx_cpymem(p, script.data, script.len);
    p = ngx_cpymem(p, "'; style-src 'sha256-",
                   sizeof("'; style-src 'sha256-") - 1);
    p = ngx_cpymem(p, style.data, style.len);
    *p++ = '\'';

    ftmf->policy.len = p - ftmf->policy.data;

    ftmf->etag.len = 2 * NGX_HTTP_FLASH_THROTTLE_ETAG_LEN + 2;
    ftmf->etag.data = ngx_pnalloc(cf->pool, ftmf->etag.len);
    if (ftmf->etag.data == NULL) {
        return NGX_ERROR;
    }

    p = ftmf->etag.data;

    *p++ = '"';
    p = ngx_hex_dump(p, digest, NGX_HTTP_FLASH_THROTTLE_ETAG_LEN);
    *p = '"';

    return NGX_OK;
}


static ngx_int_t
ngx_http_flash_throttle_sha256(u_char *text, size_t len, u_char *digest)
{
    return EVP_Digest(text, len, digest, NULL, EVP_sha256(), NULL) == 1
           ? NGX_OK : NGX_ERROR;
}


/* Of what stands in the page between <tag> and </tag>, as policies name it. */

static ngx_int_t
ngx_http_flash_throttle_hash_of(const char *tag, ngx_str_t *hash)
{
    char       open[16], close[16];
    u_char    *first, *last, digest[NGX_HTTP_FLASH_THROTTLE_SHA256_LEN];
    ngx_str_t  src;

    (void) ngx_sprintf((u_char *) open, "<%s%Z", tag);
    (void) ngx_sprintf((u_char *) close, "</%s%Z", tag);

    first = (u_char *) ngx_strstr(ngx_http_flash_throttle_dashboard_html, open);

    if (first == NULL) {
        return NGX_ERROR;
    }

    first += ngx_strlen(open);
    last = (u_char *) ngx_strstr(first, close);

    if (last == NULL
        || ngx_http_flash_throttle_sha256(first, last - first, digest)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    src.data = digest;
    src.len = NGX_HTTP_FLASH_THROTTLE_SHA256_LEN;

    ngx_encode_base64(hash, &src);

    return NGX_OK;
}


/* The same for everybody: a browser keeps it, and asks whether it is current. */

ngx_int_t
ngx_http_flash_throttle_dashboard(ngx_http_request_t *r,
    ngx_http_flash_throttle_parts_t *parts)
{
    ngx_buf_t                            *b;
    ngx_chain_t                          *cl;
    ngx_http_flash_throttle_main_conf_t  *ftmf;

    ftmf = ngx_http_get_module_main_conf(r, ngx_http_flash_throttle_module);

    if (ngx_http_flash_throttle_headers_add(r, "Content-Security-Policy",
                                           ftmf->policy.data, ftmf->policy.len)
        != NGX_OK
        || ngx_http_flash_throttle_headers_add(r, "X-Content-Type-Options",
                                              (u_char *) "nosniff", 7)
           != NGX_OK
        || ngx_http_flash_throttle_headers_add(r, "Cache-Control",
                                              (u_char *) "no-cache", 8)
           != NGX_OK
        || ngx_http_flash_throttle_headers_add(r, "ETag", ftmf->etag.data,
                                              ftmf->etag.len)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    r->headers_out.etag = ngx_http_flash_throttle_headers_last(r);

    cl = ngx_alloc_chain_link(r->pool);
    b = ngx_calloc_buf(r->pool);

    if (cl == NULL || b == NULL) {
        return NGX_ERROR;
    }

    b->pos = ngx_http_flash_throttle_dashboard_html;
    b->last = b->pos + sizeof(ngx_http_flash_throttle_dashboard_html) - 1;
    b->memory = 1;

    cl->buf = b;
    cl->next = NULL;

    parts->out = cl;
    parts->buf = b;

    return NGX_OK;
}
