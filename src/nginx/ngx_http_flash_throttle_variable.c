
/*
 * Copyright (C) flash_throttle contributors
 *
 * Variables of the decision on the main request; they have values after an
 * internal redirect and in the log phase, too.
 */


#include "ngx_http_flash_throttle_ctx.h"
#include "ngx_http_flash_throttle_variable.h"


static ngx_http_flash_throttle_ctx_t *
    ngx_http_flash_throttle_variable_ticket_ctx(ngx_http_request_t *r);
static ngx_http_flash_throttle_ctx_t *
    ngx_http_flash_throttle_variable_waiting_ctx(ngx_http_request_t *r);
static ngx_int_t ngx_http_flash_throttle_variable_status(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);
static ngx_int_t ngx_http_flash_throttle_variable_id(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);
static ngx_int_t ngx_http_flash_throttle_variable_first(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);
static ngx_int_t ngx_http_flash_throttle_variable_waited(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);
static ngx_int_t ngx_http_flash_throttle_variable_position(
    ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t data);
static ngx_int_t ngx_http_flash_throttle_variable_wait(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);
static ngx_int_t ngx_http_flash_throttle_variable_retry(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);
static ngx_int_t ngx_http_flash_throttle_variable_seconds(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uint64_t ms);


static ngx_http_variable_t  ngx_http_flash_throttle_variables[] = {

    { ngx_string("flash_throttle_status"), NULL,
      ngx_http_flash_throttle_variable_status, 0, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("flash_throttle_id"), NULL,
      ngx_http_flash_throttle_variable_id, 0, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("flash_throttle_first_attempt"), NULL,
      ngx_http_flash_throttle_variable_first, 0, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("flash_throttle_waited"), NULL,
      ngx_http_flash_throttle_variable_waited, 0, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("flash_throttle_position"), NULL,
      ngx_http_flash_throttle_variable_position, 0, NGX_HTTP_VAR_NOCACHEABLE,
      0 },

    { ngx_string("flash_throttle_wait"), NULL,
      ngx_http_flash_throttle_variable_wait, 0, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("flash_throttle_retry"), NULL,
      ngx_http_flash_throttle_variable_retry, 0, NGX_HTTP_VAR_NOCACHEABLE, 0 },

      ngx_http_null_variable
};


static ngx_str_t  ngx_http_flash_throttle_variable_statuses[] = {
    ngx_string("PASSED"),
    ngx_string("ADMITTED"),
    ngx_string("QUEUED"),
    ngx_string("REJECTED"),
    ngx_string("BYPASSED"),
    ngx_string("CLOSED"),
    ngx_string("SOLD_OUT")
};


static ngx_str_t  ngx_http_flash_throttle_variable_dry_run[] = {
    ngx_string("PASSED_DRY_RUN"),
    ngx_string("ADMITTED_DRY_RUN"),
    ngx_string("QUEUED_DRY_RUN"),
    ngx_string("REJECTED_DRY_RUN"),
    ngx_string("BYPASSED"),
    ngx_string("CLOSED_DRY_RUN"),
    ngx_string("SOLD_OUT_DRY_RUN")
};


/* The context of a request with a ticket, or NULL. */

static ngx_http_flash_throttle_ctx_t *
ngx_http_flash_throttle_variable_ticket_ctx(ngx_http_request_t *r)
{
    ngx_http_flash_throttle_ctx_t  *ctx;

    ctx = ngx_http_flash_throttle_ctx_get(r);

    if (ctx == NULL || ctx->status == NGX_HTTP_FLASH_THROTTLE_BYPASSED
        || ctx->ticket.first_ms == 0)
    {
        return NULL;
    }

    return ctx;
}


/* The context of a queued or rejected request, or NULL. */

static ngx_http_flash_throttle_ctx_t *
ngx_http_flash_throttle_variable_waiting_ctx(ngx_http_request_t *r)
{
    ngx_http_flash_throttle_ctx_t  *ctx;

    ctx = ngx_http_flash_throttle_ctx_get(r);

    if (ctx == NULL || (ctx->status != NGX_HTTP_FLASH_THROTTLE_QUEUED
                        && ctx->status != NGX_HTTP_FLASH_THROTTLE_REJECTED))
    {
        return NULL;
    }

    return ctx;
}


static ngx_int_t
ngx_http_flash_throttle_variable_status(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    ngx_str_t                      *status;
    ngx_http_flash_throttle_ctx_t  *ctx;

    ctx = ngx_http_flash_throttle_ctx_get(r);

    if (ctx == NULL || ctx->status == 0) {
        v->not_found = 1;
        return NGX_OK;
    }

    status = ctx->conf->dry_run ? ngx_http_flash_throttle_variable_dry_run
                                : ngx_http_flash_throttle_variable_statuses;
    status += ctx->status - 1;

    v->valid = 1;
    v->no_cacheable = 0;
    v->not_found = 0;
    v->len = status->len;
    v->data = status->data;

    return NGX_OK;
}


static ngx_int_t
ngx_http_flash_throttle_variable_id(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    u_char                         *p;
    ngx_http_flash_throttle_ctx_t  *ctx;

    ctx = ngx_http_flash_throttle_variable_ticket_ctx(r);

    if (ctx == NULL) {
        v->not_found = 1;
        return NGX_OK;
    }

    p = ngx_pnalloc(r->pool, 16);
    if (p == NULL) {
        return NGX_ERROR;
    }

    v->valid = 1;
    v->no_cacheable = 0;
    v->not_found = 0;
    v->len = ngx_sprintf(p, "%016xL", ctx->ticket.id) - p;
    v->data = p;

    return NGX_OK;
}


static ngx_int_t
ngx_http_flash_throttle_variable_first(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    ngx_http_flash_throttle_ctx_t  *ctx;

    ctx = ngx_http_flash_throttle_variable_ticket_ctx(r);

    if (ctx == NULL) {
        v->not_found = 1;
        return NGX_OK;
    }

    return ngx_http_flash_throttle_variable_seconds(r, v, ctx->ticket.first_ms);
}


/* seen_ms is the time of admission; first_ms may be from an edge whose clock is
   ahead. */

static ngx_int_t
ngx_http_flash_throttle_variable_waited(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    ft_ticket_t                    *pass;
    ngx_http_flash_throttle_ctx_t  *ctx;

    ctx = ngx_http_flash_throttle_variable_ticket_ctx(r);

    if (ctx == NULL || ctx->ticket.kind != FT_TICKET_PASS) {
        v->not_found = 1;
        return NGX_OK;
    }

    pass = &ctx->ticket;

    return ngx_http_flash_throttle_variable_seconds(r, v,
                                           pass->seen_ms > pass->first_ms
                                           ? pass->seen_ms - pass->first_ms
                                           : 0);
}


static ngx_int_t
ngx_http_flash_throttle_variable_position(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    u_char                         *p;
    ngx_http_flash_throttle_ctx_t  *ctx;

    ctx = ngx_http_flash_throttle_variable_waiting_ctx(r);

    if (ctx == NULL) {
        v->not_found = 1;
        return NGX_OK;
    }

    p = ngx_pnalloc(r->pool, NGX_INT32_LEN);
    if (p == NULL) {
        return NGX_ERROR;
    }

    v->valid = 1;
    v->no_cacheable = 0;
    v->not_found = 0;
    v->len = ngx_sprintf(p, "%uD", ctx->verdict.position) - p;
    v->data = p;

    return NGX_OK;
}


static ngx_int_t
ngx_http_flash_throttle_variable_wait(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    ngx_http_flash_throttle_ctx_t  *ctx;

    ctx = ngx_http_flash_throttle_variable_waiting_ctx(r);

    if (ctx == NULL) {
        v->not_found = 1;
        return NGX_OK;
    }

    return ngx_http_flash_throttle_variable_seconds(r, v, ctx->verdict.wait_ms);
}


static ngx_int_t
ngx_http_flash_throttle_variable_retry(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    ngx_http_flash_throttle_ctx_t  *ctx;

    ctx = ngx_http_flash_throttle_ctx_get(r);

    if (ctx == NULL) {
        v->not_found = 1;
        return NGX_OK;
    }

    switch (ctx->status) {

    case NGX_HTTP_FLASH_THROTTLE_QUEUED:
    case NGX_HTTP_FLASH_THROTTLE_REJECTED:
    case NGX_HTTP_FLASH_THROTTLE_CLOSED:
    case NGX_HTTP_FLASH_THROTTLE_SOLD_OUT:
        break;

    default:
        v->not_found = 1;
        return NGX_OK;
    }

    return ngx_http_flash_throttle_variable_seconds(r, v,
                                                    ctx->verdict.retry_ms);
}


static ngx_int_t
ngx_http_flash_throttle_variable_seconds(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uint64_t ms)
{
    u_char  *p;

    p = ngx_pnalloc(r->pool, NGX_INT64_LEN + 4);
    if (p == NULL) {
        return NGX_ERROR;
    }

    v->valid = 1;
    v->no_cacheable = 0;
    v->not_found = 0;
    v->len = ngx_sprintf(p, "%uL.%03uL", ms / 1000, ms % 1000) - p;
    v->data = p;

    return NGX_OK;
}


ngx_int_t
ngx_http_flash_throttle_variable_add(ngx_conf_t *cf)
{
    ngx_http_variable_t  *var, *v;

    for (v = ngx_http_flash_throttle_variables; v->name.len; v++) {
        var = ngx_http_add_variable(cf, &v->name, v->flags);
        if (var == NULL) {
            return NGX_ERROR;
        }

        var->get_handler = v->get_handler;
        var->data = v->data;
    }

    return NGX_OK;
}
