
/*
 * Copyright (C) flash_throttle contributors
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "ft_admission.h"
#include "ft_hold.h"
#include "ft_inflight.h"
#include "ft_pass.h"
#include "ft_stats.h"
#include "ft_override.h"
#include "ft_zone.h"

#pragma GCC visibility push(hidden)


#define NGX_HTTP_FLASH_THROTTLE_VERSION   "0.1.0"

#define NGX_HTTP_FLASH_THROTTLE_PASSED    1
#define NGX_HTTP_FLASH_THROTTLE_ADMITTED  2
#define NGX_HTTP_FLASH_THROTTLE_QUEUED    3
#define NGX_HTTP_FLASH_THROTTLE_REJECTED  4
#define NGX_HTTP_FLASH_THROTTLE_BYPASSED  5
#define NGX_HTTP_FLASH_THROTTLE_CLOSED    6
#define NGX_HTTP_FLASH_THROTTLE_SOLD_OUT  7

#define NGX_HTTP_FLASH_THROTTLE_OPENS_UNSET  ((uint64_t) -1)


typedef struct ngx_http_flash_throttle_zone_s   ngx_http_flash_throttle_zone_t;
typedef struct ngx_http_flash_throttle_conf_s   ngx_http_flash_throttle_conf_t;
typedef struct ngx_http_flash_throttle_ctx_s    ngx_http_flash_throttle_ctx_t;

/* see ngx_http_flash_throttle_hold.h */
typedef struct ngx_http_flash_throttle_line_s   ngx_http_flash_throttle_line_t;

/* see ngx_http_flash_throttle_template.h */
typedef struct ngx_http_flash_throttle_page_s   ngx_http_flash_throttle_page_t;

/* see ngx_http_flash_throttle_page.h */
typedef struct ngx_http_flash_throttle_pages_s  ngx_http_flash_throttle_pages_t;


/* where a directive was specified; file NULL: nowhere */
typedef struct {
    u_char                          *file;
    ngx_uint_t                       line;
} ngx_http_flash_throttle_place_t;


/* of the directives that set the rules of a zone */
typedef struct {
    ngx_http_flash_throttle_place_t  throttle;
    ngx_http_flash_throttle_place_t  poll;
    ngx_http_flash_throttle_place_t  session;
    ngx_http_flash_throttle_place_t  opens;
    ngx_http_flash_throttle_place_t  adapt;
} ngx_http_flash_throttle_places_t;


struct ngx_http_flash_throttle_zone_s {
    ft_zone_t                       *sh;
    ngx_slab_pool_t                 *shpool;
    ngx_shm_zone_t                  *shm_zone;
    ngx_http_complex_value_t         key;
    ngx_int_t                        variable;      /* that the key is, or
                                                       NGX_ERROR */
    ft_limits_t                      limits;

    /* one set of rules for all locations, see ..._rules_init() */
    ft_rules_t                       rules;
    ft_rules_t                       early_rules;   /* without the opening */
    ft_adapt_rules_t                *adapt;         /* NULL: off */
    ngx_http_flash_throttle_places_t  places;

    /* the last server with an empty key that was logged */
    ngx_http_core_srv_conf_t        *nameless;

#if (NGX_PTR_SIZE == 4)
    _Atomic uint64_t                *clock;         /* in shared memory */
#endif

    unsigned                         used:1;        /* by a location */

    /* of this worker */
    uint32_t                         worker;
    time_t                           joined;
    time_t                           reaped;
    time_t                           refused;       /* logged, for a new key */
    time_t                           evicted;       /* logged, an old one */
    ngx_event_t                      queuelog;
    ngx_http_flash_throttle_line_t  *lines;         /* one for each key */
};


typedef struct {
    ngx_str_t                        name;
    ngx_str_t                        attributes;    /* "; Path=/; HttpOnly" */
    unsigned                         secure:1;      /* set among these */
} ngx_http_flash_throttle_cookie_t;


/* a reference to a zone */
typedef struct {
    ngx_shm_zone_t                  *shm_zone;
    ngx_http_flash_throttle_place_t  place;
} ngx_http_flash_throttle_use_t;


/* a cookie as a server sets it */
typedef struct {
    ngx_str_t                        name;
    ngx_str_t                        tail;
    ngx_shm_zone_t                  *shm_zone;
    ngx_http_core_srv_conf_t        *server;
} ngx_http_flash_throttle_named_t;


typedef struct {
    /* ngx_http_flash_throttle_zone_t * */
    ngx_array_t                      zones;
    /* ngx_http_flash_throttle_use_t */
    ngx_array_t                      uses;
    /* ngx_http_flash_throttle_named_t */
    ngx_array_t                      cookies;

    ngx_str_t                        secret_file;
    ft_keyring_t                    *ring;

    ngx_http_flash_throttle_page_t  *page;
    ngx_http_flash_throttle_page_t  *rejected;
    ngx_http_flash_throttle_page_t  *closed;
    ngx_http_flash_throttle_page_t  *sold_out;

    /* of the stats page; csp.data is NULL until a location serves it */
    ngx_str_t                        csp;
    ngx_str_t                        etag;
} ngx_http_flash_throttle_main_conf_t;


struct ngx_http_flash_throttle_conf_s {
    ngx_shm_zone_t                  *shm_zone;      /* NULL: off */
    ft_rules_t                      *rules;         /* of the zone */
    ngx_http_flash_throttle_places_t  places;

    ngx_http_flash_throttle_cookie_t  *cookie;
    ngx_http_flash_throttle_page_t  *page;
    ngx_http_flash_throttle_pages_t  *pages;        /* NULL: page for all */
    ngx_http_complex_value_t        *bind;
    ngx_array_t                     *bypass;
    ft_adapt_rules_t                *adapt;         /* NULL: off */
    ft_policy_t                      policy;
    uint32_t                         hold;          /* ms */
    uint32_t                         max_wait;      /* ms; 0: no limit */
    ngx_msec_t                       session;
    ngx_msec_t                       poll_min;
    ngx_msec_t                       poll_max;
    uint64_t                         opens;         /* epoch ms; 0: off */
    ngx_uint_t                       status_code;
    ngx_uint_t                       log_level;
    ngx_flag_t                       dry_run;
    ngx_flag_t                       feedback;

    /* of stats or control, whose requests are not throttled; or NULL */
    ngx_http_handler_pt              endpoint;

    /* "name=", and what follows the value in Set-Cookie */
    ngx_str_t                        set_name;
    ngx_str_t                        set_ticket;
    ngx_str_t                        set_pass;
    ngx_str_t                        set_none;
};


struct ngx_http_flash_throttle_ctx_s {
    ft_line_node_t                   node;          /* while held */

    ngx_http_request_t              *request;
    ngx_http_flash_throttle_conf_t  *conf;
    ngx_http_flash_throttle_zone_t  *zone;

    /* called when the request is destroyed */
    void                           (*release)(
                                         ngx_http_flash_throttle_ctx_t *ctx);

    ft_state_t                      *state;         /* NULL: none */
    uint32_t                         generation;    /* while in flight */

    ft_ticket_context_t              context;
    ft_ticket_t                      ticket;        /* kind 0: none */
    u_char                          *text;          /* ticket as received */
    ft_verdict_t                     verdict;

    /* the upstream whose feedback has been read */
    ngx_http_upstream_t             *upstream;

    ngx_uint_t                       status;        /* 0: not decided */

    unsigned                         poll:1;        /* Flash-Throttle-Poll */
    unsigned                         json:1;
    unsigned                         fresh:1;       /* first attempt */
    unsigned                         reissued:1;    /* pass given once more */
    unsigned                         held:1;
    unsigned                         inflight:1;
    unsigned                         complete:1;    /* last buffer was sent */
    unsigned                         applied:1;     /* decision carried out */
};


extern ngx_module_t  ngx_http_flash_throttle_module;


#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_H_INCLUDED_ */
