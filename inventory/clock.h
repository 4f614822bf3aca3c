/*
 * Wall time for deadlines and orders, steady time for durations.
 */

#ifndef CO_CLOCK_H
#define CO_CLOCK_H


#include <stdint.h>
#include <time.h>


/* Milliseconds since 1970. */
static inline int64_t
co_wall_ms(void)
{
    struct timespec  ts;

    clock_gettime(CLOCK_REALTIME, &ts);

    return (int64_t) ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}


/* Microseconds; monotonic. */
static inline int64_t
co_steady_us(void)
{
    struct timespec  ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);

    return (int64_t) ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}


#endif /* CO_CLOCK_H */
