
/*
 * Copyright (C) flash_throttle contributors
 */


#include "ngx_http_flash_throttle_override_key.h"
#include "ngx_http_flash_throttle_zone.h"


static ngx_int_t ngx_http_flash_throttle_override_key_zone(
    ngx_http_flash_throttle_override_t *ov);
static ngx_int_t ngx_http_flash_throttle_override_key_state(
    ngx_http_flash_throttle_override_t *ov);
static ngx_int_t ngx_http_flash_throttle_override_key_only(
    ngx_http_flash_throttle_override_t *ov);
static ngx_int_t ngx_http_flash_throttle_override_key_list_zones(
    ngx_http_flash_throttle_override_t *ov, ngx_str_t *list);
static ngx_int_t ngx_http_flash_throttle_override_key_list(
    ngx_http_flash_throttle_override_t *ov, ngx_str_t *list);


ngx_int_t
ngx_http_flash_throttle_override_key(ngx_http_flash_throttle_override_t *ov)
{
    if (ngx_http_flash_throttle_override_key_zone(ov) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_flash_throttle_override_key_state(ov);
}


/* The zone of that name; without a name, the only zone in use. */

static ngx_int_t
ngx_http_flash_throttle_override_key_zone(
    ngx_http_flash_throttle_override_t *ov)
{
    ngx_str_t                             name, list, *zone_name;
    ngx_uint_t                            i, given, used;
    ngx_http_flash_throttle_zone_t      **zones;
    ngx_http_flash_throttle_main_conf_t  *ftmf;

    ftmf = ngx_http_get_module_main_conf(ov->request,
                                         ngx_http_flash_throttle_module);

    given = ov->fields[NGX_HTTP_FLASH_THROTTLE_OVERRIDE_ZONE].given;
    name = ngx_http_flash_throttle_override_text(ov,
                                         NGX_HTTP_FLASH_THROTTLE_OVERRIDE_ZONE);
    zones = ftmf->zones.elts;
    used = 0;

    for (i = 0; i < ftmf->zones.nelts; i++) {

        if (!zones[i]->used) {
            continue;
        }

        zone_name = &zones[i]->shm_zone->shm.name;

        if (!given) {
            ov->zone = zones[i];
            used++;

        } else if (zone_name->len == name.len
                   && ngx_memcmp(zone_name->data, name.data, name.len) == 0)
        {
            ov->zone = zones[i];
            return NGX_OK;
        }
    }

    if (used == 1) {
        return NGX_OK;
    }

    if (ngx_http_flash_throttle_override_key_list_zones(ov, &list) != NGX_OK) {
        return NGX_ERROR;
    }

    if (given) {
        return ngx_http_flash_throttle_override_error(ov, NGX_HTTP_NOT_FOUND,
                   "no \"flash_throttle\" uses zone \"%V\", zones in use:%V",
                   &name, &list);
    }

    return ngx_http_flash_throttle_override_error(ov,
               used ? NGX_HTTP_BAD_REQUEST : NGX_HTTP_NOT_FOUND,
               "\"zone\" is required, zones in use:%V", &list);
}


static ngx_int_t
ngx_http_flash_throttle_override_key_state(
    ngx_http_flash_throttle_override_t *ov)
{
    ngx_str_t   list;
    ngx_log_t  *log;

    ov->now_ms = ngx_http_flash_throttle_zone_now(ov->zone);

    if (!ov->fields[NGX_HTTP_FLASH_THROTTLE_OVERRIDE_KEY].given) {
        return ngx_http_flash_throttle_override_key_only(ov);
    }

    ov->key = ngx_http_flash_throttle_override_text(ov,
                                         NGX_HTTP_FLASH_THROTTLE_OVERRIDE_KEY);

    if (ov->key.len == 0) {
        return ngx_http_flash_throttle_override_error(ov, NGX_HTTP_BAD_REQUEST,
                   "the key is empty");
    }

    if (ov->fields[NGX_HTTP_FLASH_THROTTLE_OVERRIDE_NEW].yes) {

        log = ov->request->connection->log;

        ov->state = ngx_http_flash_throttle_zone_state(ov->zone, &ov->key,
                                                       ov->now_ms, log);

        return ov->state
               ? NGX_OK
               : ngx_http_flash_throttle_override_error(ov,
                     NGX_HTTP_SERVICE_UNAVAILABLE,
                     "zone \"%V\" has no space for key \"%V\"",
                     &ov->zone->shm_zone->shm.name, &ov->key);
    }

    ov->state = ft_zone_find(ov->zone->sh, ov->key.data, ov->key.len,
                             ov->now_ms);

    if (ov->state) {
        return NGX_OK;
    }

    if (ngx_http_flash_throttle_override_key_list(ov, &list) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_flash_throttle_override_error(ov, NGX_HTTP_NOT_FOUND,
               "unknown key \"%V\" in zone \"%V\", keys:%V; "
               "\"new\":true creates it",
               &ov->key, &ov->zone->shm_zone->shm.name, &list);
}


static ngx_int_t
ngx_http_flash_throttle_override_key_only(
    ngx_http_flash_throttle_override_t *ov)
{
    uint32_t     i, keys, found;
    ngx_str_t    list;
    ft_zone_t   *sh;
    ft_state_t  *state;

    sh = ov->zone->sh;
    keys = ft_zone_keys(sh);
    found = 0;

    for (i = 0; i < keys; i++) {

        state = ft_zone_state(sh, i);

        if (state == NULL) {
            continue;
        }

        ov->state = state;
        ov->key.data = ov->key_text;
        ov->key.len = ft_zone_key(sh, i, (char *) ov->key_text);
        found++;
    }

    if (found == 1) {
        return NGX_OK;
    }

    if (ngx_http_flash_throttle_override_key_list(ov, &list) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_flash_throttle_override_error(ov,
               found ? NGX_HTTP_BAD_REQUEST : NGX_HTTP_NOT_FOUND,
               "\"key\" is required in zone \"%V\", keys:%V",
               &ov->zone->shm_zone->shm.name, &list);
}


/* For a message: ' "a", "b"', or " none". */

static ngx_int_t
ngx_http_flash_throttle_override_key_list_zones(
    ngx_http_flash_throttle_override_t *ov, ngx_str_t *list)
{
    u_char                               *p, *last;
    size_t                                size;
    ngx_uint_t                            i, n;
    ngx_http_flash_throttle_zone_t      **zones;
    ngx_http_flash_throttle_main_conf_t  *ftmf;

    ftmf = ngx_http_get_module_main_conf(ov->request,
                                         ngx_http_flash_throttle_module);

    size = NGX_HTTP_FLASH_THROTTLE_OVERRIDE_LISTED
           * (NGX_HTTP_FLASH_THROTTLE_OVERRIDE_NAME_MAX + sizeof(", \"\""))
           + 64;

    p = ngx_pnalloc(ov->request->pool, size);
    if (p == NULL) {
        return NGX_ERROR;
    }

    list->data = p;
    last = p + size;
    zones = ftmf->zones.elts;

    for (i = 0, n = 0; i < ftmf->zones.nelts; i++) {

        if (!zones[i]->used) {
            continue;
        }

        if (n == NGX_HTTP_FLASH_THROTTLE_OVERRIDE_LISTED) {
            p = ngx_slprintf(p, last, " and more");
            break;
        }

        p = ngx_slprintf(p, last, "%s \"%V\"", n++ ? "," : "",
                         &zones[i]->shm_zone->shm.name);
    }

    if (n == 0) {
        p = ngx_slprintf(p, last, " none");
    }

    list->len = p - list->data;

    return NGX_OK;
}


static ngx_int_t
ngx_http_flash_throttle_override_key_list(
    ngx_http_flash_throttle_override_t *ov, ngx_str_t *list)
{
    u_char      *p, *last;
    size_t       size, len;
    uint32_t     i;
    ngx_uint_t   n;
    char         key[FT_KEY_MAX];

    size = NGX_HTTP_FLASH_THROTTLE_OVERRIDE_LISTED
           * (FT_KEY_MAX + sizeof(", \"\"")) + 64;

    p = ngx_pnalloc(ov->request->pool, size);
    if (p == NULL) {
        return NGX_ERROR;
    }

    list->data = p;
    last = p + size;

    for (i = 0, n = 0; i < ft_zone_keys(ov->zone->sh); i++) {

        if (ft_zone_state(ov->zone->sh, i) == NULL) {
            continue;
        }

        if (n == NGX_HTTP_FLASH_THROTTLE_OVERRIDE_LISTED) {
            p = ngx_slprintf(p, last, " and more");
            break;
        }

        len = ft_zone_key(ov->zone->sh, i, key);
        p = ngx_slprintf(p, last, "%s \"%*s\"", n++ ? "," : "", len, key);
    }

    if (n == 0) {
        p = ngx_slprintf(p, last, " none");
    }

    list->len = p - list->data;

    return NGX_OK;
}
