
/*
 * Copyright (C) flash_throttle contributors
 */


#include "ngx_http_flash_throttle_cookie_conf.h"


#define NGX_HTTP_FLASH_THROTTLE_COOKIE_ATTRIBUTES                             \
    "\"Path\", \"Domain\", \"SameSite\", \"Secure\", \"HttpOnly\" or "        \
    "\"Partitioned\""

#define ngx_http_flash_throttle_cookie_conf_equal(a, b)                       \
    ((a)->len == (b)->len && ngx_strncmp((a)->data, (b)->data, (a)->len) == 0)


typedef struct {
    ngx_str_t   path;
    ngx_str_t   domain;
    ngx_str_t   same_site;
    unsigned    secure:1;
    unsigned    partitioned:1;
} ngx_http_flash_throttle_cookie_attr_t;


static ngx_int_t ngx_http_flash_throttle_cookie_conf_check_name(ngx_conf_t *cf,
    ngx_http_flash_throttle_conf_t *ftcf);
static ngx_uint_t ngx_http_flash_throttle_cookie_conf_is_token(ngx_str_t *s);
static char *ngx_http_flash_throttle_cookie_conf_parse(ngx_conf_t *cf,
    ngx_command_t *cmd, ngx_str_t *arg,
    ngx_http_flash_throttle_cookie_attr_t *a);
static ngx_int_t ngx_http_flash_throttle_cookie_conf_attr(ngx_str_t *s,
    ngx_http_flash_throttle_cookie_attr_t *a);
static ngx_int_t ngx_http_flash_throttle_cookie_conf_value(ngx_str_t *s,
    const char *name, ngx_str_t *value);
static char *ngx_http_flash_throttle_cookie_conf_check(ngx_conf_t *cf,
    ngx_command_t *cmd, ngx_str_t *name,
    ngx_http_flash_throttle_cookie_attr_t *a);
static ngx_int_t ngx_http_flash_throttle_cookie_conf_join(ngx_conf_t *cf,
    ngx_http_flash_throttle_cookie_attr_t *a, ngx_str_t *joined);


ngx_int_t
ngx_http_flash_throttle_cookie_conf_init(ngx_conf_t *cf,
    ngx_http_flash_throttle_conf_t *ftcf)
{
    u_char     *p;
    size_t      len;
    ngx_str_t  *zone, attributes;

    zone = &ftcf->shm_zone->shm.name;

    if (ftcf->cookie) {
        len = ftcf->cookie->name.len + 1;
        attributes = ftcf->cookie->attributes;

    } else {
        if (!ngx_http_flash_throttle_cookie_conf_is_token(zone)) {
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                          "invalid cookie name \"flash_throttle_%V\" of the "
                          "zone \"%V\", \"flash_throttle_cookie\" must set "
                          "another", zone, zone);
            return NGX_ERROR;
        }

        len = sizeof("flash_throttle_=") - 1 + zone->len;
        ngx_str_set(&attributes, "; Path=/; HttpOnly; SameSite=Lax");
    }

    p = ngx_pnalloc(cf->pool, len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    ftcf->set_name.data = p;
    ftcf->set_name.len = len;

    if (ftcf->cookie) {
        ngx_sprintf(p, "%V=", &ftcf->cookie->name);

    } else {
        ngx_sprintf(p, "flash_throttle_%V=", zone);
    }

    len = attributes.len + sizeof("; Max-Age=") - 1 + NGX_INT_T_LEN;

    ftcf->set_ticket.data = ngx_pnalloc(cf->pool, 3 * len);
    if (ftcf->set_ticket.data == NULL) {
        return NGX_ERROR;
    }

    p = ngx_sprintf(ftcf->set_ticket.data, "%V; Max-Age=%d", &attributes,
                    FT_TICKET_AGE_MAX_MS / 1000);
    ftcf->set_ticket.len = p - ftcf->set_ticket.data;

    ftcf->set_pass.data = p;
    p = ngx_sprintf(p, "%V; Max-Age=%M", &attributes,
                    (ftcf->session + 999) / 1000);
    ftcf->set_pass.len = p - ftcf->set_pass.data;

    ftcf->set_none.data = p;
    p = ngx_sprintf(p, "%V; Max-Age=0", &attributes);
    ftcf->set_none.len = p - ftcf->set_none.data;

    return ngx_http_flash_throttle_cookie_conf_check_name(cf, ftcf);
}


/* A browser keeps one cookie of a name, so two zones need two names. */

static ngx_int_t
ngx_http_flash_throttle_cookie_conf_check_name(ngx_conf_t *cf,
    ngx_http_flash_throttle_conf_t *ftcf)
{
    ngx_str_t                             name;
    ngx_uint_t                            i;
    ngx_http_core_srv_conf_t             *cscf;
    ngx_http_flash_throttle_named_t      *named;
    ngx_http_flash_throttle_main_conf_t  *ftmf;

    ftmf = ngx_http_conf_get_module_main_conf(cf,
                                              ngx_http_flash_throttle_module);
    cscf = ngx_http_conf_get_module_srv_conf(cf, ngx_http_core_module);

    named = ftmf->cookies.elts;

    for (i = 0; i < ftmf->cookies.nelts; i++) {

        if (named[i].server != cscf
            || !ngx_http_flash_throttle_cookie_conf_equal(&named[i].name,
                                                          &ftcf->set_name)
            || !ngx_http_flash_throttle_cookie_conf_equal(&named[i].tail,
                                                          &ftcf->set_ticket))
        {
            continue;
        }

        if (named[i].shm_zone != ftcf->shm_zone) {
            name = ftcf->set_name;
            name.len--;

            ngx_log_error(NGX_LOG_WARN, cf->log, 0,
                          "the cookie \"%V\" is used by two zones, \"%V\" "
                          "and \"%V\", in the server in %s:%ui",
                          &name, &named[i].shm_zone->shm.name,
                          &ftcf->shm_zone->shm.name, cscf->file_name,
                          cscf->line);
        }

        return NGX_OK;
    }

    named = ngx_array_push(&ftmf->cookies);
    if (named == NULL) {
        return NGX_ERROR;
    }

    named->name = ftcf->set_name;
    named->tail = ftcf->set_ticket;
    named->shm_zone = ftcf->shm_zone;
    named->server = cscf;

    return NGX_OK;
}


char *
ngx_http_flash_throttle_cookie_conf(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_flash_throttle_conf_t *ftcf = conf;

    char                                   *rv;
    ngx_str_t                              *value;
    ngx_uint_t                              i;
    ngx_http_flash_throttle_cookie_t       *cookie;
    ngx_http_flash_throttle_cookie_attr_t   a;

    if (ftcf->cookie) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (!ngx_http_flash_throttle_cookie_conf_is_token(&value[1])) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid name \"%V\" in \"%V\" directive, it must "
                           "be letters, digits, \"_\", \"-\" and \".\"",
                           &value[1], &cmd->name);
        return NGX_CONF_ERROR;
    }

    cookie = ngx_pcalloc(cf->pool, sizeof(ngx_http_flash_throttle_cookie_t));
    if (cookie == NULL) {
        return NGX_CONF_ERROR;
    }

    ngx_memzero(&a, sizeof(ngx_http_flash_throttle_cookie_attr_t));
    ngx_str_set(&a.path, "/");
    ngx_str_set(&a.same_site, "Lax");

    for (i = 2; i < cf->args->nelts; i++) {
        rv = ngx_http_flash_throttle_cookie_conf_parse(cf, cmd, &value[i], &a);

        if (rv != NGX_CONF_OK) {
            return rv;
        }
    }

    rv = ngx_http_flash_throttle_cookie_conf_check(cf, cmd, &value[1], &a);

    if (rv != NGX_CONF_OK) {
        return rv;
    }

    if (ngx_http_flash_throttle_cookie_conf_join(cf, &a, &cookie->attributes)
        != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    cookie->name = value[1];
    cookie->secure = a.secure;

    ftcf->cookie = cookie;

    return NGX_CONF_OK;
}


static ngx_uint_t
ngx_http_flash_throttle_cookie_conf_is_token(ngx_str_t *s)
{
    u_char      c;
    ngx_uint_t  i;

    for (i = 0; i < s->len; i++) {
        c = s->data[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
              || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.'))
        {
            return 0;
        }
    }

    return s->len > 0;
}


/* An argument is one attribute, or several as in Set-Cookie. */

static char *
ngx_http_flash_throttle_cookie_conf_parse(ngx_conf_t *cf, ngx_command_t *cmd,
    ngx_str_t *arg, ngx_http_flash_throttle_cookie_attr_t *a)
{
    u_char     *p, *last, *end;
    ngx_str_t   s;

    last = arg->data + arg->len;

    for (p = arg->data; p < last; p = end + 1) {

        end = ngx_strlchr(p, last, ';');
        if (end == NULL) {
            end = last;
        }

        while (p < end && *p == ' ') {
            p++;
        }

        s.data = p;
        s.len = end - p;

        while (s.len && s.data[s.len - 1] == ' ') {
            s.len--;
        }

        if (s.len == 0) {
            continue;
        }

        if (ngx_http_flash_throttle_cookie_conf_attr(&s, a) != NGX_OK) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "invalid attribute \"%V\" in \"%V\" directive, "
                               "it must be "
                               NGX_HTTP_FLASH_THROTTLE_COOKIE_ATTRIBUTES
                               " as in a Set-Cookie header, "
                               "without variables",
                               &s, &cmd->name);
            return NGX_CONF_ERROR;
        }
    }

    return NGX_CONF_OK;
}


static ngx_int_t
ngx_http_flash_throttle_cookie_conf_attr(ngx_str_t *s,
    ngx_http_flash_throttle_cookie_attr_t *a)
{
    ngx_str_t  value;

    if (s->len == 6 && ngx_strncasecmp(s->data, (u_char *) "Secure", 6) == 0) {
        a->secure = 1;
        return NGX_OK;
    }

    if (s->len == 8
        && ngx_strncasecmp(s->data, (u_char *) "HttpOnly", 8) == 0)
    {
        /* always set: a script gets the ticket from the JSON */
        return NGX_OK;
    }

    if (s->len == 11
        && ngx_strncasecmp(s->data, (u_char *) "Partitioned", 11) == 0)
    {
        a->partitioned = 1;
        return NGX_OK;
    }

    if (ngx_http_flash_throttle_cookie_conf_value(s, "Path=", &value) == NGX_OK
        && value.data[0] == '/')
    {
        a->path = value;
        return NGX_OK;
    }

    if (ngx_http_flash_throttle_cookie_conf_value(s, "Domain=", &value)
        == NGX_OK)
    {
        a->domain = value;
        return NGX_OK;
    }

    if (ngx_http_flash_throttle_cookie_conf_value(s, "SameSite=", &value)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if ((value.len == 3
         && ngx_strncasecmp(value.data, (u_char *) "Lax", 3) == 0)
        || (value.len == 6
            && ngx_strncasecmp(value.data, (u_char *) "Strict", 6) == 0)
        || (value.len == 4
            && ngx_strncasecmp(value.data, (u_char *) "None", 4) == 0))
    {
        a->same_site = value;
        return NGX_OK;
    }

    return NGX_ERROR;
}


static ngx_int_t
ngx_http_flash_throttle_cookie_conf_value(ngx_str_t *s, const char *name,
    ngx_str_t *value)
{
    size_t      len;
    ngx_uint_t  i;

    len = ngx_strlen(name);

    if (s->len <= len || ngx_strncasecmp(s->data, (u_char *) name, len) != 0) {
        return NGX_DECLINED;
    }

    value->data = s->data + len;
    value->len = s->len - len;

    for (i = 0; i < value->len; i++) {
        if (value->data[i] <= ' ' || value->data[i] >= 0x7f
            || value->data[i] == '$')
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


/* Browsers ignore cookies that violate these rules (RFC 6265bis). */

static char *
ngx_http_flash_throttle_cookie_conf_check(ngx_conf_t *cf, ngx_command_t *cmd,
    ngx_str_t *name, ngx_http_flash_throttle_cookie_attr_t *a)
{
    ngx_uint_t  host, secure;

    host = (ngx_strncasecmp(name->data, (u_char *) "__Host-", 7) == 0);
    secure = (ngx_strncasecmp(name->data, (u_char *) "__Secure-", 9) == 0);

    if ((host || secure) && !a->secure) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid name \"%V\" in \"%V\" directive, "
                           "browsers require \"Secure\" with this prefix",
                           name, &cmd->name);
        return NGX_CONF_ERROR;
    }

    if (!a->secure
        && (a->partitioned
            || ngx_strncasecmp(a->same_site.data, (u_char *) "None", 4) == 0))
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid attributes in \"%V\" directive, browsers "
                           "require \"Secure\" with \"SameSite=None\" and "
                           "\"Partitioned\"", &cmd->name);
        return NGX_CONF_ERROR;
    }

    if (host && (a->domain.len || a->path.len != 1)) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid name \"%V\" in \"%V\" directive, "
                           "browsers require \"Path=/\" and no \"Domain\" "
                           "with this prefix", name, &cmd->name);
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


static ngx_int_t
ngx_http_flash_throttle_cookie_conf_join(ngx_conf_t *cf,
    ngx_http_flash_throttle_cookie_attr_t *a, ngx_str_t *joined)
{
    u_char  *p;

    p = ngx_pnalloc(cf->pool, sizeof("; Path=; Domain=; HttpOnly; SameSite="
                                     "; Secure; Partitioned") - 1
                              + a->path.len + a->domain.len
                              + a->same_site.len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    joined->data = p;

    p = ngx_sprintf(p, "; Path=%V", &a->path);

    if (a->domain.len) {
        p = ngx_sprintf(p, "; Domain=%V", &a->domain);
    }

    p = ngx_sprintf(p, "; HttpOnly; SameSite=%V", &a->same_site);

    if (a->secure) {
        p = ngx_sprintf(p, "; Secure");
    }

    if (a->partitioned) {
        p = ngx_sprintf(p, "; Partitioned");
    }

    joined->len = p - joined->data;

    return NGX_OK;
}
