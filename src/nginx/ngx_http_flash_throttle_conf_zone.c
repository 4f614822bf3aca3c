
/*
 * Copyright (C) flash_throttle contributors
 *
 * The directive that declares a zone.
 */


#include "ngx_http_flash_throttle.h"


#define NGX_HTTP_FLASH_THROTTLE_PERIOD_LEAST  100
#define NGX_HTTP_FLASH_THROTTLE_PERIOD_MOST   3600000
#define NGX_HTTP_FLASH_THROTTLE_COUNT_MOST    1000000


static char *ngx_http_flash_throttle_zone_size(ngx_conf_t *cf,
    ngx_command_t *cmd, ngx_str_t *arg, ngx_str_t *name, ssize_t *size);
static ngx_int_t ngx_http_flash_throttle_number(ngx_str_t *s, uint32_t *n);
static char *ngx_http_flash_throttle_limit(ngx_conf_t *cf, ngx_command_t *cmd,
    ngx_str_t *arg, ft_limits_t *limits);
static ngx_int_t ngx_http_flash_throttle_key_variable(ngx_conf_t *cf,
    ngx_str_t *key);
static char *ngx_http_flash_throttle_add_zone(ngx_conf_t *cf,
    ngx_command_t *cmd, ngx_str_t *name, ssize_t size,
    ngx_http_flash_throttle_zone_t *zone,
    ngx_http_flash_throttle_main_conf_t *ftmf);


static ngx_int_t
ngx_http_flash_throttle_number(ngx_str_t *s, uint32_t *n)
{
    ngx_int_t  value;

    value = ngx_atoi(s->data, s->len);

    if (value < 1 || value > NGX_HTTP_FLASH_THROTTLE_COUNT_MOST) {
        return NGX_ERROR;
    }

    *n = value;

    return NGX_OK;
}


ngx_int_t
ngx_http_flash_throttle_rate(ngx_str_t *s, uint32_t *rate)
{
    u_char     *unit;
    ngx_int_t   n, scale;

    if (s->len < 4) {
        return NGX_ERROR;
    }

    unit = s->data + s->len - 3;

    if (ngx_strncmp(unit, "r/s", 3) == 0) {
        scale = 1;

    } else if (ngx_strncmp(unit, "r/m", 3) == 0) {
        scale = 60;

    } else {
        return NGX_ERROR;
    }

    n = ngx_atoi(s->data, s->len - 3);

    if (n < 1 || n > NGX_HTTP_FLASH_THROTTLE_COUNT_MOST * scale) {
        return NGX_ERROR;
    }

    *rate = n * 1000 / scale;

    return NGX_OK;
}


static char *
ngx_http_flash_throttle_zone_size(ngx_conf_t *cf, ngx_command_t *cmd,
    ngx_str_t *arg, ngx_str_t *name, ssize_t *size)
{
    size_t      least;
    u_char     *p;
    ngx_str_t   s;

    name->data = arg->data + sizeof("zone=") - 1;

    p = (u_char *) ngx_strchr(name->data, ':');

    if (p == NULL || p == name->data) {
        return ngx_http_flash_throttle_refuse(cf, cmd, "zone", arg,
                                              "\"zone=name:size\"");
    }

    name->len = p - name->data;

    s.data = p + 1;
    s.len = arg->data + arg->len - s.data;

    *size = ngx_parse_size(&s);

    if (*size == NGX_ERROR) {
        return ngx_http_flash_throttle_refuse(cf, cmd, "zone size", arg,
                                              "\"zone=name:size\", "
                                              "as in \"zone=sale:1m\"");
    }

    least = ngx_http_flash_throttle_zone_min();

    if (*size < (ssize_t) least) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "zone \"%V\" in \"%V\" directive is too small, "
                           "one key takes %uzk", arg, &cmd->name,
                           (least + 1023) / 1024);
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


static char *
ngx_http_flash_throttle_limit(ngx_conf_t *cf, ngx_command_t *cmd,
    ngx_str_t *arg, ft_limits_t *limits)
{
    ngx_str_t  s;

    if (ngx_http_flash_throttle_param(arg, "rate", &s)) {
        return ngx_http_flash_throttle_rate(&s, &limits->rate_milli) == NGX_OK
               ? NGX_CONF_OK
               : ngx_http_flash_throttle_refuse(cf, cmd, "rate", arg,
                          "\"rate=Nr/s\" or \"rate=Nr/m\", "
                          "at most 1000000 a second");
    }

    if (ngx_http_flash_throttle_param(arg, "period", &s)) {
        return ngx_http_flash_throttle_msec(&s,
                                         NGX_HTTP_FLASH_THROTTLE_PERIOD_LEAST,
                                         NGX_HTTP_FLASH_THROTTLE_PERIOD_MOST,
                                         &limits->period_ms)
               == NGX_OK
               ? NGX_CONF_OK
               : ngx_http_flash_throttle_refuse(cf, cmd, "period", arg,
                          "a time from 100ms to 1h, as in \"period=5s\"");
    }

    if (ngx_http_flash_throttle_param(arg, "burst", &s)) {
        return ngx_http_flash_throttle_number(&s, &limits->burst) == NGX_OK
               ? NGX_CONF_OK
               : ngx_http_flash_throttle_refuse(cf, cmd, "burst", arg,
                          "a number from 1 to 1000000");
    }

    if (ngx_http_flash_throttle_param(arg, "inflight", &s)) {
        return ngx_http_flash_throttle_number(&s, &limits->inflight) == NGX_OK
               ? NGX_CONF_OK
               : ngx_http_flash_throttle_refuse(cf, cmd, "inflight", arg,
                          "a number from 1 to 1000000");
    }

    if (ngx_http_flash_throttle_param(arg, "sessions", &s)) {
        return ngx_http_flash_throttle_number(&s, &limits->sessions) == NGX_OK
               ? NGX_CONF_OK
               : ngx_http_flash_throttle_refuse(cf, cmd, "sessions", arg,
                          "a number from 1 to 1000000");
    }

    return ngx_http_flash_throttle_refuse(cf, cmd, "parameter", arg,
                          "\"zone=\", \"rate=\", \"period=\", \"burst=\", "
                          "\"inflight=\" or \"sessions=\"");
}


char *
ngx_http_flash_throttle_zone(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_flash_throttle_main_conf_t *ftmf = conf;

    char                              *rv;
    ssize_t                            size;
    ngx_str_t                         *value, name, s;
    ngx_uint_t                         i;
    ngx_http_flash_throttle_zone_t    *zone;
    ngx_http_compile_complex_value_t   ccv;

    /* the key, which comes first, may hold anything */

    rv = ngx_http_flash_throttle_once(cf, cmd, 2);

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
        return ngx_http_flash_throttle_refuse(cf, cmd, "key", &value[1],
                          "text or variables, as in \"$server_name\", "
                          "an empty key is not throttled");
    }

    zone->variable = ngx_http_flash_throttle_key_variable(cf, &value[1]);

    size = 0;
    name.len = 0;
    zone->limits.period_ms = FT_PERIOD_DEFAULT_MS;

    for (i = 2; i < cf->args->nelts; i++) {

        if (ngx_http_flash_throttle_param(&value[i], "zone", &s)) {
            rv = ngx_http_flash_throttle_zone_size(cf, cmd, &value[i], &name,
                                                   &size);
        } else {
            rv = ngx_http_flash_throttle_limit(cf, cmd, &value[i],
                                               &zone->limits);
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

    return ngx_http_flash_throttle_add_zone(cf, cmd, &name, size, zone, ftmf);
}


static char *
ngx_http_flash_throttle_add_zone(ngx_conf_t *cf, ngx_command_t *cmd,
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
                           "%V \"%V\" is already bound to key \"%V\", "
                           "give each zone a name of its own",
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

    shm_zone->init = ngx_http_flash_throttle_init_zone;
    shm_zone->data = zone;

    return NGX_CONF_OK;
}


/* The variable that the key is, as most are: it is had without a script. */

static ngx_int_t
ngx_http_flash_throttle_key_variable(ngx_conf_t *cf, ngx_str_t *key)
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

    /* no capture; and neither text nor another variable behind it */

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
 * What has an empty key is not throttled, and the obvious key is empty in a
 * server that is the only one and has no name.
 */

void
ngx_http_flash_throttle_check_key(ngx_conf_t *cf,
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

    /* once for all locations of a server */

    zone->nameless = cscf;

    ngx_log_error(NGX_LOG_WARN, cf->log, 0,
                  "the server in %s:%ui has no \"server_name\", so the key "
                  "\"%V\" of zone \"%V\" is empty in it and nobody is "
                  "throttled, name the server",
                  cscf->file_name, cscf->line, key,
                  &zone->shm_zone->shm.name);
}
