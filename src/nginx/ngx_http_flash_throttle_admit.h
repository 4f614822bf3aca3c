
/*
 * Copyright (C) flash_throttle contributors
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_ADMIT_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_ADMIT_H_INCLUDED_


#include "ngx_http_flash_throttle.h"

#pragma GCC visibility push(hidden)


/*
 * Makes the ticket of an admitted request the pass.  generation: of the state,
 * read before its capacity was taken.
 */
void ngx_http_flash_throttle_admit(ngx_http_flash_throttle_ctx_t *ctx,
    ft_call_t *call, uint32_t generation);

/* Admits a request with a valid pass. */
void ngx_http_flash_throttle_admit_pass(ngx_http_flash_throttle_ctx_t *ctx,
    ft_call_t *call);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_ADMIT_H_INCLUDED_ */
