
/*
 * Copyright (C) flash_throttle contributors
 *
 * Secrets: one a line of a file, the first signs and all verify; without a file
 * one random secret, which lasts until nginx is restarted.
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_SECRET_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_SECRET_H_INCLUDED_


#include "ngx_http_flash_throttle.h"

#pragma GCC visibility push(hidden)


/* Makes ftmf->ring. */
char *ngx_http_flash_throttle_secret_init(ngx_conf_t *cf,
    ngx_http_flash_throttle_main_conf_t *ftmf);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_SECRET_H_INCLUDED_ */
