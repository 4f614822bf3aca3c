
/*
 * Copyright (C) flash_throttle contributors
 *
 * The figures as Prometheus reads them: text of version 0.0.4, or OpenMetrics.
 */


#include "ngx_http_flash_throttle_status.h"


#define NGX_HTTP_FLASH_THROTTLE_PREFIX   "flash_throttle_"


/* a name and a type, twice, and a text */
#define NGX_HTTP_FLASH_THROTTLE_FAMILY   512


/* a key, and the labels of all its samples */
typedef struct {
    ngx_http_flash_throttle_figures_t  figures;
    ngx_str_t                          labels;
} ngx_http_flash_throttle_sampled_t;


static ngx_int_t ngx_http_flash_throttle_zone_metrics(ngx_http_request_t *r,
    ngx_http_flash_throttle_parts_t *parts, ngx_uint_t openmetrics);
static ngx_int_t ngx_http_flash_throttle_sample(ngx_http_request_t *r,
    ngx_array_t *sampled);
static ngx_int_t ngx_http_flash_throttle_family(
    ngx_http_flash_throttle_parts_t *parts, const char *name,
    const char *type, const char *help, ngx_uint_t openmetrics);
static ngx_int_t ngx_http_flash_throttle_line_of(
    ngx_http_flash_throttle_parts_t *parts,
    ngx_http_flash_throttle_metric_t *m, ngx_str_t *labels, void *from);
static ngx_int_t ngx_http_flash_throttle_histogram(
    ngx_http_flash_throttle_parts_t *parts, ngx_array_t *sampled,
    ngx_uint_t openmetrics);
static u_char *ngx_http_flash_throttle_label(u_char *p, u_char *s, size_t len);


/* bounds of the histogram, all of them among those that are counted by */

static const struct {
    uint64_t     ms;
    const char  *le;
} ngx_http_flash_throttle_bounds[] = {
    { 100, "0.1" },
    { 250, "0.25" },
    { 500, "0.5" },
    { 1000, "1.0" },
    { 2500, "2.5" },
    { 5000, "5.0" },
    { 10000, "10.0" },
    { 15000, "15.0" },
    { 30000, "30.0" },
    { 60000, "60.0" },
    { 120000, "120.0" },
    { 300000, "300.0" },
    { 600000, "600.0" },
    { 1200000, "1200.0" },
    { 1800000, "1800.0" },
    { 3600000, "3600.0" },
    { 0, "+Inf" }
};

#define NGX_HTTP_FLASH_THROTTLE_BOUNDS                                        \
    (sizeof(ngx_http_flash_throttle_bounds)                                   \
     / sizeof(ngx_http_flash_throttle_bounds[0]))


/* Of one metric all samples stand together, so the figures are read before. */

ngx_int_t
ngx_http_flash_throttle_metrics(ngx_http_request_t *r,
    ngx_http_flash_throttle_parts_t *parts, ngx_uint_t openmetrics)
{
    ngx_buf_t                          *b;
    ngx_uint_t                          i, k;
    const char                         *type;
    ngx_array_t                         sampled;
    ngx_http_flash_throttle_metric_t   *m;
    ngx_http_flash_throttle_sampled_t  *s;

    if (ngx_array_init(&sampled, r->pool, 8,
                       sizeof(ngx_http_flash_throttle_sampled_t))
        != NGX_OK
        || ngx_http_flash_throttle_sample(r, &sampled) != NGX_OK
        || ngx_http_flash_throttle_family(parts, "build_info", "gauge",
                                          "The versions, as labels.",
                                          openmetrics)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    b = ngx_http_flash_throttle_more(parts, NGX_HTTP_FLASH_THROTTLE_FAMILY);
    if (b == NULL) {
        return NGX_ERROR;
    }

    b->last = ngx_sprintf(b->last, NGX_HTTP_FLASH_THROTTLE_PREFIX
                          "build_info{version=\"%s\",nginx=\"%s\"} 1\n",
                          NGX_HTTP_FLASH_THROTTLE_VERSION, NGINX_VERSION);

    if (ngx_http_flash_throttle_zone_metrics(r, parts, openmetrics) != NGX_OK) {
        return NGX_ERROR;
    }

    m = ngx_http_flash_throttle_key_table;
    s = sampled.elts;

    for (i = 0; i < ngx_http_flash_throttle_key_table_n; i++) {

        type = (m[i].kind == ngx_http_flash_throttle_counter) ? "counter"
                                                              : "gauge";

        if (ngx_http_flash_throttle_family(parts, m[i].name, type, m[i].help,
                                           openmetrics)
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        for (k = 0; k < sampled.nelts; k++) {
            if (ngx_http_flash_throttle_line_of(parts, &m[i], &s[k].labels,
                          ngx_http_flash_throttle_from(&m[i], &s[k].figures))
                != NGX_OK)
            {
                return NGX_ERROR;
            }
        }
    }

    if (ngx_http_flash_throttle_histogram(parts, &sampled, openmetrics)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (openmetrics) {
        b = ngx_http_flash_throttle_more(parts, sizeof("# EOF\n"));
        if (b == NULL) {
            return NGX_ERROR;
        }

        b->last = ngx_cpymem(b->last, "# EOF\n", sizeof("# EOF\n") - 1);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_flash_throttle_zone_metrics(ngx_http_request_t *r,
    ngx_http_flash_throttle_parts_t *parts, ngx_uint_t openmetrics)
{
    u_char                               *p;
    ngx_str_t                            *name, labels;
    ngx_uint_t                            i, k;
    ngx_http_flash_throttle_zone_t      **zones;
    ngx_http_flash_throttle_limits_t      limits;
    ngx_http_flash_throttle_metric_t     *m;
    ngx_http_flash_throttle_main_conf_t  *ftmf;

    ftmf = ngx_http_get_module_main_conf(r, ngx_http_flash_throttle_module);

    m = ngx_http_flash_throttle_zone_table;
    zones = ftmf->zones.elts;

    for (i = 0; i < ngx_http_flash_throttle_zone_table_n; i++) {

        if (ngx_http_flash_throttle_family(parts, m[i].name, "gauge",
                                           m[i].help, openmetrics)
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        for (k = 0; k < ftmf->zones.nelts; k++) {
            name = &zones[k]->shm_zone->shm.name;

            labels.data = ngx_pnalloc(r->pool, sizeof("zone=\"\"")
                                               + 2 * name->len);
            if (labels.data == NULL) {
                return NGX_ERROR;
            }

            p = ngx_cpymem(labels.data, "zone=\"", sizeof("zone=\"") - 1);
            p = ngx_http_flash_throttle_label(p, name->data, name->len);
            *p++ = '"';

            labels.len = p - labels.data;

            ngx_http_flash_throttle_get_limits(zones[k], &limits);

            if (ngx_http_flash_throttle_line_of(parts, &m[i], &labels, &limits)
                != NGX_OK)
            {
                return NGX_ERROR;
            }
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_flash_throttle_sample(ngx_http_request_t *r, ngx_array_t *sampled)
{
    u_char                               *p;
    uint32_t                              i;
    ngx_str_t                            *name;
    ngx_uint_t                            k;
    ngx_http_flash_throttle_zone_t      **zones;
    ngx_http_flash_throttle_figures_t     f;
    ngx_http_flash_throttle_sampled_t    *s;
    ngx_http_flash_throttle_main_conf_t  *ftmf;

    ftmf = ngx_http_get_module_main_conf(r, ngx_http_flash_throttle_module);

    zones = ftmf->zones.elts;

    for (k = 0; k < ftmf->zones.nelts; k++) {
        name = &zones[k]->shm_zone->shm.name;

        for (i = 0; i < ft_zone_keys(zones[k]->sh); i++) {

            if (ngx_http_flash_throttle_get_figures(zones[k], i, &f)
                != NGX_OK)
            {
                continue;
            }

            s = ngx_array_push(sampled);
            if (s == NULL) {
                return NGX_ERROR;
            }

            s->figures = f;
            s->labels.data = ngx_pnalloc(r->pool, sizeof("zone=\"\",key=\"\"")
                                         + 2 * (name->len + f.key_len));
            if (s->labels.data == NULL) {
                return NGX_ERROR;
            }

            p = ngx_cpymem(s->labels.data, "zone=\"", sizeof("zone=\"") - 1);
            p = ngx_http_flash_throttle_label(p, name->data, name->len);
            p = ngx_cpymem(p, "\",key=\"", sizeof("\",key=\"") - 1);
            p = ngx_http_flash_throttle_label(p, f.key, f.key_len);
            *p++ = '"';

            s->labels.len = p - s->labels.data;
        }
    }

    return NGX_OK;
}


/* In OpenMetrics "_total" is of a counter's samples, not of its name. */

static ngx_int_t
ngx_http_flash_throttle_family(ngx_http_flash_throttle_parts_t *parts,
    const char *name, const char *type, const char *help,
    ngx_uint_t openmetrics)
{
    size_t      len;
    ngx_buf_t  *b;

    b = ngx_http_flash_throttle_more(parts, NGX_HTTP_FLASH_THROTTLE_FAMILY);
    if (b == NULL) {
        return NGX_ERROR;
    }

    len = ngx_strlen(name);

    if (openmetrics && ngx_strcmp(type, "counter") == 0) {
        len -= sizeof("_total") - 1;
    }

    b->last = ngx_sprintf(b->last,
                          "# HELP " NGX_HTTP_FLASH_THROTTLE_PREFIX "%*s %s\n"
                          "# TYPE " NGX_HTTP_FLASH_THROTTLE_PREFIX "%*s %s\n",
                          len, name, help, len, name, type);

    if (openmetrics && len > sizeof("_seconds") - 1
        && ngx_strncmp(name + len - (sizeof("_seconds") - 1), "_seconds",
                       sizeof("_seconds") - 1)
           == 0)
    {
        b->last = ngx_sprintf(b->last,
                              "# UNIT " NGX_HTTP_FLASH_THROTTLE_PREFIX
                              "%*s seconds\n", len, name);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_flash_throttle_line_of(ngx_http_flash_throttle_parts_t *parts,
    ngx_http_flash_throttle_metric_t *m, ngx_str_t *labels, void *from)
{
    uint64_t    value;
    ngx_buf_t  *b;

    b = ngx_http_flash_throttle_more(parts, NGX_HTTP_FLASH_THROTTLE_FIELD
                                            + NGX_INT64_LEN + labels->len);
    if (b == NULL) {
        return NGX_ERROR;
    }

    value = ngx_http_flash_throttle_value(m, from);

    b->last = ngx_sprintf(b->last, NGX_HTTP_FLASH_THROTTLE_PREFIX "%s{%V} ",
                          m->name, labels);

    b->last = m->divisor == 1
              ? ngx_sprintf(b->last, "%uL\n", value)
              : ngx_sprintf(b->last, "%uL.%03uL\n", value / m->divisor,
                            value % m->divisor);

    return NGX_OK;
}


static ngx_int_t
ngx_http_flash_throttle_histogram(ngx_http_flash_throttle_parts_t *parts,
    ngx_array_t *sampled, ngx_uint_t openmetrics)
{
    uint32_t                            bucket;
    uint64_t                            sum, n[FT_WAITS_BUCKETS];
    ngx_buf_t                          *b;
    ngx_str_t                          *labels;
    ngx_uint_t                          i, k;
    ngx_http_flash_throttle_sampled_t  *s;

    if (ngx_http_flash_throttle_family(parts, "wait_seconds", "histogram",
                                       "How long the admitted have waited.",
                                       openmetrics)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    s = sampled->elts;

    for (k = 0; k < sampled->nelts; k++) {
        labels = &s[k].labels;
        sum = 0;
        bucket = 0;

        ft_waits_read(&s[k].figures.state->waits, n);

        for (i = 0; i < NGX_HTTP_FLASH_THROTTLE_BOUNDS; i++) {

            while (bucket < FT_WAITS_BUCKETS
                   && (ngx_http_flash_throttle_bounds[i].ms == 0
                       || (bucket < FT_WAITS_BOUNDS
                           && ft_waits_bound_ms(bucket)
                              <= ngx_http_flash_throttle_bounds[i].ms)))
            {
                sum += n[bucket++];
            }

            b = ngx_http_flash_throttle_more(parts,
                                             NGX_HTTP_FLASH_THROTTLE_FIELD
                                             + labels->len);
            if (b == NULL) {
                return NGX_ERROR;
            }

            b->last = ngx_sprintf(b->last, NGX_HTTP_FLASH_THROTTLE_PREFIX
                                  "wait_seconds_bucket{%V,le=\"%s\"} %uL\n",
                                  labels, ngx_http_flash_throttle_bounds[i].le,
                                  sum);
        }

        b = ngx_http_flash_throttle_more(parts,
                                         2 * (NGX_HTTP_FLASH_THROTTLE_FIELD
                                              + labels->len));
        if (b == NULL) {
            return NGX_ERROR;
        }

        b->last = ngx_sprintf(b->last, NGX_HTTP_FLASH_THROTTLE_PREFIX
                              "wait_seconds_sum{%V} %uL.%03uL\n"
                              NGX_HTTP_FLASH_THROTTLE_PREFIX
                              "wait_seconds_count{%V} %uL\n", labels,
                              s[k].figures.totals.waited_ms / 1000,
                              s[k].figures.totals.waited_ms % 1000,
                              labels, sum);
    }

    return NGX_OK;
}


/*
 * A label's value is UTF-8, a key any bytes: what is not ASCII is written as a
 * code point of its own, as in JSON.
 */

static u_char *
ngx_http_flash_throttle_label(u_char *p, u_char *s, size_t len)
{
    u_char  c;

    while (len--) {
        c = *s++;

        if (c == '"' || c == '\\') {
            *p++ = '\\';
            *p++ = c;

        } else if (c == '\n') {
            *p++ = '\\';
            *p++ = 'n';

        } else if (c >= 0x80) {
            *p++ = 0xc0 | c >> 6;
            *p++ = 0x80 | (c & 0x3f);

        } else {
            *p++ = c;
        }
    }

    return p;
}
