
/*
 * Copyright (C) flash_throttle contributors
 *
 * The stats as a page, which requests the JSON.
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_STATS_HTML_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_STATS_HTML_H_INCLUDED_


#include "ngx_http_flash_throttle.h"
#include "ngx_http_flash_throttle_stats_text.h"

#pragma GCC visibility push(hidden)


/* Makes the headers of the page, which are constant. */
ngx_int_t ngx_http_flash_throttle_stats_html_init(ngx_conf_t *cf,
    ngx_http_flash_throttle_main_conf_t *ftmf);

/* Appends the page, and sets its headers. */
ngx_int_t ngx_http_flash_throttle_stats_html(ngx_http_request_t *r,
    ngx_http_flash_throttle_stats_text_t *text);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_STATS_HTML_H_INCLUDED_ */
