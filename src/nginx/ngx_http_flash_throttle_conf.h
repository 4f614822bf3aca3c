
/*
 * Copyright (C) flash_throttle contributors
 *
 * Directives that nginx has no setter for.
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_CONF_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_CONF_H_INCLUDED_


#include "ngx_http_flash_throttle.h"

#pragma GCC visibility push(hidden)


/* values of "flash_throttle_log_level" */
extern ngx_conf_enum_t  ngx_http_flash_throttle_conf_log_levels[];

/* the codes that "flash_throttle_queue_status" accepts */
extern ngx_conf_post_t  ngx_http_flash_throttle_conf_queue_status;


/* "flash_throttle" */
char *ngx_http_flash_throttle_conf_throttle(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

char *ngx_http_flash_throttle_conf_session(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_flash_throttle_conf_poll(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_flash_throttle_conf_opens(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_CONF_H_INCLUDED_ */
