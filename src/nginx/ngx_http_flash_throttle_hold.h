
/*
 * Copyright (C) flash_throttle contributors
 *
 * The hold: requests of called shoppers wait in the preaccess phase until
 * capacity is free or the time of the hold ends.
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_HOLD_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_HOLD_H_INCLUDED_


#include "ngx_http_flash_throttle.h"

#pragma GCC visibility push(hidden)


/* The requests that this worker holds for a key. */
struct ngx_http_flash_throttle_line_s {
    ft_line_t                        line;
    ngx_event_t                      event;
    ngx_http_flash_throttle_zone_t  *zone;
};


/* Allocates the lines of a worker. */
ngx_int_t ngx_http_flash_throttle_hold_init(
    ngx_http_flash_throttle_zone_t *zone, ngx_cycle_t *cycle);

/* The line of a key, for ft_admission_decide(). */
ft_line_t *ngx_http_flash_throttle_hold_line(
    ngx_http_flash_throttle_zone_t *zone, ft_state_t *state);

/*
 * Suspends a request that ft_admission_decide() has put in the line.  The
 * phases run again when ctx->status is set.
 */
ngx_int_t ngx_http_flash_throttle_hold(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx);

/* Removes a request whose hold has not ended. */
void ngx_http_flash_throttle_hold_leave(ngx_http_flash_throttle_ctx_t *ctx);

/* Checks the line of a key when capacity may be free. */
void ngx_http_flash_throttle_hold_wake(ngx_http_flash_throttle_zone_t *zone,
    ft_state_t *state);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_HOLD_H_INCLUDED_ */
