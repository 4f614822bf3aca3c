
/*
 * Copyright (C) flash_throttle contributors
 *
 * Zones: the shared memory of ft_zone.h, its keys, its clock, and the slot of
 * this worker in it.
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_ZONE_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_ZONE_H_INCLUDED_


#include "ngx_http_flash_throttle.h"

#pragma GCC visibility push(hidden)


/* ngx_shm_zone_t.init */
ngx_int_t ngx_http_flash_throttle_zone_init(ngx_shm_zone_t *shm_zone,
    void *data);

/* Claims a slot for this worker. */
void ngx_http_flash_throttle_zone_join(ngx_http_flash_throttle_zone_t *zone,
    ngx_log_t *log);

/* The zone's time, epoch ms. */
uint64_t ngx_http_flash_throttle_zone_now(
    ngx_http_flash_throttle_zone_t *zone);

/*
 * The value of the zone's key, at most FT_KEY_MAX bytes: a longer one is cut,
 * and a digest of it is appended.
 */
ngx_int_t ngx_http_flash_throttle_zone_key(ngx_http_request_t *r,
    ngx_http_flash_throttle_zone_t *zone, ngx_str_t *key);

/*
 * Copies a key for a log, control characters and quotes replaced, and returns
 * its length; `text` has space for `len` bytes.
 */
size_t ngx_http_flash_throttle_zone_printable(u_char *text, const u_char *key,
    size_t len);

/* The state of a key, made if it is new.  NULL: the zone is full. */
ft_state_t *ngx_http_flash_throttle_zone_state(
    ngx_http_flash_throttle_zone_t *zone, ngx_str_t *key, uint64_t now_ms,
    ngx_log_t *log);

/* Bytes of shared memory that a zone of one key takes. */
size_t ngx_http_flash_throttle_zone_min_size(void);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_ZONE_H_INCLUDED_ */
