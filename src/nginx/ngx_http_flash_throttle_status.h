
/*
 * Copyright (C) flash_throttle contributors
 *
 * What the forms of the status share: the figures, and where text grows.
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_STATUS_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_STATUS_H_INCLUDED_


#include "ngx_http_flash_throttle.h"

#pragma GCC visibility push(hidden)


/* characters that an escaped byte takes at most */
#define NGX_HTTP_FLASH_THROTTLE_ESCAPED  6

/* a name, a number and what is around them */
#define NGX_HTTP_FLASH_THROTTLE_FIELD    (64 + NGX_INT64_LEN)


/* where an answer grows, of any length */
typedef struct {
    ngx_pool_t                      *pool;
    ngx_chain_t                     *out;
    ngx_chain_t                    **last;
    ngx_buf_t                       *buf;
} ngx_http_flash_throttle_parts_t;


/* of a zone, what its configuration says */
typedef struct {
    ft_limits_t                      limits;
    uint32_t                         keys_max;
} ngx_http_flash_throttle_limits_t;


/* of a key, at this moment */
typedef struct {
    ngx_http_flash_throttle_zone_t  *zone;
    ft_state_t                      *state;
    uint64_t                         time_ms;
    ft_stats_t                    now;
    ft_totals_t                      totals;
    size_t                           key_len;
    u_char                           key[FT_KEY_MAX];
} ngx_http_flash_throttle_figures_t;


typedef enum {
    ngx_http_flash_throttle_gauge = 0,
    ngx_http_flash_throttle_flag,       /* true or false, 1 or 0 */
    ngx_http_flash_throttle_counter
} ngx_http_flash_throttle_kind_e;


/* in which struct a figure is found */
typedef enum {
    ngx_http_flash_throttle_of_limits = 0,
    ngx_http_flash_throttle_of_now,
    ngx_http_flash_throttle_of_totals
} ngx_http_flash_throttle_source_e;


/*
 * A figure: its field in JSON; its name in Prometheus, the prefix left out; its
 * kind; by how much it is divided for Prometheus, which wants base units (1 or
 * 1000); where it is found; and what it says.
 */

typedef struct {
    const char                        *field;
    const char                        *name;
    ngx_http_flash_throttle_kind_e     kind;
    ngx_uint_t                         divisor;
    ngx_http_flash_throttle_source_e   source;
    size_t                             size;
    size_t                             offset;
    const char                        *help;
} ngx_http_flash_throttle_metric_t;


/* of a zone, and of a key */
extern ngx_http_flash_throttle_metric_t  ngx_http_flash_throttle_zone_table[];
extern const ngx_uint_t                  ngx_http_flash_throttle_zone_table_n;

extern ngx_http_flash_throttle_metric_t  ngx_http_flash_throttle_key_table[];
extern const ngx_uint_t                  ngx_http_flash_throttle_key_table_n;


/* The key in slot i of the zone, or NGX_DECLINED if there is none. */
ngx_int_t ngx_http_flash_throttle_get_figures(
    ngx_http_flash_throttle_zone_t *zone, uint32_t i,
    ngx_http_flash_throttle_figures_t *f);

void ngx_http_flash_throttle_get_limits(ngx_http_flash_throttle_zone_t *zone,
    ngx_http_flash_throttle_limits_t *limits);

/* A figure's value; the struct of a key's figures that it is in. */
uint64_t ngx_http_flash_throttle_value(ngx_http_flash_throttle_metric_t *m,
    void *from);
void *ngx_http_flash_throttle_from(ngx_http_flash_throttle_metric_t *m,
    ngx_http_flash_throttle_figures_t *f);

/* Space for `size` characters more at buf->last; NULL: no memory. */
ngx_buf_t *ngx_http_flash_throttle_more(ngx_http_flash_throttle_parts_t *parts,
    size_t size);

/* Escapes for JSON. */
u_char *ngx_http_flash_throttle_escape(u_char *p, u_char *s, size_t len);

/* The members of a zone, and of a key, as JSON: "a":1,"b":2 */
ngx_int_t ngx_http_flash_throttle_zone_json(
    ngx_http_flash_throttle_parts_t *parts,
    ngx_http_flash_throttle_limits_t *limits);
ngx_int_t ngx_http_flash_throttle_key_json(
    ngx_http_flash_throttle_parts_t *parts,
    ngx_http_flash_throttle_figures_t *f);

/* All figures as Prometheus reads them. */
ngx_int_t ngx_http_flash_throttle_metrics(ngx_http_request_t *r,
    ngx_http_flash_throttle_parts_t *parts, ngx_uint_t openmetrics);

/* The dashboard, a page from memory: made when it is configured; sent. */
ngx_int_t ngx_http_flash_throttle_init_dashboard(ngx_conf_t *cf,
    ngx_http_flash_throttle_main_conf_t *ftmf);
ngx_int_t ngx_http_flash_throttle_dashboard(ngx_http_request_t *r,
    ngx_http_flash_throttle_parts_t *parts);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_STATUS_H_INCLUDED_ */
