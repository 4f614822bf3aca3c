
/*
 * Copyright (C) flash_throttle contributors
 */


#include "ngx_http_flash_throttle_headers.h"
#include "ngx_http_flash_throttle_stats_html.h"
#include "ngx_http_flash_throttle_stats_text.h"
#include "ngx_http_flash_throttle_dashboard.h"

#include <openssl/evp.h>


#define NGX_HTTP_FLASH_THROTTLE_STATS_SHA256_LEN  32

/* bytes of the digest in ETag */
#define NGX_HTTP_FLASH_THROTTLE_STATS_ETAG_LEN    8


static ngx_int_t ngx_http_flash_throttle_stats_html_sha256(u_char *text,
    size_t len, u_char *digest);
static ngx_int_t ngx_http_flash_throttle_stats_html_hash(const char *tag,
    ngx_str_t *hash);


ngx_int_t
ngx_http_flash_throttle_stats_html_init(ngx_conf_t *cf,
    ngx_http_flash_throttle_main_conf_t *ftmf)
{
    u_char      *p, digest[NGX_HTTP_FLASH_THROTTLE_STATS_SHA256_LEN];
    u_char       encoded[2][ngx_base64_encoded_length(
                            NGX_HTTP_FLASH_THROTTLE_STATS_SHA256_LEN)];
    ngx_str_t    script, style;

    static ngx_str_t  csp = ngx_string(
        "default-src 'none'; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'self'; "
        "script-src 'sha256-'; style-src 'sha256-'");

    script.data = encoded[0];
    style.data = encoded[1];

    if (ngx_http_flash_throttle_stats_html_hash("script>", &script) != NGX_OK
        || ngx_http_flash_throttle_stats_html_hash("style>", &style) != NGX_OK
        || ngx_http_flash_throttle_stats_html_sha256(
                        ngx_http_flash_throttle_dashboard_html,
                        sizeof(ngx_http_flash_throttle_dashboard_html) - 1,
                        digest)
           != NGX_OK)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "EVP_Digest() failed for \"flash_throttle_status\"");
        return NGX_ERROR;
    }

    p = ngx_pnalloc(cf->pool, csp.len + script.len + style.len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    ftmf->csp.data = p;

    p = ngx_cpymem(p, csp.data,
                   csp.len - sizeof("'; style-src 'sha256-'") + 1);
    p = ngx_cpymem(p, script.data, script.len);
    p = ngx_cpymem(p, "'; style-src 'sha256-",
                   sizeof("'; style-src 'sha256-") - 1);
    p = ngx_cpymem(p, style.data, style.len);
    *p++ = '\'';

    ftmf->csp.len = p - ftmf->csp.data;

    ftmf->etag.len = 2 * NGX_HTTP_FLASH_THROTTLE_STATS_ETAG_LEN + 2;
    ftmf->etag.data = ngx_pnalloc(cf->pool, ftmf->etag.len);
    if (ftmf->etag.data == NULL) {
        return NGX_ERROR;
    }

    p = ftmf->etag.data;

    *p++ = '"';
    p = ngx_hex_dump(p, digest, NGX_HTTP_FLASH_THROTTLE_STATS_ETAG_LEN);
    *p = '"';

    return NGX_OK;
}


static ngx_int_t
ngx_http_flash_throttle_stats_html_sha256(u_char *text, size_t len,
    u_char *digest)
{
    return EVP_Digest(text, len, digest, NULL, EVP_sha256(), NULL) == 1
           ? NGX_OK : NGX_ERROR;
}


/*
 * The hash of the text between <tag> and </tag>, by which the policy allows
 * this script or style.
 */

static ngx_int_t
ngx_http_flash_throttle_stats_html_hash(const char *tag, ngx_str_t *hash)
{
    char       open[16], close[16];
    u_char    *first, *last, digest[NGX_HTTP_FLASH_THROTTLE_STATS_SHA256_LEN];
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
        || ngx_http_flash_throttle_stats_html_sha256(first, last - first,
                                                     digest)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    src.data = digest;
    src.len = NGX_HTTP_FLASH_THROTTLE_STATS_SHA256_LEN;

    ngx_encode_base64(hash, &src);

    return NGX_OK;
}


ngx_int_t
ngx_http_flash_throttle_stats_html(ngx_http_request_t *r,
    ngx_http_flash_throttle_stats_text_t *text)
{
    ngx_buf_t                            *b;
    ngx_http_flash_throttle_main_conf_t  *ftmf;

    ftmf = ngx_http_get_module_main_conf(r, ngx_http_flash_throttle_module);

    if (ngx_http_flash_throttle_headers_add(r, "Content-Security-Policy",
                                            ftmf->csp.data, ftmf->csp.len)
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

    b = ngx_calloc_buf(r->pool);
    if (b == NULL) {
        return NGX_ERROR;
    }

    b->pos = ngx_http_flash_throttle_dashboard_html;
    b->last = b->pos + sizeof(ngx_http_flash_throttle_dashboard_html) - 1;
    b->memory = 1;

    return ngx_http_flash_throttle_stats_text_add(text, b);
}
