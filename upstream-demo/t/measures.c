/*
 * Unit tests of window.c and histogram.c: compares them with simple
 * implementations on reproducible random input.
 */

#include "histogram.h"
#include "../window.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>


#define N  4000


static int       count;
static int       failures;
static uint64_t  state = 88172645463325252u;


static void
ok(int good, const char *name)
{
    count++;
    failures += !good;
    printf("%sok %d - %s\n", good ? "" : "not ", count, name);
}


/* xorshift64 */
static uint64_t
next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;

    return state;
}


static int
compare(const void *one, const void *two)
{
    const int64_t  a = *(const int64_t *) one;
    const int64_t  b = *(const int64_t *) two;

    return (a > b) - (a < b);
}


/* The maximum count in any window of "length", excluding its end. */
static size_t
most(const int64_t *times, size_t n, int64_t length)
{
    size_t  i, j, best = 0;

    for (i = 0; i < n; i++) {
        for (j = i; j < n && times[j] < times[i] + length; j++) {
            /* void */
        }

        best = j - i > best ? j - i : best;
    }

    return best;
}


/* Bursts and pauses, so that the fullest window is not the last one. */
static void
test_window(int64_t length)
{
    int            good = 1;
    char           name[80];
    size_t         i;
    int64_t        now = 0;
    co_window_t    window;
    static int64_t times[N];

    co_window_init(&window, length);

    for (i = 0; i < N; i++) {
        now += next() % 8 ? (int64_t) (next() % 10)
                          : (int64_t) (next() % 2000);
        times[i] = now;
        good = good && co_window_add(&window, now) == 0;

        if (i % 97 == 0 || i == N - 1) {
            good = good && window.most == most(times, i + 1, length);
        }
    }

    snprintf(name, sizeof(name), "the fullest window of %lld us",
             (long long) length);
    ok(good, name);

    co_window_clear(&window);
    ok(window.most == 0 && co_window_add(&window, now) == 0
       && window.most == 1, "a cleared window");

    co_window_free(&window);
}


static void
test_histogram(uint64_t range)
{
    int                    good = 1;
    char                   name[80];
    size_t                 i;
    int64_t                exact, got;
    co_histogram_t        *histogram;
    static int64_t         values[N];
    static const double    percents[] = { 0.1, 1, 25, 50, 75, 95, 99, 100 };

    histogram = calloc(1, sizeof(*histogram));
    if (histogram == NULL) {
        ok(0, "memory");
        return;
    }

    for (i = 0; i < N; i++) {
        values[i] = (int64_t) (next() % range);
        co_histogram_add(histogram, values[i]);
    }

    qsort(values, N, sizeof(values[0]), compare);

    for (i = 0; i < sizeof(percents) / sizeof(percents[0]); i++) {
        exact = values[(size_t) (percents[i] * N / 100) - 1];
        got = co_histogram_percentile(histogram, percents[i]);
        good = good && llabs(got - exact) <= exact / 250 + 1;
    }

    good = good && histogram->count == N && histogram->max == values[N - 1];

    snprintf(name, sizeof(name), "percentiles of values up to %llu us",
             (unsigned long long) range);
    ok(good, name);

    free(histogram);
}


static void
test_histogram_edges(void)
{
    co_histogram_t  *histogram;

    histogram = calloc(1, sizeof(*histogram));
    if (histogram == NULL) {
        ok(0, "memory");
        return;
    }

    ok(co_histogram_percentile(histogram, 50) == 0, "an empty histogram");

    co_histogram_add(histogram, 0);
    ok(co_histogram_percentile(histogram, 99) == 0, "a duration of 0");

    co_histogram_add(histogram, INT64_MAX);
    ok(histogram->max == INT64_MAX
       && co_histogram_percentile(histogram, 99) > (int64_t) 1 << 39,
       "a duration above the maximum");

    free(histogram);
}


int
main(void)
{
    test_window(1);
    test_window(50);
    test_window(5000);
    test_window(1000000000);

    test_histogram(200);
    test_histogram(500000);
    test_histogram((uint64_t) 1 << 38);
    test_histogram_edges();

    printf("1..%d\n", count);

    return failures != 0;
}
