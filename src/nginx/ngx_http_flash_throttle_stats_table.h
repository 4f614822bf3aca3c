
/*
 * Copyright (C) flash_throttle contributors
 *
 * The stats of a zone and of a key: a table entry for each value, from which
 * JSON and the text for Prometheus are made.
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_STATS_TABLE_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_STATS_TABLE_H_INCLUDED_


#include "ngx_http_flash_throttle.h"

#pragma GCC visibility push(hidden)


typedef struct {
    ft_limits_t                      limits;
    uint32_t                         keys_max;
} ngx_http_flash_throttle_stats_zone_t;


typedef struct {
    ft_state_t                      *state;
    uint64_t                         time_ms;
    ft_stats_t                       now;
    ft_totals_t                      totals;
    size_t                           key_len;
    u_char                           key[FT_KEY_MAX];
} ngx_http_flash_throttle_stats_key_t;


typedef enum {
    ngx_http_flash_throttle_stats_gauge = 0,
    ngx_http_flash_throttle_stats_flag,     /* true or false, 1 or 0 */
    ngx_http_flash_throttle_stats_counter
} ngx_http_flash_throttle_stats_kind_e;


typedef struct {
    const char                      *field;     /* in JSON */
    const char                      *name;      /* in Prometheus, no prefix */
    ngx_http_flash_throttle_stats_kind_e  kind;
    ngx_uint_t                       divisor;   /* to base units: 1 or 1000 */
    size_t                           size;      /* of the value, and its */
    size_t                           offset;    /* offset in the struct above */
    const char                      *help;
} ngx_http_flash_throttle_stats_metric_t;


/* The values of a zone and of a key, each table ended by field NULL. */
extern ngx_http_flash_throttle_stats_metric_t
    ngx_http_flash_throttle_stats_table_zone[];
extern ngx_http_flash_throttle_stats_metric_t
    ngx_http_flash_throttle_stats_table_key[];


/* Reads the key in slot i of the zone.  NGX_DECLINED: the slot is unused. */
ngx_int_t ngx_http_flash_throttle_stats_table_read_key(
    ngx_http_flash_throttle_zone_t *zone, uint32_t i, uint64_t now_ms,
    ngx_http_flash_throttle_stats_key_t *key);

void ngx_http_flash_throttle_stats_table_read_zone(
    ngx_http_flash_throttle_zone_t *zone,
    ngx_http_flash_throttle_stats_zone_t *stats);

/* The value of a metric in the struct that it is of. */
uint64_t ngx_http_flash_throttle_stats_table_value(
    ngx_http_flash_throttle_stats_metric_t *m, void *stats);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_STATS_TABLE_H_INCLUDED_ */
