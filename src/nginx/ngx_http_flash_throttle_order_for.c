
/*
 * Copyright (C) flash_throttle contributors
 *
 * Which key of which zone an operator's order is for.
 */


#include "ngx_http_flash_throttle_order.h"


static ngx_int_t ngx_http_flash_throttle_order_zone(
    ngx_http_flash_throttle_order_t *order);
static ngx_int_t ngx_http_flash_throttle_order_key(
    ngx_http_flash_throttle_order_t *order);
static ngx_int_t ngx_http_flash_throttle_order_only_key(
    ngx_http_flash_throttle_order_t *order);
static ngx_int_t ngx_http_flash_throttle_order_list_zones(
    ngx_http_flash_throttle_order_t *order, ngx_str_t *list);
static ngx_int_t ngx_http_flash_throttle_order_list_keys(
    ngx_http_flash_throttle_order_t *order, ngx_str_t *list);


ngx_int_t
ngx_http_flash_throttle_order_for(ngx_http_flash_throttle_order_t *order)
{
    if (ngx_http_flash_throttle_order_zone(order) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_flash_throttle_order_key(order);
}


/* The zone by its name; without one, the only zone that a location uses. */

static ngx_int_t
ngx_http_flash_throttle_order_zone(ngx_http_flash_throttle_order_t *order)
{
    ngx_str_t                             name, list, *zone_name;
    ngx_uint_t                            i, given, used;
    ngx_http_flash_throttle_zone_t      **zones;
    ngx_http_flash_throttle_main_conf_t  *ftmf;

    ftmf = ngx_http_get_module_main_conf(order->request,
                                         ngx_http_flash_throttle_module);

    given = order->fields[NGX_HTTP_FLASH_THROTTLE_ORDER_ZONE].given;
    name = ngx_http_flash_throttle_order_text(order,
                                         NGX_HTTP_FLASH_THROTTLE_ORDER_ZONE);
    zones = ftmf->zones.elts;
    used = 0;

    for (i = 0; i < ftmf->zones.nelts; i++) {

        if (zones[i]->rules == NULL) {
            continue;
        }

        zone_name = &zones[i]->shm_zone->shm.name;

        if (!given) {
            order->zone = zones[i];
            used++;

        } else if (zone_name->len == name.len
                   && ngx_memcmp(zone_name->data, name.data, name.len) == 0)
        {
            order->zone = zones[i];
            return NGX_OK;
        }
    }

    if (used == 1) {
        return NGX_OK;
    }

    if (ngx_http_flash_throttle_order_list_zones(order, &list) != NGX_OK) {
        return NGX_ERROR;
    }

    if (given) {
        return ngx_http_flash_throttle_order_error(order, NGX_HTTP_NOT_FOUND,
                   "no \"flash_throttle\" uses a zone \"%V\", there is%V",
                   &name, &list);
    }

    return ngx_http_flash_throttle_order_error(order,
               used ? NGX_HTTP_BAD_REQUEST : NGX_HTTP_NOT_FOUND,
               "name a \"zone\", there is%V", &list);
}


static ngx_int_t
ngx_http_flash_throttle_order_key(ngx_http_flash_throttle_order_t *order)
{
    ngx_str_t   list;
    ngx_log_t  *log;

    order->now_ms = ngx_http_flash_throttle_now(order->zone);

    if (!order->fields[NGX_HTTP_FLASH_THROTTLE_ORDER_KEY].given) {
        return ngx_http_flash_throttle_order_only_key(order);
    }

    order->key = ngx_http_flash_throttle_order_text(order,
                                         NGX_HTTP_FLASH_THROTTLE_ORDER_KEY);

    if (order->key.len == 0) {
        return ngx_http_flash_throttle_order_error(order, NGX_HTTP_BAD_REQUEST,
                   "the key is empty, and what has an empty key is not "
                   "throttled");
    }

    if (order->fields[NGX_HTTP_FLASH_THROTTLE_ORDER_NEW].yes) {

        log = order->request->connection->log;

        order->state = ngx_http_flash_throttle_state(order->zone, &order->key,
                                                     order->now_ms, log);

        return order->state
               ? NGX_OK
               : ngx_http_flash_throttle_order_error(order,
                     NGX_HTTP_SERVICE_UNAVAILABLE,
                     "zone \"%V\" has no room for the key \"%V\", enlarge it",
                     &order->zone->shm_zone->shm.name, &order->key);
    }

    order->state = ft_zone_find(order->zone->sh, order->key.data,
                                order->key.len, order->now_ms);

    if (order->state) {
        return NGX_OK;
    }

    if (ngx_http_flash_throttle_order_list_keys(order, &list) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_flash_throttle_order_error(order, NGX_HTTP_NOT_FOUND,
               "nobody has asked for the key \"%V\" of zone \"%V\" yet, "
               "there is%V; \"new\":true gives the order beforehand",
               &order->key, &order->zone->shm_zone->shm.name, &list);
}


static ngx_int_t
ngx_http_flash_throttle_order_only_key(ngx_http_flash_throttle_order_t *order)
{
    uint32_t     i, keys, found;
    ngx_str_t    list;
    ft_zone_t   *sh;

    sh = order->zone->sh;
    keys = ft_zone_keys(sh);
    found = 0;

    for (i = 0; i < keys; i++) {

        if (ft_zone_state(sh, i) == NULL) {
            continue;
        }

        order->state = ft_zone_state(sh, i);
        order->key.data = order->key_text;
        order->key.len = ft_zone_key(sh, i, (char *) order->key_text);
        found++;
    }

    if (found == 1 && order->state) {
        return NGX_OK;
    }

    if (ngx_http_flash_throttle_order_list_keys(order, &list) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_flash_throttle_order_error(order,
               found ? NGX_HTTP_BAD_REQUEST : NGX_HTTP_NOT_FOUND,
               "name a \"key\" of zone \"%V\", there is%V%s",
               &order->zone->shm_zone->shm.name, &list,
               found ? "" : "; \"new\":true gives the order beforehand");
}


/* ' "a", "b" and so on', or " none". */

static ngx_int_t
ngx_http_flash_throttle_order_list_zones(
    ngx_http_flash_throttle_order_t *order, ngx_str_t *list)
{
    u_char                               *p, *last;
    size_t                                size;
    ngx_uint_t                            i, n;
    ngx_http_flash_throttle_zone_t      **zones;
    ngx_http_flash_throttle_main_conf_t  *ftmf;

    ftmf = ngx_http_get_module_main_conf(order->request,
                                         ngx_http_flash_throttle_module);

    size = NGX_HTTP_FLASH_THROTTLE_LISTED
           * (NGX_HTTP_FLASH_THROTTLE_NAME_MOST + sizeof(", \"\"")) + 64;

    p = ngx_pnalloc(order->request->pool, size);
    if (p == NULL) {
        return NGX_ERROR;
    }

    list->data = p;
    last = p + size;
    zones = ftmf->zones.elts;

    for (i = 0, n = 0; i < ftmf->zones.nelts; i++) {

        if (zones[i]->rules == NULL) {
            continue;
        }

        if (n == NGX_HTTP_FLASH_THROTTLE_LISTED) {
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
ngx_http_flash_throttle_order_list_keys(
    ngx_http_flash_throttle_order_t *order, ngx_str_t *list)
{
    u_char      *p, *last;
    size_t       size, len;
    uint32_t     i;
    ngx_uint_t   n;
    char         key[FT_KEY_MAX];

    size = NGX_HTTP_FLASH_THROTTLE_LISTED * (FT_KEY_MAX + sizeof(", \"\""))
           + 64;

    p = ngx_pnalloc(order->request->pool, size);
    if (p == NULL) {
        return NGX_ERROR;
    }

    list->data = p;
    last = p + size;

    for (i = 0, n = 0; i < ft_zone_keys(order->zone->sh); i++) {

        if (ft_zone_state(order->zone->sh, i) == NULL) {
            continue;
        }

        if (n == NGX_HTTP_FLASH_THROTTLE_LISTED) {
            p = ngx_slprintf(p, last, " and more");
            break;
        }

        len = ft_zone_key(order->zone->sh, i, key);
        p = ngx_slprintf(p, last, "%s \"%*s\"", n++ ? "," : "", len, key);
    }

    if (n == 0) {
        p = ngx_slprintf(p, last, " none");
    }

    list->len = p - list->data;

    return NGX_OK;
}
