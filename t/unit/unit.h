
/*
 * For all unit tests: cmocka, random numbers with a seed, and checks with
 * figures.  Nothing here reads a clock.
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


/* 2026-01-01 */
#define UNIT_EPOCH_MS  UINT64_C(1767225600000)

/* Fails the test with a message if the condition is false. */
#define unit_check(cond, ...)                                                 \
    do {                                                                      \
        if (!(cond)) {                                                        \
            fail_msg(#cond ": " __VA_ARGS__);                                 \
        }                                                                     \
    } while (0)

#define unit_tests(tests)                                                     \
    cmocka_run_group_tests_name(__FILE__, tests, NULL, NULL)


/* splitmix64 (Steele, Lea, Flood, 2014); any seed */
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


/* Memory as nginx allocates a zone: zeroed, aligned to a cache line. */
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


/*
 * By how many admissions x 1,000,000 the worst window exceeds burst + rate x
 * length; at most 0 if none does.  The times are in ascending order.  k
 * admissions from a to b are too many if f(b) - f(a) > burst - 1, where f =
 * number - rate x time.
 */
static inline int64_t
unit_excess(const uint64_t *at_ms, size_t n, uint32_t rate_milli,
    uint32_t burst)
{
    size_t   i;
    int64_t  f, least, worst;

    least = INT64_MAX;
    worst = INT64_MIN;

    for (i = 0; i < n; i++) {
        f = (int64_t) i * 1000000
            - (int64_t) ((at_ms[i] - at_ms[0]) * rate_milli);
        least = f < least ? f : least;

        if (f - least > worst) {
            worst = f - least;
        }
    }

    return worst - ((int64_t) burst - 1) * 1000000;
}


/* for qsort() */
static inline int
unit_by_time(const void *a, const void *b)
{
    uint64_t  x, y;

    x = *(const uint64_t *) a;
    y = *(const uint64_t *) b;

    return (x > y) - (x < y);
}


#endif /* UNIT_H_INCLUDED */
