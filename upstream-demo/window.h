/*
 * The maximum number of events in any time window of a given length, exact.
 *
 * A window with the most events can be moved until it ends with an event.  So
 * it is sufficient to count, at each event, the events of the window that ends
 * there.  Their times are kept in a ring that grows: O(1) amortized per event,
 * memory for the events of one window.
 */

#ifndef CO_WINDOW_H
#define CO_WINDOW_H


#include <stddef.h>
#include <stdint.h>


typedef struct {
    int64_t   length_us;
    size_t    most;
    size_t    count;                             /* in the current window */
    size_t    first;                             /* index of the oldest */
    size_t    size;                              /* of the ring, power of 2 */
    int64_t  *times;
} co_window_t;


void co_window_init(co_window_t *window, int64_t length_us);
void co_window_free(co_window_t *window);

/* Removes all events; the length stays. */
void co_window_clear(co_window_t *window);

/*
 * Counts an event at "now_us", which must not be before the last one.  Two
 * events exactly one length apart are in different windows.  Returns 0, or -1
 * if out of memory.
 */
int co_window_add(co_window_t *window, int64_t now_us);


#endif /* CO_WINDOW_H */
