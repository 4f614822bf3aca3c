
/*
 * Copyright (C) flash_throttle contributors
 */


#include "ngx_http_flash_throttle_conf.h"
#include "ngx_http_flash_throttle_parse.h"
#include "ngx_http_flash_throttle_rules.h"

#include "ft_rfc3339.h"


/* ms */
#define NGX_HTTP_FLASH_THROTTLE_POLL_MIN     100
#define NGX_HTTP_FLASH_THROTTLE_HOLD_MAX     60000
#define NGX_HTTP_FLASH_THROTTLE_WAIT_MAX     86400000
#define NGX_HTTP_FLASH_THROTTLE_SESSION_MIN  1000


static char *ngx_http_flash_throttle_conf_rule(ngx_conf_t *cf,
    ngx_command_t *cmd, ngx_str_t *arg, ngx_http_flash_throttle_conf_t *ftcf);
static char *ngx_http_flash_throttle_conf_policy(ngx_conf_t *cf,
    ngx_command_t *cmd, ngx_str_t *arg, ngx_str_t *name, ft_policy_t *policy);
static ngx_int_t ngx_http_flash_throttle_conf_add_use(ngx_conf_t *cf,
    ngx_http_flash_throttle_conf_t *ftcf);
static char *ngx_http_flash_throttle_conf_check_queue_status(ngx_conf_t *cf,
    void *post, void *data);


ngx_conf_enum_t  ngx_http_flash_throttle_conf_log_levels[] = {
    { ngx_string("info"), NGX_LOG_INFO },
    { ngx_string("notice"), NGX_LOG_NOTICE },
    { ngx_string("warn"), NGX_LOG_WARN },
    { ngx_string("error"), NGX_LOG_ERR },
    { ngx_null_string, 0 }
};


ngx_conf_post_t  ngx_http_flash_throttle_conf_queue_status = {
    ngx_http_flash_throttle_conf_check_queue_status
};


/*
 * With these a browser shows no page, or a part of one, asks for a password, or
 * repeats the request at once; 444 is nginx's own.
 */

static ngx_uint_t  ngx_http_flash_throttle_conf_refused[] = {
    204, 205, 206, 401, 407, 408, 421, 425, 444, 0
};


char *
ngx_http_flash_throttle_conf_throttle(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
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

    rv = ngx_http_flash_throttle_parse_unique(cf, cmd, 1);

    if (rv != NGX_CONF_OK) {
        return rv;
    }

    ftcf->policy = FT_POLICY_FAIR;
    ftcf->hold = FT_HOLD_DEFAULT_MS;

    for (i = 1; i < cf->args->nelts; i++) {

        if (ngx_http_flash_throttle_parse_param(&value[i], "zone", &s)) {

            ftcf->shm_zone = ngx_shared_memory_add(cf, &s, 0,
                                              &ngx_http_flash_throttle_module);
            if (ftcf->shm_zone == NULL) {
                return NGX_CONF_ERROR;
            }

            continue;
        }

        rv = ngx_http_flash_throttle_conf_rule(cf, cmd, &value[i], ftcf);

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

    ngx_http_flash_throttle_rules_place(cf, &ftcf->places.throttle);

    if (ngx_http_flash_throttle_conf_add_use(cf, ftcf) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


static char *
ngx_http_flash_throttle_conf_rule(ngx_conf_t *cf, ngx_command_t *cmd,
    ngx_str_t *arg, ngx_http_flash_throttle_conf_t *ftcf)
{
    ngx_str_t  s;

    if (ngx_http_flash_throttle_parse_param(arg, "policy", &s)) {
        return ngx_http_flash_throttle_conf_policy(cf, cmd, arg, &s,
                                                   &ftcf->policy);
    }

    if (ngx_http_flash_throttle_parse_param(arg, "hold", &s)) {

        if (ngx_http_flash_throttle_parse_msec(&s, 0,
                                              NGX_HTTP_FLASH_THROTTLE_HOLD_MAX,
                                              &ftcf->hold)
            != NGX_OK)
        {
            return ngx_http_flash_throttle_parse_error(cf, cmd, "hold", arg,
                       "a time up to 1m, as in \"hold=2s\", or 0");
        }

        return NGX_CONF_OK;
    }

    if (ngx_http_flash_throttle_parse_param(arg, "max_wait", &s)) {

        if (ngx_http_flash_throttle_parse_msec(&s, 0,
                                              NGX_HTTP_FLASH_THROTTLE_WAIT_MAX,
                                              &ftcf->max_wait)
            != NGX_OK)
        {
            return ngx_http_flash_throttle_parse_error(cf, cmd, "max_wait",
                       arg, "a time up to 1d, as in \"max_wait=10m\", or 0");
        }

        return NGX_CONF_OK;
    }

    return ngx_http_flash_throttle_parse_error(cf, cmd, "parameter", arg,
               "\"zone=\", \"policy=\", \"hold=\", \"max_wait=\", "
               "or \"off\" alone");
}


static char *
ngx_http_flash_throttle_conf_policy(ngx_conf_t *cf, ngx_command_t *cmd,
    ngx_str_t *arg, ngx_str_t *name, ft_policy_t *policy)
{
    ngx_conf_enum_t  *e;

    for (e = ngx_http_flash_throttle_rules_policies; e->name.len; e++) {

        if (ngx_strcmp(name->data, e->name.data) == 0) {
            *policy = e->value;
            return NGX_CONF_OK;
        }
    }

    return ngx_http_flash_throttle_parse_error(cf, cmd, "policy", arg,
               "\"fair\", \"lottery\", \"proportional\" or \"reject\"");
}


/* A zone may be declared after its use: init_main_conf checks it. */

static ngx_int_t
ngx_http_flash_throttle_conf_add_use(ngx_conf_t *cf,
    ngx_http_flash_throttle_conf_t *ftcf)
{
    ngx_http_flash_throttle_use_t        *use;
    ngx_http_flash_throttle_main_conf_t  *ftmf;

    ftmf = ngx_http_conf_get_module_main_conf(cf,
                                              ngx_http_flash_throttle_module);

    use = ngx_array_push(&ftmf->uses);
    if (use == NULL) {
        return NGX_ERROR;
    }

    use->shm_zone = ftcf->shm_zone;
    use->place = ftcf->places.throttle;

    return NGX_OK;
}


char *
ngx_http_flash_throttle_conf_session(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_flash_throttle_conf_t *ftcf = conf;

    uint32_t    msec;
    ngx_str_t  *value;

    if (ftcf->session != NGX_CONF_UNSET_MSEC) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (ngx_http_flash_throttle_parse_msec(&value[1],
                                           NGX_HTTP_FLASH_THROTTLE_SESSION_MIN,
                                           FT_TICKET_AGE_MAX_MS, &msec)
        != NGX_OK)
    {
        return ngx_http_flash_throttle_parse_error(cf, cmd, "time", &value[1],
                   "from 1s to 1d, as in \"10m\"");
    }

    ftcf->session = msec;
    ngx_http_flash_throttle_rules_place(cf, &ftcf->places.session);

    return NGX_CONF_OK;
}


static char *
ngx_http_flash_throttle_conf_check_queue_status(ngx_conf_t *cf, void *post,
    void *data)
{
    ngx_int_t  *code = data;

    ngx_str_t   *value;
    ngx_uint_t  *refused;

    value = cf->args->elts;

    if (*code < 200 || *code > 599 || (*code >= 300 && *code < 400)) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid code \"%V\" in \"%V\" directive, it must "
                           "be from 200 to 299, or from 400 to 599",
                           &value[1], &value[0]);
        return NGX_CONF_ERROR;
    }

    for (refused = ngx_http_flash_throttle_conf_refused; *refused; refused++) {

        if ((ngx_uint_t) *code == *refused) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "invalid code \"%V\" in \"%V\" directive, it "
                               "must be one that browsers show a page for, "
                               "such as 200, 429 or 503",
                               &value[1], &value[0]);
            return NGX_CONF_ERROR;
        }
    }

    return NGX_CONF_OK;
}


char *
ngx_http_flash_throttle_conf_poll(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_flash_throttle_conf_t *ftcf = conf;

    char        *rv;
    uint32_t     min, max, *limit;
    ngx_str_t   *value, s;
    ngx_uint_t   i;

    if (ftcf->poll_min != NGX_CONF_UNSET_MSEC) {
        return "is duplicate";
    }

    rv = ngx_http_flash_throttle_parse_unique(cf, cmd, 1);

    if (rv != NGX_CONF_OK) {
        return rv;
    }

    min = FT_POLL_MIN_DEFAULT_MS;
    max = FT_POLL_MAX_DEFAULT_MS;

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {

        if (ngx_http_flash_throttle_parse_param(&value[i], "min", &s)) {
            limit = &min;

        } else if (ngx_http_flash_throttle_parse_param(&value[i], "max", &s)) {
            limit = &max;

        } else {
            return ngx_http_flash_throttle_parse_error(cf, cmd, "parameter",
                       &value[i], "\"min=time\" or \"max=time\"");
        }

        if (ngx_http_flash_throttle_parse_msec(&s,
                                              NGX_HTTP_FLASH_THROTTLE_POLL_MIN,
                                              FT_POLL_MAX_LIMIT_MS, limit)
            != NGX_OK)
        {
            return ngx_http_flash_throttle_parse_error(cf, cmd, "time",
                       &value[i], "from 100ms to 55s");
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
    ngx_http_flash_throttle_rules_place(cf, &ftcf->places.poll);

    return NGX_CONF_OK;
}


char *
ngx_http_flash_throttle_conf_opens(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
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
        return ngx_http_flash_throttle_parse_error(cf, cmd, "time", &value[1],
                   "as in RFC 3339 with an offset, such as "
                   "\"2026-11-27T12:00:00Z\" or "
                   "\"2026-11-27T12:00:00.5+01:00\", or \"off\"");
    }

    ngx_http_flash_throttle_rules_place(cf, &ftcf->places.opens);

    return NGX_CONF_OK;
}
