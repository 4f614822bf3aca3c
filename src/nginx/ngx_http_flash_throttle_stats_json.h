
/*
 * Copyright (C) flash_throttle contributors
 *
 * The stats as JSON.
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_STATS_JSON_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_STATS_JSON_H_INCLUDED_


#include "ngx_http_flash_throttle.h"
#include "ngx_http_flash_throttle_stats_text.h"

#pragma GCC visibility push(hidden)


/* the maximum length of an escaped byte */
#define NGX_HTTP_FLASH_THROTTLE_STATS_JSON_ESCAPED  6


/* The stats of all zones and keys, with the last steps of the history. */
ngx_int_t ngx_http_flash_throttle_stats_json(ngx_http_request_t *r,
    ngx_http_flash_throttle_stats_text_t *text, ngx_uint_t steps);

/*
 * Escapes any bytes for a string in JSON and returns the end: a byte N that is
 * not ASCII becomes the character U+00NN.
 */
u_char *ngx_http_flash_throttle_stats_json_escape(u_char *p, u_char *s,
    size_t len);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_STATS_JSON_H_INCLUDED_ */
