
/*
 * Copyright (C) flash_throttle contributors
 */


#include "ngx_http_flash_throttle_conf_zone.h"
#include "ngx_http_flash_throttle_parse.h"
#include "ngx_http_flash_throttle_zone.h"


/* ms */
#define NGX_HTTP_FLASH_THROTTLE_PERIOD_MIN  100
#define NGX_HTTP_FLASH_THROTTLE_PERIOD_MAX  3600000


/* a limit that is a number */
typedef struct {
    const char                       *name;
    size_t                            offset;       /* in ft_limits_t */
} ngx_http_flash_throttle_conf_count_t;


static char *ngx_http_flash_throttle_conf_zone_parse_name(ngx_conf_t *cf,
    ngx_command_t *cmd, ngx_str_t *arg, ngx_str_t *name, ssize_t *size);
static char *ngx_http_flash_throttle_conf_zone_parse_limit(ngx_conf_t *cf,
    ngx_command_t *cmd, ngx_str_t *arg, ft_limits_t *limits);
static ngx_int_t ngx_http_flash_throttle_conf_zone_variable(ngx_conf_t *cf,
    ngx_str_t *key);
static char *ngx_http_flash_throttle_conf_zone_add(ngx_conf_t *cf,
    ngx_command_t *cmd, ngx_str_t *name, ssize_t size,
    ngx_http_flash_throttle_zone_t *zone,
    ngx_http_flash_throttle_main_conf_t *ftmf);


static ngx_http_flash_throttle_conf_count_t
    ngx_http_flash_throttle_conf_zone_counts[] =
{
    { "burst", offsetof(ft_limits_t, burst) },
    { "inflight", offsetof(ft_limits_t, inflight) },
    { "sessions", offsetof(ft_limits_t, sessions) },
    { NULL, 0 }
};


static char *
ngx_http_flash_throttle_conf_zone_parse_name(ngx_conf_t *cf,
    ngx_command_t *cmd, ngx_str_t *arg, ngx_str_t *name, ssize_t *size)
{
    size_t      min;
    u_char     *p;
    ngx_str_t   s;

    name->data = arg->data + sizeof("zone=") - 1;

    p = (u_char *) ngx_strchr(name->data, ':');

    if (p == NULL || p == name->data) {
        return ngx_http_flash_throttle_parse_error(cf, cmd, "zone", arg,
                   "\"zone=name:size\"");
    }

    name->len = p - name->data;

    s.data = p + 1;
    s.len = arg->data + arg->len - s.data;

    *size = ngx_parse_size(&s);

    if (*size == NGX_ERROR) {
        return ngx_http_flash_throttle_parse_error(cf, cmd, "zone size", arg,
                   "\"zone=name:size\", as in \"zone=sale:1m\"");
    }

    min = ngx_http_flash_throttle_zone_min_size();

    if (*size < (ssize_t) min) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "zone \"%V\" in \"%V\" directive is too small, "
                           "one key takes %uzk", arg, &cmd->name,
                           (min + 1023) / 1024);
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


static char *
ngx_http_flash_throttle_conf_zone_parse_limit(ngx_conf_t *cf,
    ngx_command_t *cmd, ngx_str_t *arg, ft_limits_t *limits)
{
    uint32_t                              *n;
    ngx_str_t                              s;
    ngx_http_flash_throttle_conf_count_t  *c;

    if (ngx_http_flash_throttle_parse_param(arg, "rate", &s)) {

        if (ngx_http_flash_throttle_parse_rate(&s, &limits->rate_milli)
            != NGX_OK)
        {
            return ngx_http_flash_throttle_parse_error(cf, cmd, "rate", arg,
                       "\"rate=Nr/s\" or \"rate=Nr/m\", "
                       "at most 1000000 a second");
        }

        return NGX_CONF_OK;
    }

    if (ngx_http_flash_throttle_parse_param(arg, "period", &s)) {

        if (ngx_http_flash_throttle_parse_msec(&s,
                                            NGX_HTTP_FLASH_THROTTLE_PERIOD_MIN,
                                            NGX_HTTP_FLASH_THROTTLE_PERIOD_MAX,
                                            &limits->period_ms)
            != NGX_OK)
        {
            return ngx_http_flash_throttle_parse_error(cf, cmd, "period", arg,
                       "a time from 100ms to 1h, as in \"period=5s\"");
        }

        return NGX_CONF_OK;
    }

    for (c = ngx_http_flash_throttle_conf_zone_counts; c->name; c++) {

        if (!ngx_http_flash_throttle_parse_param(arg, c->name, &s)) {
            continue;
        }

        n = (uint32_t *) ((u_char *) limits + c->offset);

        if (ngx_http_flash_throttle_parse_count(&s, n) != NGX_OK) {
            return ngx_http_flash_throttle_parse_error(cf, cmd, c->name, arg,
                       "a number from 1 to 1000000");
        }

        return NGX_CONF_OK;
    }

    return ngx_http_flash_throttle_parse_error(cf, cmd, "parameter", arg,
               "\"zone=\", \"rate=\", \"period=\", \"burst=\", "
               "\"inflight=\" or \"sessions=\"");
}


char *
ngx_http_flash_throttle_conf_zone(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_flash_throttle_main_conf_t *ftmf = conf;

    char                              *rv;
    ssize_t                            size;
    ngx_str_t                         *value, name, s;
    ngx_uint_t                         i;
    ngx_http_flash_throttle_zone_t    *zone;
    ngx_http_compile_complex_value_t   ccv;

    /* the key, the first argument, may contain "=" */

    rv = ngx_http_flash_throttle_parse_unique(cf, cmd, 2);

    if (rv != NGX_CONF_OK) {
        return rv;
    }

    value = cf->args->elts;

    zone = ngx_pcalloc(cf->pool, sizeof(ngx_http_flash_throttle_zone_t));
    if (zone == NULL) {
        return NGX_CONF_ERROR;
    }

    ngx_memzero(&ccv, sizeof(ngx_http_compile_complex_value_t));

    ccv.cf = cf;
    ccv.value = &value[1];
    ccv.complex_value = &zone->key;

    if (ngx_http_compile_complex_value(&ccv) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    if (value[1].len == 0) {
        return ngx_http_flash_throttle_parse_error(cf, cmd, "key", &value[1],
                   "text or variables, as in \"$server_name\"");
    }

    zone->variable = ngx_http_flash_throttle_conf_zone_variable(cf, &value[1]);

    size = 0;
    name.len = 0;
    zone->limits.period_ms = FT_PERIOD_DEFAULT_MS;

    for (i = 2; i < cf->args->nelts; i++) {

        if (ngx_http_flash_throttle_parse_param(&value[i], "zone", &s)) {
            rv = ngx_http_flash_throttle_conf_zone_parse_name(cf, cmd,
                                                    &value[i], &name, &size);
        } else {
            rv = ngx_http_flash_throttle_conf_zone_parse_limit(cf, cmd,
                                                    &value[i], &zone->limits);
        }

        if (rv != NGX_CONF_OK) {
            return rv;
        }
    }

    if (name.len == 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" must have \"zone\" parameter, "
                           "as in \"zone=sale:1m\"", &cmd->name);
        return NGX_CONF_ERROR;
    }

    if (zone->limits.rate_milli == 0 && zone->limits.inflight == 0
        && zone->limits.sessions == 0)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" must have \"rate\", \"inflight\" or "
                           "\"sessions\" parameter, as in \"rate=30r/s\"",
                           &cmd->name);
        return NGX_CONF_ERROR;
    }

    if (zone->limits.burst == 0) {
        zone->limits.burst = ft_config_burst_default(zone->limits.rate_milli);
    }

    return ngx_http_flash_throttle_conf_zone_add(cf, cmd, &name, size, zone,
                                                 ftmf);
}


static char *
ngx_http_flash_throttle_conf_zone_add(ngx_conf_t *cf, ngx_command_t *cmd,
    ngx_str_t *name, ssize_t size, ngx_http_flash_throttle_zone_t *zone,
    ngx_http_flash_throttle_main_conf_t *ftmf)
{
    ngx_shm_zone_t                   *shm_zone;
    ngx_http_flash_throttle_zone_t  **zp, *bound;

    shm_zone = ngx_shared_memory_add(cf, name, size,
                                     &ngx_http_flash_throttle_module);
    if (shm_zone == NULL) {
        return NGX_CONF_ERROR;
    }

    if (shm_zone->data) {
        bound = shm_zone->data;

        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "%V \"%V\" is already bound to key \"%V\"",
                           &cmd->name, name, &bound->key.value);
        return NGX_CONF_ERROR;
    }

    zp = ngx_array_push(&ftmf->zones);
    if (zp == NULL) {
        return NGX_CONF_ERROR;
    }

    *zp = zone;

    zone->shm_zone = shm_zone;
    zone->worker = FT_WORKERS;

    shm_zone->init = ngx_http_flash_throttle_zone_init;
    shm_zone->data = zone;

    return NGX_CONF_OK;
}


/* Fast path: a key that is a single variable needs no script. */

static ngx_int_t
ngx_http_flash_throttle_conf_zone_variable(ngx_conf_t *cf, ngx_str_t *key)
{
    u_char     *p;
    ngx_str_t   name;

    if (key->len < 2 || key->data[0] != '$') {
        return NGX_ERROR;
    }

    name.data = key->data + 1;
    name.len = key->len - 1;

    if (name.data[0] == '{') {
        name.data++;
        name.len -= 2;
    }

    /* neither a capture, nor followed by text or another variable */

    if (name.len == 0 || (name.data[0] >= '0' && name.data[0] <= '9')) {
        return NGX_ERROR;
    }

    for (p = name.data; p < name.data + name.len; p++) {

        if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z')
              || (*p >= '0' && *p <= '9') || *p == '_'))
        {
            return NGX_ERROR;
        }
    }

    return ngx_http_get_variable_index(cf, &name);
}


/*
 * Requests with an empty key are not throttled, and $server_name is empty in a
 * server without "server_name".
 */

void
ngx_http_flash_throttle_conf_zone_check_key(ngx_conf_t *cf,
    ngx_http_flash_throttle_zone_t *zone)
{
    ngx_str_t                 *key;
    ngx_http_core_srv_conf_t  *cscf;

    key = &zone->key.value;
    cscf = ngx_http_conf_get_module_srv_conf(cf, ngx_http_core_module);

    if (cscf->server_name.len || zone->nameless == cscf
        || (ngx_strcmp(key->data, "$server_name") != 0
            && ngx_strcmp(key->data, "${server_name}") != 0))
    {
        return;
    }

    /* once a server */

    zone->nameless = cscf;

    ngx_log_error(NGX_LOG_WARN, cf->log, 0,
                  "the server in %s:%ui has no \"server_name\", so the key "
                  "\"%V\" of zone \"%V\" is empty in it and its requests "
                  "are not throttled",
                  cscf->file_name, cscf->line, key,
                  &zone->shm_zone->shm.name);
}
