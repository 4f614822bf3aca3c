
/*
 * Copyright (C) flash_throttle contributors
 *
 * The stats for Prometheus: text of version 0.0.4, or OpenMetrics.
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_STATS_PROMETHEUS_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_STATS_PROMETHEUS_H_INCLUDED_


#include "ngx_http_flash_throttle.h"
#include "ngx_http_flash_throttle_stats_text.h"

#pragma GCC visibility push(hidden)


ngx_int_t ngx_http_flash_throttle_stats_prometheus(ngx_http_request_t *r,
    ngx_http_flash_throttle_stats_text_t *text, ngx_uint_t openmetrics);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_STATS_PROMETHEUS_H_INCLUDED_ */
