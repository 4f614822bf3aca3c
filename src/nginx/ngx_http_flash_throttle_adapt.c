
/*
 * Copyright (C) flash_throttle contributors
 *
 */


#include "ngx_http_flash_throttle_adapt.h"
#include "ngx_http_flash_throttle_parse.h"
#include "ngx_http_flash_throttle_rules.h"
#include "ngx_http_flash_throttle_zone.h"


/* admissions a second x 1000 */
#define NGX_HTTP_FLASH_THROTTLE_ADAPT_MIN  1000


static ngx_int_t ngx_http_flash_throttle_adapt_time(ngx_http_request_t *r,
    ngx_msec_t *time, ngx_uint_t *status);


void
ngx_http_flash_throttle_adapt_response(ngx_http_flash_throttle_ctx_t *ctx)
{
    uint64_t                         now;
    ngx_msec_t                       time;
    ngx_uint_t                       status;
    ft_answer_kind_t                 kind;
    ngx_http_flash_throttle_zone_t  *zone;

    zone = ctx->zone;

    if (ctx->conf->adapt == NULL
        || atomic_load(&ctx->state->generation) != ctx->generation
        || ngx_http_flash_throttle_adapt_time(ctx->request, &time, &status)
           != NGX_OK)
    {
        return;
    }

    if (status == 0) {
        kind = FT_ANSWER_LOST;

    } else if (status >= NGX_HTTP_INTERNAL_SERVER_ERROR) {
        kind = FT_ANSWER_ERROR;

    } else if (status >= NGX_HTTP_BAD_REQUEST) {
        kind = FT_ANSWER_REFUSAL;

    } else {
        kind = FT_ANSWER_GOOD;
    }

    now = ngx_http_flash_throttle_zone_now(zone);

    ft_adapt_answer(&ctx->state->adapt, ctx->conf->adapt, &zone->limits, kind,
                    time, now);

    ngx_log_debug3(NGX_LOG_DEBUG_HTTP, ctx->request->connection->log, 0,
                   "flash_throttle response: %ui, %M ms, window: %uD/1000",
                   status, time, atomic_load(&ctx->state->adapt.window_milli));
}


/*
 * The sum of $upstream_response_time, and the last $upstream_status; 0: the
 * client closed the connection before.  NGX_DECLINED: there was no upstream.
 */

static ngx_int_t
ngx_http_flash_throttle_adapt_time(ngx_http_request_t *r, ngx_msec_t *time,
    ngx_uint_t *status)
{
    ngx_uint_t                  i;
    ngx_http_upstream_state_t  *state;

    if (r->upstream_states == NULL || r->upstream_states->nelts == 0) {
        return NGX_DECLINED;
    }

    *time = 0;
    *status = 0;

    state = r->upstream_states->elts;

    for (i = 0; i < r->upstream_states->nelts; i++) {

        /* an internal redirect adds an empty state */

        if (state[i].peer == NULL) {
            continue;
        }

        if (state[i].response_time != (ngx_msec_t) -1) {
            *time += state[i].response_time;
        }

        *status = state[i].status;
    }

    return NGX_OK;
}


char *
ngx_http_flash_throttle_adapt(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_flash_throttle_conf_t *ftcf = conf;

    char              *rv;
    ngx_str_t         *value, s;
    ngx_uint_t         i;
    ft_adapt_rules_t  *rules;

    if (ftcf->adapt != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (cf->args->nelts == 2 && ngx_strcmp(value[1].data, "off") == 0) {
        ftcf->adapt = NULL;
        return NGX_CONF_OK;
    }

    rv = ngx_http_flash_throttle_parse_unique(cf, cmd, 1);

    if (rv != NGX_CONF_OK) {
        return rv;
    }

    rules = ngx_pcalloc(cf->pool, sizeof(ft_adapt_rules_t));
    if (rules == NULL) {
        return NGX_CONF_ERROR;
    }

    rules->min_milli = NGX_HTTP_FLASH_THROTTLE_ADAPT_MIN;

    for (i = 1; i < cf->args->nelts; i++) {

        if (ngx_http_flash_throttle_parse_param(&value[i], "target", &s)) {

            if (ngx_http_flash_throttle_parse_msec(&s, FT_ADAPT_TARGET_MIN_MS,
                                             FT_ADAPT_TARGET_MAX_MS,
                                             &rules->target_ms)
                != NGX_OK)
            {
                return ngx_http_flash_throttle_parse_error(cf, cmd, "time",
                              &value[i], "from 10ms to 60s, as in "
                              "\"target=500ms\"");
            }

        } else if (ngx_http_flash_throttle_parse_param(&value[i], "min", &s)) {

            if (ngx_http_flash_throttle_parse_rate(&s, &rules->min_milli)
                != NGX_OK)
            {
                return ngx_http_flash_throttle_parse_error(cf, cmd, "rate",
                              &value[i], "\"min=Nr/s\" or \"min=Nr/m\", "
                              "at most 1000000 a second");
            }

        } else if (ngx_http_flash_throttle_parse_param(&value[i], "max", &s)) {

            if (ngx_http_flash_throttle_parse_rate(&s, &rules->max_milli)
                != NGX_OK)
            {
                return ngx_http_flash_throttle_parse_error(cf, cmd, "rate",
                              &value[i], "\"max=Nr/s\" or \"max=Nr/m\", "
                              "at most 1000000 a second");
            }

        } else {
            return ngx_http_flash_throttle_parse_error(cf, cmd, "parameter",
                          &value[i], "\"target=time\", \"min=rate\", "
                          "\"max=rate\" or \"off\"");
        }
    }

    if (rules->target_ms == 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" must have \"target\" parameter, "
                           "as in \"target=500ms\"", &cmd->name);
        return NGX_CONF_ERROR;
    }

    if (rules->max_milli && rules->min_milli > rules->max_milli) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid bounds in \"%V\" directive, \"min\" "
                           "must not exceed \"max\", it is 1r/s where it is "
                           "not set", &cmd->name);
        return NGX_CONF_ERROR;
    }

    ftcf->adapt = rules;
    ngx_http_flash_throttle_rules_place(cf, &ftcf->places.adapt);

    return NGX_CONF_OK;
}
