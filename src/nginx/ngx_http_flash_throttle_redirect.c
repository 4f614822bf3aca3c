
/*
 * Copyright (C) flash_throttle contributors
 *
 * Internal redirects of a request that was decided: it goes on, maybe to another
 * upstream, but nobody is let in by one.
 */


#include "ngx_http_flash_throttle.h"


/*
 * Of those who are not let in it is an error of our answer, as a body that cannot
 * be discarded: the page of that error may be the very upstream.  Or it is a
 * post_action, also behind a client that has left while it was held.
 */

ngx_int_t
ngx_http_flash_throttle_redirected(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx)
{
    if (ctx->held) {
        ngx_http_flash_throttle_leave(ctx);
    }

    switch (ctx->status) {

    case NGX_HTTP_FLASH_THROTTLE_PASSED:
    case NGX_HTTP_FLASH_THROTTLE_ADMITTED:
    case NGX_HTTP_FLASH_THROTTLE_BYPASSED:
        break;

    default:
        if (!ctx->conf->dry_run && !r->post_action) {
            return NGX_HTTP_SERVICE_UNAVAILABLE;
        }
    }

    return ngx_http_flash_throttle_listen(r, ctx) == NGX_OK
           ? NGX_DECLINED : NGX_HTTP_INTERNAL_SERVER_ERROR;
}
