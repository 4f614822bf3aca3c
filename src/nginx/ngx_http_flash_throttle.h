
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

/*
 * Cookies that look like ours and are verified at most: more than fit into one
 * line of 8k, so that nobody who can set cookies for the site hides a place.
 */
#define NGX_HTTP_FLASH_THROTTLE_TRIES     128


#define NGX_HTTP_FLASH_THROTTLE_NEWS      1000    /* ms */


typedef struct ngx_http_flash_throttle_zone_s  ngx_http_flash_throttle_zone_t;


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


/* requests held by this worker for one key */
typedef struct {
    ft_line_t                        line;
    ngx_event_t                      event;
    ngx_http_flash_throttle_zone_t  *zone;
} ngx_http_flash_throttle_line_t;


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
    ngx_event_t                      news;
    ngx_http_flash_throttle_line_t  *lines;
};


/* a page as far as the next slot, or its end */
typedef struct {
    ngx_str_t                        text;
    ngx_str_t                        deflated;
    uint32_t                         crc;
    ngx_uint_t                       slot;
} ngx_http_flash_throttle_piece_t;


typedef struct {
    ngx_str_t                        html;    /* its slots are blank */
    ngx_str_t                        gzip;    /* empty if it saves nothing */
    ngx_array_t                     *pieces;  /* NULL: it has no slots */
} ngx_http_flash_throttle_page_t;


/* the pages that a name with variables can stand for */
typedef struct {
    ngx_http_complex_value_t         name;
    ngx_rbtree_t                     tree;
    ngx_rbtree_node_t                sentinel;
} ngx_http_flash_throttle_pages_t;


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


typedef struct {
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

    /* what goes around the text of a ticket and of a pass in Set-Cookie */
    ngx_str_t                        set_name;
    ngx_str_t                        set_ticket;
    ngx_str_t                        set_pass;
    ngx_str_t                        set_none;
} ngx_http_flash_throttle_conf_t;


typedef struct {
    ft_line_node_t                   node;

    ngx_http_request_t              *request;
    ngx_http_flash_throttle_conf_t  *conf;
    ngx_http_flash_throttle_zone_t  *zone;
    ft_state_t                      *state;
    uint32_t                         generation;

    ft_ticket_context_t              context;
    ft_ticket_t                      ticket;
    u_char                          *text;          /* as it was brought */
    ft_verdict_t                     verdict;

    /* whose word has been heard */
    ngx_http_upstream_t             *heard;

    ngx_uint_t                       status;

    unsigned                         poll:1;        /* Flash-Throttle-Poll */
    unsigned                         json:1;
    unsigned                         fresh:1;       /* a first attempt */
    unsigned                         again:1;       /* admitted before */
    unsigned                         held:1;        /* in the line */
    unsigned                         counted:1;     /* in flight */
    unsigned                         complete:1;    /* the answer, but parts */
    unsigned                         answered:1;
} ngx_http_flash_throttle_ctx_t;


/* the headers of one name: the first one, and how many there are */
typedef struct {
    ngx_list_part_t                 *part;
    ngx_uint_t                       i;
    ngx_uint_t                       n;
} ngx_http_flash_throttle_lines_t;


/* of what a request brings, what matters here */
typedef struct {
    ngx_http_flash_throttle_lines_t  cookies;
    ngx_http_flash_throttle_lines_t  accepts;
    ngx_str_t                       *ticket;       /* Flash-Throttle-Ticket */
    unsigned                         poll:1;       /* Flash-Throttle-Poll */
    unsigned                         preflight:1;  /* of CORS, if OPTIONS */
} ngx_http_flash_throttle_brought_t;


/* The decision on the main request, or NULL if the throttle did not run. */
ngx_http_flash_throttle_ctx_t *ngx_http_flash_throttle_get_ctx(
    ngx_http_request_t *r);

/* The preaccess handler. */
ngx_int_t ngx_http_flash_throttle_handler(ngx_http_request_t *r);

/* The preaccess handler of a request that has been there before. */
ngx_int_t ngx_http_flash_throttle_redirected(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx);

/* Once, as the status of the context says; NGX_DECLINED: the request goes on. */
ngx_int_t ngx_http_flash_throttle_answer(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx);

/* Fills a call of the core by this worker. */
void ngx_http_flash_throttle_call(ngx_http_flash_throttle_zone_t *zone,
    ft_state_t *state, ft_rules_t *rules, uint64_t now_ms, ft_call_t *call);

/* The end of a hold: the request has been admitted. */
void ngx_http_flash_throttle_admit(ngx_http_flash_throttle_ctx_t *ctx,
    ft_call_t *call);


/*
 * The end in flight of an admitted request, or of one with a pass: of the two
 * ways, a complete answer and the end of the request, the first one counts.
 */
void ngx_http_flash_throttle_done(ngx_http_flash_throttle_ctx_t *ctx);

/* What the upstream's answer tells, if what is let in adapts to it. */
void ngx_http_flash_throttle_answered(ngx_http_flash_throttle_ctx_t *ctx);

/* Watches, in this worker, for answers to be complete. */
void ngx_http_flash_throttle_init_filter(void);

/* Hears what the upstream has answered, once, if feedback is on. */
ngx_int_t ngx_http_flash_throttle_listen(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx);

/* Listens, in this worker, to what upstreams say. */
void ngx_http_flash_throttle_init_feedback(void);


/* Holding: parks the request in a line; takes it out again. */
ngx_http_flash_throttle_line_t *ngx_http_flash_throttle_line(
    ngx_http_flash_throttle_zone_t *zone, ft_state_t *state);
ngx_int_t ngx_http_flash_throttle_hold(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx);
void ngx_http_flash_throttle_leave(ngx_http_flash_throttle_ctx_t *ctx);

/* There may be room for the held ones. */
void ngx_http_flash_throttle_wake(ngx_http_flash_throttle_line_t *line);
ngx_int_t ngx_http_flash_throttle_init_lines(
    ngx_http_flash_throttle_zone_t *zone, ngx_cycle_t *cycle);


/*
 * The news of a zone, for the error log: looked for each second by workers that
 * have made somebody wait, and written by one of them.
 */
void ngx_http_flash_throttle_init_news(ngx_http_flash_throttle_zone_t *zone,
    ngx_log_t *log);

#define ngx_http_flash_throttle_expect_news(zone)                             \
    if (!(zone)->news.timer_set) {                                            \
        ngx_add_timer(&(zone)->news, NGX_HTTP_FLASH_THROTTLE_NEWS);           \
    }


/* Looks through a request's headers. */
void ngx_http_flash_throttle_look(ngx_http_request_t *r,
    ngx_http_flash_throttle_brought_t *brought);

/*
 * Reads the best of the tickets that a request brings, verified, into
 * ctx->ticket (kind 0: there is none).  Once for each look, as is the next.
 */
void ngx_http_flash_throttle_read(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx,
    ngx_http_flash_throttle_brought_t *brought, uint64_t now_ms);

/* Whether a client asks for JSON rather than HTML. */
ngx_uint_t ngx_http_flash_throttle_wants_json(
    ngx_http_flash_throttle_brought_t *brought);

/* Draws the lot of ctx->ticket, where it is for an opening. */
void ngx_http_flash_throttle_draw(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx);

/* Signs ctx->ticket into `text`, FT_TICKET_LEN bytes. */
void ngx_http_flash_throttle_sign(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, u_char *text);

/* Adds Set-Cookie with a signed text. */
ngx_int_t ngx_http_flash_throttle_set_cookie(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, u_char *text);

/* Adds Set-Cookie that takes ticket and pass away. */
ngx_int_t ngx_http_flash_throttle_clear_cookie(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx);

/* Prepares Set-Cookie of a location. */
ngx_int_t ngx_http_flash_throttle_init_cookie(ngx_conf_t *cf,
    ngx_http_flash_throttle_conf_t *ftcf);


/*
 * Answers in the upstream's place, the body discarded, and finalizes the
 * request: "text" is the signed ticket or pass for JSON, NULL for none.
 */
ngx_int_t ngx_http_flash_throttle_reply(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, u_char *text);


char *ngx_http_flash_throttle_queue_page(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
ngx_int_t ngx_http_flash_throttle_init_pages(ngx_conf_t *cf,
    ngx_http_flash_throttle_main_conf_t *ftmf);

/* The queue page for a request; NULL: the value of a variable failed. */
ngx_http_flash_throttle_page_t *ngx_http_flash_throttle_find_page(
    ngx_http_request_t *r, ngx_http_flash_throttle_conf_t *ftcf);

/* Cuts page->html into pieces at its slots, and leaves them blank in it. */
ngx_int_t ngx_http_flash_throttle_cut(ngx_conf_t *cf,
    ngx_http_flash_throttle_page_t *page);

/* A page that has slots, filled in: a chain of buffers; NULL: no memory. */
ngx_chain_t *ngx_http_flash_throttle_fill(ngx_http_request_t *r,
    ngx_http_flash_throttle_ctx_t *ctx, ngx_http_flash_throttle_page_t *page,
    ngx_uint_t gzip);

char *ngx_http_flash_throttle_cookie(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_flash_throttle_adapt(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

ngx_int_t ngx_http_flash_throttle_add_variables(ngx_conf_t *cf);


extern ngx_module_t  ngx_http_flash_throttle_module;


#define ngx_http_flash_throttle_add_header(r, name, value, len)               \
    ngx_http_flash_throttle_header(r, name, sizeof(name) - 1, value, len)


/*
 * A header of the answer; both words stay where they are.  Not among headers_out's
 * known ones: "expires" would replace Cache-Control.
 */

static ngx_inline ngx_int_t
ngx_http_flash_throttle_header(ngx_http_request_t *r, const char *name,
    size_t name_len, u_char *value, size_t len)
{
    ngx_table_elt_t  *h;

    h = ngx_list_push(&r->headers_out.headers);
    if (h == NULL) {
        return NGX_ERROR;
    }

    h->hash = 1;
#if (nginx_version >= 1023000)
    h->next = NULL;
#endif
    h->key.len = name_len;
    h->key.data = (u_char *) name;
    h->value.len = len;
    h->value.data = value;

    return NGX_OK;
}

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_H_INCLUDED_ */
