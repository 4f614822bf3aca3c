#include "window.h"

#include <stdlib.h>


#define CO_WINDOW_SIZE  1024


void
co_window_init(co_window_t *window, int64_t length_us)
{
    window->length_us = length_us;
    window->times = NULL;
    window->size = 0;

    co_window_clear(window);
}


void
co_window_free(co_window_t *window)
{
    free(window->times);
}


void
co_window_clear(co_window_t *window)
{
    window->most = 0;
    window->count = 0;
    window->first = 0;
}


static int
co_window_grow(co_window_t *window)
{
    size_t    i, size;
    int64_t  *times;

    size = window->size ? window->size * 2 : CO_WINDOW_SIZE;

    times = malloc(size * sizeof(int64_t));
    if (times == NULL) {
        return -1;
    }

    for (i = 0; i < window->count; i++) {
        times[i] = window->times[(window->first + i) & (window->size - 1)];
    }

    free(window->times);

    window->times = times;
    window->size = size;
    window->first = 0;

    return 0;
}


int
co_window_add(co_window_t *window, int64_t now_us)
{
    while (window->count != 0
           && window->times[window->first] <= now_us - window->length_us)
    {
        window->first = (window->first + 1) & (window->size - 1);
        window->count--;
    }

    if (window->count == window->size && co_window_grow(window) != 0) {
        return -1;
    }

    window->times[(window->first + window->count) & (window->size - 1)]
        = now_us;
    window->count++;

    if (window->count > window->most) {
        window->most = window->count;
    }

    return 0;
}
