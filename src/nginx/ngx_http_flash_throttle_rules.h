
/*
 * Copyright (C) flash_throttle contributors
 *
 * The rules of a zone: all locations that use it have the same values, except
 * that a location without an opening gives access before it.
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_RULES_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_RULES_H_INCLUDED_


#include "ngx_http_flash_throttle.h"

#pragma GCC visibility push(hidden)


/* The values of "policy=", by ft_policy_t. */
extern ngx_conf_enum_t  ngx_http_flash_throttle_rules_policies[];

/* Records where the directive being parsed stands. */
void ngx_http_flash_throttle_rules_place(ngx_conf_t *cf,
    ngx_http_flash_throttle_place_t *place);

/*
 * Stores the rules of a merged location in its zone, or compares them with the
 * zone's, and sets ftcf->rules.  NGX_ERROR: they differ, which has been logged.
 */
ngx_int_t ngx_http_flash_throttle_rules_init(ngx_conf_t *cf,
    ngx_http_flash_throttle_conf_t *ftcf);

#pragma GCC visibility pop


#endif /* _NGX_HTTP_FLASH_THROTTLE_RULES_H_INCLUDED_ */
