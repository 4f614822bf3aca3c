
/*
 * Copyright (C) flash_throttle contributors
 *
 * Overrides by the operator: a command is a JSON object.
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_OVERRIDE_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_OVERRIDE_H_INCLUDED_


#include "ngx_http_flash_throttle.h"
#include "ft_json.h"

#pragma GCC visibility push(hidden)


#define NGX_HTTP_FLASH_THROTTLE_OVERRIDE_NAME_MAX  256
#define NGX_HTTP_FLASH_THROTTLE_OVERRIDE_WORD_MAX  32

/* the maximum number of names in a message */
#define NGX_HTTP_FLASH_THROTTLE_OVERRIDE_LISTED    16


enum {
    NGX_HTTP_FLASH_THROTTLE_OVERRIDE_ZONE = 0,
    NGX_HTTP_FLASH_THROTTLE_OVERRIDE_KEY,
    NGX_HTTP_FLASH_THROTTLE_OVERRIDE_COMMAND,
    NGX_HTTP_FLASH_THROTTLE_OVERRIDE_RATE,
    NGX_HTTP_FLASH_THROTTLE_OVERRIDE_NEW,
    NGX_HTTP_FLASH_THROTTLE_OVERRIDE_FIELDS
};


typedef struct {
    ngx_http_request_t              *request;
    ngx_uint_t                       status;
    ngx_str_t                        error;

    ft_json_field_t                  fields[
                                       NGX_HTTP_FLASH_THROTTLE_OVERRIDE_FIELDS];

    ngx_http_flash_throttle_zone_t  *zone;
    ft_state_t                      *state;
    uint64_t                         now_ms;
    ngx_str_t                        key;
    ngx_str_t                        command;
    uint32_t                         rate_milli;

    u_char  zone_text[NGX_HTTP_FLASH_THROTTLE_OVERRIDE_NAME_MAX];
    u_char  key_text[FT_KEY_MAX];
    u_char  command_text[NGX_HTTP_FLASH_THROTTLE_OVERRIDE_WORD_MAX];
    u_char  rate_text[NGX_HTTP_FLASH_THROTTLE_OVERRIDE_WORD_MAX];
} ngx_http_flash_throttle_override_t;


/*
 * Executes the command in the text of a request body, and returns the response
 * and its status.  NULL: no memory.
 */
ngx_buf_t *ngx_http_flash_throttle_override(ngx_http_request_t *r,
    ngx_str_t *text, ngx_uint_t *status);

/*
 * Sets ov->status and ov->error, which stays empty if an allocation fails.
 * Always NGX_ERROR.
 */
ngx_int_t ngx_http_flash_throttle_override_error(
    ngx_http_flash_throttle_override_t *ov, ngx_uint_t status,
    const char *fmt, ...);

/* The value of a field, empty if it is not in the object. */
ngx_str_t ngx_http_flash_throttle_override_text(
    ngx_http_flash_throttle_override_t *ov, ngx_uint_t field);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_OVERRIDE_H_INCLUDED_ */
