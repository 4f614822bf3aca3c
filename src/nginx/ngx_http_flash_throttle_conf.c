
/*
 * Copyright (C) flash_throttle contributors
 *
 * The directives whose arguments nginx has no setter for.  A refusal names the
 * directive, the argument and what would be taken.
 */


#include "ngx_http_flash_throttle.h"
#include "ft_rfc3339.h"


#define NGX_HTTP_FLASH_THROTTLE_POLL_LEAST  100
#define NGX_HTTP_FLASH_THROTTLE_HOLD_MOST   60000
#define NGX_HTTP_FLASH_THROTTLE_WAIT_MOST   86400000


static char *ngx_http_flash_throttle_rule(ngx_conf_t *cf, ngx_command_t *cmd,
    ngx_str_t *arg, ft_rules_t *rules);
static ngx_int_t ngx_http_flash_throttle_add_use(ngx_conf_t *cf,
    ngx_shm_zone_t *shm_zone);


static ngx_conf_enum_t  ngx_http_flash_throttle_log_levels[] = {
    { ngx_string("info"), NGX_LOG_INFO },
    { ngx_string("notice"), NGX_LOG_NOTICE },
    { ngx_string("warn"), NGX_LOG_WARN },
    { ngx_string("error"), NGX_LOG_ERR },
    { ngx_null_string, 0 }
};


/*
 * With these a browser shows no page, or a part of one, asks for a password, or
 * repeats the request at once; 444 is nginx's own.
 */

static ngx_uint_t  ngx_http_flash_throttle_refused[] = {
    204, 205, 206, 401, 407, 408, 421, 425, 444, 0
};


ngx_uint_t
ngx_http_flash_throttle_param(ngx_str_t *arg, const char *name,
    ngx_str_t *value)
{
    size_t  len;

    len = ngx_strlen(name);

    if (arg->len <= len || ngx_strncmp(arg->data, name, len) != 0
        || arg->data[len] != '=')
    {
        return 0;
    }

    value->data = arg->data + len + 1;
    value->len = arg->len - len - 1;

    return 1;
}


char *
ngx_http_flash_throttle_refuse(ngx_conf_t *cf, ngx_command_t *cmd,
    const char *what, ngx_str_t *arg, const char *must)
{
    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "invalid %s \"%V\" in \"%V\" directive, it must be %s",
                       what, arg, &cmd->name, must);
    return NGX_CONF_ERROR;
}


char *
ngx_http_flash_throttle_once(ngx_conf_t *cf, ngx_command_t *cmd,
    ngx_uint_t first)
{
    u_char      *end;
    size_t       len;
    ngx_str_t   *value;
    ngx_uint_t   i, k;

    value = cf->args->elts;

    for (i = first; i < cf->args->nelts; i++) {

        end = ngx_strlchr(value[i].data, value[i].data + value[i].len, '=');
        if (end == NULL) {
            continue;
        }

        len = end + 1 - value[i].data;

        for (k = first; k < i; k++) {

            if (value[k].len >= len
                && ngx_strncmp(value[k].data, value[i].data, len) == 0)
            {
                ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                                   "duplicate parameter \"%V\" in \"%V\" "
                                   "directive, there is \"%V\" already, "
                                   "keep one of them",
                                   &value[i], &cmd->name, &value[k]);
                return NGX_CONF_ERROR;
            }
        }
    }

    return NGX_CONF_OK;
}


ngx_int_t
ngx_http_flash_throttle_msec(ngx_str_t *s, ngx_int_t least, ngx_int_t most,
    uint32_t *msec)
{
    ngx_int_t  value;

    value = ngx_parse_time(s, 0);

    if (value == NGX_ERROR || value < least || value > most) {
        return NGX_ERROR;
    }

    *msec = value;

    return NGX_OK;
}


static char *
ngx_http_flash_throttle_rule(ngx_conf_t *cf, ngx_command_t *cmd, ngx_str_t *arg,
    ft_rules_t *rules)
{
    ngx_str_t  s;

    if (ngx_http_flash_throttle_param(arg, "policy", &s)) {

        if (ngx_strcmp(s.data, "fair") == 0) {
            rules->policy = FT_POLICY_FAIR;

        } else if (ngx_strcmp(s.data, "lottery") == 0) {
            rules->policy = FT_POLICY_LOTTERY;

        } else if (ngx_strcmp(s.data, "reject") == 0) {
            rules->policy = FT_POLICY_REJECT;

        } else {
            return ngx_http_flash_throttle_refuse(cf, cmd, "policy", arg,
                          "\"fair\", \"lottery\" or \"reject\"");
        }

        return NGX_CONF_OK;
    }

    if (ngx_http_flash_throttle_param(arg, "hold", &s)) {
        return ngx_http_flash_throttle_msec(&s, 0,
                                            NGX_HTTP_FLASH_THROTTLE_HOLD_MOST,
                                            &rules->hold_ms)
               == NGX_OK
               ? NGX_CONF_OK
               : ngx_http_flash_throttle_refuse(cf, cmd, "hold", arg,
                          "a time up to 1m, as in \"hold=2s\", or 0");
    }

    if (ngx_http_flash_throttle_param(arg, "max_wait", &s)) {
        return ngx_http_flash_throttle_msec(&s, 0,
                                            NGX_HTTP_FLASH_THROTTLE_WAIT_MOST,
                                            &rules->max_wait_ms)
               == NGX_OK
               ? NGX_CONF_OK
               : ngx_http_flash_throttle_refuse(cf, cmd, "max_wait", arg,
                          "a time up to 1d, as in \"max_wait=10m\", or 0");
    }

    return ngx_http_flash_throttle_refuse(cf, cmd, "parameter", arg,
                          "\"zone=\", \"policy=\", \"hold=\", \"max_wait=\", "
                          "or \"off\" alone");
}


char *
ngx_http_flash_throttle(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_flash_throttle_conf_t *ftcf = conf;

    char        *rv;
    ngx_str_t   *value, s;
    ngx_uint_t   i;

    if (ftcf->shm_zone != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    value = cf->args->elts;
    ftcf->shm_zone = NULL;

    if (cf->args->nelts == 2 && ngx_strcmp(value[1].data, "off") == 0) {
        return NGX_CONF_OK;
    }

    rv = ngx_http_flash_throttle_once(cf, cmd, 1);

    if (rv != NGX_CONF_OK) {
        return rv;
    }

    ftcf->rules->policy = FT_POLICY_FAIR;
    ftcf->rules->hold_ms = FT_HOLD_DEFAULT_MS;

    for (i = 1; i < cf->args->nelts; i++) {

        if (ngx_http_flash_throttle_param(&value[i], "zone", &s)) {

            ftcf->shm_zone = ngx_shared_memory_add(cf, &s, 0,
                                              &ngx_http_flash_throttle_module);
            if (ftcf->shm_zone == NULL) {
                return NGX_CONF_ERROR;
            }

            continue;
        }

        rv = ngx_http_flash_throttle_rule(cf, cmd, &value[i], ftcf->rules);

        if (rv != NGX_CONF_OK) {
            return rv;
        }
    }

    if (ftcf->shm_zone == NULL) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" must have \"zone\" parameter, "
                           "the name of a \"flash_throttle_zone\", or be "
                           "\"off\"", &cmd->name);
        return NGX_CONF_ERROR;
    }

    if (ngx_http_flash_throttle_add_use(cf, ftcf->shm_zone) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


/* The zone may be declared further down: it is looked for at the end. */

static ngx_int_t
ngx_http_flash_throttle_add_use(ngx_conf_t *cf, ngx_shm_zone_t *shm_zone)
{
    ngx_http_flash_throttle_use_t        *use;
    ngx_http_flash_throttle_main_conf_t  *ftmf;

    ftmf = ngx_http_conf_get_module_main_conf(cf,
                                              ngx_http_flash_throttle_module);

    use = ngx_array_push(&ftmf->uses);
    if (use == NULL) {
        return NGX_ERROR;
    }

    use->shm_zone = shm_zone;
    use->file = cf->conf_file->file.name.data;
    use->line = cf->conf_file->line;

    return NGX_OK;
}


char *
ngx_http_flash_throttle_session(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_flash_throttle_conf_t *ftcf = conf;

    uint32_t    msec;
    ngx_str_t  *value;

    if (ftcf->session != NGX_CONF_UNSET_MSEC) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (ngx_http_flash_throttle_msec(&value[1], 1000, FT_TICKET_AGE_MAX_MS,
                                     &msec)
        != NGX_OK)
    {
        return ngx_http_flash_throttle_refuse(cf, cmd, "time", &value[1],
                          "from 1s to 1d, as in \"10m\"");
    }

    ftcf->session = msec;

    return NGX_CONF_OK;
}


char *
ngx_http_flash_throttle_queue_status(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_flash_throttle_conf_t *ftcf = conf;

    ngx_int_t    code;
    ngx_str_t   *value;
    ngx_uint_t  *refused;

    if (ftcf->status_code != NGX_CONF_UNSET_UINT) {
        return "is duplicate";
    }

    value = cf->args->elts;
    code = ngx_atoi(value[1].data, value[1].len);

    if (code < 200 || code > 599 || (code >= 300 && code < 400)) {
        return ngx_http_flash_throttle_refuse(cf, cmd, "code", &value[1],
                          "from 200 to 299, or from 400 to 599");
    }

    for (refused = ngx_http_flash_throttle_refused; *refused; refused++) {

        if ((ngx_uint_t) code == *refused) {
            return ngx_http_flash_throttle_refuse(cf, cmd, "code", &value[1],
                          "one that browsers show a page for, such as 200, "
                          "429 or 503");
        }
    }

    ftcf->status_code = code;

    return NGX_CONF_OK;
}


char *
ngx_http_flash_throttle_poll(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_flash_throttle_conf_t *ftcf = conf;

    char        *rv;
    uint32_t     min, max, *bound;
    ngx_str_t   *value, s;
    ngx_uint_t   i;

    if (ftcf->poll_min != NGX_CONF_UNSET_MSEC) {
        return "is duplicate";
    }

    rv = ngx_http_flash_throttle_once(cf, cmd, 1);

    if (rv != NGX_CONF_OK) {
        return rv;
    }

    min = FT_POLL_MIN_DEFAULT_MS;
    max = FT_POLL_MAX_DEFAULT_MS;

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {

        if (ngx_http_flash_throttle_param(&value[i], "min", &s)) {
            bound = &min;

        } else if (ngx_http_flash_throttle_param(&value[i], "max", &s)) {
            bound = &max;

        } else {
            return ngx_http_flash_throttle_refuse(cf, cmd, "parameter",
                          &value[i], "\"min=time\" or \"max=time\"");
        }

        if (ngx_http_flash_throttle_msec(&s, NGX_HTTP_FLASH_THROTTLE_POLL_LEAST,
                                         FT_POLL_MAX_LIMIT_MS, bound)
            != NGX_OK)
        {
            return ngx_http_flash_throttle_refuse(cf, cmd, "time", &value[i],
                          "from 100ms to 55s");
        }
    }

    if (min > max) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid bounds in \"%V\" directive, \"min\" is "
                           "%uDms and must not exceed \"max\", %uDms",
                           &cmd->name, min, max);
        return NGX_CONF_ERROR;
    }

    ftcf->poll_min = min;
    ftcf->poll_max = max;

    return NGX_CONF_OK;
}


char *
ngx_http_flash_throttle_opens(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_flash_throttle_conf_t *ftcf = conf;

    ngx_str_t  *value;

    if (ftcf->opens != NGX_HTTP_FLASH_THROTTLE_OPENS_UNSET) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (ngx_strcmp(value[1].data, "off") == 0) {
        ftcf->opens = 0;
        return NGX_CONF_OK;
    }

    if (!ft_rfc3339_read((char *) value[1].data, value[1].len, &ftcf->opens)
        || ftcf->opens == 0)
    {
        return ngx_http_flash_throttle_refuse(cf, cmd, "time", &value[1],
                          "as in RFC 3339 with an offset, such as "
                          "\"2026-11-27T12:00:00Z\" or "
                          "\"2026-11-27T12:00:00.5+01:00\", or \"off\"");
    }

    return NGX_CONF_OK;
}


char *
ngx_http_flash_throttle_log_level(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_flash_throttle_conf_t *ftcf = conf;

    ngx_str_t        *value;
    ngx_conf_enum_t  *level;

    if (ftcf->log_level != NGX_CONF_UNSET_UINT) {
        return "is duplicate";
    }

    value = cf->args->elts;

    for (level = ngx_http_flash_throttle_log_levels; level->name.len; level++) {

        if (ngx_strcmp(value[1].data, level->name.data) == 0) {
            ftcf->log_level = level->value;
            return NGX_CONF_OK;
        }
    }

    return ngx_http_flash_throttle_refuse(cf, cmd, "level", &value[1],
                          "\"info\", \"notice\", \"warn\" or \"error\"");
}
