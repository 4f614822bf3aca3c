
/*
 * Copyright (C) flash_throttle contributors
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_CALL_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_CALL_H_INCLUDED_


#include "ngx_http_flash_throttle.h"

#pragma GCC visibility push(hidden)


/* Fills a call of the core by this worker.  state: NULL for none. */
void ngx_http_flash_throttle_call(ngx_http_flash_throttle_zone_t *zone,
    ft_state_t *state, const ft_rules_t *rules, uint64_t now_ms,
    ft_call_t *call);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_CALL_H_INCLUDED_ */
