
/*
 * Copyright (C) flash_throttle contributors
 *
 * The status: the figures of every zone and key, as JSON, for Prometheus, or as
 * a page that draws them.
 */


#include "ngx_http_flash_throttle_headers.h"
#include "ngx_http_flash_throttle_send.h"
#include "ngx_http_flash_throttle_status.h"
#include "ft_format.h"


#define NGX_HTTP_FLASH_THROTTLE_PART  8192


static ngx_int_t ngx_http_flash_throttle_status_handler(ngx_http_request_t *r);
static ngx_int_t ngx_http_flash_throttle_status_format(ngx_http_request_t *r,
    ft_format_t *format);
static ngx_int_t ngx_http_flash_throttle_status_history(ngx_http_request_t *r,
    ngx_uint_t *steps);
static ngx_int_t ngx_http_flash_throttle_status_json(ngx_http_request_t *r,
    ngx_http_flash_throttle_parts_t *parts, ngx_uint_t steps);
static ngx_int_t ngx_http_flash_throttle_status_zone(
    ngx_http_flash_throttle_parts_t *parts,
    ngx_http_flash_throttle_zone_t *zone, ngx_uint_t steps, ngx_uint_t first);
static ngx_int_t ngx_http_flash_throttle_status_key(
    ngx_http_flash_throttle_parts_t *parts,
    ngx_http_flash_throttle_figures_t *f, ngx_uint_t steps, ngx_uint_t first);
static ngx_int_t ngx_http_flash_throttle_status_name(
    ngx_http_flash_throttle_parts_t *parts, u_char *data, size_t len,
    ngx_uint_t first);
static ngx_int_t ngx_http_flash_throttle_status_steps(
    ngx_http_flash_throttle_parts_t *parts,
    ngx_http_flash_throttle_figures_t *f, ngx_uint_t steps);


/* by ft_format_t; and how long they are without their parameters */

static struct {
    ngx_str_t  type;
    size_t     len;
} ngx_http_flash_throttle_types[] = {
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
ngx_http_flash_throttle_status(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_flash_throttle_conf_t *ftcf = conf;

    ngx_http_core_loc_conf_t             *clcf;
    ngx_http_flash_throttle_main_conf_t  *ftmf;

    ftmf = ngx_http_conf_get_module_main_conf(cf,
                                              ngx_http_flash_throttle_module);

    if (ftmf->policy.data == NULL
        && ngx_http_flash_throttle_init_dashboard(cf, ftmf) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);
    clcf->handler = ngx_http_flash_throttle_status_handler;

    /* who looks at the line does not stand in it */

    ftcf->aside = 1;

    return NGX_CONF_OK;
}


static ngx_int_t
ngx_http_flash_throttle_status_handler(ngx_http_request_t *r)
{
    ngx_int_t                         rc;
    ngx_uint_t                        steps;
    ft_format_t                       format;
    ngx_http_flash_throttle_parts_t   parts;

    if (!(r->method & (NGX_HTTP_GET|NGX_HTTP_HEAD))) {
        return NGX_HTTP_NOT_ALLOWED;
    }

    rc = ngx_http_discard_request_body(r);

    if (rc != NGX_OK) {
        return rc;
    }

    if (ngx_http_flash_throttle_status_format(r, &format) != NGX_OK
        || ngx_http_flash_throttle_status_history(r, &steps) != NGX_OK)
    {
        return NGX_HTTP_BAD_REQUEST;
    }

    parts.pool = r->pool;
    parts.out = NULL;
    parts.last = &parts.out;
    parts.buf = NULL;

    if (format == FT_FORMAT_HTML) {
        rc = ngx_http_flash_throttle_dashboard(r, &parts);

    } else if (format == FT_FORMAT_JSON) {
        rc = ngx_http_flash_throttle_status_json(r, &parts, steps);

    } else {
        rc = ngx_http_flash_throttle_metrics(r, &parts,
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

    r->headers_out.content_type = ngx_http_flash_throttle_types[format].type;
    r->headers_out.content_type_len = ngx_http_flash_throttle_types[format].len;

    return ngx_http_flash_throttle_send(r, NGX_HTTP_OK, parts.out);
}


/* "?format=" is stronger than Accept: for links, and for looking at it. */

static ngx_int_t
ngx_http_flash_throttle_status_format(ngx_http_request_t *r,
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


/* "?history=N": the last N steps, in JSON. */

static ngx_int_t
ngx_http_flash_throttle_status_history(ngx_http_request_t *r,
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


static ngx_int_t
ngx_http_flash_throttle_status_json(ngx_http_request_t *r,
    ngx_http_flash_throttle_parts_t *parts, ngx_uint_t steps)
{
    ngx_buf_t                            *b;
    ngx_time_t                           *tp;
    ngx_uint_t                            i;
    ngx_http_flash_throttle_zone_t      **zones;
    ngx_http_flash_throttle_main_conf_t  *ftmf;

    ftmf = ngx_http_get_module_main_conf(r, ngx_http_flash_throttle_module);

    b = ngx_http_flash_throttle_more(parts, 128);
    if (b == NULL) {
        return NGX_ERROR;
    }

    tp = ngx_timeofday();

    b->last = ngx_sprintf(b->last, "{\"version\":\"%s\",\"time_ms\":%uL,"
                          "\"zones\":{", NGX_HTTP_FLASH_THROTTLE_VERSION,
                          (uint64_t) tp->sec * 1000 + tp->msec);

    zones = ftmf->zones.elts;

    for (i = 0; i < ftmf->zones.nelts; i++) {

        if (ngx_http_flash_throttle_status_zone(parts, zones[i], steps, i == 0)
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    b = ngx_http_flash_throttle_more(parts, 8);
    if (b == NULL) {
        return NGX_ERROR;
    }

    b->last = ngx_cpymem(b->last, "}}\n", 3);

    return NGX_OK;
}


static ngx_int_t
ngx_http_flash_throttle_status_zone(ngx_http_flash_throttle_parts_t *parts,
    ngx_http_flash_throttle_zone_t *zone, ngx_uint_t steps, ngx_uint_t first)
{
    uint32_t                            i;
    ngx_buf_t                          *b;
    ngx_str_t                          *name;
    ngx_http_flash_throttle_limits_t    limits;
    ngx_http_flash_throttle_figures_t   f;

    name = &zone->shm_zone->shm.name;

    if (ngx_http_flash_throttle_status_name(parts, name->data, name->len, first)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_http_flash_throttle_get_limits(zone, &limits);

    if (ngx_http_flash_throttle_zone_json(parts, &limits) != NGX_OK) {
        return NGX_ERROR;
    }

    b = ngx_http_flash_throttle_more(parts, NGX_HTTP_FLASH_THROTTLE_FIELD);
    if (b == NULL) {
        return NGX_ERROR;
    }

    b->last = ngx_sprintf(b->last, ",\"keys\":{");
    first = 1;

    for (i = 0; i < ft_zone_keys(zone->sh); i++) {

        if (ngx_http_flash_throttle_get_figures(zone, i, &f) != NGX_OK) {
            continue;
        }

        if (ngx_http_flash_throttle_status_key(parts, &f, steps, first)
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        first = 0;
    }

    b = ngx_http_flash_throttle_more(parts, 8);
    if (b == NULL) {
        return NGX_ERROR;
    }

    b->last = ngx_cpymem(b->last, "}}", 2);

    return NGX_OK;
}


static ngx_int_t
ngx_http_flash_throttle_status_key(ngx_http_flash_throttle_parts_t *parts,
    ngx_http_flash_throttle_figures_t *f, ngx_uint_t steps, ngx_uint_t first)
{
    ngx_buf_t  *b;

    if (ngx_http_flash_throttle_status_name(parts, f->key, f->key_len, first)
        != NGX_OK
        || ngx_http_flash_throttle_key_json(parts, f) != NGX_OK
        || (steps
            && ngx_http_flash_throttle_status_steps(parts, f, steps) != NGX_OK))
    {
        return NGX_ERROR;
    }

    b = ngx_http_flash_throttle_more(parts, 8);
    if (b == NULL) {
        return NGX_ERROR;
    }

    *b->last++ = '}';

    return NGX_OK;
}


/* Begins a member that is an object. */

static ngx_int_t
ngx_http_flash_throttle_status_name(ngx_http_flash_throttle_parts_t *parts,
    u_char *data, size_t len, ngx_uint_t first)
{
    ngx_buf_t  *b;

    b = ngx_http_flash_throttle_more(parts, NGX_HTTP_FLASH_THROTTLE_FIELD
                                     + NGX_HTTP_FLASH_THROTTLE_ESCAPED * len);
    if (b == NULL) {
        return NGX_ERROR;
    }

    b->last = ngx_sprintf(b->last, "%s\"", first ? "" : ",");
    b->last = ngx_http_flash_throttle_escape(b->last, data, len);
    b->last = ngx_cpymem(b->last, "\":{", 3);

    return NGX_OK;
}


/* The history by columns: the time of the first step, then lists. */

static ngx_int_t
ngx_http_flash_throttle_status_steps(ngx_http_flash_throttle_parts_t *parts,
    ngx_http_flash_throttle_figures_t *f, ngx_uint_t steps)
{
    uint32_t    i, k, n, first, last, *values;
    ngx_buf_t  *b;

    b = ngx_http_flash_throttle_more(parts, 2 * NGX_HTTP_FLASH_THROTTLE_FIELD);
    if (b == NULL) {
        return NGX_ERROR;
    }

    if (!ft_history_range(&f->state->history, f->time_ms, steps, &first, &last))
    {
        return NGX_OK;
    }

    n = last - first + 1;

    values = ngx_pcalloc(parts->pool,
                         n * FT_HISTORY_COLUMNS * sizeof(uint32_t));
    if (values == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < n; i++) {
        (void) ft_history_read(&f->state->history, first + i,
                               &values[i * FT_HISTORY_COLUMNS]);
    }

    b->last = ngx_sprintf(b->last,
                          ",\"history\":{\"from_ms\":%uL,\"step_ms\":%d",
                          (uint64_t) first * FT_HISTORY_STEP_MS,
                          FT_HISTORY_STEP_MS);

    for (k = 0; k < FT_HISTORY_COLUMNS; k++) {

        b = ngx_http_flash_throttle_more(parts, NGX_HTTP_FLASH_THROTTLE_FIELD
                                                + n * (NGX_INT32_LEN + 1));
        if (b == NULL) {
            return NGX_ERROR;
        }

        b->last = ngx_sprintf(b->last, ",\"%s\":[", ft_history_names[k]);

        for (i = 0; i < n; i++) {
            b->last = ngx_sprintf(b->last, "%uD,",
                                  values[i * FT_HISTORY_COLUMNS + k]);
        }

        b->last[-1] = ']';
    }

    b = ngx_http_flash_throttle_more(parts, 8);
    if (b == NULL) {
        return NGX_ERROR;
    }

    *b->last++ = '}';

    return NGX_OK;
}


/*
 * A key is any bytes.  What is not ASCII is written as a code point of its own,
 * so that the answer is valid JSON whatever a client put into its key.
 */

u_char *
ngx_http_flash_throttle_escape(u_char *p, u_char *s, size_t len)
{
    u_char  c;

    while (len--) {
        c = *s++;

        if (c == '"' || c == '\\') {
            *p++ = '\\';
            *p++ = c;

        } else if (c < 0x20 || c >= 0x7f) {
            p = ngx_sprintf(p, "\\u00%02xd", c);

        } else {
            *p++ = c;
        }
    }

    return p;
}


ngx_buf_t *
ngx_http_flash_throttle_more(ngx_http_flash_throttle_parts_t *parts,
    size_t size)
{
    ngx_buf_t    *b;
    ngx_chain_t  *cl;

    b = parts->buf;

    if (b && (size_t) (b->end - b->last) >= size) {
        return b;
    }

    cl = ngx_alloc_chain_link(parts->pool);
    if (cl == NULL) {
        return NULL;
    }

    b = ngx_create_temp_buf(parts->pool,
                            ngx_max(size, NGX_HTTP_FLASH_THROTTLE_PART));
    if (b == NULL) {
        return NULL;
    }

    cl->buf = b;
    cl->next = NULL;

    *parts->last = cl;
    parts->last = &cl->next;
    parts->buf = b;

    return b;
}
