
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


struct ngx_http_flash_throttle_zone_s {
    ft_zone_t                       *sh;
    ngx_slab_pool_t                 *shpool;
    ngx_shm_zone_t                  *shm_zone;
    ngx_http_complex_value_t         key;
    ngx_int_t                        variable;      /* that the key is, or
                                                       NGX_ERROR */
    ft_limits_t                      limits;

    /*
     * for ticks of the status: the rules of a location that uses the zone, of
     * several that which opens first
     */
    ft_rules_t                      *rules;

    ft_adapt_rules_t                *adapt;         /* NULL: off */

    /* warned of, see ngx_http_flash_throttle_check_key() */
    ngx_http_core_srv_conf_t        *nameless;

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


/* where a zone was referred to, for a message */
typedef struct {
    ngx_shm_zone_t                  *shm_zone;
    u_char                          *file;
    ngx_uint_t                       line;
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

    /* of the dashboard; its Content-Security-Policy is NULL if none has it */
    ngx_str_t                        policy;
    ngx_str_t                        etag;
} ngx_http_flash_throttle_main_conf_t;


struct ngx_http_flash_throttle_conf_s {
    ngx_shm_zone_t                  *shm_zone;      /* NULL: off */
    ft_rules_t                      *rules;

    ngx_http_flash_throttle_cookie_t  *cookie;
    ngx_http_flash_throttle_page_t  *page;
    ngx_http_flash_throttle_pages_t  *pages;        /* NULL: page for all */
    ngx_http_complex_value_t        *bind;
    ngx_array_t                     *bypass;
    ft_adapt_rules_t                *adapt;         /* NULL: off */
    ngx_msec_t                       session;
    ngx_msec_t                       poll_min;
    ngx_msec_t                       poll_max;
    uint64_t                         opens;         /* epoch ms; 0: off */
    ngx_uint_t                       status_code;
    ngx_uint_t                       log_level;
    ngx_flag_t                       dry_run;
    ngx_flag_t                       feedback;
    ngx_uint_t                       aside;         /* figures or orders */

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


/* "name=value": whether it is of that name, and its value. */
ngx_uint_t ngx_http_flash_throttle_param(ngx_str_t *arg, const char *name,
    ngx_str_t *value);

/* Refuses a parameter, "name=", given twice from argument `first` on. */
char *ngx_http_flash_throttle_once(ngx_conf_t *cf, ngx_command_t *cmd,
    ngx_uint_t first);

/* A time from `least` to `most`, ms. */
ngx_int_t ngx_http_flash_throttle_msec(ngx_str_t *s, ngx_int_t least,
    ngx_int_t most, uint32_t *msec);

/* A rate, "Nr/s" or "Nr/m", a second x 1000. */
ngx_int_t ngx_http_flash_throttle_rate(ngx_str_t *s, uint32_t *rate);

/* Says what is wrong with an argument, and what it must be. */
char *ngx_http_flash_throttle_refuse(ngx_conf_t *cf, ngx_command_t *cmd,
    const char *what, ngx_str_t *arg, const char *must);

/* The directives whose arguments nginx has no setter for. */
char *ngx_http_flash_throttle_zone(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_flash_throttle(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_http_flash_throttle_session(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_flash_throttle_queue_status(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_flash_throttle_poll(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_flash_throttle_opens(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_flash_throttle_log_level(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/* Warns of a key that is empty in the server that is being merged. */
void ngx_http_flash_throttle_check_key(ngx_conf_t *cf,
    ngx_http_flash_throttle_zone_t *zone);

/* Makes the key ring: from the secret file, or one of this start. */
char *ngx_http_flash_throttle_init_secrets(ngx_conf_t *cf,
    ngx_http_flash_throttle_main_conf_t *ftmf);

char *ngx_http_flash_throttle_control(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/*
 * Gives the order in the text of a request's body: what to answer, and with
 * which status.  NULL: no memory.
 */
ngx_buf_t *ngx_http_flash_throttle_order(ngx_http_request_t *r,
    ngx_str_t *text, ngx_uint_t *status);

char *ngx_http_flash_throttle_status(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);


ngx_int_t ngx_http_flash_throttle_init_zone(ngx_shm_zone_t *shm_zone,
    void *data);

/* Makes this worker known in a zone. */
void ngx_http_flash_throttle_join(ngx_http_flash_throttle_zone_t *zone,
    ngx_log_t *log);

/*
 * The value of the zone's key, of at most FT_KEY_MAX bytes: a longer one is cut
 * and a digest of all of it is appended.
 */
ngx_int_t ngx_http_flash_throttle_key(ngx_http_request_t *r,
    ngx_http_flash_throttle_zone_t *zone, ngx_str_t *key);

/*
 * Of a key's bytes, which may be any, what can stand in a log; `text` has space
 * for FT_KEY_MAX.
 */
size_t ngx_http_flash_throttle_printable(u_char *text, const u_char *key,
    size_t len);

/* The state of a key, made if it is new.  NULL: the zone is full. */
ft_state_t *ngx_http_flash_throttle_state(ngx_http_flash_throttle_zone_t *zone,
    ngx_str_t *key, uint64_t now_ms, ngx_log_t *log);

/* The zone's time, ms. */
uint64_t ngx_http_flash_throttle_now(ngx_http_flash_throttle_zone_t *zone);

/* Bytes of shared memory that a zone for one key takes. */
size_t ngx_http_flash_throttle_zone_min(void);


extern ngx_module_t  ngx_http_flash_throttle_module;


#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_H_INCLUDED_ */
