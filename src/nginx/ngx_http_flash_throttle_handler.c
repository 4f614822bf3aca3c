
/*
 * Copyright (C) flash_throttle contributors
 *
 * The preaccess handler: a client's request is decided once, whatever internal
 * redirects and subrequests it goes through afterwards.
 */


#include "ngx_http_flash_throttle.h"
#include "ngx_http_flash_throttle_zone.h"

#include <openssl/rand.h>


static ngx_int_t ngx_http_flash_throttle_decide(ngx_http_request_t *r,
    ngx_http_flash_throttle_conf_t *ftcf);
static ngx_http_flash_throttle_ctx_t *ngx_http_flash_throttle_create_ctx(
    ngx_http_request_t *r, ngx_http_flash_throttle_conf_t *ftcf);
static ngx_int_t ngx_http_flash_throttle_context(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx);
static ngx_int_t ngx_http_flash_throttle_again(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ft_call_t *call);
static ngx_int_t ngx_http_flash_throttle_queue(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ft_call_t *call);
static void ngx_http_flash_throttle_enter(ngx_http_flash_throttle_ctx_t *ctx,
    ft_call_t *call);
static void ngx_http_flash_throttle_full(ngx_http_flash_throttle_ctx_t *ctx);
static uint64_t ngx_http_flash_throttle_random(void);
static void ngx_http_flash_throttle_cleanup(void *data);


/*
 * An internal redirect zeroes the contexts of modules; ours is found again
 * through its cleanup.
 */

ngx_http_flash_throttle_ctx_t *
ngx_http_flash_throttle_get_ctx(ngx_http_request_t *r)
{
    ngx_pool_cleanup_t             *cln;
    ngx_http_flash_throttle_ctx_t  *ctx;

    r = r->main;

    ctx = ngx_http_get_module_ctx(r, ngx_http_flash_throttle_module);

    if (ctx == NULL && (r->internal || r->filter_finalize)) {

        for (cln = r->pool->cleanup; cln; cln = cln->next) {

            if (cln->handler == ngx_http_flash_throttle_cleanup) {
                ctx = cln->data;
                ngx_http_set_ctx(r, ctx, ngx_http_flash_throttle_module);
                break;
            }
        }
    }

    return ctx;
}


ngx_int_t
ngx_http_flash_throttle_handler(ngx_http_request_t *r)
{
    ngx_int_t                        rc;
    ngx_http_flash_throttle_ctx_t   *ctx;
    ngx_http_flash_throttle_conf_t  *ftcf;

    if (r != r->main) {
        return NGX_DECLINED;
    }

    ctx = ngx_http_flash_throttle_get_ctx(r);

    if (ctx == NULL) {
        ftcf = ngx_http_get_module_loc_conf(r, ngx_http_flash_throttle_module);

        if (ftcf->shm_zone == NULL || ftcf->endpoint) {
            return NGX_DECLINED;
        }

        rc = ngx_http_flash_throttle_decide(r, ftcf);

        if (rc != NGX_OK) {
            return rc;
        }

        ctx = ngx_http_get_module_ctx(r, ngx_http_flash_throttle_module);

    } else if (ctx->answered || ctx->status == 0 || r->post_action) {
        return ngx_http_flash_throttle_redirected(r, ctx);
    }

    ctx->answered = 1;

    return ngx_http_flash_throttle_answer(r, ctx);
}


static ngx_http_flash_throttle_ctx_t *
ngx_http_flash_throttle_create_ctx(ngx_http_request_t *r,
    ngx_http_flash_throttle_conf_t *ftcf)
{
    ngx_pool_cleanup_t             *cln;
    ngx_http_flash_throttle_ctx_t  *ctx;

    cln = ngx_pool_cleanup_add(r->pool, sizeof(ngx_http_flash_throttle_ctx_t));
    if (cln == NULL) {
        return NULL;
    }

    ctx = cln->data;

    /* the rest is written before it is read, and this is for each request */

    ctx->request = r;
    ctx->conf = ftcf;
    ctx->zone = ftcf->shm_zone->data;
    ctx->state = NULL;
    ctx->heard = NULL;
    ctx->status = 0;
    ctx->poll = 0;
    ctx->json = 0;
    ctx->fresh = 0;
    ctx->again = 0;
    ctx->held = 0;
    ctx->counted = 0;
    ctx->complete = 0;
    ctx->answered = 0;

    ctx->verdict.replay = false;
    ctx->verdict.same = false;

    ngx_memzero(&ctx->ticket, sizeof(ft_ticket_t));

    cln->handler = ngx_http_flash_throttle_cleanup;

    ngx_http_set_ctx(r, ctx, ngx_http_flash_throttle_module);

    return ctx;
}


/*
 * NGX_OK: the status of the new context says it.  NGX_AGAIN: the request is
 * held.  NGX_DECLINED: the key is empty, there is nothing to throttle by.
 */

static ngx_int_t
ngx_http_flash_throttle_decide(ngx_http_request_t *r,
    ngx_http_flash_throttle_conf_t *ftcf)
{
    uint64_t                            now;
    ft_call_t                           call;
    ngx_str_t                           key;
    ngx_http_flash_throttle_ctx_t      *ctx;
    ngx_http_flash_throttle_brought_t   brought;

    if (ngx_http_flash_throttle_zone_key(r, ftcf->shm_zone->data, &key)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (key.len == 0) {
        return NGX_DECLINED;
    }

    ctx = ngx_http_flash_throttle_create_ctx(r, ftcf);
    if (ctx == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ctx->context.key = key.data;
    ctx->context.key_len = key.len;

    ngx_http_flash_throttle_look(r, &brought);

    ctx->poll = brought.poll;

    switch (ngx_http_test_predicates(r, ftcf->bypass)) {

    case NGX_ERROR:
        return NGX_HTTP_INTERNAL_SERVER_ERROR;

    case NGX_DECLINED:
        ctx->status = NGX_HTTP_FLASH_THROTTLE_BYPASSED;
        return NGX_OK;

    default: /* NGX_OK */
        break;
    }

    if (brought.preflight && r->method == NGX_HTTP_OPTIONS) {
        ctx->poll = 0;
        ctx->status = NGX_HTTP_FLASH_THROTTLE_BYPASSED;
        return NGX_OK;
    }

    if (ngx_http_flash_throttle_context(r, ctx) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    now = ngx_http_flash_throttle_zone_now(ctx->zone);

    ctx->state = ngx_http_flash_throttle_zone_state(ctx->zone, &key, now,
                                               r->connection->log);

    ngx_http_flash_throttle_read(r, ctx, &brought, now);
    ngx_http_flash_throttle_call(ctx->zone, ctx->state, ftcf->rules, now,
                                 &call);

    if (ctx->ticket.kind == FT_TICKET_PASS && ctx->state
        && ft_pass_is_done(&call, &ctx->ticket))
    {
        ngx_memzero(&ctx->ticket, sizeof(ft_ticket_t));
    }

    if (ctx->ticket.kind == FT_TICKET_PASS) {
        ctx->status = NGX_HTTP_FLASH_THROTTLE_PASSED;

        if (ctx->state) {
            ngx_http_flash_throttle_enter(ctx, &call);
        }

        return NGX_OK;
    }

    ctx->json = ctx->poll || ngx_http_flash_throttle_wants_json(&brought);

    if (ctx->ticket.kind == 0) {
        ctx->fresh = 1;
        ctx->ticket.id = ngx_http_flash_throttle_random();
        ctx->ticket.first_ms = now;
    }

    if (ctx->state == NULL) {
        ngx_http_flash_throttle_full(ctx);
        return NGX_OK;
    }

    if (r->method == NGX_HTTP_HEAD && ctx->fresh && !ctx->poll
        && ft_stats_is_free(&call))
    {
        ctx->status = NGX_HTTP_FLASH_THROTTLE_BYPASSED;
        return NGX_OK;
    }

    return ngx_http_flash_throttle_queue(r, ctx, &call);
}


/* What tickets are bound to, besides the key. */

static ngx_int_t
ngx_http_flash_throttle_context(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx)
{
    ngx_str_t  *zone, bind;

    ngx_str_null(&bind);

    if (ctx->conf->bind
        && ngx_http_complex_value(r, ctx->conf->bind, &bind) != NGX_OK)
    {
        return NGX_ERROR;
    }

    zone = &ctx->zone->shm_zone->shm.name;

    ctx->context.zone = zone->data;
    ctx->context.zone_len = zone->len;
    ctx->context.bind = bind.data;
    ctx->context.bind_len = bind.len;

    return NGX_OK;
}


void
ngx_http_flash_throttle_call(ngx_http_flash_throttle_zone_t *zone,
    ft_state_t *state, ft_rules_t *rules, uint64_t now_ms, ft_call_t *call)
{
    call->state = state;
    call->limits = zone->limits;
    call->rules = rules;
    call->now_ms = now_ms;
    call->worker = zone->worker;
    call->workers = ft_zone_workers(zone->sh);

    if (state) {
        ft_override_limits(state, zone->adapt, &call->limits);
    }
}


static ngx_int_t
ngx_http_flash_throttle_queue(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ft_call_t *call)
{
    ft_line_t                       *line;
    ngx_http_flash_throttle_line_t  *hl;

    /* a worker that is about to leave takes nobody in */

    line = NULL;

    if (!ctx->conf->dry_run && !ngx_exiting) {
        hl = ngx_http_flash_throttle_line(ctx->zone, ctx->state);
        line = &hl->line;
    }

    ngx_http_flash_throttle_draw(r, ctx);

    /* JSON that was not polled for may be read by the head's Retry-After alone */

    ctx->verdict = ft_admission_decide(call, &ctx->ticket, line, &ctx->node,
                                       !ctx->poll);

    ngx_log_debug4(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                   "flash_throttle: %d position:%uD wait:%uL retry:%uD",
                   ctx->verdict.answer, ctx->verdict.position,
                   ctx->verdict.wait_ms, ctx->verdict.retry_ms);

    switch (ctx->verdict.answer) {

    case FT_ADMIT:
        ngx_http_flash_throttle_admit(ctx, call);
        return NGX_OK;

    case FT_HOLD:
        ctx->held = 1;
        return ngx_http_flash_throttle_hold(r, ctx);

    case FT_WAIT:
        ngx_http_flash_throttle_expect_news(ctx->zone);
        ctx->status = NGX_HTTP_FLASH_THROTTLE_QUEUED;
        return NGX_OK;

    case FT_CLOSED:
        ctx->status = NGX_HTTP_FLASH_THROTTLE_CLOSED;
        return NGX_OK;

    case FT_SPENT:
        return ngx_http_flash_throttle_again(r, ctx, call);

    case FT_ALL_SOLD:
        ctx->status = NGX_HTTP_FLASH_THROTTLE_SOLD_OUT;
        return NGX_OK;

    default: /* FT_REJECT */
        ctx->status = NGX_HTTP_FLASH_THROTTLE_REJECTED;
        return NGX_OK;
    }
}


/* The ticket was admitted before: its pass again, or, if over, a new ticket. */

static ngx_int_t
ngx_http_flash_throttle_again(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ft_call_t *call)
{
    if (ft_pass_again(call, &ctx->ticket)) {
        ctx->status = NGX_HTTP_FLASH_THROTTLE_PASSED;
        ctx->again = 1;

        ngx_http_flash_throttle_enter(ctx, call);

        return NGX_OK;
    }

    ngx_memzero(&ctx->ticket, sizeof(ft_ticket_t));

    ctx->fresh = 1;
    ctx->ticket.id = ngx_http_flash_throttle_random();
    ctx->ticket.first_ms = call->now_ms;

    return ngx_http_flash_throttle_queue(r, ctx, call);
}


void
ngx_http_flash_throttle_admit(ngx_http_flash_throttle_ctx_t *ctx,
    ft_call_t *call)
{
    ctx->status = NGX_HTTP_FLASH_THROTTLE_ADMITTED;

    ft_pass_make(call, &ctx->ticket);

    if (ctx->poll) {
        ft_inflight_expect(call, &ctx->ticket);
        return;
    }

    ctx->counted = 1;
    ctx->generation = atomic_load(&ctx->state->generation);
}


static void
ngx_http_flash_throttle_enter(ngx_http_flash_throttle_ctx_t *ctx,
    ft_call_t *call)
{
    if (ctx->poll) {
        ft_pass_confirm(call);
        return;
    }

    ft_inflight_enter(call, &ctx->ticket);

    ctx->counted = 1;
    ctx->generation = atomic_load(&ctx->state->generation);
}


/* No memory to count anybody in: better nobody than everybody. */

static void
ngx_http_flash_throttle_full(ngx_http_flash_throttle_ctx_t *ctx)
{
    ctx->status = NGX_HTTP_FLASH_THROTTLE_REJECTED;
    ctx->verdict.position = 0;
    ctx->verdict.retry_ms = ctx->conf->rules->poll_max_ms;
    ctx->verdict.wait_ms = ctx->conf->rules->poll_max_ms;
}


/*
 * Ids are signed, so they need not be secret, only different over all workers
 * and restarts: a counter from a random start, scattered (splitmix64).
 */

static uint64_t
ngx_http_flash_throttle_random(void)
{
    uint64_t  x;

    static uint64_t   count;
    static ngx_pid_t  pid;

    if (pid != ngx_pid) {

        if (RAND_bytes((u_char *) &count, sizeof(count)) != 1) {
            count = (uint64_t) ngx_random() << 32 ^ ngx_random();
        }

        pid = ngx_pid;
    }

    count += 0x9e3779b97f4a7c15;

    x = count;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;

    return x ^ x >> 31;
}


static void
ngx_http_flash_throttle_cleanup(void *data)
{
    ngx_http_flash_throttle_ctx_t *ctx = data;

    if (ctx->held) {
        ngx_http_flash_throttle_leave(ctx);
    }

    ngx_http_flash_throttle_done(ctx);
}
