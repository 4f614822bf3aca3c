
/*
 * Zones for the unit tests.
 */

#ifndef ZONE_H_INCLUDED
#define ZONE_H_INCLUDED


#include "unit.h"
#include "core.h"


#define ZONE_SEED  UINT64_C(0x7ea1c0ffee5eed01)


static inline ft_zone_t *
zone_of(uint32_t keys)
{
    ft_zone_t  *zone;

    zone = unit_shared(ft_zone_size(keys));
    ft_zone_init(zone, keys, ZONE_SEED, 1000, UNIT_EPOCH_MS);

    return zone;
}


static inline ft_state_t *
zone_add(ft_zone_t *zone, const char *key, uint64_t now_ms)
{
    bool      evicted;

    return ft_zone_add(zone, key, strlen(key), now_ms, &evicted);
}


static inline ft_state_t *
zone_find(ft_zone_t *zone, const char *key, uint64_t now_ms)
{
    return ft_zone_find(zone, key, strlen(key), now_ms);
}


#endif /* ZONE_H_INCLUDED */
