
/*
 * Copyright (C) flash_throttle contributors
 */


#include "ngx_http_flash_throttle.h"
#include "ngx_http_flash_throttle_adapt.h"
#include "ngx_http_flash_throttle_conf.h"
#include "ngx_http_flash_throttle_conf_zone.h"
#include "ngx_http_flash_throttle_control.h"
#include "ngx_http_flash_throttle_cookie_conf.h"
#include "ngx_http_flash_throttle_feedback.h"
#include "ngx_http_flash_throttle_handler.h"
#include "ngx_http_flash_throttle_hold.h"
#include "ngx_http_flash_throttle_inflight.h"
#include "ngx_http_flash_throttle_page.h"
#include "ngx_http_flash_throttle_page_conf.h"
#include "ngx_http_flash_throttle_queuelog.h"
#include "ngx_http_flash_throttle_rules.h"
#include "ngx_http_flash_throttle_secret.h"
#include "ngx_http_flash_throttle_stats.h"
#include "ngx_http_flash_throttle_variable.h"
#include "ngx_http_flash_throttle_zone.h"


static void *ngx_http_flash_throttle_create_main_conf(ngx_conf_t *cf);
static char *ngx_http_flash_throttle_init_main_conf(ngx_conf_t *cf, void *conf);
static void *ngx_http_flash_throttle_create_conf(ngx_conf_t *cf);
static char *ngx_http_flash_throttle_merge_conf(ngx_conf_t *cf, void *parent,
    void *child);
static void ngx_http_flash_throttle_merge_rules(
    ngx_http_flash_throttle_conf_t *prev, ngx_http_flash_throttle_conf_t *conf);
static ngx_int_t ngx_http_flash_throttle_init(ngx_conf_t *cf);
static ngx_http_handler_pt *ngx_http_flash_throttle_push_handler(
    ngx_conf_t *cf);
static ngx_int_t ngx_http_flash_throttle_init_process(ngx_cycle_t *cycle);


static ngx_command_t  ngx_http_flash_throttle_commands[] = {

    { ngx_string("flash_throttle_zone"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_2MORE,
      ngx_http_flash_throttle_conf_zone,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("flash_throttle_secret_file"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_str_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_http_flash_throttle_main_conf_t, secret_file),
      NULL },

    { ngx_string("flash_throttle"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_1MORE,
      ngx_http_flash_throttle_conf_throttle,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("flash_throttle_cookie"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_1MORE,
      ngx_http_flash_throttle_cookie_conf,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("flash_throttle_session"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_flash_throttle_conf_session,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("flash_throttle_queue_page"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_flash_throttle_page_conf,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("flash_throttle_queue_status"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_num_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_flash_throttle_conf_t, status_code),
      &ngx_http_flash_throttle_conf_queue_status },

    { ngx_string("flash_throttle_poll"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE12,
      ngx_http_flash_throttle_conf_poll,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("flash_throttle_adapt"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE123,
      ngx_http_flash_throttle_adapt,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("flash_throttle_bypass"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_1MORE,
      ngx_http_set_predicate_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_flash_throttle_conf_t, bypass),
      NULL },

    { ngx_string("flash_throttle_bind"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_set_complex_value_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_flash_throttle_conf_t, bind),
      NULL },

    { ngx_string("flash_throttle_opens"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_flash_throttle_conf_opens,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("flash_throttle_dry_run"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_FLAG,
      ngx_conf_set_flag_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_flash_throttle_conf_t, dry_run),
      NULL },

    { ngx_string("flash_throttle_log_level"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_enum_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_flash_throttle_conf_t, log_level),
      &ngx_http_flash_throttle_conf_log_levels },

    { ngx_string("flash_throttle_feedback"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_FLAG,
      ngx_conf_set_flag_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_flash_throttle_conf_t, feedback),
      NULL },

    { ngx_string("flash_throttle_control"),
      NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_NOARGS,
      ngx_http_flash_throttle_control,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("flash_throttle_status"),
      NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_NOARGS,
      ngx_http_flash_throttle_stats,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

      ngx_null_command
};


static ngx_http_module_t  ngx_http_flash_throttle_module_ctx = {
    ngx_http_flash_throttle_variable_add,      /* preconfiguration */
    ngx_http_flash_throttle_init,              /* postconfiguration */

    ngx_http_flash_throttle_create_main_conf,  /* create main configuration */
    ngx_http_flash_throttle_init_main_conf,    /* init main configuration */

    NULL,                                      /* create server configuration */
    NULL,                                      /* merge server configuration */

    ngx_http_flash_throttle_create_conf,       /* create location configuration */
    ngx_http_flash_throttle_merge_conf         /* merge location configuration */
};


ngx_module_t  ngx_http_flash_throttle_module = {
    NGX_MODULE_V1,
    &ngx_http_flash_throttle_module_ctx,       /* module context */
    ngx_http_flash_throttle_commands,          /* module directives */
    NGX_HTTP_MODULE,                           /* module type */
    NULL,                                      /* init master */
    NULL,                                      /* init module */
    ngx_http_flash_throttle_init_process,      /* init process */
    NULL,                                      /* init thread */
    NULL,                                      /* exit thread */
    NULL,                                      /* exit process */
    NULL,                                      /* exit master */
    NGX_MODULE_V1_PADDING
};


static void *
ngx_http_flash_throttle_create_main_conf(ngx_conf_t *cf)
{
    ngx_http_flash_throttle_main_conf_t  *ftmf;

    ftmf = ngx_pcalloc(cf->pool, sizeof(ngx_http_flash_throttle_main_conf_t));
    if (ftmf == NULL) {
        return NULL;
    }

    /*
     * set by ngx_pcalloc():
     *
     *     ftmf->secret_file = { 0, NULL };
     *     ftmf->ring = NULL;
     *     ftmf->page = NULL;
     *     ftmf->rejected = NULL;
     *     ftmf->closed = NULL;
     *     ftmf->sold_out = NULL;
     *     ftmf->csp = { 0, NULL };
     *     ftmf->etag = { 0, NULL };
     */

    if (ngx_array_init(&ftmf->zones, cf->pool, 2,
                       sizeof(ngx_http_flash_throttle_zone_t *))
        != NGX_OK)
    {
        return NULL;
    }

    if (ngx_array_init(&ftmf->uses, cf->pool, 4,
                       sizeof(ngx_http_flash_throttle_use_t))
        != NGX_OK)
    {
        return NULL;
    }

    if (ngx_array_init(&ftmf->cookies, cf->pool, 4,
                       sizeof(ngx_http_flash_throttle_named_t))
        != NGX_OK)
    {
        return NULL;
    }

    return ftmf;
}


static char *
ngx_http_flash_throttle_init_main_conf(ngx_conf_t *cf, void *conf)
{
    ngx_http_flash_throttle_main_conf_t *ftmf = conf;

    ngx_uint_t                      i;
    ngx_http_flash_throttle_use_t  *uses;

    uses = ftmf->uses.elts;

    for (i = 0; i < ftmf->uses.nelts; i++) {

        if (uses[i].shm_zone->init == NULL) {
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                          "unknown zone \"%V\" in \"flash_throttle\" "
                          "directive in %s:%ui",
                          &uses[i].shm_zone->shm.name, uses[i].place.file,
                          uses[i].place.line);
            return NGX_CONF_ERROR;
        }
    }

    if (ftmf->zones.nelts == 0 && ftmf->secret_file.data == NULL) {
        return NGX_CONF_OK;
    }

    if (ngx_http_flash_throttle_page_conf_init(cf, ftmf) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    return ngx_http_flash_throttle_secret_init(cf, ftmf);
}


static void *
ngx_http_flash_throttle_create_conf(ngx_conf_t *cf)
{
    ngx_http_flash_throttle_conf_t  *conf;

    conf = ngx_pcalloc(cf->pool, sizeof(ngx_http_flash_throttle_conf_t));
    if (conf == NULL) {
        return NULL;
    }

    /*
     * set by ngx_pcalloc():
     *
     *     conf->rules = NULL;
     *     conf->places = { { NULL, 0 } };
     *     conf->policy = 0;
     *     conf->hold = 0;
     *     conf->max_wait = 0;
     *     conf->cookie = NULL;
     *     conf->page = NULL;
     *     conf->pages = NULL;
     *     conf->endpoint = NULL;
     *     conf->set_name = { 0, NULL };
     *     conf->set_ticket = { 0, NULL };
     *     conf->set_pass = { 0, NULL };
     *     conf->set_none = { 0, NULL };
     */

    conf->shm_zone = NGX_CONF_UNSET_PTR;
    conf->bind = NGX_CONF_UNSET_PTR;
    conf->bypass = NGX_CONF_UNSET_PTR;
    conf->adapt = NGX_CONF_UNSET_PTR;
    conf->session = NGX_CONF_UNSET_MSEC;
    conf->poll_min = NGX_CONF_UNSET_MSEC;
    conf->poll_max = NGX_CONF_UNSET_MSEC;
    conf->opens = NGX_HTTP_FLASH_THROTTLE_OPENS_UNSET;
    conf->status_code = NGX_CONF_UNSET_UINT;
    conf->log_level = NGX_CONF_UNSET_UINT;
    conf->dry_run = NGX_CONF_UNSET;
    conf->feedback = NGX_CONF_UNSET;

    return conf;
}


static char *
ngx_http_flash_throttle_merge_conf(ngx_conf_t *cf, void *parent, void *child)
{
    ngx_http_flash_throttle_conf_t *prev = parent;
    ngx_http_flash_throttle_conf_t *conf = child;

    ngx_http_core_loc_conf_t             *clcf;
    ngx_http_flash_throttle_main_conf_t  *ftmf;

    ngx_http_flash_throttle_merge_rules(prev, conf);

    if (conf->cookie == NULL) {
        conf->cookie = prev->cookie;
    }

    if (conf->page == NULL) {
        conf->page = prev->page;

        if (conf->pages == NULL) {
            conf->pages = prev->pages;
        }
    }

    ngx_conf_merge_ptr_value(conf->bind, prev->bind, NULL);
    ngx_conf_merge_ptr_value(conf->bypass, prev->bypass, NULL);
    ngx_conf_merge_uint_value(conf->status_code, prev->status_code,
                              NGX_HTTP_SERVICE_UNAVAILABLE);
    ngx_conf_merge_uint_value(conf->log_level, prev->log_level, NGX_LOG_INFO);
    ngx_conf_merge_value(conf->dry_run, prev->dry_run, 0);
    ngx_conf_merge_value(conf->feedback, prev->feedback, 0);

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    if (clcf->noname && clcf->handler == NULL) {

        /* "if" and "limit_except" keep the handler of their location */

        conf->endpoint = prev->endpoint;

    } else if (conf->endpoint != clcf->handler) {

        /* another content handler was specified later */

        conf->endpoint = NULL;
    }

    if (conf->shm_zone == NULL || conf->endpoint) {
        return NGX_CONF_OK;
    }

    if (conf->page == NULL) {
        ftmf = ngx_http_conf_get_module_main_conf(cf,
                                              ngx_http_flash_throttle_module);
        conf->page = ftmf->page;
    }

    ngx_http_flash_throttle_conf_zone_check_key(cf, conf->shm_zone->data);

    if (ngx_http_flash_throttle_rules_init(cf, conf) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    if (ngx_http_flash_throttle_cookie_conf_init(cf, conf) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


/* Each value is inherited with the place of its directive. */

static void
ngx_http_flash_throttle_merge_rules(ngx_http_flash_throttle_conf_t *prev,
    ngx_http_flash_throttle_conf_t *conf)
{
    if (conf->shm_zone == NGX_CONF_UNSET_PTR) {
        conf->policy = prev->policy;
        conf->hold = prev->hold;
        conf->max_wait = prev->max_wait;
        conf->places.throttle = prev->places.throttle;
    }

    if (conf->adapt == NGX_CONF_UNSET_PTR) {
        conf->places.adapt = prev->places.adapt;
    }

    if (conf->session == NGX_CONF_UNSET_MSEC) {
        conf->places.session = prev->places.session;
    }

    if (conf->poll_min == NGX_CONF_UNSET_MSEC) {
        conf->places.poll = prev->places.poll;
    }

    if (conf->opens == NGX_HTTP_FLASH_THROTTLE_OPENS_UNSET) {
        conf->opens = prev->opens == NGX_HTTP_FLASH_THROTTLE_OPENS_UNSET
                      ? 0 : prev->opens;
        conf->places.opens = prev->places.opens;
    }

    ngx_conf_merge_ptr_value(conf->shm_zone, prev->shm_zone, NULL);
    ngx_conf_merge_ptr_value(conf->adapt, prev->adapt, NULL);
    ngx_conf_merge_msec_value(conf->session, prev->session, 600000);
    ngx_conf_merge_msec_value(conf->poll_min, prev->poll_min,
                              FT_POLL_MIN_DEFAULT_MS);
    ngx_conf_merge_msec_value(conf->poll_max, prev->poll_max,
                              FT_POLL_MAX_DEFAULT_MS);
}


static ngx_int_t
ngx_http_flash_throttle_init(ngx_conf_t *cf)
{
    ngx_http_handler_pt                  *h;
    ngx_http_flash_throttle_main_conf_t  *ftmf;

    ftmf = ngx_http_conf_get_module_main_conf(cf,
                                              ngx_http_flash_throttle_module);

    if (ftmf->uses.nelts == 0) {
        return NGX_OK;
    }

    h = ngx_http_flash_throttle_push_handler(cf);
    if (h == NULL) {
        return NGX_ERROR;
    }

    *h = ngx_http_flash_throttle_handler;

    return NGX_OK;
}


/*
 * Handlers of a phase run from the last to the first.  This handler runs after
 * the realip module, whatever the order of the modules: realip is recognised by
 * its handler, which is the same in both phases.
 */

static ngx_http_handler_pt *
ngx_http_flash_throttle_push_handler(ngx_conf_t *cf)
{
    ngx_uint_t                  i, j, last;
    ngx_array_t                *preaccess, *read;
    ngx_http_handler_pt        *h, *r;
    ngx_http_core_main_conf_t  *cmcf;

    cmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_core_module);

    preaccess = &cmcf->phases[NGX_HTTP_PREACCESS_PHASE].handlers;
    read = &cmcf->phases[NGX_HTTP_POST_READ_PHASE].handlers;

    if (ngx_array_push(preaccess) == NULL) {
        return NULL;
    }

    h = preaccess->elts;
    r = read->elts;
    last = preaccess->nelts - 1;

    for (i = 0; i < last; i++) {

        for (j = 0; j < read->nelts; j++) {

            if (h[i] == r[j]) {
                ngx_memmove(&h[i + 1], &h[i],
                            (last - i) * sizeof(ngx_http_handler_pt));
                return &h[i];
            }
        }
    }

    return &h[last];
}


static ngx_int_t
ngx_http_flash_throttle_init_process(ngx_cycle_t *cycle)
{
    ngx_uint_t                            i;
    ngx_http_flash_throttle_zone_t      **zones;
    ngx_http_flash_throttle_main_conf_t  *ftmf;

    if (ngx_process != NGX_PROCESS_WORKER && ngx_process != NGX_PROCESS_SINGLE)
    {
        return NGX_OK;
    }

    ftmf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_flash_throttle_module);

    if (ftmf == NULL) {
        /* no http block */
        return NGX_OK;
    }

    /*
     * The filters are installed above those of all modules, and not in
     * init_module: after a reload that failed in between, workers that the
     * master respawns would not have them.
     */

    if (ftmf->uses.nelts) {
        ngx_http_flash_throttle_inflight_init();
        ngx_http_flash_throttle_feedback_init();
    }

    zones = ftmf->zones.elts;

    for (i = 0; i < ftmf->zones.nelts; i++) {

        ngx_http_flash_throttle_zone_join(zones[i], cycle->log);

        if (ngx_http_flash_throttle_hold_init(zones[i], cycle) != NGX_OK) {
            return NGX_ERROR;
        }

        ngx_http_flash_throttle_queuelog_init(zones[i], cycle->log);
    }

    return NGX_OK;
}
