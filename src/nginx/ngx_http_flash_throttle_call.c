
/*
 * Copyright (C) flash_throttle contributors
 */


#include "ngx_http_flash_throttle_call.h"


void
ngx_http_flash_throttle_call(ngx_http_flash_throttle_zone_t *zone,
    ft_state_t *state, const ft_rules_t *rules, uint64_t now_ms,
    ft_call_t *call)
{
    call->state = state;
    call->limits = zone->limits;
    call->rules = rules;
    call->now_ms = now_ms;
    call->worker = zone->worker;
    call->workers = ft_zone_workers(zone->sh);

    if (state) {
        ft_override_limits(state, zone->adapt, &call->limits);
    }
}
