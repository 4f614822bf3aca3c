
/*
 * Copyright (C) flash_throttle contributors
 */


#include "ngx_http_flash_throttle_secret.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>


#define NGX_HTTP_FLASH_THROTTLE_SECRET_FILE_MAX  65536
#define NGX_HTTP_FLASH_THROTTLE_SECRET_LEN       32


typedef struct {
    ft_secret_t   elts[FT_SECRETS_MAX];
    size_t        n;
} ngx_http_flash_throttle_secrets_t;


static char *ngx_http_flash_throttle_secret_file(ngx_conf_t *cf,
    ngx_http_flash_throttle_main_conf_t *ftmf);
static ngx_int_t ngx_http_flash_throttle_secret_read(ngx_conf_t *cf,
    ngx_str_t *name, u_char *buf, size_t *len);
static ngx_int_t ngx_http_flash_throttle_secret_parse(ngx_conf_t *cf,
    ngx_str_t *name, u_char *p, u_char *last,
    ngx_http_flash_throttle_secrets_t *secrets);
static ngx_str_t ngx_http_flash_throttle_secret_trim(u_char *p, u_char *last);
static ngx_int_t ngx_http_flash_throttle_secret_add(ngx_conf_t *cf,
    ngx_str_t *name, ngx_uint_t line, ngx_str_t *s,
    ngx_http_flash_throttle_secrets_t *secrets);
static char *ngx_http_flash_throttle_secret_random(ngx_conf_t *cf,
    ngx_http_flash_throttle_main_conf_t *ftmf);
static char *ngx_http_flash_throttle_secret_ring(ngx_conf_t *cf,
    ngx_http_flash_throttle_main_conf_t *ftmf,
    ngx_http_flash_throttle_secrets_t *secrets);
static void ngx_http_flash_throttle_secret_free(void *data);


char *
ngx_http_flash_throttle_secret_init(ngx_conf_t *cf,
    ngx_http_flash_throttle_main_conf_t *ftmf)
{
    if (ftmf->secret_file.data) {
        return ngx_http_flash_throttle_secret_file(cf, ftmf);
    }

    return ngx_http_flash_throttle_secret_random(cf, ftmf);
}


static char *
ngx_http_flash_throttle_secret_file(ngx_conf_t *cf,
    ngx_http_flash_throttle_main_conf_t *ftmf)
{
    char                               *rv;
    size_t                              len;
    ngx_str_t                          *name;
    u_char                             *buf;
    ngx_http_flash_throttle_secrets_t   secrets;

    name = &ftmf->secret_file;

    if (ngx_conf_full_name(cf->cycle, name, 1) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    /* not from the pool: it is wiped and freed below */

    buf = ngx_alloc(NGX_HTTP_FLASH_THROTTLE_SECRET_FILE_MAX + 1, cf->log);
    if (buf == NULL) {
        return NGX_CONF_ERROR;
    }

    rv = NGX_CONF_ERROR;
    len = 0;

    if (ngx_http_flash_throttle_secret_read(cf, name, buf, &len) == NGX_OK
        && ngx_http_flash_throttle_secret_parse(cf, name, buf, buf + len,
                                                 &secrets)
           == NGX_OK)
    {
        rv = ngx_http_flash_throttle_secret_ring(cf, ftmf, &secrets);
    }

    OPENSSL_cleanse(buf, len);
    ngx_free(buf);

    return rv;
}


static ngx_int_t
ngx_http_flash_throttle_secret_read(ngx_conf_t *cf, ngx_str_t *name,
    u_char *buf, size_t *len)
{
    ssize_t     n;
    ngx_file_t  file;

    ngx_memzero(&file, sizeof(ngx_file_t));

    file.name = *name;
    file.log = cf->log;
    file.fd = ngx_open_file(name->data, NGX_FILE_RDONLY, NGX_FILE_OPEN, 0);

    if (file.fd == NGX_INVALID_FILE) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, ngx_errno,
                      ngx_open_file_n " \"%V\" failed", name);
        return NGX_ERROR;
    }

    n = ngx_read_file(&file, buf, NGX_HTTP_FLASH_THROTTLE_SECRET_FILE_MAX + 1,
                      0);

    if (n == NGX_ERROR) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, ngx_errno,
                      ngx_read_file_n " \"%V\" failed", name);

    } else if (n > NGX_HTTP_FLASH_THROTTLE_SECRET_FILE_MAX) {
        *len = n;
        n = NGX_ERROR;
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "secret file \"%V\" is larger than %d bytes", name,
                      NGX_HTTP_FLASH_THROTTLE_SECRET_FILE_MAX);

    } else {
        *len = n;
    }

    if (ngx_close_file(file.fd) == NGX_FILE_ERROR) {
        ngx_log_error(NGX_LOG_ALERT, cf->log, ngx_errno,
                      ngx_close_file_n " \"%V\" failed", name);
    }

    return n == NGX_ERROR ? NGX_ERROR : NGX_OK;
}


/* An editor may have written the byte order mark of UTF-8 first. */

static ngx_int_t
ngx_http_flash_throttle_secret_parse(ngx_conf_t *cf, ngx_str_t *name,
    u_char *p, u_char *last, ngx_http_flash_throttle_secrets_t *secrets)
{
    u_char      *end;
    ngx_str_t    s;
    ngx_uint_t   line;

    secrets->n = 0;

    if (last - p >= 3 && ngx_memcmp(p, "\xef\xbb\xbf", 3) == 0) {
        p += 3;
    }

    for (line = 1; p < last; p = end + 1, line++) {

        end = ngx_strlchr(p, last, LF);
        if (end == NULL) {
            end = last;
        }

        s = ngx_http_flash_throttle_secret_trim(p, end);

        if (s.len == 0 || s.data[0] == '#') {
            continue;
        }

        if (ngx_http_flash_throttle_secret_add(cf, name, line, &s, secrets)
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    if (secrets->n == 0) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "no secret in file \"%V\"", name);
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_str_t
ngx_http_flash_throttle_secret_trim(u_char *p, u_char *last)
{
    ngx_str_t  s;

    while (p < last && (*p == ' ' || *p == '\t')) {
        p++;
    }

    while (p < last && (last[-1] == CR || last[-1] == ' ' || last[-1] == '\t'))
    {
        last--;
    }

    s.data = p;
    s.len = last - p;

    return s;
}


static ngx_int_t
ngx_http_flash_throttle_secret_add(ngx_conf_t *cf, ngx_str_t *name,
    ngx_uint_t line, ngx_str_t *s, ngx_http_flash_throttle_secrets_t *secrets)
{
    ngx_uint_t  i;

    if (s->len < FT_SECRET_MIN_LEN) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "secret of %uz bytes in %V:%ui, it must be at least %d",
                      s->len, name, line, FT_SECRET_MIN_LEN);
        return NGX_ERROR;
    }

    for (i = 0; i < s->len; i++) {

        if (s->data[i] < ' ' || s->data[i] == 0x7f) {
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                          "control character in secret in %V:%ui", name, line);
            return NGX_ERROR;
        }
    }

    if (secrets->n == FT_SECRETS_MAX) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "too many secrets in %V:%ui, it must be at most %d",
                      name, line, FT_SECRETS_MAX);
        return NGX_ERROR;
    }

    secrets->elts[secrets->n].data = s->data;
    secrets->elts[secrets->n].len = s->len;
    secrets->n++;

    return NGX_OK;
}


static char *
ngx_http_flash_throttle_secret_random(ngx_conf_t *cf,
    ngx_http_flash_throttle_main_conf_t *ftmf)
{
    ngx_http_flash_throttle_secrets_t  secrets;

    /* kept by the master for all configurations that it loads */

    static ngx_uint_t  made;
    static u_char      secret[NGX_HTTP_FLASH_THROTTLE_SECRET_LEN];

    if (!made) {

        if (RAND_bytes(secret, sizeof(secret)) != 1) {
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                          "RAND_bytes() failed for the secret of "
                          "flash_throttle");
            return NGX_CONF_ERROR;
        }

        made = 1;
    }

    ngx_log_error(NGX_LOG_WARN, cf->log, 0,
                  "no \"flash_throttle_secret_file\" is set, tickets and "
                  "passes are signed with a random secret and become invalid "
                  "at the next start");

    secrets.elts[0].data = secret;
    secrets.elts[0].len = sizeof(secret);
    secrets.n = 1;

    return ngx_http_flash_throttle_secret_ring(cf, ftmf, &secrets);
}


static char *
ngx_http_flash_throttle_secret_ring(ngx_conf_t *cf,
    ngx_http_flash_throttle_main_conf_t *ftmf,
    ngx_http_flash_throttle_secrets_t *secrets)
{
    ngx_pool_cleanup_t  *cln;

    cln = ngx_pool_cleanup_add(cf->pool, 0);
    if (cln == NULL) {
        return NGX_CONF_ERROR;
    }

    ftmf->ring = ft_keyring_create(secrets->elts, secrets->n);

    if (ftmf->ring == NULL) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "flash_throttle could not initialize HMAC-SHA256");
        return NGX_CONF_ERROR;
    }

    cln->handler = ngx_http_flash_throttle_secret_free;
    cln->data = ftmf->ring;

    return NGX_CONF_OK;
}


static void
ngx_http_flash_throttle_secret_free(void *data)
{
    ft_keyring_free(data);
}
