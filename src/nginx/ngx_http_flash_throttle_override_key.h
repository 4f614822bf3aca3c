
/*
 * Copyright (C) flash_throttle contributors
 *
 * The zone and the key of an override.
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_OVERRIDE_KEY_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_OVERRIDE_KEY_H_INCLUDED_


#include "ngx_http_flash_throttle_override.h"

#pragma GCC visibility push(hidden)


/*
 * Finds the zone and the state of the key by the fields, and sets ov->now_ms.
 * NGX_ERROR: as ngx_http_flash_throttle_override_error().
 */
ngx_int_t ngx_http_flash_throttle_override_key(
    ngx_http_flash_throttle_override_t *ov);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_OVERRIDE_KEY_H_INCLUDED_ */
