
/*
 * Copyright (C) flash_throttle contributors
 *
 * The pages at configuration: built in, or read from files.  Each is compressed
 * once, because nginx's gzip filter does not compress a 503.
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_PAGE_CONF_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_PAGE_CONF_H_INCLUDED_


#include "ngx_http_flash_throttle.h"

#pragma GCC visibility push(hidden)


/* The directive "flash_throttle_queue_page". */
char *ngx_http_flash_throttle_page_conf(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/* Prepares the pages that are built in. */
ngx_int_t ngx_http_flash_throttle_page_conf_init(ngx_conf_t *cf,
    ngx_http_flash_throttle_main_conf_t *ftmf);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_PAGE_CONF_H_INCLUDED_ */
