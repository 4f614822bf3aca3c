
/*
 * Copyright (C) flash_throttle contributors
 *
 * Lists of headers: ngx_list_t of ngx_table_elt_t.
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_HEADERS_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_HEADERS_H_INCLUDED_


#include "ngx_http_flash_throttle.h"

#pragma GCC visibility push(hidden)


typedef struct {
    ngx_list_part_t  *part;
    ngx_uint_t        i;
} ngx_http_flash_throttle_headers_t;


/* Whether a header has this name, a string literal. */
#define ngx_http_flash_throttle_headers_match(h, name)                        \
    ((h)->key.len == sizeof(name) - 1                                         \
     && ngx_strncasecmp((h)->key.data, (u_char *) name, sizeof(name) - 1)     \
        == 0)

/* Adds a response header, see ngx_http_flash_throttle_headers_push(). */
#define ngx_http_flash_throttle_headers_add(r, name, value, len)              \
    ngx_http_flash_throttle_headers_push(r, name, sizeof(name) - 1, value,    \
                                         len)


/* Starts a walk over a list. */
static ngx_inline void
ngx_http_flash_throttle_headers_init(
    ngx_http_flash_throttle_headers_t *headers, ngx_list_t *list)
{
    headers->part = &list->part;
    headers->i = 0;
}


/* The next header, or NULL.  Deleted headers (hash 0) are skipped. */
static ngx_inline ngx_table_elt_t *
ngx_http_flash_throttle_headers_next(
    ngx_http_flash_throttle_headers_t *headers)
{
    ngx_table_elt_t  *h;

    for ( ;; ) {

        if (headers->i == headers->part->nelts) {

            if (headers->part->next == NULL) {
                return NULL;
            }

            headers->part = headers->part->next;
            headers->i = 0;
            continue;
        }

        h = headers->part->elts;
        h += headers->i++;

        if (h->hash) {
            return h;
        }
    }
}


/* The next header of a name, or NULL; case is ignored. */
ngx_table_elt_t *ngx_http_flash_throttle_headers_find(
    ngx_http_flash_throttle_headers_t *headers, const char *name);

/*
 * Adds a response header; name and value are not copied.  It is not linked in
 * headers_out, where "expires" would replace Cache-Control.
 */
ngx_int_t ngx_http_flash_throttle_headers_push(ngx_http_request_t *r,
    const char *name, size_t name_len, u_char *value, size_t len);

/* The response header that was added last. */
ngx_table_elt_t *ngx_http_flash_throttle_headers_last(ngx_http_request_t *r);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_HEADERS_H_INCLUDED_ */
