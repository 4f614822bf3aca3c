
#include "events.h"

#include <stdio.h>
#include <stdlib.h>


static inline bool
ft_event_before(const ft_event_t *a, const ft_event_t *b)
{
    return a->at_us < b->at_us || (a->at_us == b->at_us && a->seq < b->seq);
}


bool
ft_events_init(ft_events_t *events, size_t size)
{
    events->heap = malloc(size * sizeof(ft_event_t));
    events->size = size;
    ft_events_clear(events);

    return events->heap != NULL;
}


void
ft_events_free(ft_events_t *events)
{
    free(events->heap);
}


void
ft_events_clear(ft_events_t *events)
{
    events->n = 0;
    events->seq = 0;
}


static void
ft_events_grow(ft_events_t *events)
{
    ft_event_t  *heap;

    heap = realloc(events->heap, events->size * 2 * sizeof(ft_event_t));
    if (heap == NULL) {
        fprintf(stderr, "flash-sim: out of memory for %zu events\n",
                events->size * 2);
        exit(1);
    }

    events->heap = heap;
    events->size *= 2;
}


void
ft_events_add(ft_events_t *events, int64_t at_us, ft_event_kind_t kind,
    uint32_t index)
{
    size_t      i, parent;
    ft_event_t  event, *heap;

    if (events->n == events->size) {
        ft_events_grow(events);
    }

    event.at_us = at_us;
    event.seq = events->seq++;
    event.what = (uint32_t) kind << 28 | index;

    heap = events->heap;

    for (i = events->n++; i > 0; i = parent) {
        parent = (i - 1) / 4;

        if (!ft_event_before(&event, &heap[parent])) {
            break;
        }

        heap[i] = heap[parent];
    }

    heap[i] = event;
}


ft_event_t
ft_events_take(ft_events_t *events)
{
    size_t      i, k, child, min, n;
    ft_event_t  first, last, *heap;

    heap = events->heap;
    first = heap[0];
    n = --events->n;
    last = heap[n];

    for (i = 0; (child = i * 4 + 1) < n; i = min) {
        min = child;

        for (k = child + 1; k < child + 4 && k < n; k++) {
            if (ft_event_before(&heap[k], &heap[min])) {
                min = k;
            }
        }

        if (!ft_event_before(&heap[min], &last)) {
            break;
        }

        heap[i] = heap[min];
    }

    heap[i] = last;

    return first;
}
