
/*
 * Copyright (C) flash_throttle contributors
 */


#include "ngx_http_flash_throttle_stats_prometheus.h"
#include "ngx_http_flash_throttle_stats_table.h"
#include "ngx_http_flash_throttle_stats_text.h"
#include "ngx_http_flash_throttle_zone.h"


#define NGX_HTTP_FLASH_THROTTLE_STATS_PREFIX  "flash_throttle_"

/* HELP, TYPE and UNIT of a metric */
#define NGX_HTTP_FLASH_THROTTLE_STATS_FAMILY  512


/* a zone or a key, with the labels of its samples */
typedef struct {
    void                            *stats;
    ngx_str_t                        labels;
} ngx_http_flash_throttle_stats_sample_t;


typedef struct {
    ngx_http_flash_throttle_stats_text_t  *text;
    ngx_array_t                      zones;     /* ..._stats_sample_t */
    ngx_array_t                      keys;      /* ..._stats_sample_t */
    ngx_uint_t                       openmetrics;
} ngx_http_flash_throttle_stats_prometheus_t;


/* upper bounds of the histogram, which are bounds of ft_waits.h, too */
typedef struct {
    uint64_t                         ms;        /* 0: infinite */
    const char                      *le;
} ngx_http_flash_throttle_stats_bound_t;


static ngx_int_t ngx_http_flash_throttle_stats_prometheus_read(
    ngx_http_request_t *r, ngx_http_flash_throttle_stats_prometheus_t *pr);
static ngx_int_t ngx_http_flash_throttle_stats_prometheus_read_zone(
    ngx_http_flash_throttle_stats_prometheus_t *pr,
    ngx_http_flash_throttle_zone_t *zone);
static ngx_int_t ngx_http_flash_throttle_stats_prometheus_sample(
    ngx_http_flash_throttle_stats_prometheus_t *pr, ngx_array_t *samples,
    ngx_str_t *zone, ngx_str_t *key, void *stats, size_t size);
static ngx_int_t ngx_http_flash_throttle_stats_prometheus_build(
    ngx_http_flash_throttle_stats_prometheus_t *pr);
static ngx_int_t ngx_http_flash_throttle_stats_prometheus_table(
    ngx_http_flash_throttle_stats_prometheus_t *pr,
    ngx_http_flash_throttle_stats_metric_t *table, ngx_array_t *samples);
static ngx_int_t ngx_http_flash_throttle_stats_prometheus_family(
    ngx_http_flash_throttle_stats_prometheus_t *pr, const char *name,
    const char *type, const char *help);
static ngx_int_t ngx_http_flash_throttle_stats_prometheus_value(
    ngx_http_flash_throttle_stats_prometheus_t *pr,
    ngx_http_flash_throttle_stats_metric_t *m,
    ngx_http_flash_throttle_stats_sample_t *sample);
static ngx_int_t ngx_http_flash_throttle_stats_prometheus_waits(
    ngx_http_flash_throttle_stats_prometheus_t *pr);
static ngx_int_t ngx_http_flash_throttle_stats_prometheus_histogram(
    ngx_http_flash_throttle_stats_prometheus_t *pr,
    ngx_http_flash_throttle_stats_sample_t *sample);
static u_char *ngx_http_flash_throttle_stats_prometheus_escape(u_char *p,
    u_char *s, size_t len);


static ngx_http_flash_throttle_stats_bound_t
    ngx_http_flash_throttle_stats_bounds[] =
{
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
    { 0, "+Inf" },
    { 0, NULL }
};


ngx_int_t
ngx_http_flash_throttle_stats_prometheus(ngx_http_request_t *r,
    ngx_http_flash_throttle_stats_text_t *text, ngx_uint_t openmetrics)
{
    ngx_buf_t                                   *b;
    ngx_http_flash_throttle_stats_prometheus_t   pr;

    pr.text = text;
    pr.openmetrics = openmetrics;

    /* all samples of a metric are consecutive, so all keys are read before */

    if (ngx_http_flash_throttle_stats_prometheus_read(r, &pr) != NGX_OK
        || ngx_http_flash_throttle_stats_prometheus_build(&pr) != NGX_OK
        || ngx_http_flash_throttle_stats_prometheus_table(&pr,
                          ngx_http_flash_throttle_stats_table_zone, &pr.zones)
           != NGX_OK
        || ngx_http_flash_throttle_stats_prometheus_table(&pr,
                          ngx_http_flash_throttle_stats_table_key, &pr.keys)
           != NGX_OK
        || ngx_http_flash_throttle_stats_prometheus_waits(&pr) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (openmetrics) {
        b = ngx_http_flash_throttle_stats_text_space(text, sizeof("# EOF\n"));
        if (b == NULL) {
            return NGX_ERROR;
        }

        b->last = ngx_cpymem(b->last, "# EOF\n", sizeof("# EOF\n") - 1);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_flash_throttle_stats_prometheus_read(ngx_http_request_t *r,
    ngx_http_flash_throttle_stats_prometheus_t *pr)
{
    ngx_uint_t                            i;
    ngx_http_flash_throttle_zone_t      **zones;
    ngx_http_flash_throttle_main_conf_t  *ftmf;

    if (ngx_array_init(&pr->zones, r->pool, 2,
                       sizeof(ngx_http_flash_throttle_stats_sample_t))
        != NGX_OK
        || ngx_array_init(&pr->keys, r->pool, 8,
                          sizeof(ngx_http_flash_throttle_stats_sample_t))
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    ftmf = ngx_http_get_module_main_conf(r, ngx_http_flash_throttle_module);

    zones = ftmf->zones.elts;

    for (i = 0; i < ftmf->zones.nelts; i++) {

        if (ngx_http_flash_throttle_stats_prometheus_read_zone(pr, zones[i])
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_flash_throttle_stats_prometheus_read_zone(
    ngx_http_flash_throttle_stats_prometheus_t *pr,
    ngx_http_flash_throttle_zone_t *zone)
{
    uint32_t                              i;
    uint64_t                              now;
    ngx_str_t                            *name, label;
    ngx_http_flash_throttle_stats_key_t   key;
    ngx_http_flash_throttle_stats_zone_t  stats;

    name = &zone->shm_zone->shm.name;

    ngx_http_flash_throttle_stats_table_read_zone(zone, &stats);

    if (ngx_http_flash_throttle_stats_prometheus_sample(pr, &pr->zones, name,
                                                        NULL, &stats,
                                                        sizeof(stats))
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    now = ngx_http_flash_throttle_zone_now(zone);

    for (i = 0; i < ft_zone_keys(zone->sh); i++) {

        if (ngx_http_flash_throttle_stats_table_read_key(zone, i, now, &key)
            != NGX_OK)
        {
            continue;
        }

        label.data = key.key;
        label.len = key.key_len;

        if (ngx_http_flash_throttle_stats_prometheus_sample(pr, &pr->keys,
                                                            name, &label, &key,
                                                            sizeof(key))
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


/* Adds a copy of the stats. */

static ngx_int_t
ngx_http_flash_throttle_stats_prometheus_sample(
    ngx_http_flash_throttle_stats_prometheus_t *pr, ngx_array_t *samples,
    ngx_str_t *zone, ngx_str_t *key, void *stats, size_t size)
{
    size_t                                   len;
    u_char                                  *p;
    ngx_pool_t                              *pool;
    ngx_http_flash_throttle_stats_sample_t  *sample;

    pool = pr->text->pool;

    sample = ngx_array_push(samples);
    if (sample == NULL) {
        return NGX_ERROR;
    }

    sample->stats = ngx_palloc(pool, size);
    if (sample->stats == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(sample->stats, stats, size);

    len = sizeof("zone=\"\",key=\"\"") + 2 * (zone->len + (key ? key->len : 0));

    p = ngx_pnalloc(pool, len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    sample->labels.data = p;

    p = ngx_cpymem(p, "zone=\"", sizeof("zone=\"") - 1);
    p = ngx_http_flash_throttle_stats_prometheus_escape(p, zone->data,
                                                        zone->len);
    *p++ = '"';

    if (key) {
        p = ngx_cpymem(p, ",key=\"", sizeof(",key=\"") - 1);
        p = ngx_http_flash_throttle_stats_prometheus_escape(p, key->data,
                                                            key->len);
        *p++ = '"';
    }

    sample->labels.len = p - sample->labels.data;

    return NGX_OK;
}


static ngx_int_t
ngx_http_flash_throttle_stats_prometheus_build(
    ngx_http_flash_throttle_stats_prometheus_t *pr)
{
    ngx_buf_t  *b;

    if (ngx_http_flash_throttle_stats_prometheus_family(pr, "build_info",
                                 "gauge",
                                 "Versions of flash_throttle and nginx.")
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    b = ngx_http_flash_throttle_stats_text_space(pr->text,
                                         NGX_HTTP_FLASH_THROTTLE_STATS_FAMILY);
    if (b == NULL) {
        return NGX_ERROR;
    }

    b->last = ngx_sprintf(b->last, NGX_HTTP_FLASH_THROTTLE_STATS_PREFIX
                          "build_info{version=\"%s\",nginx=\"%s\"} 1\n",
                          NGX_HTTP_FLASH_THROTTLE_VERSION, NGINX_VERSION);

    return NGX_OK;
}


static ngx_int_t
ngx_http_flash_throttle_stats_prometheus_table(
    ngx_http_flash_throttle_stats_prometheus_t *pr,
    ngx_http_flash_throttle_stats_metric_t *table, ngx_array_t *samples)
{
    ngx_uint_t                               i;
    const char                              *type;
    ngx_http_flash_throttle_stats_metric_t  *m;
    ngx_http_flash_throttle_stats_sample_t  *sample;

    sample = samples->elts;

    for (m = table; m->field; m++) {

        type = (m->kind == ngx_http_flash_throttle_stats_counter) ? "counter"
                                                                  : "gauge";

        if (ngx_http_flash_throttle_stats_prometheus_family(pr, m->name, type,
                                                            m->help)
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        for (i = 0; i < samples->nelts; i++) {

            if (ngx_http_flash_throttle_stats_prometheus_value(pr, m,
                                                               &sample[i])
                != NGX_OK)
            {
                return NGX_ERROR;
            }
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_flash_throttle_stats_prometheus_family(
    ngx_http_flash_throttle_stats_prometheus_t *pr, const char *name,
    const char *type, const char *help)
{
    size_t      len;
    ngx_buf_t  *b;

    b = ngx_http_flash_throttle_stats_text_space(pr->text,
                                         NGX_HTTP_FLASH_THROTTLE_STATS_FAMILY);
    if (b == NULL) {
        return NGX_ERROR;
    }

    len = ngx_strlen(name);

    /* in OpenMetrics "_total" is in the name of the sample only */

    if (pr->openmetrics && ngx_strcmp(type, "counter") == 0) {
        len -= sizeof("_total") - 1;
    }

    b->last = ngx_sprintf(b->last,
                          "# HELP " NGX_HTTP_FLASH_THROTTLE_STATS_PREFIX
                          "%*s %s\n"
                          "# TYPE " NGX_HTTP_FLASH_THROTTLE_STATS_PREFIX
                          "%*s %s\n",
                          len, name, help, len, name, type);

    if (pr->openmetrics && len > sizeof("_seconds") - 1
        && ngx_strncmp(name + len - (sizeof("_seconds") - 1), "_seconds",
                       sizeof("_seconds") - 1)
           == 0)
    {
        b->last = ngx_sprintf(b->last,
                              "# UNIT " NGX_HTTP_FLASH_THROTTLE_STATS_PREFIX
                              "%*s seconds\n", len, name);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_flash_throttle_stats_prometheus_value(
    ngx_http_flash_throttle_stats_prometheus_t *pr,
    ngx_http_flash_throttle_stats_metric_t *m,
    ngx_http_flash_throttle_stats_sample_t *sample)
{
    uint64_t    value;
    ngx_buf_t  *b;

    b = ngx_http_flash_throttle_stats_text_space(pr->text,
                                         NGX_HTTP_FLASH_THROTTLE_STATS_FIELD
                                         + NGX_INT64_LEN + sample->labels.len);
    if (b == NULL) {
        return NGX_ERROR;
    }

    value = ngx_http_flash_throttle_stats_table_value(m, sample->stats);

    b->last = ngx_sprintf(b->last,
                          NGX_HTTP_FLASH_THROTTLE_STATS_PREFIX "%s{%V} ",
                          m->name, &sample->labels);

    if (m->divisor == 1) {
        b->last = ngx_sprintf(b->last, "%uL\n", value);

    } else {
        b->last = ngx_sprintf(b->last, "%uL.%03uL\n", value / m->divisor,
                              value % m->divisor);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_flash_throttle_stats_prometheus_waits(
    ngx_http_flash_throttle_stats_prometheus_t *pr)
{
    ngx_uint_t                               i;
    ngx_http_flash_throttle_stats_sample_t  *sample;

    if (ngx_http_flash_throttle_stats_prometheus_family(pr, "wait_seconds",
                                 "histogram", "Waits of admitted shoppers.")
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    sample = pr->keys.elts;

    for (i = 0; i < pr->keys.nelts; i++) {

        if (ngx_http_flash_throttle_stats_prometheus_histogram(pr, &sample[i])
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_flash_throttle_stats_prometheus_histogram(
    ngx_http_flash_throttle_stats_prometheus_t *pr,
    ngx_http_flash_throttle_stats_sample_t *sample)
{
    uint32_t                                i;
    uint64_t                                sum, n[FT_WAITS_BUCKETS];
    ngx_buf_t                              *b;
    ngx_http_flash_throttle_stats_key_t    *key;
    ngx_http_flash_throttle_stats_bound_t  *bound;

    key = sample->stats;
    sum = 0;
    i = 0;

    ft_waits_read(&key->state->waits, n);

    for (bound = ngx_http_flash_throttle_stats_bounds; bound->le; bound++) {

        while (i < FT_WAITS_BUCKETS
               && (bound->ms == 0
                   || (i < FT_WAITS_BOUNDS
                       && ft_waits_bound_ms(i) <= bound->ms)))
        {
            sum += n[i++];
        }

        b = ngx_http_flash_throttle_stats_text_space(pr->text,
                                         NGX_HTTP_FLASH_THROTTLE_STATS_FIELD
                                         + sample->labels.len);
        if (b == NULL) {
            return NGX_ERROR;
        }

        b->last = ngx_sprintf(b->last, NGX_HTTP_FLASH_THROTTLE_STATS_PREFIX
                              "wait_seconds_bucket{%V,le=\"%s\"} %uL\n",
                              &sample->labels, bound->le, sum);
    }

    b = ngx_http_flash_throttle_stats_text_space(pr->text,
                                    2 * (NGX_HTTP_FLASH_THROTTLE_STATS_FIELD
                                         + sample->labels.len));
    if (b == NULL) {
        return NGX_ERROR;
    }

    b->last = ngx_sprintf(b->last, NGX_HTTP_FLASH_THROTTLE_STATS_PREFIX
                          "wait_seconds_sum{%V} %uL.%03uL\n"
                          NGX_HTTP_FLASH_THROTTLE_STATS_PREFIX
                          "wait_seconds_count{%V} %uL\n", &sample->labels,
                          key->totals.waited_ms / 1000,
                          key->totals.waited_ms % 1000, &sample->labels, sum);

    return NGX_OK;
}


/* A label is UTF-8: byte N of a key that is not ASCII becomes U+00NN. */

static u_char *
ngx_http_flash_throttle_stats_prometheus_escape(u_char *p, u_char *s,
    size_t len)
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
