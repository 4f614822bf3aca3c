
/*
 * Copyright (C) flash_throttle contributors
 *
 * Requests that may go to the upstream.  A poll does not go there: its page
 * follows with the pass.
 */


#include "ngx_http_flash_throttle_admit.h"


void
ngx_http_flash_throttle_admit(ngx_http_flash_throttle_ctx_t *ctx,
    ft_call_t *call, uint32_t generation)
{
    ctx->status = NGX_HTTP_FLASH_THROTTLE_ADMITTED;

    ft_pass_make(call, &ctx->ticket);

    /* the key may have been evicted since: the new state has no such pass */

    ctx->ticket.generation = generation;

    if (ctx->poll) {
        ft_inflight_expect(call, &ctx->ticket);
        return;
    }

    ctx->inflight = 1;
    ctx->generation = generation;
}


void
ngx_http_flash_throttle_admit_pass(ngx_http_flash_throttle_ctx_t *ctx,
    ft_call_t *call)
{
    ctx->status = NGX_HTTP_FLASH_THROTTLE_PASSED;

    if (ctx->poll) {
        ft_pass_confirm(call);
        return;
    }

    ctx->generation = atomic_load(&call->state->generation);
    ctx->inflight = 1;

    ft_inflight_enter(call, &ctx->ticket);
}
