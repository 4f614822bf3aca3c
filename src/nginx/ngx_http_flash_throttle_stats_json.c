
/*
 * Copyright (C) flash_throttle contributors
 */


#include "ngx_http_flash_throttle_stats_json.h"
#include "ngx_http_flash_throttle_stats_table.h"
#include "ngx_http_flash_throttle_stats_text.h"
#include "ngx_http_flash_throttle_zone.h"


static ngx_int_t ngx_http_flash_throttle_stats_json_zone(
    ngx_http_flash_throttle_stats_text_t *text,
    ngx_http_flash_throttle_zone_t *zone, ngx_uint_t steps, ngx_uint_t first);
static ngx_int_t ngx_http_flash_throttle_stats_json_key(
    ngx_http_flash_throttle_stats_text_t *text,
    ngx_http_flash_throttle_stats_key_t *key, ngx_uint_t steps,
    ngx_uint_t first);
static ngx_int_t ngx_http_flash_throttle_stats_json_open(
    ngx_http_flash_throttle_stats_text_t *text, u_char *name, size_t len,
    ngx_uint_t first);
static ngx_int_t ngx_http_flash_throttle_stats_json_add(
    ngx_http_flash_throttle_stats_text_t *text, const char *s);
static ngx_int_t ngx_http_flash_throttle_stats_json_values(
    ngx_http_flash_throttle_stats_text_t *text,
    ngx_http_flash_throttle_stats_metric_t *table, void *stats);
static ngx_int_t ngx_http_flash_throttle_stats_json_history(
    ngx_http_flash_throttle_stats_text_t *text,
    ngx_http_flash_throttle_stats_key_t *key, ngx_uint_t steps);


ngx_int_t
ngx_http_flash_throttle_stats_json(ngx_http_request_t *r,
    ngx_http_flash_throttle_stats_text_t *text, ngx_uint_t steps)
{
    ngx_buf_t                            *b;
    ngx_time_t                           *tp;
    ngx_uint_t                            i;
    ngx_http_flash_throttle_zone_t      **zones;
    ngx_http_flash_throttle_main_conf_t  *ftmf;

    ftmf = ngx_http_get_module_main_conf(r, ngx_http_flash_throttle_module);

    b = ngx_http_flash_throttle_stats_text_space(text,
                                    2 * NGX_HTTP_FLASH_THROTTLE_STATS_FIELD);
    if (b == NULL) {
        return NGX_ERROR;
    }

    tp = ngx_timeofday();

    b->last = ngx_sprintf(b->last, "{\"version\":\"%s\",\"time_ms\":%uL,"
                          "\"zones\":{", NGX_HTTP_FLASH_THROTTLE_VERSION,
                          (uint64_t) tp->sec * 1000 + tp->msec);

    zones = ftmf->zones.elts;

    for (i = 0; i < ftmf->zones.nelts; i++) {

        if (ngx_http_flash_throttle_stats_json_zone(text, zones[i], steps,
                                                    i == 0)
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return ngx_http_flash_throttle_stats_json_add(text, "}}\n");
}


static ngx_int_t
ngx_http_flash_throttle_stats_json_zone(
    ngx_http_flash_throttle_stats_text_t *text,
    ngx_http_flash_throttle_zone_t *zone, ngx_uint_t steps, ngx_uint_t first)
{
    uint32_t                              i;
    uint64_t                              now;
    ngx_str_t                            *name;
    ngx_http_flash_throttle_stats_key_t   key;
    ngx_http_flash_throttle_stats_zone_t  stats;

    name = &zone->shm_zone->shm.name;

    ngx_http_flash_throttle_stats_table_read_zone(zone, &stats);

    if (ngx_http_flash_throttle_stats_json_open(text, name->data, name->len,
                                                first)
        != NGX_OK
        || ngx_http_flash_throttle_stats_json_values(text,
                             ngx_http_flash_throttle_stats_table_zone, &stats)
           != NGX_OK
        || ngx_http_flash_throttle_stats_json_add(text, ",\"keys\":{")
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    now = ngx_http_flash_throttle_zone_now(zone);
    first = 1;

    for (i = 0; i < ft_zone_keys(zone->sh); i++) {

        if (ngx_http_flash_throttle_stats_table_read_key(zone, i, now, &key)
            != NGX_OK)
        {
            continue;
        }

        if (ngx_http_flash_throttle_stats_json_key(text, &key, steps, first)
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        first = 0;
    }

    return ngx_http_flash_throttle_stats_json_add(text, "}}");
}


static ngx_int_t
ngx_http_flash_throttle_stats_json_key(
    ngx_http_flash_throttle_stats_text_t *text,
    ngx_http_flash_throttle_stats_key_t *key, ngx_uint_t steps,
    ngx_uint_t first)
{
    if (ngx_http_flash_throttle_stats_json_open(text, key->key, key->key_len,
                                                first)
        != NGX_OK
        || ngx_http_flash_throttle_stats_json_values(text,
                                ngx_http_flash_throttle_stats_table_key, key)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (steps
        && ngx_http_flash_throttle_stats_json_history(text, key, steps)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_http_flash_throttle_stats_json_add(text, "}");
}


/* Begins an object that is a member of another one. */

static ngx_int_t
ngx_http_flash_throttle_stats_json_open(
    ngx_http_flash_throttle_stats_text_t *text, u_char *name, size_t len,
    ngx_uint_t first)
{
    ngx_buf_t  *b;

    b = ngx_http_flash_throttle_stats_text_space(text,
                            NGX_HTTP_FLASH_THROTTLE_STATS_FIELD
                            + NGX_HTTP_FLASH_THROTTLE_STATS_JSON_ESCAPED * len);
    if (b == NULL) {
        return NGX_ERROR;
    }

    b->last = ngx_sprintf(b->last, "%s\"", first ? "" : ",");
    b->last = ngx_http_flash_throttle_stats_json_escape(b->last, name, len);
    b->last = ngx_cpymem(b->last, "\":{", 3);

    return NGX_OK;
}


static ngx_int_t
ngx_http_flash_throttle_stats_json_add(
    ngx_http_flash_throttle_stats_text_t *text, const char *s)
{
    size_t      len;
    ngx_buf_t  *b;

    len = ngx_strlen(s);

    b = ngx_http_flash_throttle_stats_text_space(text, len);
    if (b == NULL) {
        return NGX_ERROR;
    }

    b->last = ngx_cpymem(b->last, s, len);

    return NGX_OK;
}


static ngx_int_t
ngx_http_flash_throttle_stats_json_values(
    ngx_http_flash_throttle_stats_text_t *text,
    ngx_http_flash_throttle_stats_metric_t *table, void *stats)
{
    uint64_t                                 value;
    ngx_buf_t                               *b;
    ngx_http_flash_throttle_stats_metric_t  *m;

    for (m = table; m->field; m++) {

        b = ngx_http_flash_throttle_stats_text_space(text,
                                         NGX_HTTP_FLASH_THROTTLE_STATS_FIELD);
        if (b == NULL) {
            return NGX_ERROR;
        }

        value = ngx_http_flash_throttle_stats_table_value(m, stats);

        b->last = ngx_sprintf(b->last, "%s\"%s\":", m == table ? "" : ",",
                              m->field);

        if (m->kind == ngx_http_flash_throttle_stats_flag) {
            b->last = ngx_sprintf(b->last, "%s", value ? "true" : "false");

        } else {
            b->last = ngx_sprintf(b->last, "%uL", value);
        }
    }

    return NGX_OK;
}


/* By columns: the time of the first step, then an array of each column. */

static ngx_int_t
ngx_http_flash_throttle_stats_json_history(
    ngx_http_flash_throttle_stats_text_t *text,
    ngx_http_flash_throttle_stats_key_t *key, ngx_uint_t steps)
{
    uint32_t    i, k, n, first, last, *values;
    ngx_buf_t  *b;

    if (!ft_history_range(&key->state->history, key->time_ms, steps, &first,
                          &last))
    {
        return NGX_OK;
    }

    n = last - first + 1;

    values = ngx_pcalloc(text->pool,
                         n * FT_HISTORY_COLUMNS * sizeof(uint32_t));
    if (values == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < n; i++) {
        (void) ft_history_read(&key->state->history, first + i,
                               &values[i * FT_HISTORY_COLUMNS]);
    }

    b = ngx_http_flash_throttle_stats_text_space(text,
                                    2 * NGX_HTTP_FLASH_THROTTLE_STATS_FIELD);
    if (b == NULL) {
        return NGX_ERROR;
    }

    b->last = ngx_sprintf(b->last,
                          ",\"history\":{\"from_ms\":%uL,\"step_ms\":%d",
                          (uint64_t) first * FT_HISTORY_STEP_MS,
                          FT_HISTORY_STEP_MS);

    for (k = 0; k < FT_HISTORY_COLUMNS; k++) {

        b = ngx_http_flash_throttle_stats_text_space(text,
                                         NGX_HTTP_FLASH_THROTTLE_STATS_FIELD
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

    return ngx_http_flash_throttle_stats_json_add(text, "}");
}


u_char *
ngx_http_flash_throttle_stats_json_escape(u_char *p, u_char *s, size_t len)
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
