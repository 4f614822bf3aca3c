
/*
 * What the unit tests of the core share: cmocka, seeded random numbers, and a
 * check that says what it found.  Nothing here reads a clock.
 */

#ifndef UNIT_H_INCLUDED
#define UNIT_H_INCLUDED


#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>


/* 2026-01-01, when every test begins */
#define UNIT_EPOCH_MS  UINT64_C(1767225600000)

/* fails the test, with the figures, where a condition does not hold */
#define unit_check(cond, ...)                                                 \
    do {                                                                      \
        if (!(cond)) {                                                        \
            fail_msg(#cond ": " __VA_ARGS__);                                 \
        }                                                                     \
    } while (0)

#define unit_tests(tests)                                                     \
    cmocka_run_group_tests_name(__FILE__, tests, NULL, NULL)


/* splitmix64 (Steele, Lea, Flood, 2014): any seed will do */
static inline uint64_t
unit_random(uint64_t *seed)
{
    uint64_t  x;

    x = *seed += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);

    return x ^ x >> 31;
}


/* uniform in min .. max, both included */
static inline uint64_t
unit_between(uint64_t *seed, uint64_t min, uint64_t max)
{
    return min + unit_random(seed) % (max - min + 1);
}


/* memory as nginx hands it out: zeroed, at a cache line */
static inline void *
unit_shared(size_t size)
{
    void  *p;

    size = (size + 63) / 64 * 64;
    p = aligned_alloc(64, size);
    assert_non_null(p);
    memset(p, 0, size);

    return p;
}


#endif /* UNIT_H_INCLUDED */
