
/*
 * Copyright (C) flash_throttle contributors
 */


#include "ngx_http_flash_throttle_call.h"
#include "ngx_http_flash_throttle_hold.h"
#include "ngx_http_flash_throttle_override.h"
#include "ngx_http_flash_throttle_parse.h"
#include "ngx_http_flash_throttle_stats_json.h"
#include "ngx_http_flash_throttle_zone.h"

#include "ft_json.h"


#define NGX_HTTP_FLASH_THROTTLE_OVERRIDE_NAME_MAX  256
#define NGX_HTTP_FLASH_THROTTLE_OVERRIDE_WORD_MAX  32

/* the maximum number of names in a message */
#define NGX_HTTP_FLASH_THROTTLE_OVERRIDE_LISTED    16

/* a response without names */
#define NGX_HTTP_FLASH_THROTTLE_OVERRIDE_LEN                                  \
    (1024 + 16 * NGX_INT64_LEN)

#define ngx_http_flash_throttle_override_is(ov, name)                         \
    ((ov)->command.len == sizeof(name) - 1                                    \
     && ngx_memcmp((ov)->command.data, name, sizeof(name) - 1) == 0)

#define ngx_http_flash_throttle_override_field(f, index, field, text)         \
    (f)[NGX_HTTP_FLASH_THROTTLE_OVERRIDE_##index].name = field;               \
    (f)[NGX_HTTP_FLASH_THROTTLE_OVERRIDE_##index].value = (char *) text;      \
    (f)[NGX_HTTP_FLASH_THROTTLE_OVERRIDE_##index].size = sizeof(text)

#define NGX_HTTP_FLASH_THROTTLE_OVERRIDE_COMMANDS                             \
    "\"rate\", \"pause\", \"open\", \"sold-out\", \"resume\" or \"reset\""


enum {
    NGX_HTTP_FLASH_THROTTLE_OVERRIDE_ZONE = 0,
    NGX_HTTP_FLASH_THROTTLE_OVERRIDE_KEY,
    NGX_HTTP_FLASH_THROTTLE_OVERRIDE_COMMAND,
    NGX_HTTP_FLASH_THROTTLE_OVERRIDE_RATE,
    NGX_HTTP_FLASH_THROTTLE_OVERRIDE_NEW,
    NGX_HTTP_FLASH_THROTTLE_OVERRIDE_FIELDS
};


typedef struct {
    ngx_http_request_t              *request;
    ngx_uint_t                       status;
    ngx_str_t                        error;

    ft_json_field_t                  fields[
                                       NGX_HTTP_FLASH_THROTTLE_OVERRIDE_FIELDS];

    ngx_http_flash_throttle_zone_t  *zone;
    ft_state_t                      *state;
    uint64_t                         now_ms;
    ngx_str_t                        key;
    ngx_str_t                        command;
    uint32_t                         rate_milli;

    u_char  zone_text[NGX_HTTP_FLASH_THROTTLE_OVERRIDE_NAME_MAX];
    u_char  key_text[FT_KEY_MAX];
    u_char  command_text[NGX_HTTP_FLASH_THROTTLE_OVERRIDE_WORD_MAX];
    u_char  rate_text[NGX_HTTP_FLASH_THROTTLE_OVERRIDE_WORD_MAX];
} ngx_http_flash_throttle_override_t;


static ngx_int_t ngx_http_flash_throttle_override_read(
    ngx_http_flash_throttle_override_t *ov, ngx_str_t *text);
static ngx_int_t ngx_http_flash_throttle_override_command(
    ngx_http_flash_throttle_override_t *ov);
static void ngx_http_flash_throttle_override_apply(
    ngx_http_flash_throttle_override_t *ov);
static ngx_buf_t *ngx_http_flash_throttle_override_answer(
    ngx_http_flash_throttle_override_t *ov);
static ngx_int_t ngx_http_flash_throttle_override_key(
    ngx_http_flash_throttle_override_t *ov);
static ngx_int_t ngx_http_flash_throttle_override_zone(
    ngx_http_flash_throttle_override_t *ov);
static ngx_int_t ngx_http_flash_throttle_override_state(
    ngx_http_flash_throttle_override_t *ov);
static ngx_int_t ngx_http_flash_throttle_override_only_key(
    ngx_http_flash_throttle_override_t *ov);
static ngx_int_t ngx_http_flash_throttle_override_list_zones(
    ngx_http_flash_throttle_override_t *ov, ngx_str_t *list);
static ngx_int_t ngx_http_flash_throttle_override_list_keys(
    ngx_http_flash_throttle_override_t *ov, ngx_str_t *list);
static ngx_int_t ngx_http_flash_throttle_override_error(
    ngx_http_flash_throttle_override_t *ov, ngx_uint_t status,
    const char *fmt, ...);
static ngx_str_t ngx_http_flash_throttle_override_text(
    ngx_http_flash_throttle_override_t *ov, ngx_uint_t field);


ngx_buf_t *
ngx_http_flash_throttle_override(ngx_http_request_t *r, ngx_str_t *text,
    ngx_uint_t *status)
{
    ngx_buf_t                           *b;
    ngx_http_flash_throttle_override_t  *ov;

    ov = ngx_pcalloc(r->pool, sizeof(ngx_http_flash_throttle_override_t));
    if (ov == NULL) {
        return NULL;
    }

    ov->request = r;

    if (ngx_http_flash_throttle_override_read(ov, text) == NGX_OK
        && ngx_http_flash_throttle_override_command(ov) == NGX_OK
        && ngx_http_flash_throttle_override_key(ov) == NGX_OK)
    {
        ngx_http_flash_throttle_override_apply(ov);

        *status = NGX_HTTP_OK;

        return ngx_http_flash_throttle_override_answer(ov);
    }

    if (ov->error.data == NULL) {
        return NULL;
    }

    *status = ov->status;

    b = ngx_create_temp_buf(r->pool, sizeof("{\"error\":\"\"}\n")
                            + NGX_HTTP_FLASH_THROTTLE_STATS_JSON_ESCAPED
                              * ov->error.len);
    if (b == NULL) {
        return NULL;
    }

    b->last = ngx_sprintf(b->last, "{\"error\":\"");
    b->last = ngx_http_flash_throttle_stats_json_escape(b->last,
                                                        ov->error.data,
                                                        ov->error.len);
    b->last = ngx_sprintf(b->last, "\"}\n");

    return b;
}


static ngx_int_t
ngx_http_flash_throttle_override_read(ngx_http_flash_throttle_override_t *ov,
    ngx_str_t *text)
{
    size_t            at;
    const char       *wrong;
    ft_json_field_t  *f;

    f = ov->fields;

    ngx_http_flash_throttle_override_field(f, ZONE, "zone", ov->zone_text);
    ngx_http_flash_throttle_override_field(f, KEY, "key", ov->key_text);
    ngx_http_flash_throttle_override_field(f, COMMAND, "command",
                                           ov->command_text);
    ngx_http_flash_throttle_override_field(f, RATE, "rate", ov->rate_text);

    f[NGX_HTTP_FLASH_THROTTLE_OVERRIDE_NEW].name = "new";

    wrong = ft_json_read((char *) text->data, text->len, f,
                         NGX_HTTP_FLASH_THROTTLE_OVERRIDE_FIELDS, &at);

    if (wrong) {
        return ngx_http_flash_throttle_override_error(ov, NGX_HTTP_BAD_REQUEST,
                   "%s at byte %uz", wrong, at);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_flash_throttle_override_command(ngx_http_flash_throttle_override_t *ov)
{
    ngx_str_t  rate;

    ov->command = ngx_http_flash_throttle_override_text(ov,
                                      NGX_HTTP_FLASH_THROTTLE_OVERRIDE_COMMAND);
    rate = ngx_http_flash_throttle_override_text(ov,
                                      NGX_HTTP_FLASH_THROTTLE_OVERRIDE_RATE);

    if (ngx_http_flash_throttle_override_is(ov, "rate")) {

        if (ngx_http_flash_throttle_parse_rate(&rate, &ov->rate_milli)
            != NGX_OK)
        {
            return ngx_http_flash_throttle_override_error(ov,
                       NGX_HTTP_BAD_REQUEST,
                       "invalid rate \"%V\", it must be \"Nr/s\" or \"Nr/m\", "
                       "at most 1000000 a second", &rate);
        }

        return NGX_OK;
    }

    if (!ngx_http_flash_throttle_override_is(ov, "pause")
        && !ngx_http_flash_throttle_override_is(ov, "open")
        && !ngx_http_flash_throttle_override_is(ov, "sold-out")
        && !ngx_http_flash_throttle_override_is(ov, "resume")
        && !ngx_http_flash_throttle_override_is(ov, "reset"))
    {
        return ngx_http_flash_throttle_override_error(ov, NGX_HTTP_BAD_REQUEST,
                   "invalid command \"%V\", it must be "
                   NGX_HTTP_FLASH_THROTTLE_OVERRIDE_COMMANDS, &ov->command);
    }

    if (ov->fields[NGX_HTTP_FLASH_THROTTLE_OVERRIDE_RATE].given) {
        return ngx_http_flash_throttle_override_error(ov, NGX_HTTP_BAD_REQUEST,
                   "\"rate\" requires the command \"rate\"");
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_flash_throttle_override_error(ngx_http_flash_throttle_override_t *ov,
    ngx_uint_t status, const char *fmt, ...)
{
    u_char   *p;
    size_t    size;
    va_list   args;

    size = NGX_HTTP_FLASH_THROTTLE_OVERRIDE_LEN
           + (NGX_HTTP_FLASH_THROTTLE_OVERRIDE_LISTED + 2)
             * (NGX_HTTP_FLASH_THROTTLE_OVERRIDE_NAME_MAX + sizeof(", \"\""));

    p = ngx_pnalloc(ov->request->pool, size);
    if (p == NULL) {
        return NGX_ERROR;
    }

    ov->status = status;
    ov->error.data = p;

    va_start(args, fmt);
    ov->error.len = ngx_vslprintf(p, p + size, fmt, args) - p;
    va_end(args);

    return NGX_ERROR;
}


static ngx_int_t
ngx_http_flash_throttle_override_key(ngx_http_flash_throttle_override_t *ov)
{
    if (ngx_http_flash_throttle_override_zone(ov) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_flash_throttle_override_state(ov);
}


/* The zone of that name; without a name, the only zone in use. */

static ngx_int_t
ngx_http_flash_throttle_override_zone(
    ngx_http_flash_throttle_override_t *ov)
{
    ngx_str_t                             name, list, *zone_name;
    ngx_uint_t                            i, given, used;
    ngx_http_flash_throttle_zone_t      **zones;
    ngx_http_flash_throttle_main_conf_t  *ftmf;

    ftmf = ngx_http_get_module_main_conf(ov->request,
                                         ngx_http_flash_throttle_module);

    given = ov->fields[NGX_HTTP_FLASH_THROTTLE_OVERRIDE_ZONE].given;
    name = ngx_http_flash_throttle_override_text(ov,
                                         NGX_HTTP_FLASH_THROTTLE_OVERRIDE_ZONE);
    zones = ftmf->zones.elts;
    used = 0;

    for (i = 0; i < ftmf->zones.nelts; i++) {

        if (!zones[i]->used) {
            continue;
        }

        zone_name = &zones[i]->shm_zone->shm.name;

        if (!given) {
            ov->zone = zones[i];
            used++;

        } else if (zone_name->len == name.len
                   && ngx_memcmp(zone_name->data, name.data, name.len) == 0)
        {
            ov->zone = zones[i];
            return NGX_OK;
        }
    }

    if (used == 1) {
        return NGX_OK;
    }

    if (ngx_http_flash_throttle_override_list_zones(ov, &list) != NGX_OK) {
        return NGX_ERROR;
    }

    if (given) {
        return ngx_http_flash_throttle_override_error(ov, NGX_HTTP_NOT_FOUND,
                   "no \"flash_throttle\" uses zone \"%V\", zones in use:%V",
                   &name, &list);
    }

    return ngx_http_flash_throttle_override_error(ov,
               used ? NGX_HTTP_BAD_REQUEST : NGX_HTTP_NOT_FOUND,
               "\"zone\" is required, zones in use:%V", &list);
}


static ngx_int_t
ngx_http_flash_throttle_override_state(
    ngx_http_flash_throttle_override_t *ov)
{
    ngx_str_t   list;
    ngx_log_t  *log;

    ov->now_ms = ngx_http_flash_throttle_zone_now(ov->zone);

    if (!ov->fields[NGX_HTTP_FLASH_THROTTLE_OVERRIDE_KEY].given) {
        return ngx_http_flash_throttle_override_only_key(ov);
    }

    ov->key = ngx_http_flash_throttle_override_text(ov,
                                         NGX_HTTP_FLASH_THROTTLE_OVERRIDE_KEY);

    if (ov->key.len == 0) {
        return ngx_http_flash_throttle_override_error(ov, NGX_HTTP_BAD_REQUEST,
                   "the key is empty");
    }

    if (ov->fields[NGX_HTTP_FLASH_THROTTLE_OVERRIDE_NEW].yes) {

        log = ov->request->connection->log;

        ov->state = ngx_http_flash_throttle_zone_state(ov->zone, &ov->key,
                                                       ov->now_ms, log);

        return ov->state
               ? NGX_OK
               : ngx_http_flash_throttle_override_error(ov,
                     NGX_HTTP_SERVICE_UNAVAILABLE,
                     "zone \"%V\" has no space for key \"%V\"",
                     &ov->zone->shm_zone->shm.name, &ov->key);
    }

    ov->state = ft_zone_find(ov->zone->sh, ov->key.data, ov->key.len,
                             ov->now_ms);

    if (ov->state) {
        return NGX_OK;
    }

    if (ngx_http_flash_throttle_override_list_keys(ov, &list) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_flash_throttle_override_error(ov, NGX_HTTP_NOT_FOUND,
               "unknown key \"%V\" in zone \"%V\", keys:%V; "
               "\"new\":true creates it",
               &ov->key, &ov->zone->shm_zone->shm.name, &list);
}


static ngx_int_t
ngx_http_flash_throttle_override_only_key(
    ngx_http_flash_throttle_override_t *ov)
{
    uint32_t     i, keys, found;
    ngx_str_t    list;
    ft_zone_t   *sh;
    ft_state_t  *state;

    sh = ov->zone->sh;
    keys = ft_zone_keys(sh);
    found = 0;

    for (i = 0; i < keys; i++) {

        state = ft_zone_state(sh, i);

        if (state == NULL) {
            continue;
        }

        ov->state = state;
        ov->key.data = ov->key_text;
        ov->key.len = ft_zone_key(sh, i, (char *) ov->key_text);
        found++;
    }

    if (found == 1) {
        return NGX_OK;
    }

    if (ngx_http_flash_throttle_override_list_keys(ov, &list) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_flash_throttle_override_error(ov,
               found ? NGX_HTTP_BAD_REQUEST : NGX_HTTP_NOT_FOUND,
               "\"key\" is required in zone \"%V\", keys:%V",
               &ov->zone->shm_zone->shm.name, &list);
}


/* For a message: ' "a", "b"', or " none". */

static ngx_int_t
ngx_http_flash_throttle_override_list_zones(
    ngx_http_flash_throttle_override_t *ov, ngx_str_t *list)
{
    u_char                               *p, *last;
    size_t                                size;
    ngx_uint_t                            i, n;
    ngx_http_flash_throttle_zone_t      **zones;
    ngx_http_flash_throttle_main_conf_t  *ftmf;

    ftmf = ngx_http_get_module_main_conf(ov->request,
                                         ngx_http_flash_throttle_module);

    size = NGX_HTTP_FLASH_THROTTLE_OVERRIDE_LISTED
           * (NGX_HTTP_FLASH_THROTTLE_OVERRIDE_NAME_MAX + sizeof(", \"\""))
           + 64;

    p = ngx_pnalloc(ov->request->pool, size);
    if (p == NULL) {
        return NGX_ERROR;
    }

    list->data = p;
    last = p + size;
    zones = ftmf->zones.elts;

    for (i = 0, n = 0; i < ftmf->zones.nelts; i++) {

        if (!zones[i]->used) {
            continue;
        }

        if (n == NGX_HTTP_FLASH_THROTTLE_OVERRIDE_LISTED) {
            p = ngx_slprintf(p, last, " and more");
            break;
        }

        p = ngx_slprintf(p, last, "%s \"%V\"", n++ ? "," : "",
                         &zones[i]->shm_zone->shm.name);
    }

    if (n == 0) {
        p = ngx_slprintf(p, last, " none");
    }

    list->len = p - list->data;

    return NGX_OK;
}


static ngx_int_t
ngx_http_flash_throttle_override_list_keys(
    ngx_http_flash_throttle_override_t *ov, ngx_str_t *list)
{
    u_char      *p, *last;
    size_t       size, len;
    uint32_t     i;
    ngx_uint_t   n;
    char         key[FT_KEY_MAX];

    size = NGX_HTTP_FLASH_THROTTLE_OVERRIDE_LISTED
           * (FT_KEY_MAX + sizeof(", \"\"")) + 64;

    p = ngx_pnalloc(ov->request->pool, size);
    if (p == NULL) {
        return NGX_ERROR;
    }

    list->data = p;
    last = p + size;

    for (i = 0, n = 0; i < ft_zone_keys(ov->zone->sh); i++) {

        if (ft_zone_state(ov->zone->sh, i) == NULL) {
            continue;
        }

        if (n == NGX_HTTP_FLASH_THROTTLE_OVERRIDE_LISTED) {
            p = ngx_slprintf(p, last, " and more");
            break;
        }

        len = ft_zone_key(ov->zone->sh, i, key);
        p = ngx_slprintf(p, last, "%s \"%*s\"", n++ ? "," : "", len, key);
    }

    if (n == 0) {
        p = ngx_slprintf(p, last, " none");
    }

    list->len = p - list->data;

    return NGX_OK;
}


static void
ngx_http_flash_throttle_override_apply(ngx_http_flash_throttle_override_t *ov)
{
    u_char       key[FT_KEY_MAX];
    size_t       len;
    ngx_str_t    rate;
    ft_state_t  *state;

    state = ov->state;
    rate = ngx_http_flash_throttle_override_text(ov,
                                         NGX_HTTP_FLASH_THROTTLE_OVERRIDE_RATE);

    if (ngx_http_flash_throttle_override_is(ov, "rate")) {
        ft_override_rate(state, FT_OVERRIDE_OPERATOR, ov->rate_milli);

    } else if (ngx_http_flash_throttle_override_is(ov, "pause")) {
        ft_override_pause(state);

    } else if (ngx_http_flash_throttle_override_is(ov, "sold-out")) {
        (void) ft_override_sold_out(state, FT_OVERRIDE_OPERATOR);

    } else if (ngx_http_flash_throttle_override_is(ov, "open")) {
        ft_override_open(state, ov->now_ms);

    } else if (ngx_http_flash_throttle_override_is(ov, "resume")) {
        (void) ft_override_resume(state, FT_OVERRIDE_OPERATOR, ov->now_ms);

    } else { /* reset */
        ft_override_reset(state, ov->now_ms);
    }

    len = ngx_http_flash_throttle_zone_printable(key, ov->key.data,
                                                 ov->key.len);

    ngx_log_error(NGX_LOG_NOTICE, ov->request->connection->log, 0,
                  "flash_throttle_control: \"%V%s%V\" for key \"%*s\" in "
                  "zone \"%V\"", &ov->command, rate.len ? " " : "", &rate,
                  len, key, &ov->zone->shm_zone->shm.name);

    ngx_http_flash_throttle_hold_wake(ov->zone, state);
}


static ngx_buf_t *
ngx_http_flash_throttle_override_answer(ngx_http_flash_throttle_override_t *ov)
{
    ft_call_t    call;
    ngx_buf_t   *b;
    ngx_str_t   *zone;
    ft_stats_t   s;

    zone = &ov->zone->shm_zone->shm.name;

    b = ngx_create_temp_buf(ov->request->pool,
                            NGX_HTTP_FLASH_THROTTLE_OVERRIDE_LEN
                            + NGX_HTTP_FLASH_THROTTLE_STATS_JSON_ESCAPED
                              * (zone->len + ov->key.len));
    if (b == NULL) {
        return NULL;
    }

    ngx_http_flash_throttle_call(ov->zone, ov->state, &ov->zone->rules,
                                 ov->now_ms, &call);
    ft_bucket_settle(&ov->state->bucket, &call.limits, ov->now_ms);

    s = ft_stats_read(&call);

    b->last = ngx_sprintf(b->last, "{\"command\":\"%V\",\"zone\":\"",
                          &ov->command);
    b->last = ngx_http_flash_throttle_stats_json_escape(b->last, zone->data,
                                                        zone->len);
    b->last = ngx_sprintf(b->last, "\",\"key\":\"");
    b->last = ngx_http_flash_throttle_stats_json_escape(b->last, ov->key.data,
                                                        ov->key.len);
    b->last = ngx_sprintf(b->last,
                          "\",\"state\":{\"paused\":%s,\"sold_out\":%s,"
                          "\"rate_now_milli\":%uD,\"rate_override_milli\":%uD,"
                          "\"rate_upstream_milli\":%uD,\"opens_ms\":%uL,"
                          "\"opened_ms\":%uL,\"queueing\":%s,"
                          "\"waiting\":%uD,\"held\":%uD,\"inflight\":%uD}}\n",
                          s.paused ? "true" : "false",
                          s.sold_out ? "true" : "false", s.rate_milli,
                          s.rate_override_milli, s.rate_upstream_milli,
                          s.opens_ms, s.opened_ms,
                          s.queueing ? "true" : "false",
                          s.waiting, s.held, s.inflight);

    return b;
}


static ngx_str_t
ngx_http_flash_throttle_override_text(ngx_http_flash_throttle_override_t *ov,
    ngx_uint_t field)
{
    ngx_str_t  text;

    text.data = (u_char *) ov->fields[field].value;
    text.len = ov->fields[field].len;

    return text;
}
