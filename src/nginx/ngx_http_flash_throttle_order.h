
/*
 * Copyright (C) flash_throttle contributors
 *
 * An operator's order, as the two files that carry it out share it.
 */

#ifndef _NGX_HTTP_FLASH_THROTTLE_ORDER_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_ORDER_H_INCLUDED_


#include "ngx_http_flash_throttle.h"
#include "ft_json.h"

#pragma GCC visibility push(hidden)


#define NGX_HTTP_FLASH_THROTTLE_NAME_MOST   256
#define NGX_HTTP_FLASH_THROTTLE_WORD_MOST   32

/* names that a message lists at most */
#define NGX_HTTP_FLASH_THROTTLE_LISTED      16


enum {
    NGX_HTTP_FLASH_THROTTLE_ORDER_ZONE = 0,
    NGX_HTTP_FLASH_THROTTLE_ORDER_KEY,
    NGX_HTTP_FLASH_THROTTLE_ORDER_COMMAND,
    NGX_HTTP_FLASH_THROTTLE_ORDER_RATE,
    NGX_HTTP_FLASH_THROTTLE_ORDER_NEW,
    NGX_HTTP_FLASH_THROTTLE_ORDER_FIELDS
};


typedef struct {
    ngx_http_request_t              *request;
    ngx_uint_t                       status;
    ngx_str_t                        error;

    ft_json_field_t                  fields[NGX_HTTP_FLASH_THROTTLE_ORDER_FIELDS];

    ngx_http_flash_throttle_zone_t  *zone;
    ft_state_t                      *state;
    uint64_t                         now_ms;
    ngx_str_t                        key;
    ngx_str_t                        command;
    uint32_t                         rate_milli;

    u_char                           zone_text[NGX_HTTP_FLASH_THROTTLE_NAME_MOST];
    u_char                           key_text[FT_KEY_MAX];
    u_char                           command_text[NGX_HTTP_FLASH_THROTTLE_WORD_MOST];
    u_char                           rate_text[NGX_HTTP_FLASH_THROTTLE_WORD_MOST];
} ngx_http_flash_throttle_order_t;


/*
 * Finds the zone and the state of the key that the order is for.  NGX_ERROR: there
 * is none, as ngx_http_flash_throttle_order_error().
 */
ngx_int_t ngx_http_flash_throttle_order_for(
    ngx_http_flash_throttle_order_t *order);

/*
 * What is wrong, in the order's error and status.  Always NGX_ERROR; without
 * memory for the text there is none.
 */
ngx_int_t ngx_http_flash_throttle_order_error(
    ngx_http_flash_throttle_order_t *order, ngx_uint_t status,
    const char *fmt, ...);

/* The value of a field, empty if it was not given. */
ngx_str_t ngx_http_flash_throttle_order_text(
    ngx_http_flash_throttle_order_t *order, ngx_uint_t field);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_ORDER_H_INCLUDED_ */
