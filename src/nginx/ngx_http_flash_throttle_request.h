
/*
 * Copyright (C) flash_throttle contributors
 *
 * The request headers that concern the module.
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_REQUEST_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_REQUEST_H_INCLUDED_


#include "ngx_http_flash_throttle.h"
#include "ngx_http_flash_throttle_headers.h"

#pragma GCC visibility push(hidden)


/* The headers of one name: a walk from the first one, and their number. */
typedef struct {
    ngx_http_flash_throttle_headers_t  headers;
    ngx_uint_t                         n;
} ngx_http_flash_throttle_field_t;


typedef struct {
    ngx_http_flash_throttle_field_t    cookie;
    ngx_http_flash_throttle_field_t    accept;
    ngx_str_t                         *ticket;      /* Flash-Throttle-Ticket */
    unsigned                           poll:1;      /* Flash-Throttle-Poll */
    unsigned                           preflight:1; /* if OPTIONS: of CORS */
} ngx_http_flash_throttle_request_t;


void ngx_http_flash_throttle_request_read(ngx_http_request_t *r,
    ngx_http_flash_throttle_request_t *request);

/* The next header of a field, or NULL. */
ngx_table_elt_t *ngx_http_flash_throttle_request_next(
    ngx_http_flash_throttle_field_t *field, const char *name);

/* Whether the client prefers JSON to HTML.  Consumes request->accept. */
ngx_uint_t ngx_http_flash_throttle_request_wants_json(
    ngx_http_flash_throttle_request_t *request);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_REQUEST_H_INCLUDED_ */
