
/*
 * Copyright (C) flash_throttle contributors
 *
 * A 64-bit clock from one of 32 bits: ngx_current_msec wraps after 49.7 days
 * where a pointer has 32 bits.
 */


#ifndef _NGX_HTTP_FLASH_THROTTLE_CLOCK_H_INCLUDED_
#define _NGX_HTTP_FLASH_THROTTLE_CLOCK_H_INCLUDED_


#include <stdatomic.h>
#include <stdint.h>


/* how far one process may be behind another, ms */
#define NGX_HTTP_FLASH_THROTTLE_CLOCK_LAG  3600000


/*
 * Extends msec, whose low 32 bits count, by the latest time of all processes in
 * shared memory, and advances it.  Correct if the calls of all processes are
 * less than 2^32 - NGX_HTTP_FLASH_THROTTLE_CLOCK_LAG ms apart.
 */

static inline uint64_t
ngx_http_flash_throttle_clock_extend(_Atomic uint64_t *latest, uint32_t msec)
{
    uint32_t  diff;
    uint64_t  last, now;

    last = atomic_load_explicit(latest, memory_order_relaxed);

    for ( ;; ) {
        diff = msec - (uint32_t) last;

        if (diff > UINT32_MAX - NGX_HTTP_FLASH_THROTTLE_CLOCK_LAG) {

            /* behind another process */

            return last - (uint32_t) -diff;
        }

        now = last + diff;

        if (diff == 0
            || atomic_compare_exchange_weak_explicit(latest, &last, now,
                                                     memory_order_relaxed,
                                                     memory_order_relaxed))
        {
            return now;
        }
    }
}


#endif /* _NGX_HTTP_FLASH_THROTTLE_CLOCK_H_INCLUDED_ */
