
/*
 * Copyright (C) flash_throttle contributors
 */


#include "ngx_http_flash_throttle_rules.h"


/* the text of a value */
#define NGX_HTTP_FLASH_THROTTLE_RULES_LEN  64

#define NGX_HTTP_FLASH_THROTTLE_RULES_TIME(member, directive)                 \
    offsetof(ft_rules_t, member),                                             \
    offsetof(ngx_http_flash_throttle_places_t, directive)


/* a rule that is a time, ms */
typedef struct {
    const char                       *name;
    size_t                            offset;       /* in ft_rules_t */
    size_t                            place;        /* of its directive */
} ngx_http_flash_throttle_rules_time_t;


static ngx_int_t ngx_http_flash_throttle_rules_policy(ngx_conf_t *cf,
    ngx_http_flash_throttle_conf_t *ftcf, ft_rules_t *rules);
static ngx_int_t ngx_http_flash_throttle_rules_times(ngx_conf_t *cf,
    ngx_http_flash_throttle_conf_t *ftcf, ft_rules_t *rules);
static ngx_int_t ngx_http_flash_throttle_rules_opening(ngx_conf_t *cf,
    ngx_http_flash_throttle_conf_t *ftcf);
static ngx_int_t ngx_http_flash_throttle_rules_adapt(ngx_conf_t *cf,
    ngx_http_flash_throttle_conf_t *ftcf);
static ngx_str_t ngx_http_flash_throttle_rules_print_msec(u_char *buf,
    uint32_t msec);
static ngx_str_t ngx_http_flash_throttle_rules_print_date(u_char *buf,
    uint64_t msec);
static ngx_int_t ngx_http_flash_throttle_rules_error(ngx_conf_t *cf,
    ngx_http_flash_throttle_conf_t *ftcf, const char *name, size_t place,
    ngx_str_t *old, ngx_str_t *new);


ngx_conf_enum_t  ngx_http_flash_throttle_rules_policies[] = {
    { ngx_string("fair"), FT_POLICY_FAIR },
    { ngx_string("lottery"), FT_POLICY_LOTTERY },
    { ngx_string("proportional"), FT_POLICY_PROPORTIONAL },
    { ngx_string("reject"), FT_POLICY_REJECT },
    { ngx_null_string, 0 }
};


static ngx_http_flash_throttle_rules_time_t
    ngx_http_flash_throttle_rules_table[] =
{
    { "hold=",
      NGX_HTTP_FLASH_THROTTLE_RULES_TIME(hold_ms, throttle) },

    { "max_wait=",
      NGX_HTTP_FLASH_THROTTLE_RULES_TIME(max_wait_ms, throttle) },

    { "flash_throttle_poll min=",
      NGX_HTTP_FLASH_THROTTLE_RULES_TIME(poll_min_ms, poll) },

    { "flash_throttle_poll max=",
      NGX_HTTP_FLASH_THROTTLE_RULES_TIME(poll_max_ms, poll) },

    { "flash_throttle_session ",
      NGX_HTTP_FLASH_THROTTLE_RULES_TIME(session_ms, session) },

    { NULL, 0, 0 }
};


void
ngx_http_flash_throttle_rules_place(ngx_conf_t *cf,
    ngx_http_flash_throttle_place_t *place)
{
    place->file = cf->conf_file->file.name.data;
    place->line = cf->conf_file->line;
}


ngx_int_t
ngx_http_flash_throttle_rules_init(ngx_conf_t *cf,
    ngx_http_flash_throttle_conf_t *ftcf)
{
    ft_rules_t                       rules;
    ngx_http_flash_throttle_zone_t  *zone;

    zone = ftcf->shm_zone->data;

    rules.policy = ftcf->policy;
    rules.hold_ms = ftcf->hold;
    rules.max_wait_ms = ftcf->max_wait;
    rules.poll_min_ms = ftcf->poll_min;
    rules.poll_max_ms = ftcf->poll_max;
    rules.session_ms = ftcf->session;
    rules.opens_ms = 0;

    if (!zone->used) {
        zone->used = 1;
        zone->rules = rules;
        zone->early_rules = rules;
        zone->places = ftcf->places;

    } else if (ngx_http_flash_throttle_rules_policy(cf, ftcf, &rules) != NGX_OK
               || ngx_http_flash_throttle_rules_times(cf, ftcf, &rules)
                  != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (ngx_http_flash_throttle_rules_opening(cf, ftcf) != NGX_OK
        || ngx_http_flash_throttle_rules_adapt(cf, ftcf) != NGX_OK)
    {
        return NGX_ERROR;
    }

    ftcf->rules = ftcf->opens ? &zone->rules : &zone->early_rules;

    return NGX_OK;
}


static ngx_int_t
ngx_http_flash_throttle_rules_policy(ngx_conf_t *cf,
    ngx_http_flash_throttle_conf_t *ftcf, ft_rules_t *rules)
{
    ngx_http_flash_throttle_zone_t  *zone;

    zone = ftcf->shm_zone->data;

    if (zone->rules.policy == rules->policy) {
        return NGX_OK;
    }

    return ngx_http_flash_throttle_rules_error(cf, ftcf, "policy=",
               offsetof(ngx_http_flash_throttle_places_t, throttle),
               &ngx_http_flash_throttle_rules_policies[zone->rules.policy].name,
               &ngx_http_flash_throttle_rules_policies[rules->policy].name);
}


static ngx_int_t
ngx_http_flash_throttle_rules_times(ngx_conf_t *cf,
    ngx_http_flash_throttle_conf_t *ftcf, ft_rules_t *rules)
{
    u_char                                 buf[2]
                                         [NGX_HTTP_FLASH_THROTTLE_RULES_LEN];
    uint32_t                               old, new;
    ngx_str_t                              old_text, new_text;
    ngx_http_flash_throttle_zone_t        *zone;
    ngx_http_flash_throttle_rules_time_t  *t;

    zone = ftcf->shm_zone->data;

    for (t = ngx_http_flash_throttle_rules_table; t->name; t++) {

        old = *(uint32_t *) ((u_char *) &zone->rules + t->offset);
        new = *(uint32_t *) ((u_char *) rules + t->offset);

        if (old != new) {
            old_text = ngx_http_flash_throttle_rules_print_msec(buf[0], old);
            new_text = ngx_http_flash_throttle_rules_print_msec(buf[1], new);

            return ngx_http_flash_throttle_rules_error(cf, ftcf, t->name,
                                                       t->place, &old_text,
                                                       &new_text);
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_flash_throttle_rules_opening(ngx_conf_t *cf,
    ngx_http_flash_throttle_conf_t *ftcf)
{
    u_char                           buf[2][NGX_HTTP_FLASH_THROTTLE_RULES_LEN];
    ngx_str_t                        old, new;
    ngx_http_flash_throttle_zone_t  *zone;

    zone = ftcf->shm_zone->data;

    if (ftcf->opens == 0 || ftcf->opens == zone->rules.opens_ms) {
        return NGX_OK;
    }

    if (zone->rules.opens_ms == 0) {
        zone->rules.opens_ms = ftcf->opens;
        zone->places.opens = ftcf->places.opens;
        return NGX_OK;
    }

    old = ngx_http_flash_throttle_rules_print_date(buf[0],
                                                   zone->rules.opens_ms);
    new = ngx_http_flash_throttle_rules_print_date(buf[1], ftcf->opens);

    return ngx_http_flash_throttle_rules_error(cf, ftcf,
               "flash_throttle_opens ",
               offsetof(ngx_http_flash_throttle_places_t, opens), &old, &new);
}


/*
 * Adaptation limits the whole zone.  The responses of locations where it is off
 * are not measured.
 */

static ngx_int_t
ngx_http_flash_throttle_rules_adapt(ngx_conf_t *cf,
    ngx_http_flash_throttle_conf_t *ftcf)
{
    ngx_http_flash_throttle_zone_t   *zone;
    ngx_http_flash_throttle_place_t  *old, *new;

    zone = ftcf->shm_zone->data;

    if (ftcf->adapt == NULL) {
        return NGX_OK;
    }

    if (zone->adapt == NULL) {
        zone->adapt = ftcf->adapt;
        zone->places.adapt = ftcf->places.adapt;
        return NGX_OK;
    }

    if (ngx_memcmp(zone->adapt, ftcf->adapt, sizeof(ft_adapt_rules_t)) == 0) {
        return NGX_OK;
    }

    old = &zone->places.adapt;
    new = &ftcf->places.adapt;

    ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                  "zone \"%V\" has different \"flash_throttle_adapt\" "
                  "in %s:%ui and in %s:%ui", &ftcf->shm_zone->shm.name,
                  old->file, old->line, new->file, new->line);

    return NGX_ERROR;
}


static ngx_str_t
ngx_http_flash_throttle_rules_print_msec(u_char *buf, uint32_t msec)
{
    ngx_str_t  s;

    s.data = buf;

    if (msec % 1000 == 0) {
        s.len = ngx_sprintf(buf, "%uDs", msec / 1000) - buf;

    } else {
        s.len = ngx_sprintf(buf, "%uDms", msec) - buf;
    }

    return s;
}


static ngx_str_t
ngx_http_flash_throttle_rules_print_date(u_char *buf, uint64_t msec)
{
    ngx_tm_t   tm;
    ngx_str_t  s;

    ngx_gmtime(msec / 1000, &tm);

    s.data = buf;
    s.len = ngx_sprintf(buf, "%4d-%02d-%02dT%02d:%02d:%02d.%03uLZ",
                        tm.ngx_tm_year, tm.ngx_tm_mon, tm.ngx_tm_mday,
                        tm.ngx_tm_hour, tm.ngx_tm_min, tm.ngx_tm_sec,
                        msec % 1000)
            - buf;

    return s;
}


/* A default has the place of "flash_throttle". */

static ngx_int_t
ngx_http_flash_throttle_rules_error(ngx_conf_t *cf,
    ngx_http_flash_throttle_conf_t *ftcf, const char *name, size_t place,
    ngx_str_t *old, ngx_str_t *new)
{
    ngx_http_flash_throttle_zone_t   *zone;
    ngx_http_flash_throttle_place_t  *op, *np;

    zone = ftcf->shm_zone->data;

    op = (void *) ((u_char *) &zone->places + place);
    np = (void *) ((u_char *) &ftcf->places + place);

    if (op->file == NULL) {
        op = &zone->places.throttle;
    }

    if (np->file == NULL) {
        np = &ftcf->places.throttle;
    }

    ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                  "zone \"%V\" has \"%s%V\" in %s:%ui and \"%s%V\" in %s:%ui",
                  &ftcf->shm_zone->shm.name, name, old, op->file, op->line,
                  name, new, np->file, np->line);

    return NGX_ERROR;
}
