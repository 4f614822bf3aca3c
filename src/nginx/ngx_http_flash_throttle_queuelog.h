
/*
 * Copyright (C) flash_throttle contributors
 *
 * The queue log: one line in the error log when queueing starts for a key, one
 * a minute while it continues, one when it ends.
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_QUEUELOG_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_QUEUELOG_H_INCLUDED_


#include "ngx_http_flash_throttle.h"

#pragma GCC visibility push(hidden)


/* Initializes the timer of a worker; starts it if a line exists. */
void ngx_http_flash_throttle_queuelog_init(
    ngx_http_flash_throttle_zone_t *zone, ngx_log_t *log);

/* Starts the timer: a request was queued. */
void ngx_http_flash_throttle_queuelog_expect(
    ngx_http_flash_throttle_zone_t *zone);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_QUEUELOG_H_INCLUDED_ */
