/*
 * The most events in any window of a given length: exact, not by buckets.
 */

#ifndef CO_WINDOW_H
#define CO_WINDOW_H


#include <stddef.h>
#include <stdint.h>


typedef struct {
    int64_t   length_us;
    size_t    most;
    size_t    count;                             /* in the window now */
    size_t    first;                             /* oldest, in the ring */
    size_t    size;                              /* of the ring, power of 2 */
    int64_t  *times;
} co_window_t;


void co_window_init(co_window_t *window, int64_t length_us);
void co_window_free(co_window_t *window);

/* Forgets everything but the length. */
void co_window_clear(co_window_t *window);

/*
 * Counts an event at "now_us", not before the last one.  Two events exactly
 * one length apart are not in one window.  0, or -1 when out of memory.
 */
int co_window_add(co_window_t *window, int64_t now_us);


#endif /* CO_WINDOW_H */
