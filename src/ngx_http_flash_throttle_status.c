
/*
 * Copyright (C) flash_throttle contributors
 *
 * The status: the figures of every zone and key, as JSON.
 */


#include "ngx_http_flash_throttle.h"


/* characters that an escaped byte takes at most */
#define NGX_HTTP_FLASH_THROTTLE_ESCAPED   6

/* one key's names, numbers and the escaped key itself */
#define NGX_HTTP_FLASH_THROTTLE_KEY_LEN                                       \
    (1024 + 32 * NGX_INT64_LEN                                                \
     + NGX_HTTP_FLASH_THROTTLE_ESCAPED * FT_KEY_MAX)

#define NGX_HTTP_FLASH_THROTTLE_ZONE_LEN  (256 + 8 * NGX_INT64_LEN)


/* where the answer grows: one buffer for each part, so of any length */
typedef struct {
    ngx_pool_t    *pool;
    ngx_chain_t   *out;
    ngx_chain_t  **last;
    off_t          size;
} ngx_http_flash_throttle_parts_t;


static ngx_int_t ngx_http_flash_throttle_status_handler(ngx_http_request_t *r);
static ngx_int_t ngx_http_flash_throttle_status_json(ngx_http_request_t *r,
    ngx_http_flash_throttle_parts_t *parts);
static ngx_int_t ngx_http_flash_throttle_status_zone(
    ngx_http_flash_throttle_parts_t *parts,
    ngx_http_flash_throttle_zone_t *zone, ngx_uint_t first);
static ngx_int_t ngx_http_flash_throttle_status_key(
    ngx_http_flash_throttle_parts_t *parts,
    ngx_http_flash_throttle_zone_t *zone, uint32_t i, ngx_uint_t *first);
static u_char *ngx_http_flash_throttle_status_now(u_char *p,
    ft_snapshot_t *s);
static u_char *ngx_http_flash_throttle_status_totals(u_char *p,
    ft_totals_t *totals);
static u_char *ngx_http_flash_throttle_escape(u_char *p, u_char *s,
    size_t len);
static ngx_buf_t *ngx_http_flash_throttle_part(
    ngx_http_flash_throttle_parts_t *parts, size_t size);


char *
ngx_http_flash_throttle_status(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_core_loc_conf_t  *clcf;

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);
    clcf->handler = ngx_http_flash_throttle_status_handler;

    return NGX_CONF_OK;
}


static ngx_int_t
ngx_http_flash_throttle_status_handler(ngx_http_request_t *r)
{
    ngx_int_t                         rc;
    ngx_table_elt_t                  *h;
    ngx_http_flash_throttle_parts_t   parts;

    if (!(r->method & (NGX_HTTP_GET|NGX_HTTP_HEAD))) {
        return NGX_HTTP_NOT_ALLOWED;
    }

    rc = ngx_http_discard_request_body(r);

    if (rc != NGX_OK) {
        return rc;
    }

    parts.pool = r->pool;
    parts.last = &parts.out;
    parts.size = 0;

    if (ngx_http_flash_throttle_status_json(r, &parts) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    h = ngx_list_push(&r->headers_out.headers);
    if (h == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    h->hash = 1;
#if (nginx_version >= 1023000)
    h->next = NULL;
#endif
    ngx_str_set(&h->key, "Cache-Control");
    ngx_str_set(&h->value, "no-store");

    r->headers_out.status = NGX_HTTP_OK;
    r->headers_out.content_length_n = parts.size;
    ngx_str_set(&r->headers_out.content_type, "application/json");
    r->headers_out.content_type_len = r->headers_out.content_type.len;
    r->disable_not_modified = 1;

    rc = ngx_http_send_header(r);

    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only) {
        return rc;
    }

    return ngx_http_output_filter(r, parts.out);
}


static ngx_int_t
ngx_http_flash_throttle_status_json(ngx_http_request_t *r,
    ngx_http_flash_throttle_parts_t *parts)
{
    ngx_buf_t                            *b;
    ngx_time_t                           *tp;
    ngx_uint_t                            i;
    ngx_http_flash_throttle_zone_t      **zones;
    ngx_http_flash_throttle_main_conf_t  *ftmf;

    ftmf = ngx_http_get_module_main_conf(r, ngx_http_flash_throttle_module);

    b = ngx_http_flash_throttle_part(parts, 128);
    if (b == NULL) {
        return NGX_ERROR;
    }

    tp = ngx_timeofday();

    b->last = ngx_sprintf(b->last, "{\"version\":\"%s\",\"time_ms\":%uL,"
                          "\"zones\":{", NGX_HTTP_FLASH_THROTTLE_VERSION,
                          (uint64_t) tp->sec * 1000 + tp->msec);

    parts->size += b->last - b->pos;

    zones = ftmf->zones.elts;

    for (i = 0; i < ftmf->zones.nelts; i++) {
        if (ngx_http_flash_throttle_status_zone(parts, zones[i], i == 0)
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    b = ngx_http_flash_throttle_part(parts, 8);
    if (b == NULL) {
        return NGX_ERROR;
    }

    b->last = ngx_cpymem(b->last, "}}\n", 3);
    b->last_buf = (r == r->main) ? 1 : 0;
    b->last_in_chain = 1;

    parts->size += b->last - b->pos;
    *parts->last = NULL;

    return NGX_OK;
}


static ngx_int_t
ngx_http_flash_throttle_status_zone(ngx_http_flash_throttle_parts_t *parts,
    ngx_http_flash_throttle_zone_t *zone, ngx_uint_t first)
{
    uint32_t    i;
    ngx_buf_t  *b;
    ngx_str_t  *name;

    name = &zone->shm_zone->shm.name;

    b = ngx_http_flash_throttle_part(parts, NGX_HTTP_FLASH_THROTTLE_ZONE_LEN
                                  + NGX_HTTP_FLASH_THROTTLE_ESCAPED
                                    * name->len);
    if (b == NULL) {
        return NGX_ERROR;
    }

    b->last = ngx_sprintf(b->last, "%s\"", first ? "" : ",");
    b->last = ngx_http_flash_throttle_escape(b->last, name->data, name->len);
    b->last = ngx_sprintf(b->last,
                          "\":{\"rate_milli\":%uD,\"period_ms\":%uD,"
                          "\"burst\":%uD,\"inflight_max\":%uD,"
                          "\"sessions_max\":%uD,\"keys_max\":%uD,\"keys\":{",
                          zone->limits.rate_milli, zone->limits.period_ms,
                          zone->limits.burst, zone->limits.inflight,
                          zone->limits.sessions, ft_zone_keys(zone->sh));

    parts->size += b->last - b->pos;
    first = 1;

    for (i = 0; i < ft_zone_keys(zone->sh); i++) {
        if (ngx_http_flash_throttle_status_key(parts, zone, i, &first)
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    b = ngx_http_flash_throttle_part(parts, 8);
    if (b == NULL) {
        return NGX_ERROR;
    }

    b->last = ngx_cpymem(b->last, "}}", 2);
    parts->size += b->last - b->pos;

    return NGX_OK;
}


static ngx_int_t
ngx_http_flash_throttle_status_key(ngx_http_flash_throttle_parts_t *parts,
    ngx_http_flash_throttle_zone_t *zone, uint32_t i, ngx_uint_t *first)
{
    char            key[FT_KEY_MAX];
    size_t          len;
    ft_call_t       call;
    ft_state_t     *state;
    ngx_buf_t      *b;
    ft_snapshot_t   s;

    state = ft_zone_state(zone->sh, i);

    /* no location uses the zone: nobody was ever in it */

    if (state == NULL || zone->rules == NULL) {
        return NGX_OK;
    }

    b = ngx_http_flash_throttle_part(parts, NGX_HTTP_FLASH_THROTTLE_KEY_LEN);
    if (b == NULL) {
        return NGX_ERROR;
    }

    len = ft_zone_key(zone->sh, i, key);

    ngx_http_flash_throttle_call(zone, state, zone->rules,
                                 ngx_http_flash_throttle_now(zone), &call);
    s = ft_admission_snapshot(&call);

    b->last = ngx_sprintf(b->last, "%s\"", *first ? "" : ",");
    b->last = ngx_http_flash_throttle_escape(b->last, (u_char *) key, len);
    b->last = ngx_sprintf(b->last, "\":{");
    b->last = ngx_http_flash_throttle_status_now(b->last, &s);
    b->last = ngx_http_flash_throttle_status_totals(b->last, &state->totals);
    b->last = ngx_sprintf(b->last, "}");

    parts->size += b->last - b->pos;
    *first = 0;

    return NGX_OK;
}


static u_char *
ngx_http_flash_throttle_status_now(u_char *p, ft_snapshot_t *s)
{
    return ngx_sprintf(p,
                       "\"waiting\":%uD,\"called\":%uD,\"held\":%uD,"
                       "\"fresh\":%uD,\"inflight\":%uD,\"sessions\":%uD,"
                       "\"queueing\":%s,"
                       "\"threshold_ms\":%uL,\"threshold_age_ms\":%uL,"
                       "\"wait_ms\":%uL,\"room_milli\":%uL,"
                       "\"flow_milli\":%uL,\"show_up_milli\":%uD",
                       s->waiting, s->called, s->held, s->fresh, s->inflight,
                       s->sessions, s->queueing ? "true" : "false", s->threshold_ms,
                       s->threshold_age_ms, s->wait_ms, s->room_milli,
                       s->flow_milli, s->show_up_milli);
}


static u_char *
ngx_http_flash_throttle_status_totals(u_char *p, ft_totals_t *totals)
{
    return ngx_sprintf(p,
                       ",\"first_attempts\":%uL,\"polls\":%uL,"
                       "\"admitted\":%uL,\"queued\":%uL,\"held_total\":%uL,"
                       "\"turned_back\":%uL,\"rejected\":%uL,\"passed\":%uL,"
                       "\"done\":%uL,\"left\":%uL,\"missed\":%uL,"
                       "\"vanished\":%uL,\"over\":%uL,\"waited_ms\":%uL",
                       atomic_load(&totals->first_attempts),
                       atomic_load(&totals->polls),
                       atomic_load(&totals->admitted),
                       atomic_load(&totals->queued),
                       atomic_load(&totals->held),
                       atomic_load(&totals->turned_back),
                       atomic_load(&totals->rejected),
                       atomic_load(&totals->passed),
                       atomic_load(&totals->done),
                       atomic_load(&totals->left),
                       atomic_load(&totals->missed),
                       atomic_load(&totals->vanished),
                       atomic_load(&totals->over),
                       atomic_load(&totals->waited_ms));
}


/*
 * A key is any bytes.  What is not ASCII is written as a code point of its own,
 * so that the answer is valid JSON whatever a client put into its key.
 */

static u_char *
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


static ngx_buf_t *
ngx_http_flash_throttle_part(ngx_http_flash_throttle_parts_t *parts,
    size_t size)
{
    ngx_buf_t    *b;
    ngx_chain_t  *cl;

    cl = ngx_alloc_chain_link(parts->pool);
    if (cl == NULL) {
        return NULL;
    }

    b = ngx_create_temp_buf(parts->pool, size);
    if (b == NULL) {
        return NULL;
    }

    cl->buf = b;
    cl->next = NULL;

    *parts->last = cl;
    parts->last = &cl->next;

    return b;
}
