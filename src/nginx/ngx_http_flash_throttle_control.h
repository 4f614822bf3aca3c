
/*
 * Copyright (C) flash_throttle contributors
 *
 * The directive "flash_throttle_control": overrides by the operator.
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_CONTROL_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_CONTROL_H_INCLUDED_


#include "ngx_http_flash_throttle.h"

#pragma GCC visibility push(hidden)


char *ngx_http_flash_throttle_control(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_CONTROL_H_INCLUDED_ */
