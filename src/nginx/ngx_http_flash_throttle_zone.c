
/*
 * Copyright (C) flash_throttle contributors
 */


#include "ngx_http_flash_throttle_zone.h"
#include "ngx_http_flash_throttle_clock.h"

#include <openssl/evp.h>
#include <openssl/rand.h>


#define NGX_HTTP_FLASH_THROTTLE_DIGEST_LEN  32


static uint32_t ngx_http_flash_throttle_zone_keys(size_t pages);
static ngx_int_t ngx_http_flash_throttle_zone_create(
    ngx_http_flash_throttle_zone_t *zone, ngx_shm_zone_t *shm_zone);
static void ngx_http_flash_throttle_zone_reap(
    ngx_http_flash_throttle_zone_t *zone);
static void ngx_http_flash_throttle_zone_log_full(
    ngx_http_flash_throttle_zone_t *zone, ngx_str_t *key, bool evicted,
    ngx_log_t *log);


/* The number of keys that fit into N pages. */

static uint32_t
ngx_http_flash_throttle_zone_keys(size_t pages)
{
    size_t    size, one;
    uint32_t  keys;

    size = pages * ngx_pagesize;
    one = ft_zone_size(2) - ft_zone_size(1);
    keys = size / one;

    while (keys && ft_zone_size(keys) > size) {
        keys--;
    }

    return keys;
}


size_t
ngx_http_flash_throttle_zone_min_size(void)
{
    size_t  pages;

    /* one page for log_ctx, one for the head of the allocator */

    pages = (ft_zone_size(1) + ngx_pagesize - 1) / ngx_pagesize + 2;

#if (NGX_PTR_SIZE == 4)
    pages++;    /* for the clock */
#endif

    return pages * (ngx_pagesize + sizeof(ngx_slab_page_t));
}


/* On a reload the old workers still use the zone: it is not modified. */

ngx_int_t
ngx_http_flash_throttle_zone_init(ngx_shm_zone_t *shm_zone, void *data)
{
    ngx_http_flash_throttle_zone_t  *ozone = data;

    ngx_http_flash_throttle_zone_t  *zone;

    zone = shm_zone->data;

    if (ozone) {
        if (zone->key.value.len != ozone->key.value.len
            || ngx_strncmp(zone->key.value.data, ozone->key.value.data,
                           zone->key.value.len)
               != 0)
        {
            ngx_log_error(NGX_LOG_EMERG, shm_zone->shm.log, 0,
                          "flash_throttle_zone \"%V\" uses the \"%V\" key "
                          "while previously it used the \"%V\" key",
                          &shm_zone->shm.name, &zone->key.value,
                          &ozone->key.value);
            return NGX_ERROR;
        }

        zone->sh = ozone->sh;
        zone->shpool = ozone->shpool;

#if (NGX_PTR_SIZE == 4)
        zone->clock = ozone->clock;
#endif

        return NGX_OK;
    }

    zone->shpool = (ngx_slab_pool_t *) shm_zone->shm.addr;

    return ngx_http_flash_throttle_zone_create(zone, shm_zone);
}


static ngx_int_t
ngx_http_flash_throttle_zone_create(ngx_http_flash_throttle_zone_t *zone,
    ngx_shm_zone_t *shm_zone)
{
    size_t            len;
    uint32_t          keys;
    uint64_t          seed;
    ngx_time_t       *tp;
    ngx_slab_pool_t  *shpool;

    shpool = zone->shpool;

    len = sizeof(" in flash_throttle_zone \"\"") + shm_zone->shm.name.len;

    shpool->log_ctx = ngx_slab_alloc(shpool, len);
    if (shpool->log_ctx == NULL) {
        return NGX_ERROR;
    }

    ngx_sprintf(shpool->log_ctx, " in flash_throttle_zone \"%V\"%Z",
                &shm_zone->shm.name);

#if (NGX_PTR_SIZE == 4)

    zone->clock = ngx_slab_calloc(shpool, sizeof(*zone->clock));
    if (zone->clock == NULL) {
        return NGX_ERROR;
    }

    *zone->clock = ngx_current_msec;

#endif

    keys = ngx_http_flash_throttle_zone_keys(shpool->pfree);

    if (keys == 0) {
        ngx_log_error(NGX_LOG_EMERG, shm_zone->shm.log, 0,
                      "flash_throttle_zone \"%V\" is too small, "
                      "one key takes %uzk", &shm_zone->shm.name,
                      (ngx_http_flash_throttle_zone_min_size() + 1023) / 1024);
        return NGX_ERROR;
    }

    zone->sh = ngx_slab_calloc(shpool, ft_zone_size(keys));
    if (zone->sh == NULL) {
        return NGX_ERROR;
    }

    if (RAND_bytes((u_char *) &seed, sizeof(seed)) != 1) {
        ngx_log_error(NGX_LOG_EMERG, shm_zone->shm.log, 0,
                      "RAND_bytes() failed for flash_throttle_zone \"%V\"",
                      &shm_zone->shm.name);
        return NGX_ERROR;
    }

    tp = ngx_timeofday();

    ft_zone_init(zone->sh, keys, seed, ngx_current_msec,
                 (uint64_t) tp->sec * 1000 + tp->msec);

    shpool->data = zone->sh;

    ngx_log_error(NGX_LOG_NOTICE, shm_zone->shm.log, 0,
                  "flash_throttle_zone \"%V\" has space for %uD keys",
                  &shm_zone->shm.name, keys);

    return NGX_OK;
}


void
ngx_http_flash_throttle_zone_join(ngx_http_flash_throttle_zone_t *zone,
    ngx_log_t *log)
{
    zone->joined = ngx_time();

    ngx_shmtx_lock(&zone->shpool->mutex);

    zone->worker = ft_zone_join(zone->sh, ngx_pid);

    ngx_shmtx_unlock(&zone->shpool->mutex);

    if (zone->worker == FT_WORKERS) {
        ngx_log_error(NGX_LOG_ALERT, log, 0,
                      "flash_throttle_zone \"%V\" is used by %d worker "
                      "processes, the maximum",
                      &zone->shm_zone->shm.name, FT_WORKERS);
    }
}


/* Clears the slots of workers that were killed while they were exiting. */

static void
ngx_http_flash_throttle_zone_reap(ngx_http_flash_throttle_zone_t *zone)
{
    zone->reaped = ngx_time();

    if (ngx_shmtx_trylock(&zone->shpool->mutex)) {
        ft_zone_reap(zone->sh);
        ngx_shmtx_unlock(&zone->shpool->mutex);
    }
}


uint64_t
ngx_http_flash_throttle_zone_now(ngx_http_flash_throttle_zone_t *zone)
{
    uint64_t     msec;
    ngx_time_t  *tp;

    tp = ngx_timeofday();

#if (NGX_PTR_SIZE == 4)
    msec = ngx_http_flash_throttle_clock_extend(zone->clock, ngx_current_msec);
#else
    msec = ngx_current_msec;
#endif

    return ft_zone_now(zone->sh, msec, (uint64_t) tp->sec * 1000 + tp->msec);
}


ngx_int_t
ngx_http_flash_throttle_zone_key(ngx_http_request_t *r,
    ngx_http_flash_throttle_zone_t *zone, ngx_str_t *key)
{
    u_char                     *p, digest[NGX_HTTP_FLASH_THROTTLE_DIGEST_LEN];
    ngx_http_variable_value_t  *vv;

    if (zone->variable != NGX_ERROR) {
        vv = ngx_http_get_flushed_variable(r, zone->variable);
        if (vv == NULL) {
            return NGX_ERROR;
        }

        key->data = vv->data;
        key->len = vv->not_found ? 0 : vv->len;

    } else if (ngx_http_complex_value(r, &zone->key, key) != NGX_OK) {
        return NGX_ERROR;
    }

    if (key->len <= FT_KEY_MAX) {
        return NGX_OK;
    }

    if (EVP_Digest(key->data, key->len, digest, NULL, EVP_sha256(), NULL)
        != 1)
    {
        return NGX_ERROR;
    }

    p = ngx_pnalloc(r->pool, FT_KEY_MAX);
    if (p == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(p, key->data, FT_KEY_MAX - 2 * sizeof(digest));
    ngx_hex_dump(p + FT_KEY_MAX - 2 * sizeof(digest), digest, sizeof(digest));

    key->data = p;
    key->len = FT_KEY_MAX;

    return NGX_OK;
}


size_t
ngx_http_flash_throttle_zone_printable(u_char *text, const u_char *key,
    size_t len)
{
    u_char  c;
    size_t  i;

    for (i = 0; i < len; i++) {
        c = key[i];
        text[i] = (c < 0x20 || c == 0x7f || c == '"') ? '?' : c;
    }

    return len;
}


ft_state_t *
ngx_http_flash_throttle_zone_state(ngx_http_flash_throttle_zone_t *zone,
    ngx_str_t *key, uint64_t now_ms, ngx_log_t *log)
{
    bool         evicted;
    ft_state_t  *state;

    if (zone->worker == FT_WORKERS) {

        /* exiting workers of former configurations free their slots */

        if (zone->joined != ngx_time()) {
            ngx_http_flash_throttle_zone_join(zone, log);
        }

        if (zone->worker == FT_WORKERS) {
            return NULL;
        }
    }

    if (zone->reaped != ngx_time()) {
        ngx_http_flash_throttle_zone_reap(zone);
    }

    state = ft_zone_find(zone->sh, key->data, key->len, now_ms);

    if (state) {
        return state;
    }

    ngx_shmtx_lock(&zone->shpool->mutex);

    state = ft_zone_add(zone->sh, key->data, key->len, now_ms, &evicted);

    ngx_shmtx_unlock(&zone->shpool->mutex);

    if (state == NULL || evicted) {
        ngx_http_flash_throttle_zone_log_full(zone, key, evicted, log);
    }

    return state;
}


/* At most once a second: clients may choose keys. */

static void
ngx_http_flash_throttle_zone_log_full(ngx_http_flash_throttle_zone_t *zone,
    ngx_str_t *key, bool evicted, ngx_log_t *log)
{
    u_char   text[FT_KEY_MAX];
    size_t   len;
    time_t  *logged;

    logged = evicted ? &zone->evicted : &zone->refused;

    if (*logged == ngx_time()) {
        return;
    }

    *logged = ngx_time();
    len = ngx_http_flash_throttle_zone_printable(text, key->data, key->len);

    if (evicted) {
        ngx_log_error(NGX_LOG_NOTICE, log, 0,
                      "key \"%*s\" evicted an idle key in "
                      "flash_throttle_zone \"%V\"", len, text,
                      &zone->shm_zone->shm.name);

    } else {
        ngx_log_error(NGX_LOG_ERR, log, 0,
                      "no space for key \"%*s\" in flash_throttle_zone "
                      "\"%V\"", len, text, &zone->shm_zone->shm.name);
    }
}
