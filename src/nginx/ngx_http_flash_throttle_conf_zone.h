
/*
 * Copyright (C) flash_throttle contributors
 *
 * The directive "flash_throttle_zone".
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_CONF_ZONE_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_CONF_ZONE_H_INCLUDED_


#include "ngx_http_flash_throttle.h"

#pragma GCC visibility push(hidden)


char *ngx_http_flash_throttle_conf_zone(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/* Warns of a key that is empty in the server that is being merged. */
void ngx_http_flash_throttle_conf_zone_check_key(ngx_conf_t *cf,
    ngx_http_flash_throttle_zone_t *zone);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_CONF_ZONE_H_INCLUDED_ */
